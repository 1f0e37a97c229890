import AppStoreModels
import Purchases

/// Gives replies, rows and notifications the app and the environment that neither they nor the columns beside them state: those of
/// a verified document of their record, as for a row beside documents.
struct DocumentCompletion: Sendable {
    let mapper: ReceiptMapper
    /// The roles that this run gives to columns.
    let roles: ColumnRoles

    /// Completes the unsigned documents of a record. Call this after all documents were read.
    ///
    /// A receipt or JWS decides about a document even if a filter excludes it, as it does about a row beside documents. The
    /// document then needs its record, in which that receipt is.
    func complete(_ read: inout RecordDocuments, of record: InputRecord) {
        guard read.recorded.contains(where: \.lacksScope) else { return }
        let signed = SignedScopes(read.signedNewestFirst)
        let recorded = read.recorded
        read.recorded = []
        for document in recorded {
            guard document.lacksScope else {
                read.recorded.append(document)
                continue
            }
            complete(document, beside: signed, of: record, &read)
        }
    }

    private func complete(
        _ document: RecordedDocument, beside signed: SignedScopes, of record: InputRecord, _ read: inout RecordDocuments
    ) {
        let sharing = signed.sharing(document.mapping)
        // The receipt that was not verified can be the one that shares a purchase.
        if sharing == nil, let reason = read.reasonToWait { return read.wait(document.refused(reason)) }
        var document = document
        if let beside = sharing ?? signed.only {
            var stated = roles.roles(of: record).documents.surroundings(record.carried + document.document.carried)
            stated.complete(from: beside)
            if let mapping = mapped(document, beside: stated) {
                document.complete(mapping, isCompletedBeside: true)
            }
        }
        read.recorded.append(document)
    }

    /// The document with what is known from beside it; nil if it is of another kind.
    private func mapped(_ document: RecordedDocument, beside stated: RecordedSurroundings) -> RecordedMapping? {
        switch document.document.payload {
        case .reply(let value), .transactions(let value), .notification(let value):
            (try? RecordedReply(value, beside: stated)).map { mapper.map($0) }
        default: nil
        }
    }
}

/// The apps and the environments that the verified documents of a record state.
private struct SignedScopes {
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
    func sharing(_ mapping: RecordedMapping) -> PlaceOfRow? {
        PurchaseIds.of(mapping.transactions, mapping.renewalInfos).compactMap { indices[$0] }.min().map { places[$0] }
    }

    /// The newest document, if all are of one app and environment. Otherwise nothing says of which a document without a
    /// common purchase is.
    var only: PlaceOfRow? {
        guard let newest = places.first else { return nil }
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
    /// Whether it states purchases of an unknown app or environment.
    fileprivate var lacksScope: Bool {
        !mapping.isWithoutPurchases && kind != .storeKit2JSON && (mapping.lacksBundleId || mapping.lacksEnvironment)
    }
}
