import AppStoreModels
import AppStoreServer
import Foundation
import Synchronization

/// Answers without a network, and records the requests.
final class ScriptedTransport: APITransport {
    typealias Answer = @Sendable (_ number: Int, _ request: APITransportRequest) async throws -> APITransportResponse

    private let answer: Answer
    private let seen = Mutex<[APITransportRequest]>([])

    /// - Parameter answer: is given the number of the request, from 1.
    init(_ answer: @escaping Answer) {
        self.answer = answer
    }

    /// Answers with these in turn, and with the last one from then on.
    convenience init(_ responses: [APITransportResponse]) {
        self.init { number, _ in
            responses.isEmpty ? .json("{}") : responses[min(number, responses.count) - 1]
        }
    }

    var requests: [APITransportRequest] { seen.withLock { $0 } }

    func send(_ request: APITransportRequest) async throws -> APITransportResponse {
        let number = seen.withLock { seen in
            seen.append(request)
            return seen.count
        }
        return try await answer(number, request)
    }
}

extension APITransportResponse {
    static func json(_ text: String, status: Int = 200, retryAfter: String? = nil) -> Self {
        APITransportResponse(status: status, retryAfter: retryAfter, body: Array(text.utf8))
    }

    /// Apple's error object; the status is the first three digits.
    static func refusal(_ code: Int64, retryAfter: String? = nil) -> Self {
        .json(
            #"{"errorCode":\#(code),"errorMessage":"Message \#(code)."}"#, status: Int(code / 10000),
            retryAfter: retryAfter)
    }

    static let unauthorized = APITransportResponse(status: 401, body: [])
}

extension APITransportRequest {
    var path: String { String(url.split(separator: "?", maxSplits: 1)[0].drop(prefix: "https://api.test")) }

    var query: String { url.split(separator: "?", maxSplits: 1).dropFirst().first.map(String.init) ?? "" }

    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

extension Substring {
    fileprivate func drop(prefix: String) -> Substring {
        hasPrefix(prefix) ? dropFirst(prefix.count) : self
    }
}

enum Sample {
    static let issuerID = "99b16628-15e4-4668-972b-eeff55eeff55"
    static let keyID = "L256SYR32L"
    static let bundleID = "com.example.app"

    static func client(
        _ transport: any APITransport, environment: Environment = .production, baseURL: String? = "https://api.test",
        clock: TestClock = TestClock(), budgets: RateBudgets = .unlimited, retries: RetryPolicy = RetryPolicy(),
        timeout: Duration = .seconds(30), maximumResponseSize: Int = 1 << 20,
        observer: (@Sendable (APIAttempt) -> Void)? = nil
    ) throws -> AppStoreServerAPIClient {
        let configuration = APIClientConfiguration(
            baseURL: baseURL, timeout: timeout, maximumResponseSize: maximumResponseSize, rateBudgets: budgets,
            retryPolicy: retries, clock: clock.clock, observer: observer)
        return try AppStoreServerAPIClient(
            key: SigningKey.shared.inAppPurchaseKey, bundleID: bundleID, environment: environment,
            configuration: configuration, transport: transport)
    }
}

/// What a call threw, if it was an error of the client.
func apiError<Value>(
    _ call: () async throws -> Value
) async throws -> AppStoreServerAPIError? {
    do {
        _ = try await call()
        return nil
    } catch let error as AppStoreServerAPIError {
        return error
    }
}
