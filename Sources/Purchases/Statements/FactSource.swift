package import LegacyReceipts

/// The source of a fact about a purchase.
public enum FactSource: String, Codable, Hashable, Sendable, CaseIterable {
    /// A legacy receipt whose signature was checked.
    case receipt
    /// A transaction signed by the App Store that a client or a migration submitted (StoreKit 2 JWS).
    case signedTransaction
    /// An answer of the App Store Server API, its JWS verified.
    case appStoreServerAPI
    /// An App Store Server Notification, version 2, its JWS verified.
    case notificationV2
    /// A stored verifyReceipt reply or rows of one, unsigned.
    case recordedReply
    /// An App Store Server Notification, version 1, unsigned, that a server received with the app's shared secret.
    case notificationV1
    /// StoreKit 2 JSON that was stored decoded, without its signature.
    case recordedStoreKit2
    /// A stored notification of version 1, unsigned: nothing shows that it came from Apple.
    case recordedNotificationV1

    /// The kind of documents with this source. A received notification of version 1 also states facts of the kind
    /// ``FactKind/notified``: ``FactOrigin/kind`` is the kind of a fact.
    public var kind: FactKind {
        switch self {
        case .receipt: .receipt
        case .signedTransaction, .appStoreServerAPI, .notificationV2: .signedTransaction
        case .recordedReply, .notificationV1, .recordedStoreKit2, .recordedNotificationV1: .recorded
        }
    }

    /// The number that engines store for the source. Never change one: existing stores contain it.
    package var code: Int64 {
        switch self {
        case .receipt: 1
        case .signedTransaction: 2
        case .appStoreServerAPI: 3
        case .notificationV2: 4
        case .recordedReply: 5
        case .notificationV1: 6
        case .recordedStoreKit2: 7
        // Less than that of the same notification received by a server, which is then named.
        case .recordedNotificationV1: 0
        }
    }

    /// The source with a number; nil for a number that this version does not know.
    package init?(code: Int64) {
        guard let source = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = source
    }
}

/// The kinds of facts. A store keeps the newest fact of each kind per purchase and joins them on reading, so the order in
/// which documents arrive does not matter. A fact replaces only facts of the same kind, so that a receipt does not overwrite
/// what it cannot state.
public enum FactKind: Int, Codable, Hashable, Sendable, CaseIterable {
    /// Signed legacy receipts: they state the trial and introductory flags, but no groups, prices or upgrades.
    case receipt = 1
    /// Transactions signed by the App Store: they state every field of the modern model.
    case signedTransaction = 2
    /// Documents without a signature.
    case recorded = 3
    /// The cancellation of a transaction in a notification of version 1 that a server received with the app's shared secret.
    /// It is unsigned, but counts against signed documents. A later unsigned document, which can be about an earlier time,
    /// does not take it back, so it is kept beside those. The number 4 is that of the rows of app transactions
    /// (``FactRow/kind``).
    case notified = 5

    /// Whether facts of this kind have a verified signature.
    public var isSigned: Bool {
        switch self {
        case .receipt, .signedTransaction: true
        case .recorded, .notified: false
        }
    }
}

/// The source and the date of a stored fact.
public struct FactOrigin: Hashable, Sendable {
    /// The kind of document, and the way it came.
    public let source: FactSource
    /// The kind of the fact.
    public private(set) var kind: FactKind
    /// When the document was signed, in milliseconds since 1970-01-01T00:00:00Z. For an app receipt, attribute 12. For
    /// a transaction receipt, which has no signing date, the later of the purchase and the cancellation. For a JWS,
    /// `signedDate`. For a reply, the request date.
    public let signedDate: Int64
    /// The SHA-256 of the document, so that people can find it again. Only ``FactRow/replaces(_:)`` uses it: for two
    /// documents of the same date with exactly the same statements.
    ///
    /// - A receipt: of its canonical bytes (`Verified.canonicalBytes(of:)`), which is `KnownReceipt.digest`.
    /// - A JWS: of the signed part, which is the header and the payload with the period between them (`SignatureEvidence`).
    ///   The signature itself has several forms, and anyone can turn one into another. The content of a notification of
    ///   version 2 has the hash of its `signedPayload`, the JWS that Apple sent.
    /// - An unsigned document: of its UTF-8 JSON as `JSONWriter` writes it, in its order and without white space between
    ///   the tokens. So the hash does not depend on the file or the column of the document. Members that the caller added
    ///   do not count; the shared secret in a notification of version 1 does.
    ///
    /// Nil for columns of a table that are read as a row, and for facts that an older version stored without it.
    package let document: Fingerprint?

    /// Creates the origin of a fact, with the kind of its source.
    /// - Parameters:
    ///   - source: the kind of document, and the way it came.
    ///   - signedDate: in milliseconds since 1970-01-01T00:00:00Z; 0 for a recorded document that states no date.
    public init(source: FactSource, signedDate: Int64) {
        self.init(source: source, signedDate: signedDate, document: nil)
    }

    package init(source: FactSource, signedDate: Int64, document: Fingerprint?) {
        self.source = source
        kind = source.kind
        self.signedDate = signedDate
        self.document = document
    }

    /// The origin of a fact about a transaction.
    /// - Parameter revokes: whether the fact states a cancellation.
    func ofTransaction(revokes: Bool) -> FactOrigin {
        var origin = self
        origin.kind = source == .notificationV1 && revokes ? .notified : source.kind
        return origin
    }

    /// The 32 bytes of ``document``, as engines store them; empty if it is nil.
    package var documentBytes: [UInt8] { document?.bytes ?? [] }

    /// Origins without and with the hash of one document are the same.
    public static func == (left: FactOrigin, right: FactOrigin) -> Bool {
        left.source == right.source && left.signedDate == right.signedDate
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(source)
        hasher.combine(signedDate)
    }
}
