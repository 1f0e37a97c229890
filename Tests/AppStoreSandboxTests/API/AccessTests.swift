import AppStoreModels
import AppStoreSandbox
import AppStoreServer
import Testing

struct AccessTests {
    @Test("Without a good token the answer is 401 without a body")
    func token() async throws {
        try await RunningSandbox.run { sandbox in
            let bought = try await sandbox.buy(Sold.coins)
            let path = "\(sandbox.url)/inApps/v1/transactions/\(bought)"
            let tokens = [
                nil, "Bearer x", "Bearer a.b.c", "Basic eA==",
                "Bearer "
                    + (try BearerTokenSource(key: DeveloperKey.signing(seed: 43), bundleID: "com.example.app").token()),
                "Bearer " + (try BearerTokenSource(key: DeveloperKey.signing(), bundleID: "com.example.other").token()),
            ]
            for token in tokens {
                let headers = token.map { [("Authorization", $0)] } ?? []
                let (status, body) = try await Running.fetch("GET", path, headers: headers)
                #expect(status == 401 && body.isEmpty)
            }
            #expect(await apiError { _ = try await sandbox.client().getTransactionInfo(bought) } == nil)
        }
    }

    @Test("An expired token is rejected by the wall clock, independent of the sandbox's time")
    func expiredToken() async throws {
        let later = ServerClock.system.now() + 3_600_000
        let setup = RunningSandbox.Setup(wallClock: { later })
        try await RunningSandbox.run(setup) { sandbox in
            let bought = try await sandbox.buy(Sold.coins)
            let error = await apiError { _ = try await sandbox.client().getTransactionInfo(bought) }
            #expect(error?.reason == .unauthorized)
        }
    }

    @Test("Above the rate the answer is 429 with Retry-After as UNIX milliseconds of the next hour")
    func rate() async throws {
        var setup = RunningSandbox.Setup(wallClock: { 1_800_000_000_005 })
        setup.change = {
            $0.rateLimits.requestsPerHour[.getTransactionInfo] = 2
            $0.sandbox.key = nil
        }
        try await RunningSandbox.run(setup) { sandbox in
            let bought = try await sandbox.buy(Sold.coins)
            let path = "\(sandbox.url)/inApps/v1/transactions/\(bought)"
            for _ in 0..<2 { #expect(try await Running.fetch("GET", path).status == 200) }
            let answer = try await Running.exchange("GET", path)
            #expect(answer.status == 429 && answer.headers["retry-after"] == "1800003600000")
            #expect(try JSONValue.parse(answer.body)["errorCode"]?.integer == 4_290_000)
            #expect(try JSONValue.parse(answer.body)["errorMessage"]?.string == "Rate limit exceeded.")
        }
    }

    @Test("The sandbox takes a tenth of production's requests")
    func limits() {
        let limits = SandboxRateLimits()
        #expect(limits.limit(of: .getTransactionHistory, in: .production) == 180_000)
        #expect(limits.limit(of: .getTransactionHistory, in: .sandbox) == 18_000)
        #expect(limits.limit(of: .requestTestNotification, in: .sandbox) == 360)
    }

    @Test("An unknown path is 404 without a body, wrong control requests name their field")
    func wrongRequests() async throws {
        try await RunningSandbox.run { sandbox in
            let (status, body) = try await Running.fetch("GET", "\(sandbox.url)/inApps/v9/history/1")
            #expect(status == 404 && body.isEmpty)
            let missing = try await sandbox.post("purchases", "{\"customer\": \"ada\"}", expecting: 400)
            #expect(missing["message"]?.string == "productId: missing")
            let wrong = try await sandbox.post("purchases", "{\"customer\": 1}", expecting: 400)
            #expect(wrong["message"]?.string == "customer: must be a string")
            try await sandbox.post("purchases", "{", expecting: 400)
            try await sandbox.post("subscriptions/1/cancel", expecting: 404)
            try await sandbox.post("subscriptions/1/explode", expecting: 400)
            try await sandbox.post("clock", "{\"advance\": -1}", expecting: 400)
            try await sandbox.post("clock", "{\"to\": 9223372036854775807}", expecting: 400)
            try await sandbox.call("PUT", "notifications/url", "{\"url\": \"file:///x\"}", expecting: 400)
        }
    }

    @Test("A step with too many events stops, and the sandbox continues")
    func endlessStep() async throws {
        let setup = RunningSandbox.Setup(change: { $0.sandbox.maximumRenewals = nil })
        try await RunningSandbox.run(setup) { sandbox in
            _ = try await sandbox.buy(Sold.solo)
            let refused = try await sandbox.post("clock", "{\"to\": 4000000000000}", expecting: 409)
            #expect(refused["message"]?.string?.hasPrefix("more than 1000 events happen") == true)
            #expect(try await sandbox.call("GET", "clock")["nextEvent"]?.integer != nil)
        }
    }
}
