public import AppStoreModels
import LegacyReceipts

/// A recorded document in modern terms. Nobody signed it; that is why it is not a ``MappedReceipt``, and why code that
/// grants something should grant only on what the App Store Server API or an embedded receipt confirms.
public struct RecordedMapping: Sendable {
    /// What kind of document it was.
    public let kind: RecordedReply.Kind
    /// One transaction per transaction id and product, although most of them stand in several lists of a reply. Those of
    /// the submitted receipt come first, in its order.
    public let transactions: [MappedTransaction]
    /// The app itself, from the `receipt` object of an app style reply.
    public let appTransaction: MappedAppTransaction?
    /// What the document says about renewals.
    public let renewalInfos: [MappedRenewalInfo]
    /// The receipts inside the document: these can be verified.
    public let embeddedReceipts: [RecordedReply.EmbeddedReceipt]
    /// What concerns the document as a whole.
    public let notes: [MappingNote]
    /// The environment that the document names.
    public let environment: Environment?
    /// When the reply was made, in milliseconds since 1970-01-01T00:00:00Z, if it says so: renewal information is of
    /// that time.
    public let recordedAt: Int64?
    /// What the rows state and the modern model has no field for; one element per transaction, in the same order.
    package let legacyFacts: [RecordedLegacyFacts]
}

extension ReceiptMapper {
    /// Maps a recorded document. The result is not verified and cannot become it.
    public func map(_ reply: RecordedReply) -> RecordedMapping {
        var transactions: [MappedTransaction] = []
        transactions.reserveCapacity(reply.rows.count)
        let isNotification = reply.kind == .notificationV1
        for row in reply.rows {
            var context = reply.context
            if let bundleId = row.bundleId, let key = row.bundleIdKey {
                context.bundleId = bundleId
                context.bundleIdProvenance = isNotification ? .notificationV1(key) : .recordedReply(key)
            }
            var notes = row.notes
            correctEnvironment(&context, row.facts, &notes)
            let source = FactSource.recorded(row.keys, isNotification: isNotification)
            transactions.append(transaction(row.facts, source, context, notes: notes))
        }
        transactions.concludeUpgrades()
        addTerms(&transactions)
        return RecordedMapping(
            kind: reply.kind, transactions: transactions, appTransaction: reply.appTransaction,
            renewalInfos: reply.renewals.map { completed($0, reply.context, transactions) },
            embeddedReceipts: reply.embeddedReceipts, notes: reply.notes, environment: reply.context.environment,
            recordedAt: reply.context.recordedAt, legacyFacts: reply.rows.map { RecordedLegacyFacts($0.facts) })
    }

    /// A sandbox id makes a sandbox transaction, whatever the document claims (Reference.md V7.5).
    private func correctEnvironment(
        _ context: inout RecordContext, _ facts: PurchaseFacts, _ notes: inout [MappingNote]
    ) {
        let ownId = facts.transactionId.flatMap { RecordedRow.namesNothing($0) ? nil : $0 }
        guard let id = ownId ?? facts.originalTransactionId,
            TransactionReceipt.isSandbox(transactionId: id),
            context.environment != .sandbox, context.environment != .xcode
        else { return }
        if context.environment != nil { notes.append(.environmentContradiction) }
        context.environment = .sandbox
        context.environmentProvenance = .inferred(.sandboxTransactionId)
    }

    /// Adds what the rest of the document tells about a renewal: the environment, and in replies of mid-2017 the
    /// subscription, if only one has the product.
    private func completed(
        _ info: MappedRenewalInfo, _ context: RecordContext, _ transactions: [MappedTransaction]
    ) -> MappedRenewalInfo {
        var info = info
        if info.payload.originalTransactionId == nil, let product = info.payload.productId {
            let originals = Set(
                transactions.lazy.filter { $0.payload.productId == product }.compactMap(\.payload.originalTransactionId)
            )
            if originals.count == 1, let original = originals.first {
                info.provenance.set(
                    &info.payload.originalTransactionId, to: original, .originalTransactionId,
                    .inferred(.onlySubscriptionOfProduct))
            }
        }
        if let id = info.payload.originalTransactionId, TransactionReceipt.isSandbox(transactionId: id),
            context.environment != .sandbox, context.environment != .xcode
        {
            if context.environment != nil { info.notes.append(.environmentContradiction) }
            info.provenance.set(
                &info.payload.environment, to: .sandbox, .environment, .inferred(.sandboxTransactionId))
        } else {
            info.provenance.set(
                &info.payload.environment, to: context.environment, .environment, context.environmentProvenance)
        }
        return info
    }
}
