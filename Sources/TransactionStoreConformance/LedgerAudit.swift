import AppStoreModels
import Purchases
package import TransactionStore

/// Reads a whole ledger as a consumer does, and checks the rules of every ledger.
package enum LedgerAudit {
    /// Returns the events of each transaction, in order.
    @discardableResult
    package static func check(_ store: any CompleteTransactionStore) async throws -> [LedgerEntry] {
        let pageSize = 97
        var entries: [LedgerEntry] = []
        while true {
            let page = try await store.changes(after: entries.last?.position ?? 0, limit: pageSize)
            if page.isEmpty { break }
            try expect(page.count <= pageSize)
            entries += page
        }
        try expect(zip(entries, entries.dropFirst()).allSatisfy { $0.position < $1.position })
        let seats = entries.compactMap { entry in entry.seatClaimId.map { [entry.scope.bundleId, $0] } }
        try expect(Set(seats).count, equals: seats.count, "a seat was unclaimed twice")
        try expect(entries.allSatisfy { ($0.event == .seatUnclaimed) == ($0.seatClaimId != nil) })
        try expect(entries.allSatisfy { $0.event == .termMoved || $0.earlierPurchasesBefore == nil })
        for (key, all) in Dictionary(grouping: entries, by: Key.init) {
            var decidingEvent: LedgerEntry.Event?
            for entry in all {
                try expect(entry.eventBefore, equals: decidingEvent, "\(key.id): the event before \(entry.event)")
                decidingEvent = entry.event.decidingEvent(after: decidingEvent)
            }
            let history = all.filter(\.event.isState)
            try expect(all.first?.event.isState == true, "\(key.id): the first entry is no state")
            try expect(history.count { $0.event == .purchased } <= 1, "\(key.id) was granted twice")
            try expect(zip(history, history.dropFirst()).allSatisfy { $0.event != $1.event }, "\(key.id)")
            let granted = history.firstIndex { $0.event == .purchased } ?? .max
            let reinstated = history.firstIndex { $0.event == .reinstated } ?? .max
            try expect(granted <= reinstated)
            let state = history.last?.event
            try expect(
                state == .reinstated ? .purchased : state, equals: history.last?.transaction.deliveryState,
                "\(key.id): the last entry does not match the facts")
        }
        return entries
    }

    struct Key: Hashable {
        let scope: StoreScope
        let id: String

        init(_ entry: LedgerEntry) {
            scope = entry.scope
            id = entry.transactionId
        }
    }

    /// The changes, with the states before and after, for example `1 started - active, 1 refunded active refunded`.
    static func changes(_ entries: [LedgerEntry]) -> String {
        entries.map {
            let (before, after) = ($0.stateBefore?.rawValue ?? "-", $0.stateAfter?.rawValue ?? "-")
            return "\($0.transactionId) \($0.change.rawValue) \(before) \(after)"
        }.joined(separator: ", ")
    }

    /// For example `1 purchased, 1 revoked`.
    package static func text(_ entries: [LedgerEntry]) -> String {
        entries.map { "\($0.transactionId) \($0.event)" }.joined(separator: ", ")
    }
}

extension DeliveryLedger {
    package var text: String { get async throws { LedgerAudit.text(try await changes(after: 0, limit: 10_000)) } }
}
