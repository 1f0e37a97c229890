import AppStoreModels
import Purchases

/// Gives unsigned documents the app and the environment that neither they nor their columns state. They come from a
/// verified document of the record, as with rows, or else from the caller's defaults.
struct DocumentCompletion: Sendable {
    let mapper: ReceiptMapper
    /// The roles that this run gives to columns.
    let roles: ColumnRoles

    /// Completes the unsigned documents of a record. Call this after all documents were read.
    ///
    /// A receipt or JWS decides about a document even if a filter excludes it, as it does about a row beside documents. The
    /// document then needs its record, in which that receipt is.
    func complete(_ read: inout RecordDocuments, of record: InputRecord) {
        guard read.storeKit2.contains(where: \.lacksScope) || read.recorded.contains(where: \.lacksScope) else {
            return
        }
        let roles = roles.roles(of: record, beside: read)
        let signed = SignedScopes(read.signedNewestFirst)
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
        let sharing = signed.sharing(document.mapping)
        // The receipt that was not verified can be the one that shares a purchase.
        if sharing == nil, let reason = read.reasonToWait { return read.wait(document.refused(reason)) }
        read.recorded.append(completed(document, from: sharing ?? signed.only(of: document.mapping), carried, roles))
    }

    private func complete(
        _ transaction: DecodedTransaction, beside signed: SignedScopes, _ carried: [CarriedColumn],
        _ roles: ColumnRoles, _ read: inout RecordDocuments
    ) {
        let mapping = mapper.map(recorded: [(transaction.payload, transaction.surroundings)]).mapping
        let sharing = signed.sharing(mapping)
        if sharing == nil, let reason = read.reasonToWait {
            return read.wait(RefusedDocument(document: transaction.document, kind: .storeKit2JSON, reason: reason))
        }
        let beside = sharing ?? signed.only(of: mapping)
        var transaction = transaction
        transaction.surroundings = completed(
            transaction.surroundings, of: mapping, from: beside, carried + transaction.document.carried, roles)
        transaction.isCompletedBeside = beside != nil
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
    ///   - beside: the receipt or JWS that states the app; nil if there is none.
    ///   - carried: the columns of the record.
    ///   - roles: with the defaults that count.
    private func completed(
        _ document: RecordedDocument, from beside: PlaceOfRow?, _ carried: [CarriedColumn], _ roles: ColumnRoles
    ) -> RecordedDocument {
        guard beside != nil || !roles.defaults.isEmpty else { return document }
        let columns = carried + document.document.carried
        let stated = completed(
            roles.documents.surroundings(columns), of: document.mapping, from: beside, columns, roles)
        guard let mapping = mapped(document, beside: stated) else { return document }
        var document = document
        document.complete(mapping, isCompletedBeside: beside != nil)
        return document
    }

    /// Adds to the known values of an unsigned document those of a receipt or JWS of the record, and the defaults.
    private func completed(
        _ known: RecordedSurroundings, of mapping: RecordedMapping, from beside: PlaceOfRow?,
        _ columns: [CarriedColumn], _ roles: ColumnRoles
    ) -> RecordedSurroundings {
        var stated = known
        if let beside { stated.complete(from: beside) }
        roles.addDefaults(to: &stated, beside: columns)
        // The ids of the purchases can state the sandbox. Then the other values of the record contradict nothing.
        if !mapping.lacksEnvironment { stated.environment = known.environment }
        return stated
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

/// The apps and the environments that the verified documents of a record state.
struct SignedScopes {
    /// The newest first.
    private let places: [PlaceOfRow]
    /// By transaction id and original transaction id, the index of the newest document with it.
    private var indices: [String: Int] = [:]

    /// - Parameter documents: the newest first.
    init(_ documents: [VerifiedDocument]) {
        let documents = documents.filter { $0.content.bundleId != nil }
        places = documents.map(\.place)
        for (index, document) in documents.enumerated() {
            let mapped = document.content.mapped
            for id in PurchaseIds.of(mapped.transactions, mapped.renewalInfos) where indices[id] == nil {
                indices[id] = index
            }
        }
    }

    /// The newest document that states a purchase of an unsigned one, by its id or its original id.
    func sharing(_ mapping: RecordedMapping) -> PlaceOfRow? { sharing(mapping.transactions, mapping.renewalInfos) }

    /// The same for signed renewal info, which states no app.
    func sharing(_ signed: MappedReceipt) -> PlaceOfRow? { sharing(signed.transactions, signed.renewalInfos) }

    private func sharing(_ transactions: [MappedTransaction], _ renewals: [MappedRenewalInfo]) -> PlaceOfRow? {
        PurchaseIds.of(transactions, renewals).compactMap { indices[$0] }.min().map { places[$0] }
    }

    /// The newest document, if all are of one app and environment. Otherwise nothing says of which a document without a
    /// common purchase is. Nil if the unsigned document states another app.
    func only(of mapping: RecordedMapping) -> PlaceOfRow? {
        guard let newest = places.first else { return nil }
        if let bundleId = mapping.statedBundleId, bundleId != newest.bundleId { return nil }
        let isOne = places.allSatisfy { $0.bundleId == newest.bundleId && $0.environment == newest.environment }
        return isOne ? newest : nil
    }
}

private enum PurchaseIds {
    static func of(_ transactions: [MappedTransaction], _ renewals: [MappedRenewalInfo]) -> [String] {
        transactions.flatMap { [$0.payload.transactionId, $0.payload.originalTransactionId].compactMap(\.self) }
            + renewals.compactMap(\.payload.originalTransactionId)
    }
}

extension RecordedDocument {
    /// Whether the app or the environment of the document or of one of its purchases is unknown.
    fileprivate var lacksScope: Bool { mapping.lacksBundleId || mapping.lacksEnvironment }

    /// Whether a receipt or JWS beside it states the app and the environment. A reply without purchases can be of another app.
    fileprivate var canBeOfReceipt: Bool { !mapping.isWithoutPurchases }
}

extension DecodedTransaction {
    fileprivate var lacksScope: Bool { bundleId == nil || environment == nil }
}
