internal import AppStoreModels
public import LegacyReceipts

// The statements of a verified receipt, without any conclusion.

extension FactSet {
    /// The facts of a verified receipt of either kind; see the initializers for each.
    public init?(_ receipt: Verified<LegacyReceipt>, bytes: [UInt8]) { self.init(receipt, bytes: bytes, hash: nil) }

    /// The same, for a caller that may have computed the SHA-256 of the bytes.
    package init?(_ receipt: Verified<LegacyReceipt>, bytes: [UInt8], hash: Fingerprint?) {
        let canonical = receipt.canonicalBytes(of: bytes)
        self.init(receipt, canonicalBytes: canonical, hash: canonical == bytes ? hash : nil)
    }

    /// The same, for a caller that already has the canonical form of the receipt.
    /// - Parameters:
    ///   - receipt: the verified receipt.
    ///   - canonicalBytes: its canonical form.
    ///   - hash: its SHA-256; nil to compute it.
    package init?(_ receipt: Verified<LegacyReceipt>, canonicalBytes: [UInt8], hash: Fingerprint?) {
        switch receipt.payload {
        case .app(let app): self.init(receipt.map { _ in app }, canonicalBytes: canonicalBytes, hash)
        case .transaction(let transaction):
            self.init(receipt.map { _ in transaction }, canonicalBytes: canonicalBytes, hash)
        }
    }

    /// The facts of a verified app receipt. The original transaction ids of the purchases identify the customer;
    /// without purchases, the digest of the receipt does.
    ///
    /// Nil if there is nothing to store: receipts of Xcode, whose ids are all 0; receipts without an environment (the
    /// oldest Mac receipts lack attribute 0) or with an unknown one; receipts without a bundle id or with an impossible
    /// one (longer than ``CustomerIdentity/maximumLength``, or not ASCII).
    /// - Parameters:
    ///   - receipt: the verified receipt.
    ///   - bytes: the receipt without transport encoding. Its canonical form is kept for `latest_receipt`.
    public init?(_ receipt: Verified<AppReceipt>, bytes: [UInt8]) {
        self.init(receipt.map { LegacyReceipt.app($0) }, bytes: bytes)
    }

    private init?(_ receipt: Verified<AppReceipt>, canonicalBytes: [UInt8], _ hash: Fingerprint?) {
        let app = receipt.payload
        guard receipt.evidence.anchor != .xcode, let environment = app.environment?.modern,
            let scope = StoreScope(storing: environment, app.bundleId), let signedDate = app.receiptCreationDate
        else { return nil }
        let kept = KnownReceipt(
            form: .app, bytes: canonicalBytes, signedDate: signedDate, hash: hash ?? Fingerprint(of: canonicalBytes))
        let origin = FactOrigin(source: .receipt, signedDate: signedDate, document: kept.hash)
        self.init(
            scope: scope, transactions: app.statements.map { TransactionFact($0, origin) },
            appTransaction: AppTransactionFact(app, origin), receipt: kept)
    }

    /// The facts of a verified transaction receipt (iOS 6): one purchase. Its date is the purchase date, or the
    /// cancellation date if that is later.
    ///
    /// The environment is `TransactionReceipt.environment`; editing the unsigned part of a receipt cannot make it
    /// production. Nil if there is nothing to store: no bundle id (`bid`), or a transaction id of 0.
    /// - Parameters:
    ///   - receipt: the verified receipt.
    ///   - bytes: the property list without transport encoding. Its canonical form is kept for `latest_receipt`.
    public init?(_ receipt: Verified<TransactionReceipt>, bytes: [UInt8]) {
        self.init(receipt.map { LegacyReceipt.transaction($0) }, bytes: bytes)
    }

    private init?(_ receipt: Verified<TransactionReceipt>, canonicalBytes: [UInt8], _ hash: Fingerprint?) {
        let payload = receipt.payload
        guard receipt.evidence.anchor != .xcode,
            let scope = StoreScope(storing: payload.environment.modern, payload.bundleId ?? ""),
            let statedDate = payload.statedDate, let receiptDate = payload.knownReceiptDate,
            CustomerIdentity.isMeaningful(id: payload.transactionId)
        else { return nil }
        let kept = KnownReceipt(
            form: .transaction, bytes: canonicalBytes, signedDate: receiptDate,
            hash: hash ?? Fingerprint(of: canonicalBytes))
        let origin = FactOrigin(source: .receipt, signedDate: statedDate, document: kept.hash)
        self.init(scope: scope, transactions: [TransactionFact(payload.statement, origin)], receipt: kept)
    }
}

extension TransactionFact {
    init(_ statement: borrowing PurchaseStatement, _ origin: FactOrigin) {
        self.init(statement.shared, legacy: statement.legacy, origin: origin)
    }
}

extension AppTransactionFact {
    fileprivate init(_ receipt: AppReceipt, _ origin: FactOrigin) {
        let mapped = MappedAppTransaction(receipt)
        self.init(payload: mapped.payload, legacy: mapped.legacy, origin: origin)
    }
}

extension LegacyAppTransactionFields {
    /// `FactRow.legacy` of the app transaction in an app receipt, to upgrade a store of an earlier version. Empty if
    /// the row is not from this receipt.
    /// - Parameters:
    ///   - receipt: the bytes of a `KnownReceipt`, which was verified before it was stored.
    ///   - payload: `FactRow.payload` of the row.
    package static func stored(of receipt: [UInt8], ofAppTransaction payload: [UInt8]) -> [UInt8] {
        // It may have been verified with greater limits than the standard ones.
        let limits = DecodingLimits(
            maximumSize: max(receipt.count, DecodingLimits.defaultMaximumSize),
            maximumAttributes: max(receipt.count, DecodingLimits.defaultMaximumAttributes))
        let decoder = ReceiptDecoder(limits: limits)
        guard case .app(let app)? = try? decoder.decode(stored: receipt).payload else { return [] }
        let row = FactRow(AppTransactionFact(app, FactOrigin(source: .receipt, signedDate: 0)))
        return row.payload == payload ? row.legacy : []
    }
}

extension StoreScope {
    /// Nil without an app, and for an environment that a store does not accept.
    init?(_ environment: Environment?, _ bundleId: String?) {
        guard let environment, environment.isKnown, let bundleId else { return nil }
        self.init(storing: environment, bundleId)
    }

    /// A scope that a store accepts; nil without a bundle id, with an impossible one, and for Xcode and local testing,
    /// whose ids are not unique.
    init?(storing environment: Environment, _ bundleId: String) {
        guard !bundleId.isEmpty, CustomerIdentity.isPlain(bundleId), environment != .xcode,
            environment != .localTesting
        else { return nil }
        self.init(environment: environment, bundleId: bundleId)
    }
}
