public import AppStoreModels
public import LegacyReceipts

// The facts of data that the App Store signs today: transactions, renewal infos, app transactions, and the
// notifications that contain them.

extension FactSet {
    /// The facts of verified signed data about one customer.
    ///
    /// Data of another app or environment than `scope` is left out, because its ids have another meaning. A renewal
    /// info states no app (Reference.md S4). It counts only if a transaction of the set has its original transaction
    /// id, or if there are no transactions and the caller knows the app.
    /// - Parameters:
    ///   - scope: the expected app and environment.
    ///   - source: where the data came from.
    ///   - transactions: the transactions of the customer's purchases.
    ///   - renewalInfos: the renewal infos of the customer's subscriptions.
    ///   - appTransaction: the app transaction of the customer.
    ///   - notification: the notification that contained the data; its UUID makes a second delivery harmless.
    ///   - unclaimedSeatIds: the seat claims of the transaction that the App Store ended.
    public init(
        scope: StoreScope, source: FactSource, transactions: [Verified<JWSTransactionDecodedPayload>] = [],
        renewalInfos: [Verified<JWSRenewalInfoDecodedPayload>] = [], appTransaction: Verified<AppTransaction>? = nil,
        notification: ProcessedNotification? = nil, unclaimedSeatIds: [String] = []
    ) {
        self.init(
            scope: scope, source: source, transactions, renewalInfos, appTransaction, notification, unclaimedSeatIds,
            in: nil)
    }

    /// `document` is the hash of the JWS that contains the data; nil if each is a document of its own.
    private init(
        scope: StoreScope, source: FactSource, _ transactions: [Verified<JWSTransactionDecodedPayload>],
        _ renewalInfos: [Verified<JWSRenewalInfoDecodedPayload>], _ appTransaction: Verified<AppTransaction>?,
        _ notification: ProcessedNotification?, _ unclaimedSeatIds: [String], in document: Fingerprint?
    ) {
        let facts = transactions.lazy.filter {
            $0.payload.bundleId == scope.bundleId && $0.payload.environment == scope.environment
        }.map { TransactionFact($0.payload, source: source, document: document ?? $0.evidence.signingInput) }
        let subscriptions = Set(transactions.lazy.compactMap(\.payload.originalTransactionId))
        let renewals = renewalInfos.lazy.filter {
            guard let id = $0.payload.originalTransactionId, $0.payload.environment == scope.environment else {
                return false
            }
            return transactions.isEmpty || subscriptions.contains(id)
        }.map { RenewalInfoFact($0.payload, source: source, document: document ?? $0.evidence.signingInput) }
        let app = appTransaction.flatMap { app -> AppTransactionFact? in
            guard app.payload.bundleId == scope.bundleId, app.payload.receiptType == scope.environment else {
                return nil
            }
            return AppTransactionFact(app.payload, source: source, document: document ?? app.evidence.signingInput)
        }
        self.init(
            scope: scope, transactions: Array(facts), renewalInfos: Array(renewals), appTransaction: app,
            notification: notification, unclaimedSeatIds: unclaimedSeatIds)
    }

    /// The facts of a verified notification of version 2, and the notification itself. Notifications without a
    /// purchase, and of types that this version does not know, are stored too.
    ///
    /// Nil for a notification that cannot be stored: without a bundle id, without an environment that a store accepts,
    /// or without a UUID of printable ASCII.
    /// - Parameters:
    ///   - notification: the verified `signedPayload`.
    ///   - payload: the bytes of the notification's JWS payload (JSON). They are stored without the JWS that the
    ///     other parameters contain. For an unknown type, everything is stored.
    ///   - transaction: the verified `signedTransactionInfo`.
    ///   - renewalInfo: the verified `signedRenewalInfo`.
    ///   - appTransaction: the verified `signedAppTransactionInfo`.
    public init?(
        notification: Verified<ResponseBodyV2DecodedPayload>, payload: [UInt8],
        transaction: Verified<JWSTransactionDecodedPayload>? = nil,
        renewalInfo: Verified<JWSRenewalInfoDecodedPayload>? = nil, appTransaction: Verified<AppTransaction>? = nil
    ) {
        guard let scope = StoreScope(notification.payload),
            let processed = ProcessedNotification(notification, payload: payload)
        else { return nil }
        self.init(
            scope: scope, source: .notificationV2, transaction.map { [$0] } ?? [], renewalInfo.map { [$0] } ?? [],
            appTransaction, processed, notification.payload.unclaimInfo?.unclaimSeatIds ?? [],
            in: notification.evidence.signingInput)
    }
}

extension StoreScope {
    /// The app and the environment of a notification, from its only object (Reference.md S4 and S5.4); nil if it states
    /// none that a store accepts.
    public init?(_ notification: ResponseBodyV2DecodedPayload) {
        self.init(firstOf: [
            notification.data.map { ($0.environment, $0.bundleId) },
            notification.summary.map { ($0.environment, $0.bundleId) },
            notification.externalPurchaseToken.map {
                (Self.environment(externalPurchaseId: $0.externalPurchaseId), $0.bundleId)
            },
            notification.appData.map { ($0.environment, $0.bundleId) },
        ])
    }

    /// The scope that the payload of a notification states before it is verified. Use it only to choose what to verify
    /// against.
    package init?(unverifiedNotification payload: [UInt8]) {
        guard let object = try? JSONValue.parse(payload).object else { return nil }
        func scope(_ name: String) -> (Environment?, String?)? {
            object[name]?.object.map { member in
                let environment = member["environment"]?.string.map { Environment(rawValue: $0) }
                return (environment, member["bundleId"]?.string)
            }
        }
        let token = object["externalPurchaseToken"]?.object.map { token in
            (Self.environment(externalPurchaseId: token["externalPurchaseId"]?.string), token["bundleId"]?.string)
        }
        self.init(firstOf: [scope("data"), scope("summary"), token, scope("appData")])
    }

    private init?(firstOf objects: [(Environment?, String?)?]) {
        guard let (environment, bundleId) = objects.compactMap({ $0 }).first else { return nil }
        self.init(environment, bundleId)
    }

    private static func environment(externalPurchaseId id: String?) -> Environment? {
        id?.hasPrefix("SANDBOX") == true ? .sandbox : .production
    }
}

extension ProcessedNotification {
    /// Nil without a UUID that a store accepts.
    init?(_ notification: Verified<ResponseBodyV2DecodedPayload>, payload: [UInt8]) {
        let content = notification.payload
        guard let uuid = content.notificationUUID, !uuid.isEmpty, CustomerIdentity.isPlain(uuid) else { return nil }
        let type = content.notificationType
        func plain(_ text: String?) -> String? { text.flatMap { CustomerIdentity.isPlain($0) ? $0 : nil } }
        self.init(
            notificationUUID: uuid.lowercased(), notificationType: plain(type?.rawValue) ?? "",
            subtype: plain(content.subtype?.rawValue), signedDate: content.signedDate ?? 0,
            body: type?.isKnown == true ? Self.withoutFacts(payload) : payload)
    }

    private static let factNames: Set<String> = [
        "signedTransactionInfo", "signedRenewalInfo", "signedAppTransactionInfo",
    ]

    /// The payload without the signed data in it, whose facts are stored separately.
    private static func withoutFacts(_ payload: [UInt8]) -> [UInt8] {
        guard let object = try? JSONValue.parse(payload).object else { return payload }
        let kept = object.changing("data") { $0.removing(factNames) }.changing("appData") { $0.removing(factNames) }
        return JSONValue.object(kept).json
    }
}

extension JSONValue {
    /// The value without these members if it is an object.
    func removing(_ names: Set<String>) -> JSONValue {
        self.object.map { JSONValue.object($0.removing(names)) } ?? self
    }
}

extension TransactionFact {
    /// A transaction that the App Store signed.
    package init(_ payload: JWSTransactionDecodedPayload, source: FactSource, document: Fingerprint? = nil) {
        self.init(
            payload: payload, legacy: nil,
            origin: FactOrigin(source: source, signedDate: payload.factDate, document: document))
    }
}

extension JWSTransactionDecodedPayload {
    /// When the App Store signed the transaction. Without a signing date, the earliest possible date: the later of the purchase
    /// and the revocation that it states.
    var factDate: Int64 { signedDate ?? max(purchaseDate ?? 0, revocationDate ?? 0) }
}

extension RenewalInfoFact {
    package init(_ payload: JWSRenewalInfoDecodedPayload, source: FactSource, document: Fingerprint? = nil) {
        let date = payload.signedDate ?? payload.recentSubscriptionStartDate ?? 0
        self.init(payload: payload, origin: FactOrigin(source: source, signedDate: date, document: document))
    }
}

extension AppTransactionFact {
    /// `receiptCreationDate` is the signing date of an app transaction (Reference.md S5.3).
    package init(_ payload: AppTransaction, source: FactSource, document: Fingerprint? = nil) {
        let date = payload.receiptCreationDate ?? payload.originalPurchaseDate ?? 0
        self.init(payload: payload, origin: FactOrigin(source: source, signedDate: date, document: document))
    }
}
