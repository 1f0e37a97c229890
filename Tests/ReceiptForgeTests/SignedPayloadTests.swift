import Foundation
import ReceiptForge
import Testing

@Suite("The test authority of signed data")
struct SignedPayloadTests {
    /// The content of a certificate without its signature: the first element of the outer SEQUENCE, at most 64 kB long.
    private func toBeSigned(_ der: [UInt8]) -> [UInt8] {
        let length = Int(der[6]) << 8 | Int(der[7])
        return Array(der[4..<(8 + length)])
    }

    @Test("The fixed certificates say what the descriptions say")
    func fixedCertificates() throws {
        let fixed = TestSignedDataAuthority.standard
        let anew = try TestSignedDataAuthority.issued { _, _, _ in }
        for (fixed, anew) in [
            (fixed.root, anew.root), (fixed.intermediate, anew.intermediate), (fixed.leaf, anew.leaf),
        ] {
            #expect(toBeSigned(fixed.der) == toBeSigned(anew.der))
            #expect(fixed.subject == anew.subject && fixed.issuer == anew.issuer && fixed.key == anew.key)
        }
        #expect(fixed.rootCertificate == fixed.certificates[2])
    }

    @Test("OpenSSL finds the path from leaf to root", .enabled(if: OpenSSL.isAvailable))
    func openSSLVerifies() throws {
        let authority = TestSignedDataAuthority.standard
        for (leaf, isGood) in [
            (authority.leaf, true), (try TestSignedDataAuthority.foreign(impostor: true).leaf, false),
        ] {
            let files = [leaf, authority.intermediate, authority.root].map { Array(OpenSSL.pem($0.der).utf8) }
            let outcome = try OpenSSL.withFiles(files) { files in
                try OpenSSL.run([
                    "verify", "-x509_strict", "-attime", "1748736000", "-CAfile", files[2], "-untrusted", files[1],
                    files[0],
                ])
            }
            #expect((outcome.status == 0) == isGood, "\(outcome.output)")
        }
    }

    @Test("A payload keeps its bytes, and the header has alg and x5c of three")
    func form() throws {
        let payload = Array("{\"ä\":1}".utf8)
        let parts = try TestSignedDataAuthority.standard.sign(payload: payload).split(separator: ".")
        #expect(parts.count == 3)
        #expect(String(parts[1]) == ForgedSignedPayload.base64URL(payload))
        let header = TestSignedDataAuthority.standard.signedPayload(payload).headerBytes
        let object = try JSONSerialization.jsonObject(with: Data(header)) as? [String: Any]
        #expect(object?["alg"] as? String == "ES256" && (object?["x5c"] as? [String])?.count == 3)
    }

    @Test("Errors of the forge are equal if they are of the same kind")
    func equalErrors() {
        let all: [ForgeError] = [.unknownKey("a"), .unknownKey("b"), .badDescription("a")]
        #expect(all[0] == all[1] && all[0] != all[2] && Set(all).count == 2)
    }

    @Test("Only a key for P-256 signs")
    func wrongKey() throws {
        let forged = TestSignedDataAuthority.standard.signedPayload([0x7B, 0x7D])
        for key in [TestKey.signedDataRootCA, .rootCA] {
            #expect(throws: ForgeError.self) { try forged.with { $0.key = key }.text() }
        }
    }
}
