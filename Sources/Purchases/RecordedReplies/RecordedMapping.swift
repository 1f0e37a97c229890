public import AppStoreModels

/// A recorded document in modern terms. It is unsigned, so it is not a ``MappedReceipt``. Grant access only after the
/// App Store Server API or an embedded receipt confirms it.
public struct RecordedMapping: Sendable {
    /// The kind of document.
    public let kind: RecordedReply.Kind
    /// One transaction per transaction id and product, even if several lists of the reply contain it. Those of the
    /// submitted receipt come first, in its order.
    public internal(set) var transactions: [MappedTransaction]
    /// The app itself, from the `receipt` object of an app style reply.
    public internal(set) var appTransaction: MappedAppTransaction?
    /// The renewal information of the document.
    public let renewalInfos: [MappedRenewalInfo]
    /// The receipts inside the document, which can be verified.
    public let embeddedReceipts: [RecordedReply.EmbeddedReceipt]
    /// Notes about the document as a whole.
    public let notes: [MappingNote]
    /// The environment that the document states.
    public let environment: Environment?
    /// The app that the document as a whole states.
    package let bundleId: String?
    /// When the reply was made, in milliseconds since 1970-01-01T00:00:00Z, which is the date of the renewal
    /// information; nil if it does not state that.
    public let recordedAt: Int64?
    /// The date of the document; nil if nothing in it has a date.
    public internal(set) var asOf: AsOf?
    /// The statements of the rows, one element per transaction, in the same order.
    package internal(set) var statements: [PurchaseStatement]
    /// Rows that are purchases from another store, unchanged; they are in none of the lists above.
    package let otherStoreRows: [JSONObject]

    /// Whether the document states no purchase and no renewal, whether or not a store can file them.
    package var isWithoutPurchases: Bool { statements.isEmpty && renewalInfos.isEmpty }

    /// Raises ``asOf``, because the document embeds something with that date.
    package mutating func raise(notBefore date: Int64) {
        guard asOf?.kind != .recorded, date > asOf?.date ?? .min else { return }
        asOf = AsOf(date: date, kind: .recordedNotBefore)
    }

    /// Removes the app transaction, because a signed document states it better.
    package mutating func removeAppTransaction() { appTransaction = nil }

    /// Removes the transactions and statements of the rows at these indices.
    package mutating func remove(rows: Set<Int>) {
        guard !rows.isEmpty else { return }
        transactions = transactions.indices.filter { !rows.contains($0) }.map { transactions[$0] }
        statements = statements.indices.filter { !rows.contains($0) }.map { statements[$0] }
    }
}

extension AppTransaction {
    /// Whether it states anything about how the customer obtained the app.
    package var statesDownload: Bool {
        originalApplicationVersion != nil || originalPurchaseDate != nil || preorderDate != nil
            || appTransactionId != nil
    }
}

extension ReceiptMapper {
    /// Maps a recorded document. The result is unverified, and no function makes it verified.
    public func map(_ reply: RecordedReply) -> RecordedMapping {
        let statements = reply.rows.map { PurchaseStatement($0, of: reply) }
        let transactions = resolve(statements, .recorded)
        let originals = Self.originals(of: transactions, for: reply.renewals)
        return RecordedMapping(
            kind: reply.kind, transactions: transactions, appTransaction: reply.appTransaction,
            renewalInfos: reply.renewals.map { completed($0, reply.context, originals) },
            embeddedReceipts: reply.embeddedReceipts, notes: reply.notes, environment: reply.context.environment,
            bundleId: reply.context.bundleId, recordedAt: reply.context.recordedAt, asOf: Self.asOf(reply),
            statements: statements, otherStoreRows: reply.otherStoreRows)
    }

    /// The request date; without one, the newest date in the document, which is not older than that.
    private static func asOf(_ reply: RecordedReply) -> AsOf? {
        if reply.isDated, let date = reply.context.recordedAt { return AsOf(date: date, kind: .recorded) }
        var dates = [reply.context.recordedAt, reply.newestEvent].compactMap(\.self)
        for row in reply.rows { dates += [row.facts.purchaseDate, row.facts.cancellationDate].compactMap(\.self) }
        return dates.max().map { AsOf(date: $0, kind: .recordedNotBefore) }
    }

    /// The original transaction ids of each product; empty if each renewal states its own.
    private static func originals(
        of transactions: [MappedTransaction], for renewals: [MappedRenewalInfo]
    ) -> [String: Set<String>] {
        guard renewals.contains(where: { $0.payload.originalTransactionId == nil }) else { return [:] }
        var originals: [String: Set<String>] = [:]
        for transaction in transactions {
            guard let product = transaction.payload.productId, let id = transaction.payload.originalTransactionId else {
                continue
            }
            originals[product, default: []].insert(id)
        }
        return originals
    }

    /// Adds what the rest of the document states about a renewal: the environment and, in replies of mid-2017, the
    /// subscription if only one has the product.
    private func completed(
        _ info: MappedRenewalInfo, _ context: RecordContext, _ originals: [String: Set<String>]
    ) -> MappedRenewalInfo {
        var info = info
        if info.payload.originalTransactionId == nil, let product = info.payload.productId,
            let known = originals[product], known.count == 1
        {
            info.provenance.set(
                &info.payload.originalTransactionId, to: known.first, .originalTransactionId,
                .inferred(.onlySubscriptionOfProduct))
        }
        var context = context
        context.correctEnvironment(ofId: info.payload.originalTransactionId, &info.notes)
        info.provenance.set(
            &info.payload.environment, to: context.environment, .environment, context.environmentProvenance)
        return info
    }
}
