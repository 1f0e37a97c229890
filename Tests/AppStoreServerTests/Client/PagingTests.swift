import AppStoreModels
import AppStoreServer
import Synchronization
import Testing

@Suite struct PagingTests {
    private func page(_ revision: String, more: Bool, _ transactions: [String] = []) -> APITransportResponse {
        let list = transactions.map { "\"\($0)\"" }.joined(separator: ",")
        return .json(#"{"revision":"\#(revision)","hasMore":\#(more),"signedTransactions":[\#(list)]}"#)
    }

    @Test("History continues with the revision of the previous page, and repeats the filter")
    func history() async throws {
        let transport = ScriptedTransport([
            page("r+1", more: true, ["a"]), page("r/2", more: true, ["b"]), page("r3", more: false, ["c"]),
        ])
        let client = try Sample.client(transport)
        let filter = TransactionHistoryRequest(productIds: ["x", "y"], sort: .ascending, revoked: false)
        var seen: [String] = []
        var last: String?
        for try await page in client.transactionHistory("1", filter: filter) {
            seen += page.signedTransactions ?? []
            last = page.revision
        }
        #expect(seen == ["a", "b", "c"] && last == "r3")
        let rest = "productId=x&productId=y&sort=ASCENDING&revoked=false"
        #expect(transport.requests.map(\.query) == [rest, "revision=r%2B1&\(rest)", "revision=r%2F2&\(rest)"])
        #expect(Set(transport.requests.map(\.path)) == ["/inApps/v2/history/1"])
    }

    @Test("History can begin with a stored revision")
    func resume() async throws {
        let transport = ScriptedTransport([page("r2", more: false)])
        let client = try Sample.client(transport)
        for try await _ in client.transactionHistory("1", from: "r1", version: .v1) {}
        #expect(transport.requests.map(\.url) == ["https://api.test/inApps/v1/history/1?revision=r1"])
    }

    @Test("An empty page of refunds is not the end")
    func refunds() async throws {
        let transport = ScriptedTransport([page("r1", more: true), page("r2", more: false, ["a"])])
        let client = try Sample.client(transport)
        var pages = 0
        for try await _ in client.refundHistory("1") { pages += 1 }
        #expect(pages == 2)
        #expect(transport.requests.map(\.query) == ["", "revision=r1"])
    }

    @Test("Notification history repeats the body unchanged, with the token in the query")
    func notifications() async throws {
        let transport = ScriptedTransport([
            .json(#"{"hasMore":true,"paginationToken":"t+1","notificationHistory":[{"signedPayload":"a"}]}"#),
            .json(#"{"hasMore":false,"notificationHistory":[{"signedPayload":"b"}]}"#),
        ])
        let client = try Sample.client(transport)
        var seen: [String?] = []
        for try await page in client.notificationHistory(Requests.notifications) {
            seen += page.notificationHistory?.map(\.signedPayload) ?? []
        }
        #expect(seen == ["a", "b"])
        #expect(transport.requests.map(\.query) == ["", "paginationToken=t%2B1"])
        #expect(transport.requests[0].body == transport.requests[1].body)
        #expect(transport.requests.allSatisfy { $0.method == "POST" })
    }

    @Test(
        "More pages without a new token are an error, not an endless loop",
        arguments: [#"{"hasMore":true}"#, #"{"hasMore":true,"revision":null}"#, #"{"hasMore":true,"revision":"r1"}"#])
    func stalled(body: String) async throws {
        let client = try Sample.client(ScriptedTransport([page("r1", more: true), .json(body)]))
        let error = try #require(
            try await apiError { for try await _ in client.transactionHistory("1") {} })
        #expect(error.reason == .pagingStalled)
    }

    @Test("Absent hasMore is the end")
    func absentHasMore() async throws {
        let transport = ScriptedTransport([.json(#"{"revision":"r1"}"#)])
        let client = try Sample.client(transport)
        for try await _ in client.transactionHistory("1") {}
        #expect(transport.requests.count == 1)
    }

    @Test("After a failure the same page is requested again")
    func failure() async throws {
        let transport = ScriptedTransport([
            page("r1", more: true, ["a"]), .refusal(4_000_005), page("r2", more: false, ["b"]),
        ])
        let client = try Sample.client(transport)
        var pages = client.transactionHistory("1").makeAsyncIterator()
        #expect(try await pages.next()?.signedTransactions == ["a"])
        await #expect(throws: AppStoreServerAPIError.self) { try await pages.next() }
        #expect(try await pages.next()?.signedTransactions == ["b"])
        #expect(try await pages.next() == nil)
        #expect(try await pages.next() == nil)
        #expect(transport.requests.map(\.query) == ["", "revision=r1", "revision=r1"])
    }

    @Test("A page is requested only when it is needed")
    func lazily() async throws {
        let transport = ScriptedTransport([page("r1", more: true)])
        let client = try Sample.client(transport)
        for try await _ in client.transactionHistory("1") { break }
        #expect(transport.requests.count == 1)
    }
}
