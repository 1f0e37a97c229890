import AppStoreModels
import AppStoreSandbox
import AppStoreServer
import Foundation
import LegacyReceipts
import ReceiptForge
import SQLiteTransactionStore
import Testing
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

/// The story of the issue: one legacy receipt, and the truth it is answered with as time goes by.
struct StoryTests {
    /// What the endpoint says of the newest transaction and the next renewal.
    private struct Truth: Equatable {
        var status: Int64?
        var transactionCount = 0
        var newestId: String?
        var isCancelled = false
        var offer: String?
        var autoRenewStatus: String?
        var expirationIntent: String?
        var isInBillingRetry: String?
    }

    /// Asks the endpoint, always with the same receipt.
    @inline(never)
    private func ask(_ url: String, _ receipt: String) async throws -> Truth {
        let body = Array("{\"receipt-data\": \"\(receipt)\"}".utf8)
        let (_, answer) = try await Running.fetch("POST", url, body)
        let reply = try JSONValue.parse(answer)
        let transactions = reply["latest_receipt_info"]?.array ?? []
        let newest = transactions.first
        let renewal = reply["pending_renewal_info"]?.array?.first
        return Truth(
            status: reply["status"]?.integer, transactionCount: transactions.count,
            newestId: newest?["transaction_id"]?.string, isCancelled: newest?["cancellation_date_ms"] != nil,
            offer: newest?["promotional_offer_id"]?.string ?? newest?["offer_code_ref_name"]?.string,
            autoRenewStatus: renewal?["auto_renew_status"]?.string,
            expirationIntent: renewal?["expiration_intent"]?.string,
            isInBillingRetry: renewal?["is_in_billing_retry_period"]?.string)
    }

    /// A sandbox, and an endpoint with a store that believes it.
    @inline(never)
    private func playing(
        _ body: @Sendable (RunningSandbox, Receiver, StorySeam, _ endpoint: String) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "story-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try SQLiteTransactionStore.open(path: folder.appending(path: "store.sqlite").path)
        let seam = StorySeam(checking: try Checking(), store: store)
        let root = try TestCertificateAuthority.rootDER
        try await Receiver.run { receiver, url in
            let setup = RunningSandbox.Setup(change: { $0.notificationURL = url })
            try await RunningSandbox.run(setup) { sandbox in
                var configuration = VerifyReceiptServerConfiguration(
                    endpoint: EndpointConfiguration(trust: TrustPolicy(additionalRoots: [root])))
                configuration.listeners = [.init(port: 0)]
                configuration.admin = nil
                let initial = configuration
                let make: (@escaping @Sendable (Int) -> Void) throws -> VerifyReceiptServer = { listening in
                    try VerifyReceiptServer(
                        configuration: initial, store: store, logger: Running.logger,
                        onListening: { listening($0.ports[0]) })
                }
                try await Running.service(make) { port in
                    try await body(sandbox, receiver, seam, "http://127.0.0.1:\(port)/sandbox/verifyReceipt")
                }
            }
        }
        try await store.close()
    }

    /// Hands on what was told since the last time.
    @inline(never)
    private func handOn(_ receiver: Receiver, _ count: inout Int, _ seam: StorySeam) async throws {
        let payloads = receiver.signedPayloads
        for payload in payloads[count...] { try await seam.takeNotification(payload) }
        count = payloads.count
    }

    @Test(
        "The same old receipt gets the new truth after renewal, billing retry, recovery, refund and a resubscription with an offer, by notification"
    )
    func byNotification() async throws {
        try await playing { sandbox, receiver, seam, endpoint in
            var told = 0
            let bought = try await sandbox.buy(Sold.basic)
            let receipt = try #require(try await sandbox.call("GET", "customers/ada/receipt")["receipt-data"]?.string)
            try await handOn(receiver, &told, seam)
            let first = try await ask(endpoint, receipt)
            #expect(first == Truth(status: 0, transactionCount: 1, newestId: bought, autoRenewStatus: "1"))

            let renewed = try await sandbox.post("subscriptions/\(bought)/renew")["transactionId"]?.string
            try await handOn(receiver, &told, seam)
            let second = try await ask(endpoint, receipt)
            #expect(second == Truth(status: 0, transactionCount: 2, newestId: renewed, autoRenewStatus: "1"))

            try await sandbox.post("subscriptions/\(bought)/fail-billing")
            try await sandbox.post("subscriptions/\(bought)/renew")
            try await handOn(receiver, &told, seam)
            let third = try await ask(endpoint, receipt)
            #expect(
                third
                    == Truth(
                        status: 0, transactionCount: 2, newestId: renewed, autoRenewStatus: "1", expirationIntent: "2",
                        isInBillingRetry: "1"))

            let recovered = try await sandbox.post("subscriptions/\(bought)/recover-billing")["transactionId"]?.string
            try await handOn(receiver, &told, seam)
            let fourth = try await ask(endpoint, receipt)
            #expect(fourth.newestId == recovered && fourth.transactionCount == 3 && fourth.isInBillingRetry != "1")

            try await sandbox.post("transactions/\(recovered ?? "")/refund")
            try await handOn(receiver, &told, seam)
            let fifth = try await ask(endpoint, receipt)
            #expect(fifth.isCancelled && fifth.newestId == recovered && fifth.autoRenewStatus == "0")

            let again = try await sandbox.post(
                "purchases",
                "{\"customer\": \"ada\", \"productId\": \"\(Sold.basic)\", "
                    + "\"offer\": {\"type\": \"offer-code\", \"identifier\": \"SPRING\"}}")["transactionId"]?.string
            try await handOn(receiver, &told, seam)
            let sixth = try await ask(endpoint, receipt)
            #expect(
                sixth
                    == Truth(
                        status: 0, transactionCount: 4, newestId: again, offer: "SPRING", autoRenewStatus: "1"))
        }
    }

    @Test("Where notifications were missed, a call of the API brings the truth")
    func byCall() async throws {
        try await playing { sandbox, receiver, seam, endpoint in
            try await sandbox.call("PUT", "notifications/url", "{}")
            let bought = try await sandbox.buy(Sold.basic)
            let receipt = try #require(try await sandbox.call("GET", "customers/ada/receipt")["receipt-data"]?.string)
            let renewed = try await sandbox.post("subscriptions/\(bought)/renew")["transactionId"]?.string
            try await sandbox.post("subscriptions/\(bought)/cancel")
            let old = try await ask(endpoint, receipt)
            #expect(old == Truth(status: 0, transactionCount: 1, newestId: bought))
            #expect(receiver.bodies.isEmpty)

            try await seam.ask(try sandbox.client(), about: bought)
            let new = try await ask(endpoint, receipt)
            #expect(new == Truth(status: 0, transactionCount: 2, newestId: renewed, autoRenewStatus: "0"))
        }
    }
}
