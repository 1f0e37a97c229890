import AppStoreServer
import Foundation
import ReceiptForge
import Testing

@Suite("The form of a JWS")
struct SignedFormTests {
    private func forged() throws -> ForgedSignedPayload { Signed.authority.signedPayload(try Signed.transaction()) }

    private func header(_ members: String) throws -> String {
        try forged().with { $0.header = Array("{\(members)}".utf8) }.text()
    }

    private var x5c: String {
        let texts = Signed.authority.certificates.map { "\"\(Data($0).base64EncodedString())\"" }
        return "\"x5c\":[\(texts.joined(separator: ","))]"
    }

    @Test(
        "The algorithm is ES256 and no other",
        arguments: [
            "none", "None", "HS256", "RS256", "PS256", "ES384", "ES512", "ES256K", "es256", "ES256 ", "",
        ])
    func algorithm(name: String) async throws {
        let jws = try forged().with { $0.algorithm = name }.text()
        #expect(try await Signed.refusal(of: jws)?.code == .unsupportedAlgorithm)
    }

    @Test("The algorithm is there once, as text")
    func algorithmForm() async throws {
        for members in [x5c, "\"alg\":1,\(x5c)", "\"alg\":null,\(x5c)", "\"alg\":[\"ES256\"],\(x5c)"] {
            #expect(try await Signed.refusal(of: header(members))?.code == .malformedHeader)
        }
    }

    @Test("No member is there twice, in the header or deeper, however it is written")
    func duplicates() async throws {
        for members in [
            "\"alg\":\"none\",\"alg\":\"ES256\",\(x5c)", "\"alg\":\"ES256\",\"alg\":\"none\",\(x5c)",
            "\"alg\":\"ES256\",\"\\u0061lg\":\"ES256\",\(x5c)", "\"alg\":\"ES256\",\"x5c\":[],\(x5c)",
            "\"alg\":\"ES256\",\(x5c),\(x5c)", "\"alg\":\"ES256\",\(x5c),\"jwk\":{\"a\":1,\"a\":2}",
        ] {
            #expect(try await Signed.refusal(of: header(members))?.code == .malformedHeader)
        }
    }

    @Test("Critical header parameters are not supported")
    func critical() async throws {
        let jws = try header("\"alg\":\"ES256\",\(x5c),\"crit\":[\"b64\"],\"b64\":false")
        #expect(try await Signed.refusal(of: jws)?.code == .malformedHeader)
    }

    @Test("Other members of the header, escapes and white space change nothing")
    func harmless() async throws {
        let escaped = x5c.replacing("/", with: "\\/")
        #expect(
            try await Signed.refusal(of: header(" \"kid\" : \"k\", \"typ\":\"JWT\",\n\"alg\":\"ES256\",\(escaped)"))
                == nil)
    }

    @Test("x5c has three certificates: not 0, 1, 2, 4 or 5", arguments: [0, 1, 2, 4, 5])
    func certificateCount(count: Int) async throws {
        let chain = Signed.authority.certificates
        let jws = try forged().with { $0.certificates = (0..<count).map { chain[$0 % 3] } }.text()
        #expect(try await Signed.refusal(of: jws)?.code == .certificateCount)
    }

    @Test("x5c is an array of padded standard base64")
    func x5cForm() async throws {
        #expect(try await Signed.refusal(of: header("\"alg\":\"ES256\""))?.code == .certificateCount)
        for members in ["\"x5c\":\"MIIB\"", "\"x5c\":{\"0\":\"\"}", "\"x5c\":[1,2,3]", "\"x5c\":[null,null,null]"] {
            #expect(try await Signed.refusal(of: header("\"alg\":\"ES256\",\(members)"))?.code == .malformedHeader)
        }
        let leaf = Data(Signed.authority.leaf.der).base64EncodedString()
        let others = Signed.authority.certificates.dropFirst().map { "\"\(Data($0).base64EncodedString())\"" }
        for wrong in [
            "!\(leaf.dropFirst())", "\(leaf)\n", leaf.replacing("+", with: "-"), "\(leaf)=", "\(leaf)====",
            "\(leaf.dropLast())", "\(leaf.replacing("=", with: ""))A", "\u{e9}\(leaf.dropFirst())",
        ] where wrong != leaf {
            let text = wrong.replacing("\n", with: "\\n")
            let jws = try header("\"alg\":\"ES256\",\"x5c\":[\"\(text)\",\(others.joined(separator: ","))]")
            let code = try await Signed.refusal(of: jws)?.code
            #expect(code == .invalidBase64 || code == .malformedCertificate)
        }
    }

    @Test(
        "A header that is not a JSON object is refused",
        arguments: [
            "", "{", "[]", "7", "\"ES256\"", "{\"alg\":\"ES256\"", "{\"alg\":\"ES256\"}}", "\u{0}",
        ])
    func malformedHeader(text: String) async throws {
        let jws = try forged().with { $0.header = Array(text.utf8) }.text()
        #expect(
            try await Signed.refusal(of: jws)?.code == (text.isEmpty ? .notCompactSerialization : .malformedHeader))
    }

    @Test("Three parts, none of them empty: not 1, 2, 4 or 5")
    func parts() async throws {
        let whole = try Signed.sign(Signed.transaction())
        let parts = try JWSParts(whole)
        for text in [
            "", ".", "..", "...", parts.header, "\(parts.header).\(parts.payload)",
            "\(parts.header)..\(parts.signature)",
            "\(parts.header).\(parts.payload).", ".\(parts.payload).\(parts.signature)", "\(whole).", "\(whole).AAAA",
            "\(whole).\(parts.payload).\(parts.signature)", ".\(whole)",
        ] {
            #expect(try await Signed.refusal(of: text)?.code == .notCompactSerialization)
        }
    }

    @Test("Base64 is URL-safe, without padding, white space and spare bits, in each part")
    func base64() async throws {
        let parts = try JWSParts(try Signed.sign(Signed.transaction()))
        for path in [\JWSParts.header, \JWSParts.payload, \JWSParts.signature] {
            let text = parts[keyPath: path]
            for wrong in [
                "\(text)=", "\(text)==", "\(text)\n", " \(text)", "\(text)\u{0}", "+\(text.dropFirst())",
                "/\(text.dropFirst())", "\u{e9}\(text.dropFirst())", "\(text)é",
            ] {
                var changed = parts
                changed[keyPath: path] = wrong
                let code = try await Signed.refusal(of: changed.text)?.code
                // The signature is checked before the payload is decoded.
                #expect(code == (path == \JWSParts.payload ? .signatureMismatch : .invalidBase64), "\(wrong.suffix(3))")
            }
        }
    }

    @Test("Spare bits of a signature that are not zero are refused, so it has one text only")
    func spareBits() async throws {
        var parts = try JWSParts(try Signed.sign(Signed.transaction()))
        // 64 bytes leave four spare bits in the last digit.
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        let last = try #require(parts.signature.last.flatMap { digits.firstIndex(of: $0) })
        #expect(last % 16 == 0)
        parts.signature = String(parts.signature.dropLast()) + String(digits[last + 1])
        #expect(try await Signed.refusal(of: parts.text)?.code == .invalidBase64)
    }

    @Test("A payload that was signed with padding is refused all the same")
    func signedPadding() async throws {
        // 3n + 1 bytes, so that there is padding to leave out.
        var bytes = try Signed.transaction()
        while bytes.count % 3 != 1 { bytes.insert(0x20, at: 0) }
        let forged = Signed.authority.signedPayload(bytes)
        let parts = try JWSParts(try forged.text())
        #expect(try await Signed.refusal(of: "\(parts.header).\(parts.payload)==.\(parts.signature)") != nil)
    }

    @Test("An input longer than the limit is refused unread")
    func tooLong() async throws {
        for text in [String(repeating: "A", count: 300_000), String(repeating: ".", count: 300_000)] {
            #expect(try await Signed.refusal(of: text)?.code == .tooLong)
        }
        let large = try Signed.sign(Array("{\"unknown\":\"\(String(repeating: "a", count: 300_000))\"}".utf8))
        #expect(try await Signed.refusal(of: large)?.code == .tooLong)
        let within = "{\"unknown\":\"\(String(repeating: "a", count: 180_000))\",\"signedDate\":\(Signed.date)}"
        #expect(try await Signed.refusal(of: Signed.sign(Array(within.utf8))) == nil)
    }

    @Test("A header nested without end is refused without a trap")
    func deepHeader() async throws {
        let deep = String(repeating: "[", count: 50_000)
        #expect(
            try await Signed.refusal(of: header("\"alg\":\"ES256\",\(x5c),\"a\":\(deep)"))?.code == .malformedHeader)
    }

    @Test("No error contains the JWS or a part of it")
    func secrecy() async throws {
        let jws = try Signed.sign(Signed.transaction())
        var parts = try JWSParts(jws)
        parts.payload = String(parts.payload.reversed())
        for text in [parts.text, "\(jws).x", "\(jws)=", "\(jws.dropLast(9))"] {
            let message = try #require(try await Signed.refusal(of: text)).message
            for start in stride(from: 0, to: jws.count - 12, by: 12) {
                #expect(!message.contains(jws.dropFirst(start).prefix(12)))
            }
        }
    }
}
