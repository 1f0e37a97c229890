internal import AppStoreModels
package import LegacyReceipts

extension [FactSet] {
    /// The facts of a recorded document, one set per original transaction id. The document is unsigned, so it cannot
    /// merge two customers: only signed documents show which purchases belong together.
    ///
    /// A document without purchases gives one set with the app transaction that it states. Its id identifies the
    /// customer; without one, as in a reply, the digest of the statement does. If the statement has no date, the date
    /// and the user are part of it too, because many customers can have the same version of the app.
    ///
    /// The date of the facts is that of `RecordedMapping/asOf`, but not later than `importedAt`. The result leaves out
    /// purchases without an app or a known environment, of Xcode, and without a valid transaction id, which is a
    /// decimal number. It also leaves out renewal information that fits none or several of the document's scopes. It
    /// leaves out an app transaction that has neither the date nor the version of the first download. It can be empty.
    /// - Parameters:
    ///   - mapping: the statements of the document.
    ///   - importedAt: the date of the import, in milliseconds since 1970-01-01T00:00:00Z.
    ///   - userId: the caller's user to whom the document belongs, if known.
    public init(recorded mapping: RecordedMapping, importedAt: Int64 = .max, userId: String? = nil) {
        self.init(recorded: mapping, importedAt: importedAt, userId: userId, document: nil)
    }

    /// - Parameters:
    ///   - mapping: the statements of the document.
    ///   - importedAt: the date of the import, in milliseconds since 1970-01-01T00:00:00Z.
    ///   - userId: the caller's user to whom the document belongs, if known.
    ///   - document: the hash of the document (`FactOrigin.document`).
    ///   - rows: for StoreKit 2 transactions, the hash of the document of each. Empty if all are from one document.
    package init(
        recorded mapping: RecordedMapping, importedAt: Int64, userId: String?, document: Fingerprint?,
        rows: [Fingerprint?] = []
    ) {
        self.init(
            recorded: mapping, wasReceived: false, notBefore: nil, importedAt: importedAt, userId: userId,
            document: document, rows: rows)
    }

    /// - Parameters:
    ///   - mapping: the statements of the document.
    ///   - wasReceived: whether it is a notification that came with the app's secret, and not a stored one.
    ///   - notBefore: the earliest possible date of the document, in milliseconds since 1970-01-01T00:00:00Z: that of a
    ///     change that it states or of a receipt that it embeds.
    ///   - importedAt: the date of the import, in milliseconds since 1970-01-01T00:00:00Z.
    ///   - userId: the caller's user to whom the document belongs, if known.
    ///   - hash: the hash of the document.
    ///   - rows: the hash of the document of each transaction.
    init(
        recorded mapping: RecordedMapping, wasReceived: Bool, notBefore: Int64?, importedAt: Int64, userId: String?,
        document hash: Fingerprint?, rows: [Fingerprint?]
    ) {
        var stated = mapping.asOf?.date ?? 0
        if let notBefore, mapping.asOf?.kind != .recorded { stated = Swift.max(stated, notBefore) }
        let source: FactSource =
            switch mapping.kind {
            case .notificationV1: wasReceived ? .notificationV1 : .recordedNotificationV1
            case .reply, .rows: .recordedReply
            case .storeKit2: .recordedStoreKit2
            }
        var document = RecordedDocument(
            origin: FactOrigin(source: source, signedDate: Swift.min(stated, importedAt), document: hash),
            importedAt: importedAt)
        for (place, statement) in mapping.statements.enumerated() {
            document.add(statement, rows.indices.contains(place) ? rows[place] : hash)
        }
        document.addAppTransaction(of: mapping, userId: userId)
        for info in mapping.renewalInfos { document.add(info, mapping) }
        self = document.sets
    }
}

/// The parts of a recorded document by scope, in the order of their first occurrence.
private struct RecordedDocument {
    private struct Part {
        let scope: StoreScope
        var transactions: [TransactionFact] = []
        var renewalInfos: [RenewalInfoFact] = []
        var appTransaction: AppTransactionFact?
        /// The customer of an app transaction that is all that the document states; nil if its own id identifies the customer.
        var digest: CustomerIdentity?

        /// One set per original transaction id, in the order of their first occurrence.
        var sets: [FactSet] {
            var order: [String] = []
            var purchases: [String: [TransactionFact]] = [:]
            var renewals: [String: [RenewalInfoFact]] = [:]
            for fact in transactions {
                let id = fact.storedOriginalTransactionId
                if purchases[id] == nil { order.append(id) }
                purchases[id, default: []].append(fact)
            }
            for fact in renewalInfos {
                let id = fact.payload.originalTransactionId ?? ""
                if purchases[id] == nil, renewals[id] == nil { order.append(id) }
                renewals[id, default: []].append(fact)
            }
            if order.isEmpty {
                return [FactSet(scope: scope, identities: digest.map { [$0] } ?? [], appTransaction: appTransaction)]
            }
            return order.map {
                FactSet(
                    scope: scope, transactions: purchases[$0] ?? [], renewalInfos: renewals[$0] ?? [],
                    appTransaction: appTransaction)
            }
        }
    }

    private let origin: FactOrigin
    private let importedAt: Int64
    private var parts: [Part] = []
    private var indices: [StoreScope: Int] = [:]
    private var scopeOfPurchase: [String: Int] = [:]

    init(origin: FactOrigin, importedAt: Int64) {
        self.origin = origin
        self.importedAt = importedAt
    }

    /// Each part of StoreKit 2 JSON has a date of its own; a reply has one.
    private func origin(_ signedDate: Int64?, _ document: Fingerprint?) -> FactOrigin {
        let date = origin.source == .recordedStoreKit2 ? signedDate : nil
        return FactOrigin(
            source: origin.source, signedDate: date.map { Swift.min($0, importedAt) } ?? origin.signedDate,
            document: document)
    }

    var sets: [FactSet] { parts.flatMap(\.sets).filter { !$0.identities.isEmpty } }

    private mutating func index(_ environment: Environment?, _ bundleId: String?) -> Int? {
        guard let scope = StoreScope(environment, bundleId) else { return nil }
        if let index = indices[scope] { return index }
        indices[scope] = parts.count
        parts.append(Part(scope: scope))
        return parts.count - 1
    }

    /// Adds a statement of the document with this hash.
    mutating func add(_ statement: PurchaseStatement, _ document: Fingerprint?) {
        let payload = statement.payload
        guard payload.hasDecimalIds,
            let index = index(statement.context.environment, statement.context.bundleId)
        else { return }
        parts[index].transactions.append(TransactionFact(statement, origin(payload.signedDate, document)))
        if let original = payload.originalTransactionId { scopeOfPurchase[original] = index }
    }

    mutating func addAppTransaction(of mapping: RecordedMapping, userId: String?) {
        guard let app = mapping.appTransaction else { return }
        // An unknown environment is another one than the rest of the document states.
        let isFiledByTheRest = app.payload.statesDownload && !app.notes.contains(.unknownEnvironment)
        let stated = isFiledByTheRest ? mapping.environment : nil
        guard let index = index(app.payload.receiptType ?? stated, app.payload.bundleId ?? mapping.bundleId)
        else { return }
        parts[index].appTransaction = AppTransactionFact(payload: app.payload, legacy: app.legacy, origin: origin)
        guard mapping.isWithoutPurchases, app.payload.statesDownload else { return }
        let id = app.payload.appTransactionId.map { CustomerIdentity(.appTransactionId, $0) }
        guard id?.isMeaningful != true else { return }
        parts[index].digest = CustomerIdentity(.receiptDigest, Self.digest(of: app.payload, mapping, userId: userId))
    }

    private static func digest(of app: AppTransaction, _ mapping: RecordedMapping, userId: String?) -> String {
        var writer = JSONWriter(reservingCapacity: 512)
        // JSON keeps the parts apart for all characters.
        writer.beginArray()
        writer.model(app)
        if app.receiptCreationDate == nil {
            if let date = mapping.recordedAt { writer.integer(date) } else { writer.null() }
            writer.string(userId ?? "")
        }
        writer.endArray()
        return Fingerprint(of: writer.finish()).description
    }

    mutating func add(_ info: MappedRenewalInfo, _ mapping: RecordedMapping) {
        let original = info.payload.originalTransactionId ?? ""
        guard original.isEmpty || original.isDecimal else { return }
        var index = scopeOfPurchase[original] ?? (parts.count == 1 ? 0 : nil)
        if index == nil, parts.isEmpty {
            index = self.index(info.payload.environment ?? mapping.environment, mapping.bundleId)
        }
        guard let index else { return }
        parts[index].renewalInfos.append(
            RenewalInfoFact(payload: info.payload, origin: origin(info.payload.signedDate, origin.document)))
    }
}

extension Customer {
    /// Resolves what one reply states about its customer. Nothing is stored, so the reply needs neither an app nor an
    /// environment: replies to iOS 6 receipts have none. A whole reply states the expiry of every subscription.
    ///
    /// Nil if two purchases have the same transaction id, or if one has none.
    init?(resolving reply: RecordedReply) {
        let mapping = ReceiptMapper().map(reply)
        let origin = FactOrigin(source: .recordedReply, signedDate: mapping.asOf?.date ?? 0)
        var statements = CustomerStatements(
            scope: StoreScope(
                environment: mapping.environment ?? .production,
                bundleId: mapping.appTransaction?.payload.bundleId ?? ""))
        statements.transactions = mapping.statements.map { TransactionFact($0, origin) }
        guard statements.transactions.allSatisfy({ $0.payload.transactionId != nil }) else { return nil }
        for info in mapping.renewalInfos {
            guard let id = info.payload.originalTransactionId else { continue }
            statements.renewalInfos[id, default: ByKind()].recorded = RenewalInfoFact(
                payload: info.payload, origin: origin)
        }
        let customer = Customer(statements, rowsStateExpiry: true)
        guard customer.transactions.count == statements.transactions.count else { return nil }
        self = customer
    }
}
