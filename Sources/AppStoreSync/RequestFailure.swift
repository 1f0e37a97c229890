public import AppStoreModels
public import AppStoreServer
internal import Encodings

/// The App Store does not accept the app or its key. A run stops, because every further request would be refused too.
public struct AppStoreRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The app of the refused request.
    public let bundleID: String
    /// The environment of the refused request.
    public let environment: Environment
    /// The status of the answer.
    public let httpStatus: Int
    /// Apple's error number; nil for an answer without one.
    public let code: APIErrorCode?

    package init(bundleID: String, environment: Environment, httpStatus: Int, code: APIErrorCode? = nil) {
        self.bundleID = bundleID
        self.environment = environment
        self.httpStatus = httpStatus
        self.code = code
    }

    /// Two refusals with the same status and error number are equal. The app and the environment are not compared.
    public static func == (left: Self, right: Self) -> Bool {
        left.httpStatus == right.httpStatus && left.code == right.code
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(httpStatus)
        hasher.combine(code)
    }

    public var description: String {
        let app = "\(bundleID) in \(environment.rawValue)"
        return code.map { "The App Store does not accept \(app): Apple's error \($0)." }
            ?? "The App Store does not accept the key for \(app) (HTTP \(httpStatus))."
    }
}

/// The App Store answered nothing, although a run waited 30 times for a minute. The run stops; another one resumes it.
public struct AppStoreUnreachable: Error, Sendable, Hashable, CustomStringConvertible {
    /// The last failure.
    public let reason: String

    package init(reason: String) { self.reason = reason }

    /// All are equal. Reasons are not compared.
    public static func == (left: Self, right: Self) -> Bool { true }

    public func hash(into hasher: inout Hasher) {}

    public var description: String { "The App Store cannot be reached: \(reason)." }
}

/// The effect of a failed request on a run of many requests.
enum RequestFailure: Sendable {
    /// The App Store, or the rate budget, accepts no request before a time, in milliseconds since 1970-01-01T00:00:00Z.
    case limited(until: Int64)
    case refused(AppStoreRefusal)
    /// The network or the App Store failed, so that another request would probably fail too.
    case outage
    /// Only this request failed.
    case other

    /// How long to wait, in milliseconds, after a 429 without `Retry-After`.
    private static let unstatedWait: Int64 = 60_000
    /// The longest wait, in milliseconds, also if `Retry-After` states more: a wrong unit must not stop a run for years.
    private static let longestWait = Int64.millisecondsPerDay

    init(_ error: AppStoreServerAPIError, bundleID: String, now: Int64) {
        let status = error.httpStatus ?? 0
        switch error.reason {
        case .rateLimited, .rateBudgetExhausted:
            self = .limited(until: min(error.retryAfter ?? now + Self.unstatedWait, now + Self.longestWait))
        case .timedOut, .notConnected, .interrupted: self = .outage
        // The app is there again later.
        case _ where error.code == .appNotFoundRetryable: self = .outage
        case _ where error.concernsApp:
            self = .refused(
                AppStoreRefusal(
                    bundleID: bundleID, environment: error.environment, httpStatus: status, code: error.code))
        case .unexpectedStatus, .refused: self = status >= 500 ? .outage : .other
        default: self = .other
        }
    }
}

/// The waits of a run for the end of an outage.
struct OutageWaits {
    /// How long a run waits, in milliseconds.
    private static let length: Int64 = 60_000
    private static let maximum = 30

    private var count = 0

    /// The App Store has answered.
    mutating func end() { count = 0 }

    /// The end of the next wait, in milliseconds since 1970-01-01T00:00:00Z.
    /// - Throws: ``AppStoreUnreachable`` after all waits.
    mutating func next(after reason: String, now: Int64) throws -> Int64 {
        count += 1
        guard count <= Self.maximum else { throw AppStoreUnreachable(reason: reason) }
        return now + Self.length
    }
}

extension ServerClock {
    /// The longest sleep, in milliseconds. It is short so that a machine resumes soon after it was suspended.
    private static let longestSleep: Int64 = 10_000
    /// The shortest wait, in milliseconds, if the App Store states a time in the past.
    private static let minimumPause: Int64 = 1_000

    /// Waits until the App Store accepts requests.
    /// - Parameters:
    ///   - time: in milliseconds since 1970-01-01T00:00:00Z.
    ///   - onHold: called with the end of the wait, and with nil after it.
    /// - Throws: `CancellationError`.
    func hold(until time: Int64, _ onHold: (Int64?) -> Void) async throws {
        let end = max(time, now() + Self.minimumPause)
        onHold(end)
        var left = end - now()
        while left > 0 {
            let nap = min(left, Self.longestSleep)
            try await sleep(.milliseconds(nap))
            // A clock that is set back does not prolong the wait.
            left = min(left - nap, end - now())
        }
        onHold(nil)
    }
}
