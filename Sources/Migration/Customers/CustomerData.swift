internal import AppStoreModels
internal import Encodings
internal import LegacyReceipts
internal import Purchases
public import TransactionStore

/// The data of a store about customers in addition to the tables of ``CustomerReport``. Together they are the copy of the data that a
/// person can ask for: what `customer --erase` removes.
public struct CustomerData: Sendable {
    /// The data of one customer.
    fileprivate struct Part: Sendable {
        let receipts: [KnownReceipt]
        let requests: [ConsumptionTask]
        let entries: [LedgerEntry]
        let notifications: [ProcessedNotification]
    }

    /// One for each match of the search.
    private let parts: [Part]
    /// The records in quarantine of all customers of the search. A record is of no app, so it may be of any of them.
    private let quarantined: [QuarantinedRecord]
    /// The number of records in quarantine.
    public var quarantinedCount: Int { quarantined.count }

    /// - Parameters:
    ///   - search: the search that found the customers.
    ///   - store: the store that was searched. All of its quarantine is read.
    ///   - url: the address of the store. All of its notifications are read.
    /// - Throws: `TransactionStoreError`.
    public init(_ search: CustomerSearch, in store: any CompleteTransactionStore, at url: StoreURL) async throws {
        let notifications = search.matches.isEmpty ? [] : try Self.notifications(about: search, url)
        let tasks = search.matches.isEmpty ? [] : try await store.allOpenConsumptionTasks()
        var parts: [Part] = []
        for (place, match) in search.matches.enumerated() {
            let customer = match.customer
            let purchases = customer.identities.filter { $0.kind == .originalTransactionId }.map(\.value)
            let requests = tasks.filter {
                $0.scope == customer.scope && purchases.contains($0.originalTransactionId)
            }
            parts.append(
                Part(
                    receipts: [customer.newestAppReceipt, customer.newestTransactionReceipt].compactMap(\.self),
                    requests: requests, entries: try await store.entries(ofPurchases: purchases, in: customer.scope),
                    notifications: notifications[place]))
        }
        self.parts = parts
        let identities = search.matches.flatMap(\.customer.identities) + search.unknownPurchases.map(\.identity)
        quarantined = try await CustomerQuarantine.records(
            of: identities, users: search.quarantineUsers, userColumn: nil, in: store)
    }

    /// The notifications about each match, as an erasure finds them, the oldest first.
    private static func notifications(
        about search: CustomerSearch, _ url: StoreURL
    ) throws -> [[ProcessedNotification]] {
        let snapshot = try url.snapshot()
        try snapshot.begin(.notifications)
        let mentioned = search.matches.map { match in
            let unknown = search.unknownPurchases.filter { $0.scope == match.customer.scope }
            return MentionedIdentities(match.customer.identities + unknown.map(\.identity))
        }
        var found: [[ProcessedNotification]] = Array(repeating: [], count: mentioned.count)
        while let row = try snapshot.next() {
            let set = try row.notification()
            guard let notification = set.notification else { continue }
            for place in mentioned.indices where search.matches[place].customer.scope == set.scope {
                if mentioned[place].areNamed(in: notification.body) { found[place].append(notification) }
            }
        }
        return found.map { notifications in
            notifications.sorted { ($0.signedDate, $0.notificationUUID) < ($1.signedDate, $1.notificationUUID) }
        }
    }

    /// Writes the members of one match into its object.
    func write(match place: Int, to writer: inout JSONWriter) {
        guard parts.indices.contains(place) else { return }
        let part = parts[place]
        writer.objects("receipts", part.receipts) { writer, receipt in
            writer.member("form", receipt.form.name)
            writer.member("signedDate", receipt.signedDate)
            writer.member("sha256", receipt.digest)
            writer.member("receipt", Base64.encode(receipt.bytes))
        }
        writer.objects("consumption_requests", part.requests) { writer, request in
            writer.member("notificationUUID", request.notificationUUID)
            writer.member("originalTransactionId", request.originalTransactionId)
            writer.member("transactionId", request.transactionId)
            writer.member("consumptionRequestReason", request.reason)
            writer.member("requestedDate", request.requestedDate)
            writer.member("deadline", request.deadline)
        }
        writer.objects("ledger_entries", part.entries) { writer, entry in
            entry.writeChange(to: &writer)
            writer.member("transactionId", entry.transactionId)
            writer.member("seatClaimId", entry.seatClaimId)
            if let earlier = entry.earlierPurchasesBefore {
                writer.array("earlierPurchasesBefore", earlier) { writer, id in writer.string(id) }
            }
        }
        writer.objects("notifications", part.notifications) { writer, notification in
            writer.member("notificationUUID", notification.notificationUUID)
            writer.member("notificationType", notification.notificationType)
            writer.member("subtype", notification.subtype)
            writer.member("signedDate", notification.signedDate)
            writer.member("body", String(decoding: notification.body, as: UTF8.self))
        }
    }

    /// Writes the records in quarantine, each as its line in the table `quarantine` was stored.
    func writeQuarantine(to writer: inout JSONWriter) {
        writer.array("quarantined_records", quarantined) { writer, record in writer.raw(record.line) }
    }
}

extension CustomerSearch {
    /// Your users whose quarantined records count as those of the customers. If records name several users for a customer, only
    /// the one that was searched counts, because the records of the others may be about other people.
    public var quarantineUsers: Set<String> {
        if matches.isEmpty || matches.contains(where: { $0.kinds.contains(.userId) }) { return [id] }
        var found: Set<String> = []
        for match in matches {
            let users = Set(match.users.map(\.userId)).filter { !$0.isEmpty }
            if users.count == 1 { found.formUnion(users) }
        }
        return found
    }
}
