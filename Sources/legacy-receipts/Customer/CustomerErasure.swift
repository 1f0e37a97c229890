import AppStoreModels
import ArgumentParser
import Foundation
import Migration
import Purchases
import SQLiteTransactionStore
import TransactionStore

/// Removes the customer that was found by an id from a store and from the spool of a server.
struct CustomerErasure {
    private let scope: StoreScope
    private let identities: [CustomerIdentity]
    /// The keys of the customer's records in quarantine.
    private let quarantined: [[UInt8]]

    /// - Parameter userColumn: the column with the user's id in quarantined records; nil to find it by its name.
    /// - Returns: nil if the store has nothing with the id.
    /// - Throws: ``CommandFailure`` if the id is of several customers; `TransactionStoreError`.
    init?(_ search: CustomerSearch, userColumn: String?, _ store: any CompleteTransactionStore) async throws {
        let places =
            search.matches.map { ($0.customer.scope, $0.customer.identities) }
            + search.unknownPurchases.map { ($0.scope, [$0.identity]) }
        guard search.isComplete, search.matches.count <= 1, places.allSatisfy({ $0.0 == places[0].0 }) else {
            let names = search.matches.prefix(20).map { match in
                let ids = match.customer.identities.filter { $0.kind == .originalTransactionId }.map(\.value)
                return "\n  \(match.customer.scope.bundleId) \(match.customer.scope.environment.rawValue) "
                    + Printable.text(ids.first ?? match.customer.identities.first?.value ?? "")
            }
            throw CommandFailure(
                """
                The id belongs to several customers, and --erase removes one. Name each by an original transaction id: \
                \(names.joined())
                """)
        }
        identities = Set(places.flatMap(\.1)).sorted()
        quarantined = try await CustomerQuarantine.keys(
            of: identities, users: search.quarantineUsers, userColumn: userColumn, in: store)
        if places.isEmpty, quarantined.isEmpty { return nil }
        // Quarantined records are of no scope.
        scope = places.first?.0 ?? StoreScope(environment: .production, bundleId: "")
    }

    /// What ``run(_:spools:leavingHashes:)`` would remove. Nothing is removed.
    /// - Throws: `TransactionStoreError`, ``CommandFailure``.
    func plan(
        _ store: any CompleteTransactionStore, spools: [String], leavingHashes: Bool
    ) async throws -> String {
        var lines: [String] = []
        for spool in spools { lines.append(try await erase(fromSpool: spool, isPlan: true)) }
        let rows = try await store.rowsToErase(
            identities, in: scope, quarantined: quarantined, leavingHashes: leavingHashes)
        let place = scope.bundleId.isEmpty ? "" : "\(scope.bundleId), \(scope.environment.rawValue): "
        lines.append("In the store: " + place + Self.counts(rows) + ".")
        if leavingHashes { lines.append("Hashes to leave: \(rows.leftHashes).") }
        lines.append(
            "Nothing was removed. The same command with --yes removes all of it. It cannot be undone.")
        return lines.joined(separator: "\n")
    }

    /// Removes from the spools first: a server would write their entries into the store later.
    /// - Parameters:
    ///   - spools: the files, which no server may have open.
    ///   - leavingHashes: whether documents that arrive later are not stored again.
    /// - Returns: what was removed.
    /// - Throws: `TransactionStoreError`, ``CommandFailure``.
    func run(
        _ store: any CompleteTransactionStore, spools: [String], leavingHashes: Bool
    ) async throws -> String {
        var lines: [String] = []
        for spool in spools { lines.append(try await erase(fromSpool: spool, isPlan: false)) }
        let rows = try await store.erase(identities, in: scope, quarantined: quarantined, leavingHashes: leavingHashes)
        lines.append("Removed from the store: " + Self.counts(rows) + ".")
        if leavingHashes, rows.leftHashes == 0 {
            lines.append("Hashes left: 0.")
        } else if leavingHashes {
            lines.append(
                """
                Hashes left: \(rows.leftHashes). Documents about these purchases are not stored again; --remove-hashes \
                with the same id undoes that.
                """)
        }
        return lines.joined(separator: "\n")
    }

    private static func counts(_ rows: ErasedRows) -> String {
        let counts = [
            ("ids", rows.identities), ("transactions", rows.transactions), ("renewal infos", rows.renewalInfos),
            ("app transactions", rows.appTransactions), ("receipts", rows.receipts),
            ("notifications", rows.notifications), ("ledger entries", rows.ledgerEntries),
            ("consumption requests", rows.consumptionTasks),
            ("transactions unknown to the App Store", rows.unknownTransactions), ("users", rows.userClaims),
            ("verified receipts", rows.verifiedReceipts), ("records in quarantine", rows.quarantined),
        ]
        return counts.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    }

    /// Removes the hashes that erasures left of an id, whatever its kind, in all apps and environments of the store.
    /// - Returns: their number.
    /// - Throws: `TransactionStoreError`.
    static func removeHashes(of id: String, in store: any CompleteTransactionStore) async throws -> Int64 {
        let identities = CustomerIdentity.Kind.allCases.filter(\.leavesHash).map { kind in
            CustomerIdentity(kind, kind == .receiptDigest ? id.lowercased() : id)
        }
        var count: Int64 = 0
        for scope in try await store.scopes() { count += try await store.removeLeftHashes(of: identities, in: scope) }
        return count
    }

    /// - Parameter isPlan: whether the entries are only counted.
    private func erase(fromSpool path: String, isPlan: Bool) async throws -> String {
        guard FileManager.default.fileExists(atPath: path) else { throw CommandFailure("There is no spool \(path).") }
        let spool = try SQLiteFactSpool.open(path: path, maximumBytes: .max)
        do {
            let wanted = Set(identities)
            var (last, removed, unreadable) = (Int64(0), 0, 0)
            while true {
                let entries = try await spool.oldest(after: last, maximumCount: 100, maximumBytes: 16 << 20)
                guard let end = entries.last else { break }
                last = end.id
                var ids: [Int64] = []
                for entry in entries {
                    switch entry.facts {
                    case .success(let set):
                        if set.scope == scope, !wanted.isDisjoint(with: set.identities) { ids.append(entry.id) }
                    case .failure: unreadable += 1
                    }
                }
                if !ids.isEmpty, !isPlan { try await spool.remove(ids) }
                removed += ids.count
            }
            try await spool.close()
            let rest = unreadable == 0 ? "" : " Entries that cannot be read and stay: \(unreadable)."
            return "\(isPlan ? "In" : "Removed from") \(Printable.text(path)): documents \(removed).\(rest)"
        } catch {
            try? await spool.close()
            throw error
        }
    }
}
