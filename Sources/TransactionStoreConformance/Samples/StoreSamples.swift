public import AppStoreModels
public import Purchases
import TransactionStore

/// Facts for testing an engine. They are not signed, even if their source states it: never put them into a store that
/// grants access.
public enum StoreSamples {
    /// The app and the environment of the samples.
    public static let scope = StoreScope(environment: .production, bundleId: "com.example.app")
    /// The app of ``scope`` in the sandbox.
    public static let sandbox = StoreScope(environment: .sandbox, bundleId: scope.bundleId)
    /// 2020-06-01T00:00:00Z.
    public static let june: Int64 = 1_590_969_600_000
    /// One day in milliseconds.
    public static let day: Int64 = 86_400_000

    package static func payload(_ id: String, original: String? = nil, product: String = "monthly")
        -> JWSTransactionDecodedPayload
    {
        var payload = JWSTransactionDecodedPayload()
        payload.transactionId = id
        payload.originalTransactionId = original ?? id
        payload.productId = product
        payload.purchaseDate = june
        return payload
    }

    /// A fact about a transaction.
    /// - Parameters:
    ///   - id: the transaction id.
    ///   - original: the original transaction id; `id` by default.
    ///   - product: the product id.
    ///   - source: the kind of the document.
    ///   - date: when the document was signed, in milliseconds since 1970-01-01T00:00:00Z.
    ///   - legacy: the values that the modern model has no field for.
    ///   - configure: sets further fields.
    public static func fact(
        _ id: String, original: String? = nil, product: String = "monthly", source: FactSource = .receipt,
        at date: Int64 = june, legacy: LegacyTransactionFields? = nil,
        _ configure: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) -> TransactionFact {
        var payload = payload(id, original: original, product: product)
        configure(&payload)
        return TransactionFact(
            payload: payload, legacy: legacy, origin: FactOrigin(source: source, signedDate: date))
    }

    /// All facts of one document.
    public static func set(
        _ facts: TransactionFact..., scope: StoreScope = scope, identities: [CustomerIdentity] = [],
        renewals: [RenewalInfoFact] = [], app: AppTransactionFact? = nil, receipt: KnownReceipt? = nil,
        notification: ProcessedNotification? = nil, unclaimedSeatIds: [String] = []
    ) -> FactSet {
        FactSet(
            scope: scope, identities: identities, transactions: facts, renewalInfos: renewals, appTransaction: app,
            receipt: receipt, notification: notification, unclaimedSeatIds: unclaimedSeatIds)
    }

    /// A document with any number of transactions.
    public static func set(_ facts: [TransactionFact], scope: StoreScope = scope, receipt: KnownReceipt? = nil)
        -> FactSet
    {
        FactSet(scope: scope, transactions: facts, receipt: receipt)
    }

    /// A fact about the next renewal of a subscription.
    public static func renewal(
        _ original: String, product: String = "monthly", source: FactSource = .notificationV2, at date: Int64 = june,
        _ configure: (inout JWSRenewalInfoDecodedPayload) -> Void = { _ in }
    ) -> RenewalInfoFact {
        var payload = JWSRenewalInfoDecodedPayload()
        payload.originalTransactionId = original
        payload.autoRenewProductId = product
        configure(&payload)
        return RenewalInfoFact(payload: payload, origin: FactOrigin(source: source, signedDate: date))
    }

    /// A fact about the app.
    public static func app(
        _ version: String, source: FactSource = .receipt, at date: Int64 = june,
        legacy: LegacyAppTransactionFields? = nil
    ) -> AppTransactionFact {
        var payload = AppTransaction()
        payload.applicationVersion = version
        return AppTransactionFact(
            payload: payload, legacy: legacy, origin: FactOrigin(source: source, signedDate: date))
    }

    /// A receipt with these bytes.
    public static func receipt(_ bytes: [UInt8], form: KnownReceipt.Form = .app, at date: Int64 = june) -> KnownReceipt
    {
        KnownReceipt(form: form, bytes: bytes, signedDate: date)
    }

    package static func receipt(_ text: String, form: KnownReceipt.Form = .app, at date: Int64 = june) -> KnownReceipt {
        receipt(Array(text.utf8), form: form, at: date)
    }

    /// Repeats a block up to a length, without a step for each byte.
    static func bytes(_ count: Int, repeating block: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + block.count)
        while bytes.count < count { bytes += block }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    /// A processed notification.
    /// - Parameters:
    ///   - uuid: of the notification.
    ///   - type: Apple's `notificationType`.
    ///   - subtype: Apple's `subtype`.
    ///   - date: when it was signed, in milliseconds since 1970-01-01T00:00:00Z.
    ///   - body: its JSON.
    public static func notification(
        _ uuid: String, _ type: String = "DID_RENEW", _ subtype: String? = nil, at date: Int64 = june,
        body: String = "{}"
    ) -> ProcessedNotification {
        ProcessedNotification(
            notificationUUID: uuid, notificationType: type, subtype: subtype, signedDate: date, body: Array(body.utf8))
    }

    /// The facts of a notification CONSUMPTION_REQUEST about a transaction.
    /// - Parameters:
    ///   - uuid: of the notification.
    ///   - id: the transaction id.
    ///   - delay: after ``june``, in milliseconds, when the notification was signed.
    ///   - reason: Apple's `consumptionRequestReason`.
    ///   - configure: sets further fields of the transaction.
    public static func consumptionRequest(
        _ uuid: String, of id: String, at delay: Int64 = 0, reason: String? = nil,
        _ configure: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) -> FactSet {
        let body = reason.map { "{\"data\":{\"consumptionRequestReason\":\"\($0)\"}}" } ?? "{}"
        return set(
            fact(id, source: .notificationV2, at: june + delay, configure),
            notification: notification(uuid, "CONSUMPTION_REQUEST", at: june + delay, body: body))
    }

    /// The identity with this original transaction id.
    public static func original(_ id: String) -> CustomerIdentity { CustomerIdentity(.originalTransactionId, id) }
}

extension TransactionStore {
    package func customer(original id: String, in scope: StoreScope = StoreSamples.scope) async throws -> Customer? {
        try await customer([StoreSamples.original(id)], in: scope)
    }

    /// Applies one document about these transactions.
    func add(
        _ facts: TransactionFact..., scope: StoreScope = StoreSamples.scope, identities: [CustomerIdentity] = [],
        renewals: [RenewalInfoFact] = [], app: AppTransactionFact? = nil, receipt: KnownReceipt? = nil,
        notification: ProcessedNotification? = nil, unclaimedSeatIds: [String] = []
    ) async throws {
        try await add(
            FactSet(
                scope: scope, identities: identities, transactions: facts, renewalInfos: renewals, appTransaction: app,
                receipt: receipt, notification: notification, unclaimedSeatIds: unclaimedSeatIds))
    }

    /// Applies documents, each in a call of its own.
    func add(_ sets: FactSet...) async throws { try await add(sets) }

    func add(_ sets: some Sequence<FactSet>) async throws {
        for set in sets { _ = try await apply([set]) }
    }
}

extension CustomerEraser {
    /// Erases the customer of an original transaction id, and leaves no hashes.
    func erase(_ id: String) async throws -> ErasedRows {
        try await erase([StoreSamples.original(id)], in: StoreSamples.scope, quarantined: [])
    }
}

/// A customer in a comparable form.
package struct ComparableCustomer: Equatable {
    package struct Transaction: Equatable {
        package let payload: JWSTransactionDecodedPayload
        package let legacy: LegacyTransactionFields
        package let origins: [FactOrigin]
    }

    package struct Renewal: Equatable {
        package let payload: JWSRenewalInfoDecodedPayload
        package let origins: [FactOrigin]
    }

    package let scope: StoreScope
    package let identities: [CustomerIdentity]
    package let transactions: [Transaction]
    package let renewals: [Renewal]
    package let app: AppTransaction?
    package let appLegacy: LegacyAppTransactionFields?
    package let appOrigins: [FactOrigin]
    package let receipts: [KnownReceipt?]

    package init?(_ customer: Customer?) {
        guard let customer else { return nil }
        scope = customer.scope
        identities = customer.identities
        transactions = customer.transactions.map {
            Transaction(payload: $0.payload, legacy: $0.legacy, origins: $0.origins)
        }
        renewals = customer.renewalInfos.map { Renewal(payload: $0.payload, origins: $0.origins) }
        app = customer.appTransaction?.payload
        appLegacy = customer.appTransaction?.legacy
        appOrigins = customer.appTransaction?.origins ?? []
        receipts = [customer.newestAppReceipt, customer.newestTransactionReceipt]
    }
}
