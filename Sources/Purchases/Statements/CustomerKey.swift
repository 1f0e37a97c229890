internal import AppStoreModels
internal import LegacyReceipts

extension Customer {
    /// A key of the customer that depends only on the documents: it is the same in every store and for every order of
    /// the documents. 32 hexadecimal digits of the SHA-256 of the app, the environment and the smallest identity.
    ///
    /// It changes if a document gives the customer a smaller identity, or merges two customers. Keep ``Customer/identities``
    /// with your own accounts, not this key.
    public var key: String {
        String(Fingerprint(of: scope.joined(with: identities.first)).description.prefix(32))
    }

    /// The date of the newest document about the customer, in milliseconds since 1970-01-01T00:00:00Z; nil if no document
    /// states one.
    public var newestDate: Int64? {
        let origins =
            transactions.flatMap(\.origins) + renewalInfos.flatMap(\.origins) + (appTransaction?.origins ?? [])
        let receipts = [newestAppReceipt, newestTransactionReceipt].compactMap { $0?.signedDate }
        return ([origins.newestDate].compactMap { $0 } + receipts).max()
    }
}

extension StoreScope {
    /// The environment, the app and an identity as JSON, which keeps the parts apart for all characters. Hashes
    /// in stores and exports are computed from it: never change it.
    package func joined(with identity: CustomerIdentity?) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 256)
        writer.beginArray()
        writer.string(environment.rawValue)
        writer.string(bundleId)
        if let identity {
            writer.integer(identity.kind.rawValue)
            writer.string(identity.value)
        }
        writer.endArray()
        return writer.finish()
    }
}

extension Sequence<FactOrigin> {
    /// The date of the newest document, in milliseconds since 1970-01-01T00:00:00Z; nil if no document states one. The date of
    /// a recorded document that states none is 0.
    public var newestDate: Int64? { dates.max() }

    /// The same value in the oldest document that states a date.
    var oldestDate: Int64? { dates.min() }

    private var dates: [Int64] { map(\.signedDate).filter { $0 > 0 } }

    /// The document whose values count: a StoreKit 2 document before a receipt, and a receipt before an unsigned one. Of
    /// unsigned ones, a received cancellation is the last. Nil if there is none.
    public var deciding: FactOrigin? {
        let kinds: [FactKind] = [.signedTransaction, .receipt, .recorded, .notified]
        return kinds.lazy.compactMap { kind in first { $0.kind == kind } }.first
    }

    /// The sources of the documents, each once, in their order. A received notification of version 1 with a cancellation can
    /// be beside one without.
    package var distinctSources: [FactSource] {
        reduce(into: []) { sources, origin in
            if !sources.contains(origin.source) { sources.append(origin.source) }
        }
    }

    /// Whether one of the documents has a verified signature.
    public var isSigned: Bool { contains { $0.kind.isSigned } }
}

extension CustomerIdentity.Kind {
    /// The name in tables.
    package var name: String {
        switch self {
        case .originalTransactionId: "originalTransactionId"
        case .appTransactionId: "appTransactionId"
        case .appAccountToken: "appAccountToken"
        case .receiptDigest: "receiptDigest"
        }
    }
}
