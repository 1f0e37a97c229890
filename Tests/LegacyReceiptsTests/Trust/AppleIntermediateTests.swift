import LegacyReceipts
import Testing

/// The leaves of real app receipts also sign transaction receipts, which contain no intermediate (Reference.md V7.5).
@Suite("Apple's intermediates", .enabled(if: RealReceipts.arePresent))
struct AppleIntermediateTests {
    private static let genuine = RealReceipts.entries(of: "production", "sandbox")

    /// A transaction receipt with an invalid leaf and signature.
    private func receipt(leaf: [UInt8], version: UInt8, at time: Int64) -> [UInt8] {
        let length = [leaf.count >> 24, leaf.count >> 16, leaf.count >> 8, leaf.count]
            .map { UInt8(truncatingIfNeeded: $0) }
        let signature = [UInt8](repeating: 1, count: version == 2 ? 128 : 256)
        let inner = innerEntries.map { $0.0 == "purchase-date-ms" ? ($0.0, String(time)) : $0 }
        return Array(transactionText(inner: inner, signature: [version] + signature + length + leaf).utf8)
    }

    @Test("A leaf of a real receipt needs neither a pin nor an intermediate from the caller", arguments: genuine)
    func leaves(entry: RealReceipts.Entry) throws {
        let evidence = try ReceiptVerifier().verify(stored: RealReceipts.text(entry)).evidence
        let leaf = try #require(evidence.path.first)
        let version: UInt8 = evidence.digestAlgorithm == .sha256 ? 4 : 3
        let bytes = receipt(leaf: leaf, version: version, at: evidence.validationTime)
        let unpinned = try ReceiptVerifier(trust: TrustPolicy(transactionReceiptLeaves: []))
        // Only the signature is wrong, so the leaf was trusted.
        expectRefusal(.signatureMismatch) { try unpinned.verifyTransactionReceipt(bytes) }
        let late = receipt(leaf: leaf, version: version, at: 2_000_000_000_000)
        expectRefusal(.certificateExpired) { try unpinned.verifyTransactionReceipt(late) }
        // Receipts of version 2 have another authority.
        let two = receipt(leaf: leaf, version: 2, at: evidence.validationTime)
        expectRefusal(.missingLeafMarker) { try unpinned.verifyTransactionReceipt(two) }
    }

    @Test("An intermediate whose fingerprint the policy does not list is not trusted", arguments: genuine)
    func policy(entry: RealReceipts.Entry) throws {
        let evidence = try ReceiptVerifier().verify(stored: RealReceipts.text(entry)).evidence
        let leaf = try #require(evidence.path.first)
        let bytes = receipt(leaf: leaf, version: 4, at: evidence.validationTime)
        let distrusting = try ReceiptVerifier(
            trust: TrustPolicy(transactionReceiptLeaves: [], transactionReceiptIntermediates: []))
        expectRefusal(.untrustedLeaf) { try distrusting.verifyTransactionReceipt(bytes) }
    }
}
