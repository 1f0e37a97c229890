import AppStoreModels
import Foundation
import LegacyReceipts
import Migration
import Purchases
import SQLiteTransactionStore
import Synchronization
import TestSupport
import Testing

@Suite struct SampleTests {
    /// 2024-03-16T00:00:00Z, a day after the forged receipt.
    static let dayAfter: Int64 = 1_710_547_200_000

    @Test func readmeSampleTrustsOnlyApple() throws {
        let receipt = try forged()
        #expect(throws: ReceiptError.self) { try transactions(in: receipt) }
    }

    @Test func verifyingSampleFindsThePurchase() throws {
        let verifier = try testVerifier()
        #expect(try isBought("com.example.orchard.tree", in: forged(), verifier: verifier))
        #expect(try !isBought("com.example.orchard.apple", in: forged(), verifier: verifier))
    }

    @Test func statusSampleDistinguishesTheThreeAnswers() throws {
        let verifier = try testVerifier()
        #expect(status(of: try forged(), verifier: verifier) == 0)
        #expect(status(of: try forged(), verifier: ReceiptVerifier()) == 21003)
        #expect(status(of: try forgedWithSwappedPayload(), verifier: verifier) == 21003)
        #expect(status(of: Array("Zm9vYmFy".utf8), verifier: verifier) == 21002)
    }

    @Test func grantingAndReportingSamplesRun() throws {
        let verifier = try testVerifier()
        let receipt = try verifier.verifyAppReceipt(ReceiptContainer(stored: forged()).bytes)
        #expect(grant(receipt, to: "ann") == ["ann: com.example.orchard.tree"])
        #expect(try report(on: forgedWithSwappedPayload(), verifier: verifier).contains { $0.contains("failed") })
    }

    @Test func mappingSamplesGiveModernTransactions() throws {
        let verifier = try testVerifier()
        let json = try modernJSON(of: forged(), verifier: verifier)
        let decoded = try json.map { try JSONDecoder().decode(JWSTransactionDecodedPayload.self, from: $0) }
        #expect(decoded.map(\.transactionId) == ["530001234500001"])
        let bytes = try ReceiptContainer(stored: forged()).bytes
        let had = entitlements(of: try verifier.verify(stored: forged()), bytes: bytes, at: Self.dayAfter)
        #expect(had.map(\.status) == [.active])
    }

    @Test func recordedSampleMapsAReply() throws {
        let reply = #"""
            {"status":0,"environment":"Production","latest_receipt_info":[{"product_id":"com.example.orchard.monthly",
            "transaction_id":"530001234567000","original_transaction_id":"530001234567000",
            "purchase_date_ms":"1710498030000","expires_date_ms":"1713176430000"}]}
            """#
        let mapping = try recorded(Array(reply.utf8), mapper: ReceiptMapper())
        #expect(mapping.transactions.map(\.standing) == [.recorded])
    }

    @Test func catalogSampleGivesThePeriodOfASubscription() throws {
        let catalog = try #require(root).appending(path: "LegacyFixtures/products.yaml").path
        #expect(try length(of: "com.example.orchard.premium.monthly", catalogs: [catalog]) == "P1M")
        #expect(try length(of: "com.example.unknown", catalogs: [catalog]) == nil)
    }

    @Test func theModelSampleReadsTheOutputOfTheMigrationSample() async throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let input = try folder.write("receipts.txt", try forged())
        let output = folder.file("migrated")
        let policy = try TrustPolicy(additionalRoots: [testRoot()])
        #expect(try await migrate([input], into: output, trust: policy, date: 1_790_000_000_000) == 0)
        let store = try SQLiteTransactionStore.open(path: output)
        #expect(try await store.counts().transactions == 1)
        try await store.close()
        let lines = Mutex("")
        _ = try await MigrationStream(options: MigrationOptions(trust: policy)).run(inputs: [input]) { bytes in
            lines.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
        }
        let transactions = lines.withLock { $0 }.split(separator: "\n").filter {
            $0.hasSuffix(#""output":"transactions"}"#)
        }
        #expect(transactions.count == 1 && transactions[0].contains("com.example.orchard.tree"))
        #expect(try activeSubscriptions(ndjson: transactions.joined(separator: "\n"), at: Self.dayAfter).isEmpty)
    }

    @Test func comparisonSampleReportsPairs() {
        let reply = Array(#"{"status":0,"receipt":{"bundle_id":"com.example.orchard","in_app":[]}}"#.utf8)
        let other = Array(#"{"status":21003}"#.utf8)
        #expect(report([(apples: reply, ours: reply)]).hasParity)
        #expect(!report([(apples: reply, ours: reply), (apples: reply, ours: other)]).hasParity)
        #expect(!report([(apples: Array("<html>".utf8), ours: reply)]).table.isEmpty)
    }
}
