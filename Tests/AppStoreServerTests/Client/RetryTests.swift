import AppStoreModels
import AppStoreServer
import Synchronization
import TestSupport
import Testing

@Suite struct RetryTests {
    private let middle = RetryPolicy(random: { 0.5 })

    @Test("Waits double from one retry to the next, and vary between a half and the whole")
    func backoff() async throws {
        for (random, waits) in [(0.0, [250, 500, 1000]), (1, [500, 1000, 2000]), (0.5, [375, 750, 1500])] {
            let clock = TestClock()
            let client = try Sample.client(
                ScriptedTransport([.refusal(5_000_001)]), clock: clock, retries: RetryPolicy(random: { random }))
            _ = try await apiError { try await client.getTransactionInfo("1") }
            #expect(clock.sleeps == waits.map { .milliseconds($0) })
        }
    }

    @Test("No wait is longer than the longest")
    func longestWait() async throws {
        let clock = TestClock()
        let policy = RetryPolicy(maximumAttempts: 50, maximumDelay: .seconds(3), random: { 1 })
        let client = try Sample.client(ScriptedTransport([.refusal(5_000_001)]), clock: clock, retries: policy)
        _ = try await apiError { try await client.getTransactionInfo("1") }
        #expect(clock.sleeps.count == 49)
        #expect(clock.sleeps.max() == .seconds(3))
    }

    @Test("A call that succeeds after retries returns its result")
    func recovery() async throws {
        let transport = ScriptedTransport([
            .refusal(4_040_002), .json("", status: 503), .json(#"{"signedTransactionInfo":"a.b.c"}"#),
        ])
        let client = try Sample.client(transport)
        #expect(try await client.getTransactionInfo("1").signedTransactionInfo == "a.b.c")
        #expect(transport.requests.count == 3)
    }

    @Test(
        "A broken connection or a timeout is tried again only where sending twice does no harm",
        arguments: APIEndpoint.allCases)
    func ambiguousFailures(endpoint: APIEndpoint) async throws {
        for failure in [APITransportError.interrupted("cut"), .timedOut] {
            let transport = ScriptedTransport { _, _ in throw failure }
            let client = try Sample.client(transport, retries: RetryPolicy(maximumAttempts: 3))
            let error = try #require(try await apiError { try await Calls.call(endpoint, client) })
            #expect(error.endpoint == endpoint)
            #expect(transport.requests.count == (endpoint.isIdempotent ? 3 : 1))
        }
        let once: Set<APIEndpoint> = [
            .requestTestNotification, .uploadImage, .uploadMessage, .deleteImage, .deleteMessage, .deleteDefaultMessage,
            .deleteRealtimeURL, .initiatePerformanceTest, .unclaimSeat,
        ]
        #expect(endpoint.isIdempotent == !once.contains(endpoint))
    }

    @Test("An error says whether Apple may have processed any attempt, not only the last one")
    func earlierAttempts() async throws {
        for (status, mayBeProcessed) in [(500, true), (503, false)] {
            let transport = ScriptedTransport([.json("", status: status), .json("", status: 429)])
            let client = try Sample.client(transport, retries: RetryPolicy(maximumAttempts: 2))
            let refused = try #require(try await apiError { try await client.getTransactionInfo("1") })
            #expect(refused.reason == .rateLimited && refused.mayBeProcessed == mayBeProcessed, "\(status)")
            // The budget does not allow the second attempt.
            let budgets = RateBudgets(overrides: [.getTransactionInfo: 0.01], maximumWait: .seconds(5))
            let slow = try Sample.client(ScriptedTransport([.json("", status: status)]), budgets: budgets)
            let unsent = try #require(try await apiError { try await slow.getTransactionInfo("1") })
            #expect(unsent.reason == .rateBudgetExhausted && unsent.attempts == 1, "\(status)")
            #expect(unsent.mayBeProcessed == mayBeProcessed, "\(status)")
        }
    }

    @Test(
        "5000001 is tried again only where sending twice does no harm: the request may have been carried out",
        arguments: APIEndpoint.allCases)
    func retryableInternalError(endpoint: APIEndpoint) async throws {
        let transport = ScriptedTransport([.refusal(5_000_001)])
        let client = try Sample.client(transport, retries: RetryPolicy(maximumAttempts: 3))
        let error = try #require(try await apiError { try await Calls.call(endpoint, client) })
        #expect(error.code == .generalInternalRetryable)
        #expect(transport.requests.count == (endpoint.isIdempotent ? 3 : 1))
    }

    @Test("A retryable \"not found\" is tried again on every endpoint", arguments: APIEndpoint.allCases)
    func retryableNotFound(endpoint: APIEndpoint) async throws {
        for code in [4_040_002, 4_040_004, 4_040_006] as [Int64] {
            let transport = ScriptedTransport([.refusal(code)])
            let client = try Sample.client(transport, retries: RetryPolicy(maximumAttempts: 2))
            let error = try #require(try await apiError { try await Calls.call(endpoint, client) })
            #expect(error.code?.rawValue == code && transport.requests.count == 2)
        }
    }

    @Test("When no connection came about, every call is tried again", arguments: APIEndpoint.allCases)
    func notConnected(endpoint: APIEndpoint) async throws {
        let transport = ScriptedTransport { _, _ in throw APITransportError.notConnected("refused") }
        let client = try Sample.client(transport, retries: RetryPolicy(maximumAttempts: 2))
        let error = try #require(try await apiError { try await Calls.call(endpoint, client) })
        #expect(error.reason == .notConnected && error.attempts == 2)
    }

    @Test(
        "A status without a reason is tried again for 500, 502, 503 and 504 alone",
        arguments: [300, 302, 400, 403, 404, 409, 500, 501, 502, 503, 504, 505])
    func statuses(status: Int) async throws {
        let transport = ScriptedTransport([.json("<html>", status: status)])
        let client = try Sample.client(transport, retries: RetryPolicy(maximumAttempts: 2))
        let error = try #require(try await apiError { try await client.getTransactionInfo("1") })
        #expect(error.httpStatus == status && error.reason == .unexpectedStatus)
        #expect(transport.requests.count == ([500, 502, 503, 504].contains(status) ? 2 : 1))
        let upload = ScriptedTransport([.json("<html>", status: status)])
        let second = try Sample.client(upload, retries: RetryPolicy(maximumAttempts: 2))
        _ = try await apiError { try await second.uploadImage("1", png: [1]) }
        #expect(upload.requests.count == 1)
    }

    @Test("429 is waited out until the millisecond of Retry-After, on every endpoint", arguments: APIEndpoint.allCases)
    func retryAfter(endpoint: APIEndpoint) async throws {
        let clock = TestClock()
        let end = clock.now + 42_500
        let transport = ScriptedTransport([.refusal(4_290_000, retryAfter: "\(end)"), .json("{}")])
        let client = try Sample.client(transport, clock: clock, retries: middle)
        try await Calls.call(endpoint, client)
        #expect(clock.now == end)
        #expect(transport.requests.count == 2)
    }

    @Test("429 with a wait beyond the limit fails at once and says until when; the next call waits that long")
    func longRetryAfter() async throws {
        let clock = TestClock()
        let end = clock.now + 1_800_000
        let transport = ScriptedTransport([.refusal(4_290_000, retryAfter: "\(end)"), .json("{}")])
        let client = try Sample.client(transport, clock: clock)
        let error = try #require(try await apiError { try await client.getTransactionInfo("1") })
        #expect(error.reason == .rateLimited && error.retryAfter == end)
        #expect(transport.requests.count == 1 && clock.sleeps.isEmpty)
        _ = try await client.getAppTransactionInfo("1")
        #expect(clock.sleeps.isEmpty, "Another endpoint has another rate.")
        _ = try await client.getTransactionInfo("1")
        #expect(clock.now == end)
    }

    @Test("No answer stops an endpoint for more than an hour")
    func absurdRetryAfter() async throws {
        let clock = TestClock()
        let transport = ScriptedTransport([.refusal(4_290_000, retryAfter: "9223372036854775807"), .json("{}")])
        let client = try Sample.client(transport, clock: clock)
        let error = try #require(try await apiError { try await client.getTransactionInfo("1") })
        #expect(error.retryAfter == .max)
        _ = try await client.getTransactionInfo("1")
        #expect(clock.elapsed == .seconds(3600))
    }

    @Test(
        "Retry-After that is too small for milliseconds since 1970 is seconds; what is no number counts as absent",
        arguments: [
            ("7", 7000 as Int64?), (" 7 ", 7000), ("0", 0), ("-1", nil), ("soon", nil), ("", nil),
            ("Wed, 21 Oct 2026 07:28:00 GMT", nil), ("99999999", 86_400_000),
        ])
    func retryAfterForms(text: String, wait: Int64?) async throws {
        let clock = TestClock()
        let start = clock.now
        let client = try Sample.client(
            ScriptedTransport([.refusal(4_290_000, retryAfter: text)]), clock: clock, retries: .never)
        let error = try #require(try await apiError { try await client.getTransactionInfo("1") })
        #expect(error.retryAfter.map { $0 - start } == wait)
    }

    @Test("A cancelled task is not retried, and throws CancellationError")
    func cancellation() async throws {
        let transport = ScriptedTransport { _, _ in
            try await Task.sleep(for: .seconds(600))
            return .json("{}")
        }
        let client = try Sample.client(transport)
        let task = Task { try await client.getTransactionInfo("1") }
        try await eventually("a request is sent") { !transport.requests.isEmpty }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(transport.requests.count == 1)
    }

    @Test("A task cancelled while it waits for the next attempt sends nothing more")
    func cancellationWhileWaiting() async throws {
        let transport = ScriptedTransport([.refusal(5_000_001)])
        let configuration = APIClientConfiguration(
            baseURL: "https://api.test", rateBudgets: .unlimited,
            retryPolicy: RetryPolicy(firstDelay: .seconds(600), maximumDelay: .seconds(600)))
        let client = try AppStoreServerAPIClient(
            key: SigningKey.shared.inAppPurchaseKey, bundleID: "a", environment: .production,
            configuration: configuration, transport: transport)
        let task = Task { try await client.getTransactionInfo("1") }
        try await eventually("a request is sent") { !transport.requests.isEmpty }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(transport.requests.count == 1)
    }

    @Test("The observer gets every attempt")
    func observer() async throws {
        let attempts = Mutex<[APIAttempt]>([])
        let client = try Sample.client(
            ScriptedTransport([.refusal(5_000_001), .json("{}")]), retries: middle,
            observer: { attempt in attempts.withLock { $0.append(attempt) } })
        _ = try await client.getTransactionInfo("1")
        let seen = attempts.withLock { $0 }
        #expect(seen.map(\.number) == [1, 2])
        #expect(seen.map { $0.error?.code } == [.generalInternalRetryable, nil])
        #expect(seen.map(\.retryDelay) == [.milliseconds(375), nil])
    }

    @Test("An unknown error of a transport counts as a broken connection")
    func unknownTransportError() async throws {
        struct Odd: Error {}
        let transport = ScriptedTransport { _, _ in throw Odd() }
        let client = try Sample.client(transport, retries: .never)
        let error = try #require(try await apiError { try await client.getTransactionInfo("1") })
        #expect(error.reason == .interrupted && error.detail == "Odd")
    }
}
