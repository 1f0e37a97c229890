import AppStoreModels
import AppStoreSandbox
import AppStoreServer
import Testing

struct HistoryTests {
    @Test("The history comes in pages of 20 with a revision each, and a later change appears again")
    func paging() async throws {
        try await RunningSandbox.run { sandbox in
            let checking = try Checking()
            let client = try sandbox.client()
            var bought: [String] = []
            for _ in 0..<45 { bought.append(try await sandbox.buy(Sold.coins)) }
            var pages: [[String]] = []
            var revision: String?
            for try await page in client.transactionHistory(bought[3]) {
                pages.append(try await checking.ids(page.signedTransactions))
                revision = page.revision
                #expect(page.bundleId == "com.example.app" && page.environment == .sandbox && page.appAppleId == nil)
            }
            #expect(pages.map(\.count) == [20, 20, 5] && pages.flatMap { $0 } == bought)
            try await sandbox.post("transactions/\(bought[0])/refund")
            let next = try await client.getTransactionHistory(bought[0], revision: revision)
            #expect(try await checking.ids(next.signedTransactions) == [bought[0]] && next.hasMore == false)
        }
    }

    @Test("Filters of the history restrict it, and wrong ones are refused with Apple's code")
    func filters() async throws {
        try await RunningSandbox.run { sandbox in
            let checking = try Checking()
            let client = try sandbox.client()
            let coins = try await sandbox.buy(Sold.coins)
            let unlock = try await sandbox.buy(Sold.unlock)
            let basic = try await sandbox.buy(Sold.basic)
            try await sandbox.post("transactions/\(unlock)/refund")
            @Sendable func ids(_ request: TransactionHistoryRequest) async throws -> [String] {
                try await checking.ids(
                    try await client.getTransactionHistory(coins, filter: request).signedTransactions)
            }
            #expect(try await ids(.init(productIds: [Sold.coins, Sold.basic])) == [coins, basic])
            #expect(try await ids(.init(productTypes: [.autoRenewable])) == [basic])
            #expect(try await ids(.init(subscriptionGroupIdentifiers: ["21400000"])) == [basic])
            #expect(try await ids(.init(inAppOwnershipType: .familyShared)).isEmpty)
            #expect(try await ids(.init(revoked: true)) == [unlock])
            #expect(try await ids(.init(revoked: false)) == [coins, basic])
            #expect(try await ids(.init(sort: .descending)) == [unlock, basic, coins])
            #expect(try await ids(.init(endDate: 1)).isEmpty)
            let wrong: [(TransactionHistoryRequest, APIErrorCode)] = [
                (.init(startDate: 2, endDate: 2), .startDateAfterEndDate),
                (.init(productTypes: [.init(rawValue: "X")]), .invalidProductType),
                (.init(inAppOwnershipType: .init(rawValue: "X")), .invalidInAppOwnershipType),
                (.init(sort: .init(rawValue: "X")), .invalidSort),
            ]
            for (request, code) in wrong {
                #expect(
                    await apiError { _ = try await client.getTransactionHistory(coins, filter: request) }?.code == code)
            }
            let token = try await client.getTransactionHistory(coins).revision
            let other = TransactionHistoryRequest(sort: .descending)
            #expect(
                await apiError { _ = try await client.getTransactionHistory(coins, revision: token, filter: other) }?
                    .code
                    == .invalidRequestRevision)
        }
    }

    @Test(
        "Booleans count in any letter case, as Apple's clients send them; all else is refused with Apple's code",
        arguments: ["true", "True", "TRUE", "tRuE"])
    func booleans(yes: String) async throws {
        let setup = RunningSandbox.Setup(change: { $0.sandbox.key = nil })
        try await RunningSandbox.run(setup) { sandbox in
            let checking = try Checking()
            let coins = try await sandbox.buy(Sold.coins)
            let unlock = try await sandbox.buy(Sold.unlock)
            try await sandbox.post("transactions/\(unlock)/refund")
            @Sendable func ids(_ query: String) async throws -> [String] {
                let path = "\(sandbox.url)/inApps/v2/history/\(coins)?\(query)"
                let answer = try JSONValue.parse(try await Running.fetch("GET", path).body)
                return try await checking.ids(answer["signedTransactions"]?.array?.compactMap(\.string))
            }
            let no = yes == "true" ? "false" : "False"
            #expect(try await ids("revoked=\(yes)") == [unlock])
            #expect(try await ids("revoked=\(no)") == [coins])
            #expect(try await ids("excludeRevoked=\(yes)") == [coins])
            #expect(try await ids("excludeRevoked=\(no)") == [coins, unlock])
            for (query, code) in [("revoked=1", 4_000_030), ("excludeRevoked=yes", 4_000_025), ("revoked=", 4_000_030)]
            {
                let path = "\(sandbox.url)/inApps/v2/history/\(coins)?\(query)"
                let (status, body) = try await Running.fetch("GET", path)
                #expect(status == 400)
                #expect(try JSONValue.parse(body)["errorCode"]?.integer == Int64(code))
            }
        }
    }

    @Test("Version 1 leaves out finished consumables, version 2 does not")
    func version1() async throws {
        try await RunningSandbox.run { sandbox in
            let client = try sandbox.client()
            let coins = try await sandbox.buy(Sold.coins)
            try await client.finishTransaction(coins)
            #expect(try await client.getTransactionHistory(coins, version: .v1).signedTransactions == [])
            #expect(try await client.getTransactionHistory(coins).signedTransactions?.count == 1)
        }
    }

    @Test("A transaction, its subscription's status and the app's download are found by any id of the customer")
    func singles() async throws {
        try await RunningSandbox.run { sandbox in
            let checking = try Checking()
            let client = try sandbox.client()
            let basic = try await sandbox.buy(Sold.basic)
            let solo = try await sandbox.buy(Sold.solo)
            try await sandbox.post("subscriptions/\(solo)/cancel")
            let info = try await checking.transaction(try await client.getTransactionInfo(basic).signedTransactionInfo)
            #expect(info.transactionId == basic && info.productId == Sold.basic)
            let app = try await checking.appTransaction(
                try await client.getAppTransactionInfo(basic).signedAppTransactionInfo)
            let appId = try #require(app.appTransactionId)
            #expect(app.bundleId == "com.example.app" && appId == info.appTransactionId)
            let statuses = try await client.getAllSubscriptionStatuses(appId)
            #expect(statuses.data?.map(\.subscriptionGroupIdentifier) == ["21400000", "21400001"])
            let last = try #require(statuses.data?.last?.lastTransactions?.first)
            #expect(last.status == .active && last.originalTransactionId == solo)
            #expect(try await checking.renewalInfo(last.signedRenewalInfo).autoRenewStatus == .off)
            #expect(try await client.getAllSubscriptionStatuses(appId, status: [.expired]).data == [])
            #expect(
                await apiError { _ = try await client.getTransactionInfo(appId) }?.code == .appTransactionIdNotSupported
            )
            #expect(await apiError { _ = try await client.getTransactionInfo("x") }?.code == .invalidTransactionId)
            let unknown = await apiError { _ = try await client.getTransactionInfo("2000000999999999") }
            #expect(unknown?.code == .transactionIdNotFound && unknown?.message == "Transaction id not found.")
        }
    }

    @Test("Refunds are listed in their order, and an order is found by its number")
    func refundsAndOrders() async throws {
        try await RunningSandbox.run { sandbox in
            let checking = try Checking()
            let client = try sandbox.client()
            let first = try await sandbox.buy(Sold.coins)
            let second = try await sandbox.buy(Sold.unlock)
            #expect(try await client.getRefundHistory(first).signedTransactions == [])
            try await sandbox.post("transactions/\(second)/refund")
            let refunds = try await client.getRefundHistory(first)
            try await sandbox.post("transactions/\(first)/refund", "{\"percentage\": 50000}")
            #expect(try await checking.ids(refunds.signedTransactions) == [second])
            let later = try await client.getRefundHistory(first, revision: refunds.revision)
            #expect(try await checking.ids(later.signedTransactions) == [first] && later.hasMore == false)
            #expect(
                try await checking.ids(try await client.getRefundHistoryV1(first).signedTransactions) == [
                    second, first,
                ])
            let order = try #require(try await sandbox.call("GET", "transactions/\(first)")["orderId"]?.string)
            let found = try await client.lookUpOrderId(order)
            #expect(found.status == .valid)
            #expect(try await checking.ids(found.signedTransactions) == [first])
            #expect(try await client.lookUpOrderId("MNOSUCH").status == .invalid)
        }
    }
}
