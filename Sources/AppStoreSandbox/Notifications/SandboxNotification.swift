public import AppStoreModels

/// A signed notification and its send attempts.
public struct SandboxNotification: Sendable {
    /// The identifier, which is the same for all attempts.
    public let uuid: String
    /// `notificationType` of version 2. Version 1 may have another name for the event, or none.
    public let type: NotificationTypeV2
    /// `subtype` of version 2; nil for a type without subtypes (Reference.md S5.4).
    public let subtype: Subtype?
    /// When it was signed; milliseconds since 1970.
    public let signedDate: Int64
    /// The customer; nil for test notifications and summaries.
    public let customer: String?
    /// The signed notification, version 2.
    public let signedPayload: String
    /// The JSON of the version 1 notification; nil if version 1 has none, or is not configured.
    public let bodyV1: [UInt8]?
    /// The attempts in order, at most six.
    public internal(set) var attempts: [SendAttemptItem] = []
    /// The sandbox time of the next attempt; nil for none. Milliseconds since 1970.
    public internal(set) var nextAttempt: Int64?

    /// Whether the last attempt failed.
    var hasFailed: Bool { attempts.last.map { $0.sendAttemptResult != .success } ?? false }
}

/// All notifications in the order of their signatures, and the schedule of their attempts.
struct NotificationLog: Sendable {
    /// Production retries 1, 12, 24, 48 and 72 hours after the previous attempt (Reference.md S5.4).
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

    /// The notifications to send by `date`, in the order of their signatures.
    func due(at date: Int64) -> [SandboxNotification] {
        waiting.sorted().map { notifications[$0] }.filter { ($0.nextAttempt ?? .max) <= date }
    }

    /// The time of the next attempt.
    var nextAttempt: Int64? { waiting.lazy.compactMap { notifications[$0].nextAttempt }.min() }

    /// Records an attempt and schedules the next one.
    mutating func record(_ uuid: String, _ result: SendAttemptResult, at date: Int64) {
        guard let place = places[uuid] else { return }
        notifications[place].attempts.append(
            SendAttemptItem {
                $0.attemptDate = date
                $0.sendAttemptResult = result
            })
        let count = notifications[place].attempts.count
        let isDone = result == .success || !retries || count > Self.retryDelays.count
        if isDone { waiting.remove(place) }
        notifications[place].nextAttempt =
            isDone ? nil : date.addingSaturated(max(1, pace.scaled(Self.retryDelays[count - 1])))
    }
}
