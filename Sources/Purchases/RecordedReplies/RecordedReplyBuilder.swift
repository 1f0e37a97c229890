import AppStoreModels

/// Collects the contents of a recorded document, list by list.
struct RecordedReplyBuilder {
    private let kind: RecordedReply.Kind
    private let top: RecordedObjectReader
    private var status: Int64?
    private var rows: [RecordedRow] = []
    private var indices: [RecordedRowIdentity: Int] = [:]
    private var renewals: [MappedRenewalInfo] = []
    private var appTransaction: MappedAppTransaction?
    private(set) var embedded: [RecordedReply.EmbeddedReceipt] = []
    private var context = RecordContext()
    private var notes: [MappingNote] = []
    private var isDated = false
    private var newestEvent: Int64?
    private var otherStoreRows: [JSONObject] = []

    /// The kind of document that an object is; nil if it is none.
    static func kind(of object: JSONObject) -> RecordedReply.Kind? {
        if object["notification_type"]?.string != nil || object["unified_receipt"]?.object != nil {
            return .notificationV1
        }
        let replyKeys = ["latest_receipt_info", "latest_expired_receipt_info", "pending_renewal_info"]
        if replyKeys.contains(where: { object[$0] != nil }) { return .reply }
        if let receipt = object["receipt"], receipt.object != nil || receipt.array != nil { return .reply }
        if object["product_id"] != nil { return .rows }
        return object["status"] != nil ? .reply : nil
    }

    /// Rows alone.
    init(rows values: [JSONValue]) throws(RecordedReplyError) {
        kind = .rows
        top = RecordedObjectReader(object: JSONObject(members: []), path: "")
        for (index, value) in values.enumerated() {
            let path = "[\(index)]"
            guard let object = value.object, object["product_id"] != nil else {
                throw RecordedReplyError(.notRecognized, at: path)
            }
            try addRow(RecordedObjectReader(object: object, path: path), "", .latest)
        }
    }

    /// A reply, a notification, or a single row.
    init(document: JSONObject) throws(RecordedReplyError) {
        guard let kind = Self.kind(of: document) else { throw RecordedReplyError(.notRecognized) }
        self.kind = kind
        top = RecordedObjectReader(object: document, path: "")
        guard kind != .rows else {
            try addRow(top, "", .latest)
            return
        }
        let unified = try top.objects("unified_receipt").first
        try readStatus(unified)
        try readContext(unified)
        // The older state first, because a later list overrules an earlier one.
        try addReceipt()
        try addRows(top, "latest_expired_receipt_info", .latestExpired)
        try addRows(top, "latest_receipt_info", .latest)
        if let unified { try addRows(unified, "latest_receipt_info", .latest) }
        try addCancellation()
        try addRenewals(unified)
        try addEmbedded(unified)
    }

    /// Only the receipts in a reply or notification.
    init?(receiptsOf document: JSONObject) {
        guard let kind = Self.kind(of: document), kind != .rows else { return nil }
        self.kind = kind
        top = RecordedObjectReader(object: document, path: "")
        do throws(RecordedReplyError) { try addEmbedded(top.objects("unified_receipt").first) } catch { return nil }
    }

    mutating func complete(_ surroundings: RecordedSurroundings) {
        // A document that states an unknown environment is of another one than a column can know.
        var known = surroundings
        if notes.contains(.unknownEnvironment) { known.environment = nil }
        context.complete(known)
        for index in rows.indices { rows[index].complete(surroundings) }
        guard !isDated, let date = surroundings.recordedAt?.value else { return }
        // A document cannot be older than what it states.
        var events = [context.recordedAt, newestEvent].compactMap(\.self)
        for row in rows { events += [row.facts.purchaseDate, row.facts.cancellationDate].compactMap(\.self) }
        guard events.allSatisfy({ $0 <= date }) else { return }
        context.recordedAt = date
        isDated = true
    }

    func reply() throws(RecordedReplyError) -> RecordedReply {
        guard !rows.isEmpty || !renewals.isEmpty || appTransaction != nil || !embedded.isEmpty else {
            throw RecordedReplyError(otherStoreRows.isEmpty ? .nothingInside : .otherStore)
        }
        return RecordedReply(
            kind: kind, status: status, notificationType: try top.text("notification_type"), embeddedReceipts: embedded,
            rows: rows, renewals: renewals, appTransaction: appTransaction, context: context, notes: notes,
            isDated: isDated, newestEvent: newestEvent, otherStoreRows: otherStoreRows)
    }
}

// MARK: - The document

extension RecordedReplyBuilder {
    private func provenance(_ object: String, _ key: String) -> Provenance {
        let key = RecordedKey(object: object, key: key)
        return kind == .notificationV1 ? .notificationV1(key) : .recordedReply(key)
    }

    /// Replies with status 0 and 21006 contain purchases (Reference.md V2). A document without a status is accepted.
    private mutating func readStatus(_ unified: RecordedObjectReader?) throws(RecordedReplyError) {
        status = try top.integer("status")
        for (status, path) in [(status, "status"), (try Self.status(of: unified), "unified_receipt.status")] {
            guard let status, status != 0, status != 21006 else { continue }
            throw RecordedReplyError(.statusNotAccepted, at: path, status: status)
        }
    }

    /// The status of `unified_receipt`. Notifications until January 2020 have the text `OK` for 0 (Reference.md V8).
    private static func status(of unified: RecordedObjectReader?) throws(RecordedReplyError) -> Int64? {
        guard unified?.object["status"]?.string != "OK" else { return 0 }
        return try unified?.integer("status")
    }

    private mutating func readContext(_ unified: RecordedObjectReader?) throws(RecordedReplyError) {
        let receipt = try top.objects("receipt").first
        if let text = try top.text("environment") {
            setEnvironment(text, provenance("", "environment"))
        } else if let text = try unified?.text("environment") {
            setEnvironment(text, provenance("unified_receipt", "environment"))
        } else if let text = try receipt?.text("receipt_type") {
            setEnvironment(text, provenance("receipt", "receipt_type"))
        } else if let text = try unified?.text("receipt_type") {
            setEnvironment(text, provenance("unified_receipt", "receipt_type"))
        }
        var places: [(reader: RecordedObjectReader?, object: String, key: String)] = [
            (receipt, "receipt", "bundle_id"), (receipt, "receipt", "bid"), (top, "", "bid"),
        ]
        // Notifications of 2019 and 2020 state the app only in the purchase next to `unified_receipt` (Reference.md V8).
        for key in Self.flatPurchases where top.object[key]?.object != nil {
            places.append((try top.objects(key).first, key, "bid"))
        }
        for (reader, object, key) in places {
            guard context.bundleId == nil, let text = try reader?.text(key) else { continue }
            context.bundleId = text
            context.bundleIdProvenance = provenance(object, key)
        }
        newestEvent = [event("auto_renew_status_change_date"), event("cancellation_date")].compactMap(\.self).max()
        guard let receipt else { return }
        context.recordedAt = try receipt.date("request_date")?.date.milliseconds
        isDated = context.recordedAt != nil
        guard !isDated else { return }
        context.recordedAt = try receipt.date("receipt_creation_date")?.date.milliseconds
    }

    /// The keys that have a purchase as their value in notifications.
    private static let flatPurchases = ["latest_receipt_info", "latest_expired_receipt_info"]

    /// A date that only helps to date the document; nil if it cannot be read.
    private func event(_ name: String) -> Int64? {
        do throws(RecordedReplyError) { return try top.date(name)?.date.milliseconds } catch { return nil }
    }

    private mutating func setEnvironment(_ text: String, _ provenance: Provenance) {
        guard let environment = RecordedEnvironment.modern(text) else { return notes.append(.unknownEnvironment) }
        context.environment = environment
        context.environmentProvenance = provenance
    }

    private mutating func addEmbedded(_ unified: RecordedObjectReader?) throws(RecordedReplyError) {
        let places = [
            (unified, "unified_receipt.", "latest_receipt"), (top, "", "latest_receipt"),
            (top, "", "latest_expired_receipt"),
        ]
        for (reader, prefix, key) in places {
            guard let text = try reader?.text(key), !embedded.contains(where: { $0.text == text }) else { continue }
            embedded.append(RecordedReply.EmbeddedReceipt(key: prefix + key, text: text))
        }
    }
}

// MARK: - Rows

extension RecordedReplyBuilder {
    /// Adds a row, or updates the row of the same purchase.
    private mutating func add(_ row: RecordedRow) throws(RecordedReplyError) {
        let identity = row.identity
        guard let index = indices[identity] else {
            guard rows.count < RecordedReply.maximumPurchases else { throw RecordedReplyError(.tooManyPurchases) }
            indices[identity] = rows.count
            return rows.append(row)
        }
        var row = row
        row.complete(from: rows[index])
        rows[index] = row
    }

    private mutating func addRows(
        _ reader: RecordedObjectReader, _ key: String, _ age: RecordedListAge
    ) throws(RecordedReplyError) {
        let object = reader.path.isEmpty ? key : "\(reader.path).\(key)"
        for entry in try reader.objects(key) { try addRow(entry, object, age) }
    }

    /// Adds a row, an object in the style of `receipt` with rows inside, or both in one. An object that looks like a
    /// purchase is added or is an error, never skipped.
    private mutating func addRow(
        _ reader: RecordedObjectReader, _ object: String, _ age: RecordedListAge
    ) throws(RecordedReplyError) {
        if reader.isPurchase || !reader.has("in_app") { try addPurchase(reader, object, age) }
        let inside = object.isEmpty ? "in_app" : object + ".in_app"
        for entry in try reader.objects("in_app") { try addPurchase(entry, inside, age) }
    }

    /// Adds one purchase. A purchase from another store goes to a list of its own.
    private mutating func addPurchase(
        _ reader: RecordedObjectReader, _ object: String, _ age: RecordedListAge
    ) throws(RecordedReplyError) {
        if OtherStore.isNamed(in: reader.object) { return otherStoreRows.append(reader.object) }
        try add(RecordedRow(reader, object: object, age: age))
    }

    /// Adds `receipt`: the app with its purchases (app style) or one purchase (iOS 6 style).
    private mutating func addReceipt() throws(RecordedReplyError) {
        for reader in try top.objects("receipt") {
            let isApp =
                reader.has("in_app") || reader.has("receipt_type") || (reader.has("bundle_id") && !reader.isPurchase)
            if reader.isPurchase || !isApp { try addPurchase(reader, "receipt", .receipt) }
            for entry in try reader.objects("in_app") { try addPurchase(entry, "receipt.in_app", .receipt) }
            if isApp, appTransaction == nil { appTransaction = try reader.appTransaction() }
        }
    }

    /// Adds a cancellation next to the rows to the row with the same web order line item id. If the row or the document
    /// states no such id, it belongs to the only row (Reference.md V2.1 and V8). A cancellation that fits no row is
    /// noted.
    private mutating func addCancellation() throws(RecordedReplyError) {
        guard let (date, key) = try top.date("cancellation_date") else { return }
        let reason = try top.integer("cancellation_reason")
        let order = try top.text("web_order_line_item_id")
        guard let index = try cancelledRow(order == "0" ? nil : order, date.milliseconds) else {
            let isKnown = order == nil && rows.contains { $0.facts.cancellationDate == date.milliseconds }
            if !isKnown { notes.append(.cancellationNotPlaced) }
            return
        }
        if let known = rows[index].facts.cancellationDate {
            // Replies of 2017 have the date in both places, but only here the reason. Text dates have no milliseconds.
            guard known / 1_000 == date.milliseconds / 1_000 else { return }
        } else {
            rows[index].facts.cancellationDate = date.milliseconds
            rows[index].keys[Fact.cancellationDate.rawValue] = RecordedKey(key: key)
        }
        guard let reason, rows[index].facts.cancellationReason == nil else { return }
        rows[index].facts.cancellationReason = reason
        rows[index].keys[Fact.cancellationReason.rawValue] = RecordedKey(key: "cancellation_reason")
    }

    private func cancelledRow(_ order: String?, _ date: Int64) throws(RecordedReplyError) -> Int? {
        let current = try currentRow()
        guard let order else { return current }
        let currentOrder = current.flatMap { rows[$0].facts.webOrderLineItemId }
        if let current, currentOrder == order { return current }
        let matches = rows.indices.filter { rows[$0].facts.webOrderLineItemId == order }
        guard !matches.isEmpty else { return currentOrder == nil ? current : nil }
        // Successive periods can have the same id: the cancellation is for the latest one that had begun.
        func start(_ index: Int) -> Int64 { rows[index].facts.purchaseDate ?? .min }
        let begun = matches.filter { start($0) <= date }
        return (begun.isEmpty ? matches : begun).max { start($0) < start($1) }
    }

    /// The row that a document about one subscription states as the latest; nil if several are possible.
    private func currentRow() throws(RecordedReplyError) -> Int? {
        for key in Self.flatPurchases {
            guard top.object[key]?.object != nil, let reader = try top.objects(key).first,
                reader.isPurchase || !reader.has("in_app")
            else { continue }
            return indices[try RecordedRow(reader, object: key, age: .latest).identity]
        }
        if let unified = try top.objects("unified_receipt").first, unified.object["latest_receipt_info"]?.object != nil,
            let reader = try unified.objects("latest_receipt_info").first, reader.isPurchase || !reader.has("in_app")
        {
            return indices[try RecordedRow(reader, object: "", age: .latest).identity]
        }
        return rows.count == 1 ? 0 : nil
    }
}

// MARK: - Renewal information

extension RecordedReplyBuilder {
    private mutating func addRenewals(_ unified: RecordedObjectReader?) throws(RecordedReplyError) {
        for reader in try top.objects("pending_renewal_info") {
            renewals.append(try renewal(reader, "pending_renewal_info"))
        }
        if let unified {
            for reader in try unified.objects("pending_renewal_info") {
                renewals.append(try renewal(reader, "unified_receipt.pending_renewal_info"))
            }
        }
        // iOS 6 replies and notifications state it next to the rows; if the list exists, it has more.
        guard renewals.isEmpty, top.has("auto_renew_status") || top.has("auto_renew_product_id") else { return }
        var result = try renewal(top, "")
        if let index = try currentRow() {
            let row = rows[index]
            fill(&result, \.originalTransactionId, .originalTransactionId, row, \.originalTransactionId)
            fill(&result, \.productId, .productId, row, \.productId)
        }
        renewals.append(result)
    }

    private func renewal(_ reader: RecordedObjectReader, _ object: String) throws(RecordedReplyError)
        -> MappedRenewalInfo
    {
        try reader.renewalInfo { provenance(object, $0) }
    }

    private func fill(
        _ result: inout MappedRenewalInfo, _ path: WritableKeyPath<JWSRenewalInfoDecodedPayload, String?>,
        _ field: RenewalInfoField, _ row: RecordedRow, _ fact: KeyPath<PurchaseFacts, String?>
    ) {
        guard result.payload[keyPath: path] == nil, let value = row.facts[keyPath: fact],
            let key = row.keys[(field == .productId ? Fact.productId : .originalTransactionId).rawValue]
        else { return }
        result.payload[keyPath: path] = value
        result.provenance.record(field, provenance(key.object, key.key))
    }
}
