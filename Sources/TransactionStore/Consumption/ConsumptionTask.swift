internal import AppStoreModels
public import Purchases

/// A request by the App Store for consumption information (CONSUMPTION_REQUEST), which the team must answer or dismiss.
///
/// Each notification is a separate task. If the customer requests the refund again, the App Store sends another
/// notification.
public struct ConsumptionTask: Hashable, Sendable {
    /// How a task was closed. Databases contain the raw values: never change one.
    public enum Outcome: Int64, Hashable, Sendable, CaseIterable {
        /// The App Store accepted the information.
        case answered = 1
        /// The team decided not to answer, for example because the customer did not consent.
        case dismissed = 2
    }

    /// How long the App Store waits for the answer, in milliseconds: 12 hours (App Store Server Notifications,
    /// CONSUMPTION_REQUEST).
    public static let answerTime: Int64 = 12 * 3_600_000

    /// The UUID of the notification, in lower case. It identifies the task.
    public let notificationUUID: String
    /// The app and the environment.
    public let scope: StoreScope
    /// The original transaction id that the transaction is stored under.
    public let originalTransactionId: String
    /// The transaction that the customer wants a refund for.
    public let transactionId: String
    /// Apple's `consumptionRequestReason`, such as `UNINTENDED_PURCHASE`; nil if the notification states none.
    public let reason: String?
    /// When the App Store signed the notification, in milliseconds since 1970.
    public let requestedDate: Int64
    /// The position of the transaction's entry `purchased` in the ledger; nil if there is none. A consumer that
    /// acknowledged this position has delivered the content.
    public let purchasedPosition: Int64?

    /// When the App Store stops waiting for the answer, in milliseconds since 1970.
    public var deadline: Int64 { requestedDate.addingSaturated(Self.answerTime) }

    /// Creates a task. Called by engines.
    public init(
        notificationUUID: String, scope: StoreScope, originalTransactionId: String, transactionId: String,
        reason: String?, requestedDate: Int64, purchasedPosition: Int64?
    ) {
        self.notificationUUID = notificationUUID
        self.scope = scope
        self.originalTransactionId = originalTransactionId
        self.transactionId = transactionId
        self.reason = reason
        self.requestedDate = requestedDate
        self.purchasedPosition = purchasedPosition
    }

    /// The task that the notification of a set opens, without a position; nil unless the notification is a
    /// CONSUMPTION_REQUEST with a signed transaction.
    public init?(of set: FactSet) {
        guard let notification = set.notification, let event = NotifiedEvent(of: set),
            event.event == .consumptionRequested
        else { return nil }
        let data = (try? JSONValue.parse(notification.body))?["data"]
        let reason = data?["consumptionRequestReason"]?.string
        self.init(
            notificationUUID: notification.notificationUUID, scope: set.scope,
            originalTransactionId: event.originalTransactionId, transactionId: event.transactionId,
            reason: reason.flatMap { !$0.isEmpty && CustomerIdentity.isPlain($0) ? $0 : nil },
            requestedDate: notification.signedDate, purchasedPosition: nil)
    }

    /// The end of a page after which the tasks of a date begin.
    package static func beforeAll(of date: Int64) -> ConsumptionTask {
        ConsumptionTask(
            notificationUUID: "", scope: StoreScope(environment: .production, bundleId: ""), originalTransactionId: "",
            transactionId: "", reason: nil, requestedDate: date, purchasedPosition: nil)
    }

    /// The number of tasks to read for `limit`: 1 to 1,000.
    public static func tasks(_ limit: Int) -> Int { max(1, min(limit, 1_000)) }
}

/// Keeps the requests for consumption information until they are closed. Every engine implements it.
///
/// ``TransactionStore/apply(_:)`` opens the task (``ConsumptionTask/init(of:)``) in the database transaction that
/// stores the notification. A task stays open after its deadline, so that missed requests remain visible.
///
/// Every method throws ``TransactionStoreError`` and nothing else.
public protocol ConsumptionTasks: Sendable {
    /// The next open tasks of all apps and environments, ordered by date and then by the bytes of the UUID; empty at
    /// the end.
    /// - Parameters:
    ///   - task: the last task of the previous page; nil to start at the beginning.
    ///   - limit: 1 to 1,000. Other values are clamped to this range.
    func openConsumptionTasks(after task: ConsumptionTask?, limit: Int) async throws -> [ConsumptionTask]

    /// Closes open tasks and returns how many were open. The change is durable when this method returns. A task that is
    /// already closed keeps its outcome.
    /// - Parameters:
    ///   - notificationUUIDs: the UUIDs of the tasks. Unknown ones are ignored.
    ///   - outcome: how the tasks were closed.
    func closeConsumptionTasks(
        _ notificationUUIDs: [String], as outcome: ConsumptionTask.Outcome
    ) async throws -> Int

    /// Claims open tasks for an answer. Of concurrent callers, one gets a task. The claim is durable when this method returns.
    ///
    /// A claim does not restrict the other methods. It is an agreement among the programs that send answers.
    /// - Parameters:
    ///   - notificationUUIDs: the UUIDs of the tasks. Unknown and closed ones are ignored.
    ///   - milliseconds: 1 to ``ConsumptionClaim/maximumMilliseconds``.
    ///   - claim: the caller's earlier claim, which this one continues or replaces; nil for none.
    /// - Returns: the claim; nil if another program has one of the tasks, and then nothing is claimed.
    /// - Throws: ``TransactionStoreError`` `invalidArgument` for an invalid duration.
    func claimConsumptionTasks(
        _ notificationUUIDs: [String], for milliseconds: Int64, renewing claim: ConsumptionClaim?
    ) async throws -> ConsumptionClaim?

    /// Ends a claim without closing its tasks. Tasks that another program has claimed meanwhile stay claimed.
    /// - Parameters:
    ///   - claim: the caller's claim.
    ///   - maybeAnswered: whether the answer may have arrived. The store remembers it until the task is closed or counted.
    func endClaim(_ claim: ConsumptionClaim, maybeAnswered: Bool) async throws

    /// Counts open tasks whose deadline is over. Each counts once, also if several programs count, and in later calls no
    /// more, unless it is claimed meanwhile. It stays open. A task that a program has claimed counts after the claim has ended.
    /// - Parameters:
    ///   - start: counts only tasks that were requested after this time, in milliseconds since 1970.
    ///   - end: counts only tasks that were requested at or before this time.
    func countMissedConsumptionTasks(
        requestedAfter start: Int64, upTo end: Int64
    ) async throws -> MissedConsumptionTasks
}

extension ConsumptionTasks {
    /// All open tasks, in the order of ``openConsumptionTasks(after:limit:)``.
    package func allOpenConsumptionTasks() async throws -> [ConsumptionTask] {
        try await allOpenConsumptionTasks(after: nil)
    }

    /// The open tasks whose deadline is after a time, in milliseconds since 1970, in the same order. Does not read
    /// missed tasks: there can be many, because they stay open until they are dismissed.
    package func answerableConsumptionTasks(at date: Int64) async throws -> [ConsumptionTask] {
        let start = ConsumptionTask.beforeAll(of: date.subtractingSaturated(ConsumptionTask.answerTime))
        return try await allOpenConsumptionTasks(after: start).filter { $0.deadline > date }
    }

    private func allOpenConsumptionTasks(after task: ConsumptionTask?) async throws -> [ConsumptionTask] {
        var tasks: [ConsumptionTask] = []
        while true {
            let page = try await openConsumptionTasks(after: tasks.last ?? task, limit: 1_000)
            if page.isEmpty { return tasks }
            tasks += page
        }
    }
}
