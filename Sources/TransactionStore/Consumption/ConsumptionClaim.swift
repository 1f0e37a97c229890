internal import AppStoreModels

/// The right of one program to send the answer about some requests for consumption information.
///
/// A claim keeps two programs from answering the same request. It ends by itself, so a killed program blocks its successor
/// only until then. The clock is the store's: that of the database server, or of the machine that has the file.
///
/// A store keeps a date with each open request, its mark. The mark is empty until a program claims the request, then
/// the end of the last claim, and ``counted`` once the request counted as missed. A mark that stays after a claim says
/// that an answer may have arrived.
public struct ConsumptionClaim: Hashable, Sendable {
    /// An open request, as a store keeps it. Created by engines.
    public struct Request: Hashable, Sendable {
        /// The UUID of the notification.
        public let notificationUUID: String
        /// The date that the store keeps with the request, in milliseconds since 1970; nil if it keeps none.
        public let mark: Int64?

        /// Creates a request.
        public init(notificationUUID: String, mark: Int64?) {
            self.notificationUUID = notificationUUID
            self.mark = mark
        }
    }

    /// The mark of a request that counted as missed. A program can still claim it: the clock of the program that counted may
    /// have been wrong. If the answer fails, the request counts again.
    public static let counted: Int64 = 0

    /// The longest claim, ten minutes. A stored claim that lasts longer results from a clock that was set back, and counts as
    /// ended.
    public static let maximumMilliseconds: Int64 = 600_000

    /// The claimed requests.
    public let notificationUUIDs: [String]
    /// When the claim ends, by the store's clock, in milliseconds since 1970. It is the mark of the claimed requests.
    public let end: Int64
    /// Those of ``notificationUUIDs`` to which an earlier answer may have arrived.
    public let maybeAnswered: [String]

    /// Decides which requests a program gets; nil if another program has one of them. Called by engines, which then store ``end`` as
    /// the mark of the claimed requests.
    /// - Parameters:
    ///   - requests: the requested ones that are open.
    ///   - now: the store's time, in milliseconds since 1970.
    ///   - milliseconds: how long the claim lasts.
    ///   - claim: an earlier claim of the same program.
    public init?(_ requests: [Request], at now: Int64, for milliseconds: Int64, renewing claim: ConsumptionClaim?) {
        var claimed: [String] = []
        var maybeAnswered: [String] = []
        for request in requests {
            claimed.append(request.notificationUUID)
            guard let mark = request.mark, mark != Self.counted else { continue }
            if let claim, claim.end == mark, claim.notificationUUIDs.contains(request.notificationUUID) {
                if claim.maybeAnswered.contains(request.notificationUUID) {
                    maybeAnswered.append(request.notificationUUID)
                }
                continue
            }
            if Self.isClaimed(mark, at: now) { return nil }
            maybeAnswered.append(request.notificationUUID)
        }
        notificationUUIDs = claimed
        end = now.addingSaturated(milliseconds)
        self.maybeAnswered = maybeAnswered
    }

    /// Whether a mark is that of a claim that has not ended.
    /// - Parameters:
    ///   - mark: what the store has for the task.
    ///   - now: the store's time, in milliseconds since 1970.
    public static func isClaimed(_ mark: Int64, at now: Int64) -> Bool {
        mark > now && mark <= now.addingSaturated(maximumMilliseconds)
    }

    /// - Throws: ``TransactionStoreError`` `invalidArgument` for a duration outside 1 to ``maximumMilliseconds``.
    public static func check(milliseconds: Int64) throws {
        guard (1...maximumMilliseconds).contains(milliseconds) else {
            throw TransactionStoreError(
                .invalidArgument, "A claim lasts from 1 to \(maximumMilliseconds) milliseconds.")
        }
    }
}

/// The requests that ``ConsumptionTasks/countMissedConsumptionTasks(requestedAfter:upTo:)`` counted.
public struct MissedConsumptionTasks: Hashable, Sendable {
    /// The number of requests to which no answer can have arrived.
    public var missed: Int
    /// The number of requests that may have been answered: the connection broke, the App Store took too long, or the
    /// program ended before the result arrived.
    public var unknown: Int

    /// Creates the result. Called by engines.
    public init(missed: Int = 0, unknown: Int = 0) {
        self.missed = missed
        self.unknown = unknown
    }
}
