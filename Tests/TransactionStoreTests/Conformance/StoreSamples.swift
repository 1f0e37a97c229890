import AppStoreModels
import Purchases
import TransactionStore

/// Values that the tests of the store share.
enum StoreSamples {
    static let scope = StoreScope(environment: .production, bundleId: "com.example.app")
    /// 2020-06-01T00:00:00Z.
    static let june: Int64 = 1_590_969_600_000
    static let day: Int64 = 86_400_000

    static func payload(_ id: String, original: String? = nil, product: String = "monthly")
        -> JWSTransactionDecodedPayload
    {
        var payload = JWSTransactionDecodedPayload()
        payload.transactionId = id
        payload.originalTransactionId = original ?? id
        payload.productId = product
        payload.purchaseDate = june
        return payload
    }

    static func fact(
        _ id: String, original: String? = nil, product: String = "monthly", source: FactSource = .receipt,
        at date: Int64 = june, legacy: LegacyTransactionFields? = nil,
        _ configure: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) -> TransactionFact {
        var payload = payload(id, original: original, product: product)
        configure(&payload)
        return TransactionFact(
            payload: payload, legacy: legacy, origin: FactOrigin(source: source, signedDate: date))
    }

    static func set(
        _ facts: TransactionFact..., scope: StoreScope = scope, identities: [CustomerIdentity] = [],
        renewals: [RenewalInfoFact] = [], app: AppTransactionFact? = nil, receipt: KnownReceipt? = nil,
        notification: ProcessedNotification? = nil
    ) -> FactSet {
        FactSet(
            scope: scope, identities: identities, transactions: facts, renewalInfos: renewals, appTransaction: app,
            receipt: receipt, notification: notification)
    }

    static func renewal(
        _ original: String, product: String = "monthly", source: FactSource = .notificationV2, at date: Int64 = june,
        _ configure: (inout JWSRenewalInfoDecodedPayload) -> Void = { _ in }
    ) -> RenewalInfoFact {
        var payload = JWSRenewalInfoDecodedPayload()
        payload.originalTransactionId = original
        payload.autoRenewProductId = product
        configure(&payload)
        return RenewalInfoFact(payload: payload, origin: FactOrigin(source: source, signedDate: date))
    }

    static func app(_ version: String, source: FactSource = .receipt, at date: Int64 = june) -> AppTransactionFact {
        var payload = AppTransaction()
        payload.applicationVersion = version
        return AppTransactionFact(payload: payload, origin: FactOrigin(source: source, signedDate: date))
    }

    static func receipt(_ text: String, form: KnownReceipt.Form = .app, at date: Int64 = june) -> KnownReceipt {
        KnownReceipt(form: form, bytes: Array(text.utf8), signedDate: date)
    }

    static func notification(_ uuid: String) -> ProcessedNotification {
        ProcessedNotification(
            notificationUUID: uuid, notificationType: "DID_RENEW", subtype: nil, signedDate: june,
            body: Array("{}".utf8))
    }

    static func original(_ id: String) -> CustomerIdentity { CustomerIdentity(.originalTransactionId, id) }
}

extension TransactionStore {
    func customer(original id: String, in scope: StoreScope = StoreSamples.scope) async throws -> Customer? {
        try await customer([StoreSamples.original(id)], in: scope)
    }
}

/// A customer in a form that can be compared.
struct ComparableCustomer: Equatable {
    struct Transaction: Equatable {
        let payload: JWSTransactionDecodedPayload
        let legacy: LegacyTransactionFields
        let origins: [FactOrigin]
    }

    struct Renewal: Equatable {
        let payload: JWSRenewalInfoDecodedPayload
        let origins: [FactOrigin]
    }

    let scope: StoreScope
    let identities: [CustomerIdentity]
    let transactions: [Transaction]
    let renewals: [Renewal]
    let app: AppTransaction?
    let appOrigins: [FactOrigin]
    let receipts: [KnownReceipt?]

    init?(_ customer: Customer?) {
        guard let customer else { return nil }
        scope = customer.scope
        identities = customer.identities
        transactions = customer.transactions.map {
            Transaction(payload: $0.payload, legacy: $0.legacy, origins: $0.origins)
        }
        renewals = customer.renewalInfos.map { Renewal(payload: $0.payload, origins: $0.origins) }
        app = customer.appTransaction?.payload
        appOrigins = customer.appTransaction?.origins ?? []
        receipts = [customer.newestAppReceipt, customer.newestTransactionReceipt]
    }
}
