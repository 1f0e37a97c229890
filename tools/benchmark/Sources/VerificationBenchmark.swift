import Crypto
import CryptoExtras
import LegacyReceipts
import ReceiptForge

/// Verifying and decoding, compared with the floor: one RSA-2048 verification plus the digest of the content.
struct VerificationBenchmark {
    func run() throws {
        let verifier = try ReceiptVerifier(
            trust: TrustPolicy(additionalRoots: [TestCertificateAuthority.shared().root.der]))
        try measure("2 purchases", receipt: ForgedAppReceipt.bulk(1), verifier, calls: 2000)
        try measure("200 purchases", receipt: ForgedAppReceipt.bulk(1, purchases: 200), verifier, calls: 200)
    }

    private func measure(
        _ label: String, receipt: ForgedAppReceipt, _ verifier: ReceiptVerifier, calls: Int
    ) throws {
        let message = try receipt.signedData(.g5)
        let bytes = try message.encoded()
        let floor = try Self.floor(content: message.content, calls: calls)
        let verified = try Clock.microseconds(calls: calls) { _ = try verifier.verifyAppReceipt(bytes) }
        let decoded = try Clock.microseconds(calls: calls) {
            _ = try ReceiptDecoder().decode(try ReceiptContainer(stored: bytes))
        }
        Figure(name: "floor, \(label), \(message.content.count) bytes of content", value: floor, unit: "µs").report()
        Figure(
            name: "verify and decode, \(label), \(bytes.count) bytes", value: verified, unit: "µs", reference: "floor",
            ratio: verified / floor
        ).report()
        Figure(
            name: "decode only, \(label)", value: decoded, unit: "µs", reference: "floor", ratio: decoded / floor
        ).report()
    }

    /// Microseconds for one receipt. Uses the same key size, digest and library as the verifier.
    static func floor(content: [UInt8], calls: Int) throws -> Double {
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let signature = try key.signature(for: SHA256.hash(data: content), padding: .insecurePKCS1v1_5)
        let publicKey = key.publicKey
        return Clock.microseconds(calls: calls) {
            let isValid = publicKey.isValidSignature(
                signature, for: SHA256.hash(data: content), padding: .insecurePKCS1v1_5)
            precondition(isValid)
        }
    }
}

/// Time per purchase in receipts of up to a hundred times the size. With linear work, it stays constant.
struct LinearityBenchmark {
    func run() throws {
        let limits = DecodingLimits(maximumSize: 256 << 20, maximumAttributes: 10_000_000)
        let trust = try TrustPolicy(additionalRoots: [TestCertificateAuthority.shared().root.der])
        let verifier = try ReceiptVerifier(trust: trust, limits: limits)
        var first: Double?
        for count in [1000, 10_000, 100_000] {
            let bytes = try ForgedAppReceipt.bulk(1, purchases: count).signedData(.g5).encoded()
            let time = try Clock.microseconds(calls: 1, rounds: 5) { _ = try verifier.verifyAppReceipt(bytes) }
            let perPurchase = time / Double(count)
            Figure(
                name: "verify and decode, \(count) purchases, per purchase", value: perPurchase, unit: "µs",
                reference: first == nil ? nil : "1000 purchases", ratio: first.map { perPurchase / $0 }
            ).report()
            first = first ?? perPurchase
        }
    }
}
