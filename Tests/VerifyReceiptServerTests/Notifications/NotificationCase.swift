import AppStoreModels
import Testing

/// A notification type and subtype of Reference.md S5.4, and what it does to the reply for a receipt that
/// is older than all of it.
struct NotificationCase: Sendable, CustomTestStringConvertible {
    let type: String
    let subtype: String?
    /// What happened before, after the first purchase, each with its notification.
    var before: [@Sendable (inout Subscription) throws -> NotificationDraft] = []
    /// What happens, with its notification.
    let event: @Sendable (inout Subscription) throws -> NotificationDraft
    /// The changes to the reply, sorted; `O` stands for the original transaction id, `1` and `2` in a path for the
    /// transactions that follow.
    let changes: [String]
    /// Whether the first purchase was notified before, so that the store has it as the App Store signs it.
    var followsPurchase = true

    var testDescription: String { "\(type)\(subtype.map { "/" + $0 } ?? "")" }

    init(
        _ type: String, _ subtype: String? = nil, after before: [NotificationCase] = [],
        changes: [String] = [], _ event: @escaping @Sendable (inout Subscription) throws -> Void = { _ in }
    ) {
        self.init(
            type, subtype, after: before, changes: changes,
            draft: { subscription in
                try event(&subscription)
                return try NotificationDraft(type, subtype, subscription)
            })
    }

    /// - Parameters:
    ///   - type: the type of the notification.
    ///   - subtype: its subtype; nil for none.
    ///   - before: the notifications before it.
    ///   - changes: what it changes in the reply.
    ///   - draft: makes the notification itself.
    init(
        _ type: String, _ subtype: String? = nil, after before: [NotificationCase] = [], changes: [String] = [],
        draft: @escaping @Sendable (inout Subscription) throws -> NotificationDraft
    ) {
        self.type = type
        self.subtype = subtype
        self.before = before.flatMap { $0.before + [$0.event] }
        self.changes = changes
        event = { subscription in
            subscription.now += Signed.day
            return try draft(&subscription)
        }
    }

    /// The changes with the ids of a subscription.
    func changes(_ subscription: Subscription) -> [String] {
        changes.map { change in
            var parts = change.split(separator: "/", maxSplits: 1).map(String.init)
            let id = parts[1].prefix { $0 != "/" && $0 != " " }
            let name = id == "O" ? subscription.original : Int64(id).map { $0 < 100 ? subscription.id($0) : String(id) }
            parts[1] = (name ?? String(id)) + parts[1].dropFirst(id.count)
            return parts.joined(separator: "/")
        }.sorted()
    }
}
