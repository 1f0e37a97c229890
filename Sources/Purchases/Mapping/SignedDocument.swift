package import AppStoreModels
package import LegacyReceipts

/// Stored StoreKit 2 data: one JWS, or a version 2 notification that contains several. Each part is verified.
package enum SignedDocument: Sendable {
    case transaction(Verified<JWSTransactionDecodedPayload>)
    case renewalInfo(Verified<JWSRenewalInfoDecodedPayload>)
    case appTransaction(Verified<AppTransaction>)
    /// `payload` is the JSON of the notification's JWS.
    case notification(
        Verified<ResponseBodyV2DecodedPayload>, payload: [UInt8], transaction: Verified<JWSTransactionDecodedPayload>?,
        renewalInfo: Verified<JWSRenewalInfoDecodedPayload>?, appTransaction: Verified<AppTransaction>?)

    package var transaction: Verified<JWSTransactionDecodedPayload>? {
        switch self {
        case .transaction(let transaction): transaction
        case .notification(_, _, let transaction, _, _): transaction
        case .renewalInfo, .appTransaction: nil
        }
    }

    package var renewalInfo: Verified<JWSRenewalInfoDecodedPayload>? {
        switch self {
        case .renewalInfo(let info): info
        case .notification(_, _, _, let info, _): info
        case .transaction, .appTransaction: nil
        }
    }

    package var appTransaction: Verified<AppTransaction>? {
        switch self {
        case .appTransaction(let app): app
        case .notification(_, _, _, _, let app): app
        case .transaction, .renewalInfo: nil
        }
    }

    fileprivate var evidence: SignatureEvidence {
        switch self {
        case .transaction(let verified): verified.evidence
        case .renewalInfo(let verified): verified.evidence
        case .appTransaction(let verified): verified.evidence
        case .notification(let verified, _, _, _, _): verified.evidence
        }
    }

    /// Milliseconds since 1970-01-01T00:00:00Z. `receiptCreationDate` is that of an app transaction (Reference.md S5.3).
    fileprivate var signedDate: Int64? {
        switch self {
        case .transaction(let verified): verified.payload.signedDate
        case .renewalInfo(let verified): verified.payload.signedDate
        case .appTransaction(let verified): verified.payload.receiptCreationDate
        case .notification(let verified, _, _, _, _): verified.payload.signedDate
        }
    }

    /// The source of the data. A JWS does not state whether a device or the App Store Server API returned it.
    fileprivate var source: FactSource {
        if case .notification = self { .notificationV2 } else { .signedTransaction }
    }
}

extension ReceiptMapper {
    /// Maps signed StoreKit 2 data. Its fields are modern already; rules and the catalog add what older data lacks.
    package func map(_ document: SignedDocument) -> MappedReceipt {
        let statement = document.transaction.map { PurchaseStatement($0.payload, .signedJWS(document.source)) }
        return MappedReceipt(
            transactions: resolve(statement.map { [$0] } ?? [], .signedTransaction), stated: .purchase(statement),
            appTransaction: document.appTransaction.map { MappedAppTransaction($0.payload, .signedJWS, .verifiedJWS) },
            renewalInfos: document.renewalInfo.map { [MappedRenewalInfo($0.payload, .signedJWS, .verifiedJWS)] } ?? [],
            notes: [], evidence: document.evidence,
            asOf: document.signedDate.map { AsOf(date: $0, kind: .signed) })
    }
}

extension MappedAppTransaction {
    /// An app transaction of StoreKit 2, which is modern already.
    init(_ payload: AppTransaction, _ provenance: Provenance, _ standing: RecordStanding) {
        self.init(standing: standing)
        self.payload = payload
        self.provenance = FieldProvenance(provenance, ofFieldsIn: &self.payload)
    }
}

extension MappedRenewalInfo {
    /// Renewal info of StoreKit 2, which is modern already.
    init(_ payload: JWSRenewalInfoDecodedPayload, _ provenance: Provenance, _ standing: RecordStanding) {
        self.init(standing: standing)
        self.payload = payload
        self.provenance = FieldProvenance(provenance, ofFieldsIn: &self.payload)
    }
}

extension [FactSet] {
    /// The facts of the signed StoreKit 2 data of one record: a set for each original transaction id, app transaction
    /// and notification. Being in one record does not make two purchases belong to one customer; only signed ids, such
    /// as `appTransactionId`, do.
    ///
    /// Renewal info states no app (Reference.md S4), so it counts only beside a transaction of its subscription, or if the
    /// caller knows the app. Data without an app, or from an environment that a store does not accept, is left out.
    /// - Parameters:
    ///   - documents: the verified data of the record.
    ///   - bundleId: the app of the document at an index, if it is renewal info without a transaction; nil if it is
    ///     unknown.
    package init(_ documents: [SignedDocument], bundleId: (Int) -> String? = { _ in nil }) {
        self = []
        var order: [Purchase] = []
        var transactions: [Purchase: [Verified<JWSTransactionDecodedPayload>]] = [:]
        var renewals: [String: [(info: Verified<JWSRenewalInfoDecodedPayload>, place: Int)]] = [:]
        for (place, document) in documents.enumerated() {
            switch document {
            case .transaction(let transaction):
                let payload = transaction.payload
                guard let scope = StoreScope(payload.environment, payload.bundleId),
                    let id = payload.purchaseId
                else { continue }
                let purchase = Purchase(scope: scope, originalTransactionId: id)
                if transactions[purchase] == nil { order.append(purchase) }
                transactions[purchase, default: []].append(transaction)
            case .renewalInfo(let info):
                if let id = info.payload.originalTransactionId { renewals[id, default: []].append((info, place)) }
            case .appTransaction(let app):
                guard let scope = StoreScope(app.payload.receiptType, app.payload.bundleId) else { continue }
                append(FactSet(scope: scope, source: .signedTransaction, appTransaction: app))
            case .notification(let notification, let payload, let transaction, let renewalInfo, let appTransaction):
                let set = FactSet(
                    notification: notification, payload: payload, transaction: transaction, renewalInfo: renewalInfo,
                    appTransaction: appTransaction)
                if let set { append(set) }
            }
        }
        let subscriptions = Set(order.map(\.originalTransactionId))
        for (id, infos) in renewals.sorted(by: { $0.key < $1.key }) where !subscriptions.contains(id) {
            for (info, place) in infos {
                guard let scope = StoreScope(info.payload.environment, bundleId(place)) else { continue }
                append(FactSet(scope: scope, source: .signedTransaction, renewalInfos: [info]))
            }
        }
        for purchase in order {
            append(
                FactSet(
                    scope: purchase.scope, source: .signedTransaction, transactions: transactions[purchase] ?? [],
                    renewalInfos: (renewals[purchase.originalTransactionId] ?? []).map(\.info)))
        }
        // A set without an identity belongs to no customer: an app transaction from before `appTransactionId` existed.
        removeAll { $0.identities.isEmpty && $0.notification == nil }
    }

    private struct Purchase: Hashable {
        let scope: StoreScope
        let originalTransactionId: String
    }
}

/// Finds the sets that have the facts of a document among those of one record.
package struct FiledDocuments {
    private let sets: [FactSet]
    private var transactions: [String?: [Int]] = [:]
    private var renewalInfos: [String?: [Int]] = [:]
    private var apps: [String: [Int]] = [:]
    private var notifications: [String?: [Int]] = [:]

    package init(_ sets: [FactSet]) {
        self.sets = sets
        for (place, set) in sets.enumerated() {
            for id in Set(set.transactions.map(\.payload.transactionId)) { transactions[id, default: []].append(place) }
            for id in Set(set.renewalInfos.map(\.payload.originalTransactionId)) {
                renewalInfos[id, default: []].append(place)
            }
            if let id = set.appTransaction?.payload.appTransactionId { apps[id, default: []].append(place) }
            if let notification = set.notification {
                notifications[notification.notificationUUID, default: []].append(place)
            }
        }
    }

    /// Empty if no set has the document.
    package func sets(of document: SignedDocument) -> [FactSet] {
        let places: [Int]? =
            switch document {
            case .transaction(let transaction): transactions[transaction.payload.transactionId]
            case .renewalInfo(let info): renewalInfos[info.payload.originalTransactionId]
            case .appTransaction(let app): app.payload.appTransactionId.flatMap { apps[$0] }
            case .notification(let notification, _, _, _, _):
                notifications[notification.payload.notificationUUID?.lowercased()]
            }
        return (places ?? []).map { sets[$0] }
    }

    /// Empty if no set has the transaction.
    package func sets(ofTransaction id: String?) -> [FactSet] { (transactions[id] ?? []).map { sets[$0] } }
}
