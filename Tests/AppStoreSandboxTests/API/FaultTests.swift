import AppStoreModels
import AppStoreSandbox
import AppStoreServer
import TestSupport
import Testing

/// What goes wrong on request.
@Suite(.timeLimit(.minutes(10))) struct FaultTests {
    /// How a client sees each kind, and that the request after it is answered.
    @Test(
        "A fault affects the configured number of requests of an App Store client",
        arguments: [
            ("{\"kind\": \"unauthorized\", \"count\": 1}", AppStoreServerAPIError.Reason.unauthorized, 401),
            ("{\"kind\": \"rate-limited\", \"count\": 1, \"retryAfter\": 2}", .rateLimited, 429),
            ("{\"kind\": \"server-error\", \"count\": 1, \"status\": 503}", .unexpectedStatus, 503),
            ("{\"kind\": \"refused\", \"count\": 1, \"code\": 4040003}", .refused, 404),
            ("{\"kind\": \"garbage\", \"count\": 1}", .invalidResponse, nil),
            ("{\"kind\": \"cut\", \"count\": 1}", .interrupted, nil),
        ] as [(String, AppStoreServerAPIError.Reason, Int?)])
    func kinds(fault: String, reason: AppStoreServerAPIError.Reason, status: Int?) async throws {
        try await RunningSandbox.run { sandbox in
            let bought = try await sandbox.buy(Sold.coins)
            let client = try sandbox.client()
            try await sandbox.post("faults", fault)
            let error = await apiError { _ = try await client.getTransactionInfo(bought) }
            #expect(error?.reason == reason && error?.httpStatus == status, "\(String(describing: error))")
            #expect(await apiError { _ = try await client.getTransactionInfo(bought) } == nil)
            let shown = try await sandbox.call("GET", "faults")["faults"]?.array?.first
            #expect(shown?["met"]?.integer == 1 && shown?["left"]?.integer == 0)
        }
    }

    @Test("Retry-After lies as many seconds ahead of the wall clock as the fault says")
    func retryAfter() async throws {
        let setup = RunningSandbox.Setup(
            change: { $0.faults = [try SandboxFault(text: "rate-limited,count=1,retry-after=7200")] },
            wallClock: { 1_800_000_000_000 })
        try await RunningSandbox.run(setup) { sandbox in
            let answer = try await Running.exchange("GET", "\(sandbox.url)/inApps/v1/transactions/1")
            #expect(answer.status == 429 && answer.headers["retry-after"] == "1800007200000")
        }
    }

    @Test("A hanging request ends when the client leaves, and when the fault is removed")
    func hang() async throws {
        try await RunningSandbox.run { sandbox in
            let bought = try await sandbox.buy(Sold.coins)
            @Sendable func fault(_ member: String) async throws -> Int64? {
                try await sandbox.call("GET", "faults")["faults"]?.array?.first?[member]?.integer
            }
            @Sendable func hanging() async throws -> Int64? { try await fault("hanging") }
            try await sandbox.post("faults", "{\"kind\": \"hang\"}")
            let hasty = try sandbox.client(timeout: .milliseconds(200))
            // On a busy machine the client may leave before its request has come.
            try await eventually("a call comes") {
                #expect(await apiError { _ = try await hasty.getTransactionInfo(bought) }?.reason == .timedOut)
                return try await fault("met") ?? 0 > 0
            }
            try await eventually("no call hangs") { try await hanging() == 0 }
            let slowClient = try sandbox.client(timeout: .seconds(100))
            let waiting = Task { await apiError { _ = try await slowClient.getTransactionInfo(bought) } }
            try await eventually("a call hangs") { try await hanging() == 1 }
            try await sandbox.call("DELETE", "faults")
            #expect(await waiting.value?.reason == .interrupted)
            #expect(await apiError { _ = try await slowClient.getTransactionInfo(bought) } == nil)
            // The sandbox stops although this one waits.
            try await sandbox.post("faults", "{\"kind\": \"hang\"}")
            _ = Task { await apiError { _ = try await slowClient.getTransactionInfo(bought) } }
            try await eventually("a call hangs") { try await hanging() == 1 }
        }
    }

    @Test("A delayed answer is the right one, late")
    func delay() async throws {
        try await RunningSandbox.run { sandbox in
            let bought = try await sandbox.buy(Sold.coins)
            let client = try sandbox.client()
            try await sandbox.post("faults", "{\"kind\": \"delay\", \"delay\": 300}")
            let start = ContinuousClock.now
            #expect(await apiError { _ = try await client.getTransactionInfo(bought) } == nil)
            #expect(ContinuousClock.now - start >= .milliseconds(300))
        }
    }

    @Test("A share of the requests meets a fault, those whose path fits")
    func share() async throws {
        try await RunningSandbox.run { sandbox in
            let fault = "{\"kind\": \"server-error\", \"share\": 0.5, \"path\": \"/transactions/\"}"
            try await sandbox.post("faults", fault)
            var failed = 0
            for _ in 0..<60 {
                let (status, _) = try await Running.fetch("GET", "\(sandbox.url)/inApps/v1/transactions/1")
                if status == 500 { failed += 1 }
            }
            #expect((27...33).contains(failed))
            let (status, _) = try await Running.fetch("GET", "\(sandbox.url)/inApps/v2/history/1")
            #expect(status == 401)
            #expect(try await sandbox.call("GET", "faults")["faults"]?.array?.first?["met"]?.integer == Int64(failed))
        }
    }

    @Test("An impossible fault is rejected with the wrong value")
    func wrongFaults() async throws {
        try await RunningSandbox.run { sandbox in
            for (fault, message) in [
                ("{}", "kind: missing"), ("{\"kind\": \"x\"}", "the kind of a fault"),
                ("{\"kind\": \"hang\", \"share\": 2}", "share: must be"),
                ("{\"kind\": \"hang\", \"count\": 0}", "count: must be"),
                ("{\"kind\": \"server-error\", \"status\": 200}", "status: must be"),
                ("{\"kind\": \"refused\", \"code\": 404}", "code: must be"),
            ] {
                let refused = try await sandbox.post("faults", fault, expecting: 400)
                #expect(refused["message"]?.string?.contains(message) == true)
            }
        }
        for text in ["", "x", "hang,share", "hang,count=-1", "hang,color=red", "delay,delay=9999999"] {
            #expect(throws: SandboxError.self) { try SandboxFault(text: text) }
        }
    }
}
