import AppStoreModels
import Synchronization
import Testing
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

/// The story where the endpoint queries only after a while, and receives only some notifications.
extension StoryTests {
    /// The endpoint's time, which is the sandbox's.
    private final class Hands: Sendable {
        private let time = Mutex<Int64>(0)

        var clock: @Sendable () -> Int64 { { [self] in time.withLock { $0 } } }

        @inline(never)
        func follow(_ sandbox: RunningSandbox) async throws {
            let now = try #require(try await sandbox.call("GET", "clock")["now"]?.integer)
            time.withLock { $0 = now }
        }
    }

    private func asking(
        within maximumAge: Int64
    ) throws -> @Sendable (inout VerifyReceiptServerConfiguration, String) -> Void {
        try asking(Freshness(source: .appStore, maximumAge: maximumAge, isRequired: true))
    }

    /// Whether events until the next call are notified.
    @inline(never)
    private func notify(_ isHeard: Bool, _ sandbox: RunningSandbox, _ server: String) async throws {
        try await sandbox.call(
            "PUT", "notifications/url", isHeard ? "{\"url\": \"\(server)/notifications/v2\"}" : "{}")
    }

    @inline(never)
    private func receipt(_ customer: String, _ sandbox: RunningSandbox) async throws -> String {
        try #require(try await sandbox.call("GET", "customers/\(customer)/receipt")["receipt-data"]?.string)
    }

    @Test("A notification that arrived does not hide another one that was lost")
    func lostRenewal() async throws {
        let hands = Hands()
        try await playing(asking(within: 3_600_000), clock: hands.clock) { sandbox, _, server in
            try await notify(true, sandbox, server)
            let bought = try await sandbox.buy(Sold.basic)
            let receipt = try await receipt("ada", sandbox)
            try await notify(false, sandbox, server)
            let renewed = try await sandbox.post("subscriptions/\(bought)/renew")["transactionId"]?.string
            try await notify(true, sandbox, server)
            try await sandbox.post("transactions/\(bought)/refund")
            try await hands.follow(sandbox)
            let truth = try await ask(server + "/sandbox/verifyReceipt", receipt)
            #expect(truth.status == 0 && truth.transactionCount == 2)
            #expect(truth.newestId == renewed && !truth.isCancelled)
        }
    }

    @Test("Within the maximum age the store answers from stored facts; after it, the App Store is queried")
    func lostRefund() async throws {
        let hands = Hands()
        // A month lasts five minutes.
        try await playing(asking(within: 400_000), clock: hands.clock) { sandbox, _, server in
            let endpoint = server + "/sandbox/verifyReceipt"
            try await notify(true, sandbox, server)
            let bought = try await sandbox.buy(Sold.basic)
            let receipt = try await receipt("ada", sandbox)
            try await hands.follow(sandbox)
            let first = try await ask(endpoint, receipt)
            #expect(first == Truth(status: 0, transactionCount: 1, newestId: bought, autoRenewStatus: "1"))

            let renewed = try await sandbox.post("subscriptions/\(bought)/renew")["transactionId"]?.string
            try await notify(false, sandbox, server)
            try await sandbox.post("transactions/\(renewed ?? "")/refund")
            try await hands.follow(sandbox)
            let second = try await ask(endpoint, receipt)
            #expect(second == Truth(status: 0, transactionCount: 2, newestId: renewed, autoRenewStatus: "1"))

            try await sandbox.post("clock", "{\"advance\": 150000}")
            try await hands.follow(sandbox)
            let third = try await ask(endpoint, receipt)
            #expect(third.newestId == renewed && third.isCancelled && third.autoRenewStatus == "0")
        }
    }

    @Test("A refund of one Apple Account is not hidden by a question about another one of the same person")
    func lostRefundOfAnotherAccount() async throws {
        let hands = Hands()
        try await playing(asking(within: 60_000), clock: hands.clock) { sandbox, _, server in
            let endpoint = server + "/sandbox/verifyReceipt"
            var receipts: [String: String] = [:]
            var bought: [String: String] = [:]
            for customer in ["ada", "bob"] {
                bought[customer] = try await sandbox.post(
                    "purchases",
                    "{\"customer\": \"\(customer)\", \"productId\": \"\(Sold.basic)\", \"offer\": {\"type\": \"none\"}, "
                        + "\"appAccountToken\": \"7e3fb20b-4cdb-47cc-936d-99d65f608138\"}")["transactionId"]?.string
                receipts[customer] = try await receipt(customer, sandbox)
                try await hands.follow(sandbox)
                #expect(try await cancelled(endpoint, receipts[customer] ?? "").isEmpty)
            }
            let refunded = try #require(bought["bob"])
            try await sandbox.post("transactions/\(refunded)/refund")
            try await sandbox.post("clock", "{\"advance\": 70000}")
            try await hands.follow(sandbox)
            for customer in ["ada", "bob"] {
                #expect(try await cancelled(endpoint, receipts[customer] ?? "") == [refunded], "\(customer)")
            }
        }
    }

    /// The transactions that the endpoint shows as cancelled.
    @inline(never)
    private func cancelled(_ url: String, _ receipt: String) async throws -> [String] {
        let (_, answer) = try await Running.fetch("POST", url, Array("{\"receipt-data\": \"\(receipt)\"}".utf8))
        let reply = try JSONValue.parse(answer)
        #expect(reply["status"]?.integer == 0)
        return (reply["latest_receipt_info"]?.array ?? []).compactMap {
            $0["cancellation_date_ms"] == nil ? nil : $0["transaction_id"]?.string
        }
    }
}
