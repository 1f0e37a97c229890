import AppStoreModels
import Purchases

// Gives unsigned documents the app and the environment that neither they nor their columns state, by the rules of
// `SignedScopes` and `RecordScope`.
extension DocumentReader {
    /// Completes the unsigned documents of a record. Call this after all documents were read.
    ///
    /// A receipt or JWS decides about a document even if a filter excludes it, as it does about a row beside documents. The
    /// document then needs its record, in which that receipt is.
    func complete(_ read: inout RecordDocuments, of record: InputRecord) {
        guard read.storeKit2.contains(where: \.lacksScope) || read.recorded.contains(where: \.lacksScope) else {
            return
        }
        let roles = roles.roles(of: record, beside: read)
        let signed = SignedScopes(read.signedNewestFirst.map { (scope: $0.place.scope, receipt: $0.content.mapped) })
        let transactions = read.storeKit2
        read.storeKit2 = []
        for transaction in transactions {
            if transaction.lacksScope {
                complete(transaction, beside: signed, record.carried, roles, &read)
            } else {
                read.storeKit2.append(transaction)
            }
        }
        let recorded = read.recorded
        read.recorded = []
        for document in recorded {
            if document.lacksScope, document.canBeOfReceipt {
                complete(document, beside: signed, record.carried, roles, &read)
            } else if document.lacksScope {
                read.recorded.append(completed(document, from: nil, record.carried, roles))
            } else {
                read.recorded.append(document)
            }
        }
    }

    private func complete(
        _ document: RecordedDocument, beside signed: SignedScopes, _ carried: [CarriedColumn], _ roles: ColumnRoles,
        _ read: inout RecordDocuments
    ) {
        let choice = signed.choice(for: document.mapping)
        // The receipt that was not verified can be the one that shares a purchase.
        if !choice.sharesPurchase, let reason = read.reasonToWait { return read.wait(document.refused(reason)) }
        read.recorded.append(completed(document, from: choice.scope, carried, roles))
    }

    private func complete(
        _ transaction: DecodedTransaction, beside signed: SignedScopes, _ carried: [CarriedColumn],
        _ roles: ColumnRoles, _ read: inout RecordDocuments
    ) {
        let mapping = mapper.map(recorded: [(transaction.payload, transaction.surroundings)]).mapping
        let choice = signed.choice(for: mapping)
        if !choice.sharesPurchase, let reason = read.reasonToWait {
            return read.wait(RefusedDocument(document: transaction.document, kind: .storeKit2JSON, reason: reason))
        }
        var transaction = transaction
        let defaults = roles.defaults(beside: carried + transaction.document.carried)
        transaction.surroundings = transaction.surroundings.completed(
            for: mapping, beside: choice.scope, defaults: defaults)
        transaction.isCompletedBeside = choice.scope != nil
        read.storeKit2.append(transaction)
    }

    /// Marks the documents whose app or environment is still unknown, and for which it matters what the other documents of the
    /// record state. Call this after ``RecordDocuments/finish(_:)``.
    func keepTogether(_ read: inout RecordDocuments) {
        guard read.hasScopeBesideOthers else { return }
        for place in read.recorded.indices where read.recorded[place].lacksScope {
            read.recorded[place].isIncomplete = true
        }
    }

    /// - Parameters:
    ///   - document: the document to complete.
    ///   - beside: the receipt or JWS that states the app; nil if there is none.
    ///   - carried: the columns of the record.
    ///   - roles: with the defaults that count.
    private func completed(
        _ document: RecordedDocument, from beside: RecordScope?, _ carried: [CarriedColumn], _ roles: ColumnRoles
    ) -> RecordedDocument {
        guard beside != nil || !roles.defaults.isEmpty else { return document }
        let columns = carried + document.document.carried
        let stated = roles.documents.surroundings(columns).completed(
            for: document.mapping, beside: beside, defaults: roles.defaults(beside: columns))
        guard let mapping = mapped(document, beside: stated) else { return document }
        var document = document
        document.complete(mapping, isCompletedBeside: beside != nil)
        return document
    }

    /// The document with what is known from beside it; nil if it has no content of its own.
    private func mapped(_ document: RecordedDocument, beside stated: RecordedSurroundings) -> RecordedMapping? {
        switch document.document.payload {
        case .reply(let value), .transactions(let value), .notification(let value):
            (try? RecordedReply(value, beside: stated)).map { mapper.map($0) }
        case .storeKit2(let object, let kind):
            (try? RecordedStoreKit2(object, kind)).map { mapper.map($0, beside: stated) }
        default: nil
        }
    }
}

extension RecordedDocument {
    /// Whether the app or the environment of the document or of one of its purchases is unknown.
    fileprivate var lacksScope: Bool { mapping.lacksScope }

    /// Whether a receipt or JWS beside it states the app and the environment. A reply without purchases can be of another app.
    fileprivate var canBeOfReceipt: Bool { !mapping.isWithoutPurchases }
}

extension DecodedTransaction {
    fileprivate var lacksScope: Bool { bundleId == nil || environment == nil }
}
