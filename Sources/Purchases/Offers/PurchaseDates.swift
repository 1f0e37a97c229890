package import AppStoreModels
internal import Encodings

/// The dates of a customer's purchases, by original transaction id, from any document. They show what the App Store
/// should know about a purchase before its answer is there.
package struct PurchaseDates: Sendable {
    /// When the newest transaction was bought; milliseconds since 1970-01-01T00:00:00Z, like all dates here.
    private var newest: [String: Int64] = [:]
    /// The latest stated end.
    private var ends: [String: Int64] = [:]

    package init() {}

    package mutating func add(_ payload: borrowing JWSTransactionDecodedPayload, of id: String?) {
        guard let id else { return }
        if let date = payload.purchaseDate { newest[id] = max(newest[id] ?? .min, date) }
        if let end = payload.expiresDate { ends[id] = max(ends[id] ?? .min, end) }
    }

    package mutating func add(_ info: JWSRenewalInfoDecodedPayload) {
        guard let id = info.originalTransactionId, let end = info.gracePeriodExpiresDate else { return }
        ends[id] = max(ends[id] ?? .min, end)
    }

    /// Whether the purchase is a subscription in a period or grace period. A refund may have ended it.
    private func mayRun(_ id: String, at now: Int64) -> Bool { ends[id].map { $0 > now } ?? false }

    /// Whether the purchase is less than a day old, so that the App Store may not know it yet.
    private func isNew(_ id: String, at now: Int64) -> Bool {
        now.subtractingSaturated(newest[id] ?? .min) < .millisecondsPerDay
    }

    /// The meaning of purchases that the App Store does not know.
    package enum Unknown: Hashable, Sendable {
        /// They are old, and the App Store has confirmed others. One old unknown purchase must not hide the confirmed ones.
        case harmless
        /// One of them may be too new for the App Store.
        case maybeTooNew
        /// The App Store knows none of the purchases, or does not know a running subscription, which may have been refunded.
        case notKnown
    }

    /// - Parameters:
    ///   - ids: the purchases that the App Store does not know.
    ///   - count: the number of all purchases of the customer.
    ///   - now: milliseconds since 1970-01-01T00:00:00Z.
    package func unknown(_ ids: [String], of count: Int, at now: Int64) -> Unknown {
        guard ids.count == count || ids.contains(where: { mayRun($0, at: now) }) else { return .harmless }
        return ids.contains { isNew($0, at: now) } ? .maybeTooNew : .notKnown
    }
}

extension JWSTransactionDecodedPayload {
    /// When the customer first bought what the transaction continues or restores: the start of a subscription, or the purchase
    /// itself. Nil if no document states it.
    var firstBought: Int64? { originalPurchaseDate ?? purchaseDate }
}
