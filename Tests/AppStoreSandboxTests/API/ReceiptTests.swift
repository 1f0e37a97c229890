import AppStoreModels
import AppStoreSandbox
import Foundation
import LegacyReceipts
import ReceiptForge
import Testing

struct ReceiptTests {
    private func verifier() throws -> ReceiptVerifier { try ReceiptVerifier(trust: sandboxTrust()) }

    private func bytes(_ answer: JSONObject) throws -> [UInt8] {
        let text = try #require(answer["receipt-data"]?.string)
        return Array(try #require(Data(base64Encoded: text)))
    }

    @Test("The app receipt is genuine under the printed root, and contains all but finished consumables")
    func appReceipt() async throws {
        try await RunningSandbox.run { sandbox in
            let basic = try await sandbox.buy(Sold.basic)
            let finished = try await sandbox.buy(Sold.coins)
            let coins = try await sandbox.buy(Sold.coins)
            try await sandbox.post("transactions/\(finished)/finish")
            try await sandbox.post("transactions/\(coins)/refund")
            let receipt = try bytes(try await sandbox.call("GET", "customers/ada/receipt"))
            let app = try verifier().verifyAppReceipt(receipt).payload
            #expect(app.bundleId == "com.example.app" && app.receiptType == .productionSandbox)
            #expect(Set(app.inAppPurchases.compactMap { $0.transactionId }) == [basic, coins])
            let refunded = app.inAppPurchases.first { $0.transactionId == coins }
            #expect(refunded?.cancellationDate != nil)
        }
    }

    @Test("After an upgrade the old period has the upgrade's date in attribute 1712, as Apple's receipts have")
    func upgrade() async throws {
        try await RunningSandbox.run { sandbox in
            let basic = try await sandbox.buy(Sold.basic)
            try await sandbox.post("clock", "{\"advance\": 60000}")
            let changed = try await sandbox.post(
                "subscriptions/\(basic)/change", "{\"productId\": \"\(Sold.premium)\"}")
            let premium = try #require(changed["transactionId"]?.string)
            let receipt = try bytes(try await sandbox.call("GET", "customers/ada/receipt"))
            let purchases = try verifier().verifyAppReceipt(receipt).payload.inAppPurchases
            let old = try #require(purchases.first { $0.transactionId == basic })
            let new = try #require(purchases.first { $0.transactionId == premium })
            #expect(old.cancellationDate != nil && old.cancellationDate == new.purchaseDate)
            #expect(new.cancellationDate == nil)
            let single = try bytes(try await sandbox.call("GET", "transactions/\(basic)/receipt"))
            #expect(try verifier().verifyTransactionReceipt(single).payload.cancellationDate != nil)
        }
    }

    @Test(
        "The app transaction states the same download as the receipt",
        arguments: [AppStoreModels.Environment.sandbox, .production])
    func download(environment: AppStoreModels.Environment) async throws {
        let setup = RunningSandbox.Setup(change: { $0.sandbox.environment = environment })
        try await RunningSandbox.run(setup) { sandbox in
            _ = try await sandbox.buy(Sold.coins)
            let app = try verifier().verifyAppReceipt(
                try bytes(try await sandbox.call("GET", "customers/ada/receipt"))
            ).payload
            let jws = try await sandbox.call("GET", "customers/ada")["signedAppTransactionInfo"]?.string
            let payload = try #require(jws?.split(separator: ".").dropFirst().first)
            let download = try JSONValue.parse(try #require(base64URL(String(payload))))
            // Receipts have whole seconds.
            let date = try #require(download["originalPurchaseDate"]?.integer) / 1_000 * 1_000
            #expect(date == app.originalPurchaseDate)
            #expect(download["originalApplicationVersion"]?.string == app.originalApplicationVersion)
            if environment == .sandbox { #expect(date == 1_375_340_400_000) }
        }
    }

    private func base64URL(_ text: String) -> [UInt8]? {
        let standard = text.replacing("-", with: "+").replacing("_", with: "/")
        let padded = standard + String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
        return Data(base64Encoded: padded).map { Array($0) }
    }

    @Test("The receipt of iOS 6 is genuine with the printed intermediate")
    func transactionReceipt() async throws {
        try await RunningSandbox.run { sandbox in
            let basic = try await sandbox.buy(Sold.basic)
            let receipt = try bytes(try await sandbox.call("GET", "transactions/\(basic)/receipt"))
            let transaction = try verifier().verifyTransactionReceipt(receipt).payload
            #expect(transaction.transactionId == basic && transaction.productId == Sold.basic)
        }
    }
}
