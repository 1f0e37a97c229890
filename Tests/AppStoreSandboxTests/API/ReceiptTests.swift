import AppStoreModels
import AppStoreSandbox
import Foundation
import LegacyReceipts
import ReceiptForge
import Testing

struct ReceiptTests {
    private func verifier() throws -> ReceiptVerifier {
        let roots = try SandboxRoots()
        func der(_ pem: String) -> [UInt8] {
            let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-") }
            return Data(base64Encoded: lines.joined()).map { Array($0) } ?? []
        }
        return try ReceiptVerifier(
            trust: TrustPolicy(
                // Both in one file: neither verifier minds the other's.
                additionalRoots: [der(roots.receipts), der(roots.signedData)],
                additionalIntermediates: [der(roots.transactionReceiptIntermediate)]))
    }

    private func octets(_ answer: JSONObject) throws -> [UInt8] {
        let text = try #require(answer["receipt-data"]?.string)
        return Array(try #require(Data(base64Encoded: text)))
    }

    @Test("The app receipt is genuine under the printed root, and holds all but finished consumables")
    func appReceipt() async throws {
        try await RunningSandbox.run { sandbox in
            let basic = try await sandbox.buy(Sold.basic)
            let finished = try await sandbox.buy(Sold.coins)
            let coins = try await sandbox.buy(Sold.coins)
            try await sandbox.post("transactions/\(finished)/finish")
            try await sandbox.post("transactions/\(coins)/refund")
            let receipt = try octets(try await sandbox.call("GET", "customers/ada/receipt"))
            let app = try verifier().verifyAppReceipt(receipt).payload
            #expect(app.bundleId == "com.example.app" && app.receiptType == .productionSandbox)
            #expect(Set(app.inAppPurchases.compactMap { $0.transactionId }) == [basic, coins])
            let refunded = app.inAppPurchases.first { $0.transactionId == coins }
            #expect(refunded?.cancellationDate != nil)
        }
    }

    @Test("The receipt of iOS 6 is genuine with the printed intermediate")
    func transactionReceipt() async throws {
        try await RunningSandbox.run { sandbox in
            let basic = try await sandbox.buy(Sold.basic)
            let receipt = try octets(try await sandbox.call("GET", "transactions/\(basic)/receipt"))
            let transaction = try verifier().verifyTransactionReceipt(receipt).payload
            #expect(transaction.transactionId == basic && transaction.productId == Sold.basic)
        }
    }
}
