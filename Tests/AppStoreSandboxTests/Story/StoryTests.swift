import AppStoreModels
import AppStoreSandbox
import AppStoreServer
import AppStoreSync
import Foundation
import LegacyReceipts
import ReceiptForge
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

/// The story of the issue: one legacy receipt, and the truth it is answered with as time goes by.
struct StoryTests {
    /// What the endpoint says of the newest transaction and the next renewal.
    struct Truth: Equatable {
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
    func ask(_ url: String, _ receipt: String) async throws -> Truth {
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

    /// A sandbox, and an endpoint with a store that trusts its root.
    ///
    /// - Parameters:
    ///   - change: how the endpoint gets events; it has the address of the sandbox.
    ///   - clock: the endpoint's time; the machine's if nil.
    ///   - body: the story.
    @inline(never)
    func playing(
        _ change: @Sendable (inout VerifyReceiptServerConfiguration, _ sandbox: String) throws -> Void = { _, _ in },
        clock: (@Sendable () -> Int64)? = nil,
        _ body: @Sendable (RunningSandbox, any TransactionStore, _ endpoint: String) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        try await RunningSandbox.run { sandbox in
            var configuration = VerifyReceiptServerConfiguration(
                endpoint: EndpointConfiguration(
                    apps: [AppConfiguration(bundleId: "com.example.app")],
                    trust: TrustPolicy(additionalRoots: [try TestCertificateAuthority.rootDER])))
            configuration.listeners = [.init(port: 0)]
            configuration.admin = nil
            configuration.timeouts.drain = .zero
            configuration.endpoint.learningLimit = .seconds(60)
            configuration.timeouts.store = .seconds(60)
            configuration.signedDataTrust = SignedDataTrust(
                additionalRoots: [TestSignedDataAuthority.standard.rootCertificate])
            try change(&configuration, sandbox.url)
            let initial = configuration
            let make: (@escaping @Sendable (Int) -> Void) throws -> VerifyReceiptServer = { listening in
                try VerifyReceiptServer(
                    configuration: initial, store: store, logger: Running.logger, clock: clock,
                    onListening: { listening($0.ports[0]) })
            }
            try await Running.service(make) { port in try await body(sandbox, store, "http://127.0.0.1:\(port)") }
        }
        try await store.close()
    }

    /// The endpoint queries the sandbox's API.
    func asking(
        _ freshness: Freshness
    ) throws -> @Sendable (inout VerifyReceiptServerConfiguration, String) -> Void {
        let key = try DeveloperKey.signing()
        return { configuration, url in
            configuration.endpoint.freshness = freshness
            // Other tests keep the processor busy.
            configuration.timeouts.appStore = .seconds(60)
            configuration.appStore = [
                AppStoreCredentials(bundleID: "com.example.app", key: key, sandboxURL: url)
            ]
        }
    }

    /// Renewal, billing retry, recovery, refund and a resubscription with an offer, each time with the same old receipt.
    @inline(never)
    private func sixSteps(_ sandbox: RunningSandbox, _ endpoint: String) async throws {
        let bought = try await sandbox.buy(Sold.basic)
        let receipt = try #require(try await sandbox.call("GET", "customers/ada/receipt")["receipt-data"]?.string)
        let first = try await ask(endpoint, receipt)
        #expect(first == Truth(status: 0, transactionCount: 1, newestId: bought, autoRenewStatus: "1"))

        let renewed = try await sandbox.post("subscriptions/\(bought)/renew")["transactionId"]?.string
        let second = try await ask(endpoint, receipt)
        #expect(second == Truth(status: 0, transactionCount: 2, newestId: renewed, autoRenewStatus: "1"))

        try await sandbox.post("subscriptions/\(bought)/fail-billing")
        try await sandbox.post("subscriptions/\(bought)/renew")
        let third = try await ask(endpoint, receipt)
        #expect(
            third
                == Truth(
                    status: 0, transactionCount: 2, newestId: renewed, autoRenewStatus: "1", expirationIntent: "2",
                    isInBillingRetry: "1"))

        let recovered = try await sandbox.post("subscriptions/\(bought)/recover-billing")["transactionId"]?.string
        let fourth = try await ask(endpoint, receipt)
        #expect(fourth.newestId == recovered && fourth.transactionCount == 3 && fourth.isInBillingRetry != "1")

        try await sandbox.post("transactions/\(recovered ?? "")/refund")
        let fifth = try await ask(endpoint, receipt)
        #expect(fifth.isCancelled && fifth.newestId == recovered && fifth.autoRenewStatus == "0")

        let again = try await sandbox.post(
            "purchases",
            "{\"customer\": \"ada\", \"productId\": \"\(Sold.basic)\", "
                + "\"offer\": {\"type\": \"offer-code\", \"identifier\": \"SPRING\"}}")["transactionId"]?.string
        let sixth = try await ask(endpoint, receipt)
        #expect(
            sixth
                == Truth(
                    status: 0, transactionCount: 4, newestId: again, offer: "SPRING", autoRenewStatus: "1"))
    }

    @Test(
        "The same old receipt gets the new truth after renewal, billing retry, recovery, refund and a resubscription with an offer, by notification"
    )
    func byNotification() async throws {
        try await playing { sandbox, _, server in
            try await sandbox.call("PUT", "notifications/url", "{\"url\": \"\(server)/notifications/v2\"}")
            try await sixSteps(sandbox, server + "/sandbox/verifyReceipt")
        }
    }

    @Test("The same, where all notifications were missed, by calls of the API")
    func byCall() async throws {
        try await playing(asking(Freshness(source: .appStore, maximumAge: 0, isRequired: true))) { sandbox, _, server in
            try await sixSteps(sandbox, server + "/sandbox/verifyReceipt")
        }
    }

    @Test("If notifications were missed, an API call shows that the customer cancelled")
    func cancellationByCall() async throws {
        try await playing(asking(Freshness(source: .appStore, maximumAge: 0))) { sandbox, _, server in
            let endpoint = server + "/sandbox/verifyReceipt"
            let bought = try await sandbox.buy(Sold.basic)
            let receipt = try #require(try await sandbox.call("GET", "customers/ada/receipt")["receipt-data"]?.string)
            let first = try await ask(endpoint, receipt)
            #expect(first == Truth(status: 0, transactionCount: 1, newestId: bought, autoRenewStatus: "1"))
            let renewed = try await sandbox.post("subscriptions/\(bought)/renew")["transactionId"]?.string
            try await sandbox.post("subscriptions/\(bought)/cancel")
            let second = try await ask(endpoint, receipt)
            #expect(second == Truth(status: 0, transactionCount: 2, newestId: renewed, autoRenewStatus: "0"))
        }
    }

    @Test("Without notifications and queries, the reply to the old receipt stays the same")
    func withoutNotifications() async throws {
        try await playing { sandbox, _, server in
            let bought = try await sandbox.buy(Sold.basic)
            let receipt = try #require(try await sandbox.call("GET", "customers/ada/receipt")["receipt-data"]?.string)
            try await sandbox.post("subscriptions/\(bought)/renew")
            let old = try await ask(server + "/sandbox/verifyReceipt", receipt)
            #expect(old == Truth(status: 0, transactionCount: 1, newestId: bought))
        }
    }

    @Test("Customers of a store and bare ids are completed, once, and unknown ids are counted")
    func enrichment() async throws {
        try await playing { sandbox, store, server in
            let bought = try await sandbox.buy(Sold.basic)
            let other = try await sandbox.buy(Sold.basic, by: "grace")
            let receipt = try #require(try await sandbox.call("GET", "customers/ada/receipt")["receipt-data"]?.string)
            try await sandbox.post("subscriptions/\(bought)/renew")
            _ = try await ask(server + "/sandbox/verifyReceipt", receipt)
            let reader = CustomerHistoryReader(
                client: try sandbox.client(),
                verifier: try SignedDataVerifier(
                    trust: SignedDataTrust(additionalRoots: [TestSignedDataAuthority.standard.rootCertificate])),
                bundleID: "com.example.app", clock: { 0 })
            let directory = try #require(store as? any CompleteTransactionStore)
            let enrichment = CustomerEnrichment(apps: [.init(reader)], store: directory)
            let first = try await enrichment.completeCustomers(of: directory)
            #expect(first.seen == 1 && first.completed == 1 && first.failed == 0 && first.changedFacts > 0)
            let second = try await enrichment.completeCustomers(of: directory)
            #expect(second.seen == 1 && second.known == 1 && second.changedFacts == 0)
            let bare = try await enrichment.complete(ids: [other, "2000000000000077"])
            #expect(bare.completed == 1 && bare.unknown == 1 && bare.failed == 0)
            #expect(try await store.counts().customers == 2)
            let new = try await ask(server + "/sandbox/verifyReceipt", receipt)
            #expect(new.transactionCount == 2)
        }
    }
}
