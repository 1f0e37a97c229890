internal import AppStoreModels
internal import LegacyReceipts

/// What one row of a recorded document states, exactly as it states it: a flag that is false is something else than a flag that
/// is not there (Reference.md V3.5).
package struct RecordedStatement: Sendable {
    let facts: PurchaseFacts
    let form: RecordForm
    let context: RecordContext
    let notes: [MappingNote]

    init(_ row: RecordedRow, of reply: RecordedReply) {
        facts = row.facts
        let isNotification = reply.kind == .notificationV1
        form = .recorded(row.keys, isNotification: isNotification)
        var context = reply.context
        var notes = row.notes
        if let bundleId = row.bundleId, let key = row.bundleIdKey {
            context.bundleId = bundleId
            context.bundleIdProvenance = isNotification ? .notificationV1(key) : .recordedReply(key)
        }
        context.correctEnvironment(row.facts, &notes)
        self.context = context
        self.notes = notes
    }

    /// The statement in modern words.
    var payload: JWSTransactionDecodedPayload { facts.statement(form, context) }

    /// What the modern model has no field for.
    var legacyFields: LegacyTransactionFields {
        var fields = LegacyTransactionFields()
        fields.isTrialPeriod = facts.isTrialPeriod
        fields.isInIntroOfferPeriod = facts.isInIntroOfferPeriod
        fields.promotionalOfferId = facts.promotionalOfferId
        fields.offerCodeRefName = facts.offerCodeRefName
        fields.cancellationDate = facts.cancellationDate
        fields.cancellationReason = facts.cancellationReason
        fields.inAppOwnershipType = facts.ownershipType
        return fields
    }
}

extension RecordContext {
    /// A sandbox id makes a sandbox transaction, whatever the document claims (Reference.md V7.5).
    fileprivate mutating func correctEnvironment(_ facts: PurchaseFacts, _ notes: inout [MappingNote]) {
        let ownId = facts.transactionId.flatMap { RecordedRow.namesNothing($0) ? nil : $0 }
        guard let id = ownId ?? facts.originalTransactionId, TransactionReceipt.isSandbox(transactionId: id),
            environment != .sandbox, environment != .xcode
        else { return }
        if environment != nil { notes.append(.environmentContradiction) }
        environment = .sandbox
        environmentProvenance = .inferred(.sandboxTransactionId)
    }
}
