public import AppStoreModels

/// A notification, signed, and what became of sending it.
public struct SandboxNotification: Sendable {
    /// The identifier; every attempt has the same.
    public let uuid: String
    public let type: NotificationTypeV2
    public let subtype: Subtype?
    /// When it was signed; milliseconds since 1970.
    public let signedDate: Int64
    /// The customer it is about, if it is about one.
    public let customer: String?
    /// The signed notification, version 2.
    public let signedPayload: String
    /// The JSON of a version 1 notification; nil for those that version 1 does not know, or if it is not asked for.
    public let bodyV1: [UInt8]?
    /// What was tried, in order; at most six.
    public internal(set) var attempts: [SendAttemptItem] = []
    /// When it is to be tried next, in the sandbox's time; nil if it is not. Milliseconds since 1970.
    public internal(set) var nextAttempt: Int64?

    /// Whether the last attempt was one, and failed.
    var hasFailed: Bool { attempts.last.map { $0.sendAttemptResult != .success } ?? false }
}

/// All notifications, in the order in which they were signed, and when each is tried.
struct NotificationLog: Sendable {
    /// Production tries again 1, 12, 24, 48 and 72 hours after the previous attempt (Reference.md S5.4).
    static let retryDelays: [Int64] = [1, 12, 24, 48, 72].map { $0 * 3_600_000 }

    private(set) var notifications: [SandboxNotification] = []
    private var places: [String: Int] = [:]
    /// Those with a next attempt.
    private var waiting: Set<Int> = []
    let pace: SandboxPace
    /// Apple's own sandbox tries once.
    let retries: Bool

    init(pace: SandboxPace, retries: Bool) {
        self.pace = pace
        self.retries = retries
    }

    subscript(uuid: String) -> SandboxNotification? { places[uuid].map { notifications[$0] } }

    mutating func append(_ notification: SandboxNotification) {
        places[notification.uuid] = notifications.count
        if notification.nextAttempt != nil { waiting.insert(notifications.count) }
        notifications.append(notification)
    }

    /// What is to be tried by `date`, in the order of signing.
    func due(at date: Int64) -> [SandboxNotification] {
        waiting.sorted().map { notifications[$0] }.filter { ($0.nextAttempt ?? .max) <= date }
    }

    /// When something is to be tried next.
    var nextAttempt: Int64? { waiting.lazy.compactMap { notifications[$0].nextAttempt }.min() }

    /// Notes an attempt, and when the next one follows.
    mutating func record(_ uuid: String, _ result: SendAttemptResult, at date: Int64) {
        guard let place = places[uuid] else { return }
        notifications[place].attempts.append(SendAttemptItem(attemptDate: date, sendAttemptResult: result))
        let count = notifications[place].attempts.count
        let isDone = result == .success || !retries || count > Self.retryDelays.count
        if isDone { waiting.remove(place) }
        notifications[place].nextAttempt =
            isDone ? nil : date.advanced(bySaturating: max(1, pace.scaled(Self.retryDelays[count - 1])))
    }
}
