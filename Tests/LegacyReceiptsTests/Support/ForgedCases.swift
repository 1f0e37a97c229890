import LegacyReceipts
import ReceiptForge
import Testing

/// The forge's catalog, forged once.
enum ForgedCases {
    static func all() throws -> [ForgedCase] { try result.get() }
    private static let result = Result { try ForgedCase.all(largePurchaseCount: 2000) }

    /// Those that are quickly verified many times.
    static var small: [ForgedCase] { get throws { try all().filter { !$0.isLarge && $0.bytes.count < 200_000 } } }

    /// A verifier that trusts the test authority in the way the catalog's expectations assume.
    static func verifier(_ change: (inout TrustPolicy) -> Void = { _ in }) throws -> ReceiptVerifier {
        var policy = TrustPolicy(
            roots: [Fingerprint(of: try TestCertificateAuthority.rootDER)],
            additionalRoots: [try TestCertificateAuthority.rootDER],
            transactionReceiptLeaves: Set(
                try TestCertificateAuthority.transactionReceiptLeavesDER.map { Fingerprint(of: $0) }))
        change(&policy)
        return try ReceiptVerifier(trust: policy)
    }
}
