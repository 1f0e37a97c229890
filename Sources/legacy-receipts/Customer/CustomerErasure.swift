import AppStoreModels
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

    /// - Parameters:
    ///   - search: the search for the customer.
    ///   - userColumn: the column with the user's id in quarantined records; nil to find it by its name.
    ///   - spools: files, which no server may have open. Their documents may state more ids of the customer, or be all
    ///     that there is.
    ///   - store: the store.
    /// - Returns: nil if neither the store nor a spool has something with the id.
    /// - Throws: ``CommandFailure`` if the id is of several customers; `TransactionStoreError`.
    init?(
        _ search: CustomerSearch, userColumn: String?, spools: [String], _ store: any CompleteTransactionStore
    ) async throws {
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
                The id belongs to several customers, and --erase removes one. Use an original transaction id for each: \
                \(names.joined())
                """)
        }
        var (scope, found) = (places.first?.0, Set(places.flatMap(\.1)))
        if !spools.isEmpty {
            let waiting = try await Self.waiting(in: spools)
            if places.isEmpty {
                let about = waiting.filter { $0.isAbout(search.id) }
                scope = about.first?.scope
                guard about.allSatisfy({ $0.scope == scope }) else {
                    throw CommandFailure(
                        "Documents in the spool have the id in several apps or environments. Start a server to write them to the store first."
                    )
                }
                found = Set(about.flatMap(\.identities))
            }
            found = try await Self.connected(found, waiting.filter { $0.scope == scope }, scope, store)
        }
        identities = found.sorted()
        var users = search.quarantineUsers
        if let scope, !spools.isEmpty {
            // As in `quarantineUsers`: the records of several users may be about several people.
            let connected = Set(try await store.users(of: identities, in: scope).map(\.userId)).filter { !$0.isEmpty }
            if connected.count == 1 { users.formUnion(connected) }
        }
        quarantined = try await CustomerQuarantine.keys(
            of: identities, users: users, userColumn: userColumn, in: store)
        if found.isEmpty, quarantined.isEmpty { return nil }
        // Quarantined records are of no scope.
        self.scope = scope ?? StoreScope(environment: .production, bundleId: "")
    }

    /// The statement of a document in a spool about its customer.
    private struct Waiting {
        let scope: StoreScope
        let identities: Set<CustomerIdentity>
        let transactionIds: [String]

        func isAbout(_ id: String) -> Bool {
            transactionIds.contains(id) || identities.contains { $0 == CustomerIdentity($0.kind, id) }
        }
    }

    /// The ids, and those that documents in a spool and customers of the store connect with them.
    private static func connected(
        _ identities: Set<CustomerIdentity>, _ waiting: [Waiting], _ scope: StoreScope?,
        _ store: any CompleteTransactionStore
    ) async throws -> Set<CustomerIdentity> {
        var (found, rest) = (identities, waiting)
        while let scope, !found.isEmpty {
            let count = found.count
            let near = rest.partition { !found.isDisjoint(with: $0.identities) }
            found.formUnion(rest[near...].flatMap(\.identities))
            rest.removeSubrange(near...)
            if let customer = try await store.customer(found.sorted(), in: scope) {
                found.formUnion(customer.identities)
            }
            if found.count == count { break }
        }
        return found
    }

    private static func waiting(in spools: [String]) async throws -> [Waiting] {
        var found: [Waiting] = []
        for path in spools {
            try await read(path) { entries, _ in
                found += entries.compactMap { try? $0.facts.get() }.map { set in
                    Waiting(
                        scope: set.scope, identities: Set(set.identities),
                        transactionIds: set.transactions.compactMap(\.payload.transactionId))
                }
            }
        }
        return found
    }

    /// Reads a spool from the oldest entry to the newest.
    private static func read(
        _ path: String, _ take: ([SpooledFacts], SQLiteFactSpool) async throws -> Void
    ) async throws {
        guard FileManager.default.fileExists(atPath: path) else {
            throw CommandFailure("The spool \(path) does not exist.")
        }
        let spool = try SQLiteFactSpool.open(path: path, maximumBytes: .max)
        do {
            var last: Int64 = 0
            while true {
                let entries = try await spool.oldest(after: last, maximumCount: 100, maximumBytes: 16 << 20)
                guard let end = entries.last else { break }
                last = end.id
                try await take(entries, spool)
            }
            try await spool.close()
        } catch {
            try? await spool.close()
            throw error
        }
    }

    /// Removes from the spools first: a server would write their entries into the store later.
    /// - Parameters:
    ///   - store: the store.
    ///   - spools: the files, which no server may have open.
    ///   - leavingHashes: whether documents that arrive later are not stored again.
    ///   - isPlan: whether nothing is removed.
    /// - Returns: what was removed, or would be.
    /// - Throws: `TransactionStoreError`, ``CommandFailure``.
    func run(
        _ store: any CompleteTransactionStore, spools: [String], leavingHashes: Bool, isPlan: Bool
    ) async throws -> String {
        var lines: [String] = []
        for spool in spools { lines.append(try await erase(fromSpool: spool, isPlan: isPlan)) }
        guard !isPlan else {
            let rows = try await store.rowsToErase(
                identities, in: scope, quarantined: quarantined, leavingHashes: leavingHashes)
            let place = scope.bundleId.isEmpty ? "" : "\(scope.bundleId), \(scope.environment.rawValue): "
            lines.append("In the store: " + place + Self.counts(rows) + ".")
            if leavingHashes { lines.append("Hashes to leave: \(rows.leftHashes).") }
            lines.append("Nothing was removed. The same command with --yes removes all of it. It cannot be undone.")
            return lines.joined(separator: "\n")
        }
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

    /// Removes the hashes that erasures left of an id of any kind, in all apps and environments of the store.
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

    /// - Parameters:
    ///   - path: the path of the spool.
    ///   - isPlan: whether the entries are only counted.
    private func erase(fromSpool path: String, isPlan: Bool) async throws -> String {
        let wanted = Set(identities)
        var (removed, unreadable) = (0, 0)
        try await Self.read(path) { entries, spool in
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
        let rest = unreadable == 0 ? "" : " Entries that cannot be read and stay: \(unreadable)."
        return "\(isPlan ? "In" : "Removed from") \(Printable.text(path)): documents \(removed).\(rest)"
    }
}
