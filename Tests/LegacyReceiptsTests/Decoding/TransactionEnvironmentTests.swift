import LegacyReceipts
import Testing

/// The pod rule (Reference.md V7.5): the signed transaction id against the unsigned claim.
@Suite("Environment of transaction receipts")
struct TransactionEnvironmentTests {
    /// 16 digits beginning with 100 or 200 are of the sandbox, despite any claim.
    static let ids: [(id: String, isSandbox: Bool)] = [
        ("1000000283499967", true), ("2000001092134138", true), ("1000000000000000", true), ("2009999999999999", true),
        ("20000053112933", false), ("350000535213977", false), ("160000408504141", false), ("30000181531396", false),
        // 14, 15 and 18 digits are of production, with any beginning.
        ("10000002834999", false), ("100000028349996", false), ("100000028349996712", false),
        ("10000002834999671", false),
        ("200000109213413", false), ("3000000283499967", false), ("1010000283499967", false),
        ("0100000283499967", false),
        ("100000028349996x", false), ("100 000283499967", false), ("１000000283499967", false), ("1", false),
    ]

    static let claims: [(claim: String?, isProduction: Bool)] = [
        (nil, true), ("Production", true), ("PROD", true), ("Sandbox", false), ("sandbox", false), ("", false),
        ("production", false), ("Xcode", false), ("Anything", false),
    ]

    @Test(
        "Production needs the claim and the id; a contradiction is reported and never gives Production", arguments: ids)
    func rule(row: (id: String, isSandbox: Bool)) throws {
        for (claim, claimsProduction) in Self.claims {
            let inner = innerEntries.map { $0.0 == "transaction-id" ? ($0.0, row.id) : $0 }
            let outer = claim.map { [("environment", $0)] } ?? []
            let receipt = try decodeTransaction(transactionText(inner: inner, outer: outer))
            let comment: Comment = "\(row.id) with claim \(claim ?? "none")"
            #expect(receipt.hasSandboxTransactionId == row.isSandbox, comment)
            #expect(receipt.environment == (claimsProduction && !row.isSandbox ? .production : .sandbox), comment)
            #expect(receipt.hasEnvironmentContradiction == (claimsProduction == row.isSandbox), comment)
            #expect(LegacyReceipt.transaction(receipt).environment == receipt.environment, comment)
        }
    }

    @Test("Of a repeated claim the safer one must not be hidden by a later one")
    func repeatedClaim() throws {
        let outer = [("environment", "Sandbox"), ("environment", "Production")]
        let receipt = try decodeTransaction(transactionText(outer: outer))
        #expect(receipt.claimedEnvironment == "Production")
        // The id is of production here, and the claim is not signed: nothing is gained by repeating it.
        #expect(!receipt.hasSandboxTransactionId)
    }

    @Test("The pod is not signed and decides nothing")
    func pod() throws {
        let sandboxId = innerEntries.map { $0.0 == "transaction-id" ? ($0.0, "1000000283499967") : $0 }
        for pod in ["2", "35", "100", ""] {
            #expect(
                try decodeTransaction(transactionText(inner: sandboxId, outer: [("pod", pod)])).environment == .sandbox)
            #expect(try decodeTransaction(transactionText(outer: [("pod", pod)])).environment == .production)
        }
    }
}
