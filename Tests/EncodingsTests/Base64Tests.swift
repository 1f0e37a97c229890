import Encodings
import Foundation
import TestSupport
import Testing

@Suite("Base64")
struct Base64Tests {
    static func strict(_ text: String) throws -> [UInt8] { try Base64.decodeStrictly(Array(text.utf8).span) }

    static func standard(_ text: String) -> [UInt8]? {
        let bytes = Array(text.utf8)
        return Base64.decodeStandard(bytes.span)
    }

    static func lenient(_ text: String, spacesAsPlus: Bool = false) throws -> [UInt8] {
        try Base64.decodeLeniently(Array(text.utf8).span, spacesAsPlus: spacesAsPlus)
    }

    @Test("Every length of input, strict and lenient, agrees with Foundation")
    func agreesWithFoundation() throws {
        var generator = SeededGenerator(seed: 7)
        for count in 1..<200 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let text = Data(bytes).base64EncodedString()
            #expect(try Self.strict(text) == bytes)
            #expect(try Self.lenient(text) == bytes)
        }
    }

    @Test("Every length of output agrees with Foundation, also of a part and of a collection")
    func encoding() {
        var generator = SeededGenerator(seed: 8)
        for count in 0..<200 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let text = Data(bytes).base64EncodedString()
            #expect(Base64.encode(bytes) == text)
            #expect(Base64.encode(([0] + bytes)[1...]) == text)
            #expect(Base64.encode(Data(bytes)) == text)
        }
    }

    @Test("Strict: one wrong byte anywhere is refused at its offset", arguments: [4, 8, 12, 64])
    func strictRefusesEveryByte(count: Int) {
        let good = Array(repeating: UInt8(ascii: "Q"), count: count)
        let digits = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        for position in 0..<count {
            for byte in UInt8.min...UInt8.max where !digits.contains(byte) {
                // At the very end one or two = are padding.
                if byte == UInt8(ascii: "="), position == count - 1 { continue }
                var text = good
                text[position] = byte
                do {
                    _ = try Base64.decodeStrictly(text.span)
                    Issue.record("byte \(byte) was accepted at \(position) of \(count)")
                    return
                } catch {
                    guard error.offset == position else {
                        Issue.record("byte \(byte) at \(position) of \(count): \(error.offset), \(error.detail)")
                        return
                    }
                }
            }
        }
    }

    @Test("Strict: every digit has its value")
    func strictDigits() throws {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        for (value, digit) in alphabet.enumerated() {
            for position in 0..<4 {
                var text = Array("AAAA".utf8)
                text[position] = digit
                let bits = value << (18 - 6 * position)
                #expect(
                    try Base64.decodeStrictly(text.span)
                        == [UInt8(bits >> 16), UInt8(bits >> 8 & 0xFF), UInt8(bits & 0xFF)])
            }
        }
    }

    @Test(
        "Strict refuses what Apple's endpoint refuses: white space, URL-safe alphabet, missing padding",
        arguments: [
            "QUJD\n", "\nQUJD", "QUJD\nQUJD", "QUJD QUJ", "QUJDQUJ\n", "QU JD===", "QUJ", "QU", "Q", "QUJDQ", "QUJDQU",
            "QUJDQQ=", "QU-_", "QUI=QUI=", "Q===", "====", "=", "QU=D", "QQ=A", "QUJD====", "QUJD=", "QUJD\\/AA",
            "\u{FEFF}QUJD", "QUJD\0\0\0\0",
        ])
    func strictRefusals(text: String) {
        #expect(throws: Base64.Failure.self) { try Self.strict(text) }
    }

    @Test("Strict tolerates non-zero trailing bits only, as Apple's endpoint does")
    func trailingBits() throws {
        #expect(try Self.strict("QQ==") == [0x41])
        #expect(try Self.strict("QR==") == [0x41])
        #expect(try Self.strict("Qf==") == [0x41])
        #expect(try Self.strict("QUI=") == [0x41, 0x42])
        #expect(try Self.strict("QUL=") == [0x41, 0x42])
    }

    @Test(
        "Lenient undoes what storage and transport do",
        arguments: [
            "QUJDREX/+w==", "QUJDREX/+w", "QUJDREX_-w", "QUJDREX_-w==", "QUJDREX\\/+w==", " QUJD REX/ +w== ",
            "QUJD\nREX/\r\n+w==\n", "QUJD\\nREX/+w==", "QUJD\\r\\nREX/+w==\\n", "Q\tU\u{B}J\u{C}DREX/+w= =",
            "QUJDREX_+w", "QUJDREX/-w==",
        ])
    func lenient(text: String) throws {
        #expect(try Self.lenient(text) == [0x41, 0x42, 0x43, 0x44, 0x45, 0xFF, 0xFB])
    }

    @Test("Lenient at line breaks after every number of digits", arguments: 1...80)
    func lenientLines(width: Int) throws {
        let bytes = (0..<300).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        let text = Array(Data(bytes).base64EncodedString())
        let lines = stride(from: 0, to: text.count, by: width).map { String(text[$0..<min($0 + width, text.count)]) }
        #expect(try Self.lenient(lines.joined(separator: "\n")) == bytes)
        #expect(try Self.lenient(lines.joined(separator: "\r\n") + "\r\n") == bytes)
        #expect(try Self.lenient(lines.joined(separator: " ")) == bytes)
    }

    @Test("Blanks as plus")
    func spacesAsPlus() throws {
        #expect(try Self.lenient("QUJDREX/ w==", spacesAsPlus: true) == [0x41, 0x42, 0x43, 0x44, 0x45, 0xFF, 0xFB])
    }

    @Test(
        "Lenient refuses what cannot be undone",
        arguments: [
            "QUJD*", "QUJD!AAA", "QUJD=QUJD", "QUJDQ", "Q", "QUJD\\x", "QUJD\\", "QUJD\0", "QUJD.QUJD", "{\"a\":1}",
            "QUJÄ", "%2B%2B",
        ])
    func lenientRefusals(text: String) {
        #expect(throws: Base64.Failure.self) { try Self.lenient(text) }
    }

    @Test("Base64url has one text for each sequence of bytes, and encoding gives it")
    func urlAgreesWithFoundation() {
        var generator = SeededGenerator(seed: 9)
        for count in 0..<200 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let standard = Data(bytes).base64EncodedString()
            let text = standard.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
            #expect(Base64.encodeURL(bytes) == text)
            #expect(Base64.decodeURL(text) == bytes)
            #expect(Self.standard(standard) == bytes)
        }
    }

    @Test(
        "Base64url refuses padding, white space, the standard alphabet, a single remaining digit and unused bits",
        arguments: ["QQ==", "QUI=", "QUJD\n", "QU JD", "QUJ+", "QUJ/", "Q", "QUJDQ", "QR", "QUJ", "QUJDQR"])
    func urlRefusals(text: String) {
        #expect(Base64.decodeURL(text) == nil)
    }

    @Test(
        "The standard alphabet of x5c refuses missing padding, white space, the URL-safe alphabet and unused bits",
        arguments: ["QQ", "QUI", "QUJD\n", "QU-_", "QR==", "QUJ=", "Q===", "====", "QUJDQ==="])
    func standardRefusals(text: String) {
        #expect(Self.standard(text) == nil)
    }

    @Test(
        "A prefix ends before the first byte that is not a digit, also within a group",
        arguments: [
            ("QUJDREVG", "ABCDEF"), ("QUJDRE", "ABCD"), ("QUJDREU", "ABCDE"), ("QUJDR", "ABC"), ("QUJD*EVG", "ABC"),
            ("QUJDRE*G", "ABCD"), ("QUJDREU=", "ABCDE"), ("QUJD\nREVG", "ABC"), ("*", ""), ("", ""),
        ])
    func prefix(text: String, bytes: String) {
        let digits = Array(text.utf8)
        #expect(Base64.decodePrefix(digits.span) == Array(bytes.utf8))
    }
}
