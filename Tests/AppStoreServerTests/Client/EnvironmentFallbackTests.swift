import AppStoreModels
import AppStoreServer
import Testing

@Suite struct EnvironmentFallbackTests {
    private typealias Release = EnvironmentFallback.ProductionRelease

    /// The result of one answer from production and one from the sandbox, and the number of calls to each.
    private func outcome(
        _ production: APITransportResponse, _ sandbox: APITransportResponse, _ release: Release = .unknown
    ) async throws -> (found: Environment?, error: AppStoreServerAPIError?, calls: [Int]) {
        let first = ScriptedTransport([production])
        let second = ScriptedTransport([sandbox])
        let fallback = EnvironmentFallback(
            production: try Sample.client(first, retries: .never),
            sandbox: try Sample.client(second, environment: .sandbox, retries: .never), productionRelease: release)
        var found: Environment?
        let error = try await apiError {
            let result = try await fallback.first { try await $0.getTransactionInfo("1") }
            found = result.environment
        }
        return (found, error, [first.requests.count, second.requests.count])
    }

    @Test("Transactions that production knows are not looked up in the sandbox")
    func production() async throws {
        let (found, error, calls) = try await outcome(.json("{}"), .json("{}"))
        #expect(found == .production && error == nil && calls == [1, 0])
    }

    @Test("An unknown transaction is looked up in the sandbox", arguments: [4_040_010, 4_040_005] as [Int64])
    func unknownTransaction(code: Int64) async throws {
        let (found, error, calls) = try await outcome(.refusal(code), .json("{}"), .released)
        #expect(found == .sandbox && error == nil && calls == [1, 1])
    }

    @Test("A transaction unknown to both is unknown", arguments: [4_040_010, 4_040_005] as [Int64])
    func nowhere(code: Int64) async throws {
        let (found, error, _) = try await outcome(.refusal(code), .refusal(code))
        #expect(found == nil && error?.code?.rawValue == code && error?.isUnknownTransaction == true)
    }

    @Test(
        "Any other error of production is the answer",
        arguments: [4_000_006, 4_040_001, 4_040_019, 4_290_000, 5_000_000] as [Int64])
    func otherErrors(code: Int64) async throws {
        let (found, error, calls) = try await outcome(.refusal(code), .json("{}"))
        #expect(found == nil && error?.code?.rawValue == code && calls == [1, 0])
    }

    @Test("An error of the sandbox, when production does not know the transaction, is the answer")
    func sandboxError() async throws {
        let (_, error, _) = try await outcome(.refusal(4_040_010), .refusal(5_000_000))
        #expect(error?.code == .generalInternal && error?.environment == .sandbox)
    }

    @Test("401 from production leads to the sandbox unless the app is known to be released")
    func unauthorized() async throws {
        for release in [Release.notReleased, .unknown] {
            let (found, error, calls) = try await outcome(.unauthorized, .json("{}"), release)
            #expect(found == .sandbox && error == nil && calls == [1, 1])
        }
        let (found, error, calls) = try await outcome(.unauthorized, .json("{}"), .released)
        #expect(found == nil && error?.reason == .unauthorized && calls == [1, 0])
    }

    @Test("401 from both is production's 401: the credentials are wrong")
    func wrongCredentials() async throws {
        for release in [Release.notReleased, .unknown] {
            let (_, error, _) = try await outcome(.unauthorized, .unauthorized, release)
            #expect(error?.reason == .unauthorized && error?.environment == .production)
        }
    }

    @Test("401 from production and unknown in the sandbox: unknown only if the app is not released")
    func unauthorizedThenUnknown() async throws {
        let (_, unreleased, _) = try await outcome(.unauthorized, .refusal(4_040_010), .notReleased)
        #expect(unreleased?.isUnknownTransaction == true)
        let (_, unsure, _) = try await outcome(.unauthorized, .refusal(4_040_010), .unknown)
        #expect(unsure?.reason == .unauthorized && unsure?.environment == .production)
    }
}
