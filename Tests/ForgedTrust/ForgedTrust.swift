package import LegacyReceipts
import ReceiptForge

/// Trust in the test authority of `ReceiptForge` and in no other root.
///
/// Never inlined: the optimizer of Swift 6.3.1 crashes on async tests that it is inlined into.
@inline(never)
package func forgedTrust(_ change: (inout TrustPolicy) -> Void = { _ in }) throws -> TrustPolicy {
    var policy = TrustPolicy(
        roots: [], additionalRoots: [try TestCertificateAuthority.rootDER],
        additionalIntermediates: [
            try TestCertificateAuthority.iTunesStoreIntermediateDER,
            try TestCertificateAuthority.version3IntermediateDER,
            try TestCertificateAuthority.version4IntermediateDER,
        ],
        transactionReceiptLeaves: [], transactionReceiptIntermediates: [])
    change(&policy)
    return policy
}
