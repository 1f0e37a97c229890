import AppStoreServer
import Foundation
import ReceiptForge
import Testing

@Suite("The signature of a JWS")
struct SignedSignatureTests {
    /// The order of P-256 (FIPS 186-5; SEC 2, 2.4.2).
    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xBC, 0xE6,
        0xFA,
        0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]

    private func refusal(_ change: (inout JWSParts) throws -> Void) async throws -> SignedDataError.Code? {
        var parts = try JWSParts(try Signed.sign(Signed.transaction()))
        try change(&parts)
        return try await Signed.refusal(of: parts.text)?.code
    }

    @Test("Each bit of the signature counts")
    func flippedSignatureBit() async throws {
        let verifier = try Signed.verifier()
        let parts = try JWSParts(try Signed.sign(Signed.transaction()))
        for bit in 0..<512 {
            var changed = parts
            changed.signatureBytes[bit / 8] ^= 1 << (bit % 8)
            #expect(try await Signed.refusal(of: changed.text, by: verifier)?.code == .signatureMismatch)
        }
    }

    @Test("Another payload under the same signature is refused")
    func swappedPayload() async throws {
        let other = try JWSParts(try Signed.sign(Signed.transaction { $0.quantity = 2 }))
        #expect(try await refusal { $0.payload = other.payload } == .signatureMismatch)
        #expect(try await refusal { $0.signature = other.signature } == .signatureMismatch)
    }

    @Test("A full stop that moves is refused")
    func movedStop() async throws {
        #expect(
            try await refusal {
                $0.header += $0.payload.prefix(4)
                $0.payload = String($0.payload.dropFirst(4))
            } != nil)
    }

    @Test(
        "The key of another leaf is refused",
        arguments: [
            TestKey.foreignSignedDataLeaf, .signedDataDeveloper, .signedDataXcode,
        ])
    func otherKey(key: TestKey) async throws {
        let jws = try Signed.authority.signedPayload(Signed.transaction()).with { $0.key = key }.text()
        #expect(try await Signed.refusal(of: jws)?.code == .signatureMismatch)
    }

    @Test("r and s have 32 bytes each, no more and no fewer", arguments: [0, 1, 32, 63, 65, 96, 128, 4_096])
    func length(count: Int) async throws {
        let code = try await refusal { parts in
            let bytes = parts.signatureBytes
            parts.signatureBytes = (0..<count).map { $0 < bytes.count ? bytes[$0] : 0 }
        }
        #expect(code == (count == 0 ? .notCompactSerialization : .signatureMismatch))
    }

    @Test("Leading zeros, DER and other values of r and s are refused")
    func malleations() async throws {
        typealias Bytes = [UInt8]
        let zero = Bytes(repeating: 0, count: 32)
        let changes: [(_ r: Bytes, _ s: Bytes) -> [Bytes]] = [
            { r, s in [[0], r, s] }, { r, s in [r, s, [0]] }, { r, s in [[0], r, [0], s] }, { r, s in [s, r] },
            { r, s in [(r + s).reversed()] }, { _, _ in [zero, zero] }, { _, s in [zero, s] }, { r, _ in [r, zero] },
            { _, _ in [Self.order, Self.order] }, { _, s in [Self.order, s] }, { r, _ in [r, Self.order] },
            { _, _ in [Bytes(repeating: 0xFF, count: 64)] }, { r, _ in [r, Bytes(repeating: 0, count: 31), [1]] },
            { r, s in [DERWriter.sequence(DERWriter.unsignedInteger(r), DERWriter.unsignedInteger(s))] },
        ]
        for change in changes {
            let code = try await refusal { parts in
                let bytes = parts.signatureBytes
                parts.signatureBytes = Array(change(Array(bytes[..<32]), Array(bytes[32...])).joined())
            }
            #expect(code == .signatureMismatch)
        }
    }

    @Test("A signature over other bytes that mean the same is refused")
    func otherInput() async throws {
        // The header's members in another order, under the signature over the first.
        let forged = Signed.authority.signedPayload(try Signed.transaction())
        let texts = Signed.authority.certificates.map { "\"\(Data($0).base64EncodedString())\"" }
        let other = ForgedSignedPayload.base64URL(
            Array("{\"x5c\":[\(texts.joined(separator: ","))],\"alg\":\"ES256\"}".utf8))
        let parts = try JWSParts(try forged.text())
        #expect(
            try await Signed.refusal(of: "\(other).\(parts.payload).\(parts.signature)")?.code == .signatureMismatch)
    }
}
