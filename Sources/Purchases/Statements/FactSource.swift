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

    /// A fact replaces only facts of the same kind, so that a receipt does not overwrite what it cannot state.
    public var kind: FactKind {
        switch self {
        case .receipt: .receipt
        case .signedTransaction, .appStoreServerAPI, .notificationV2: .signedTransaction
        case .recordedReply, .notificationV1, .recordedStoreKit2, .recordedNotificationV1: .recorded
        }
    }
}

extension FactSource {
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
        // Less than that of the same notification received by a server, which then counts.
        case .recordedNotificationV1: 0
        }
    }

    /// The source with a number; nil for a number that this version does not know.
    package init?(code: Int64) {
        guard let source = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = source
    }
}

/// The three kinds of documents that state facts. A store keeps the newest fact of each kind per purchase and joins
/// them on reading, so the order in which documents arrive does not matter.
public enum FactKind: Int, Codable, Hashable, Sendable, CaseIterable {
    /// Signed legacy receipts: they state the trial and introductory flags, but no groups, prices or upgrades.
    case receipt = 1
    /// Transactions signed by the App Store: they state every field of the modern model.
    case signedTransaction = 2
    /// Documents without a signature.
    case recorded = 3

    /// Whether facts of this kind have a verified signature.
    public var isSigned: Bool { self != .recorded }
}

/// The source and the date of a stored fact.
public struct FactOrigin: Hashable, Sendable {
    public let source: FactSource
    /// When the document was signed, in milliseconds since 1970-01-01T00:00:00Z. For an app receipt, attribute 12. For
    /// a transaction receipt, which has no signing date, the later of the purchase and the cancellation. For a JWS,
    /// `signedDate`. For a reply, the request date.
    public let signedDate: Int64
    /// The SHA-256 that the signature of a JWS signs (`SignatureEvidence`); nil for other documents, and for facts from
    /// before stores kept it. It names the document, and nothing depends on it.
    package let signingInput: Fingerprint?

    public init(source: FactSource, signedDate: Int64) {
        self.init(source: source, signedDate: signedDate, signingInput: nil)
    }

    package init(source: FactSource, signedDate: Int64, signingInput: Fingerprint?) {
        self.source = source
        self.signedDate = signedDate
        self.signingInput = signingInput
    }

    /// Origins without and with the hash of one document are the same.
    public static func == (left: FactOrigin, right: FactOrigin) -> Bool {
        left.source == right.source && left.signedDate == right.signedDate
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(source)
        hasher.combine(signedDate)
    }
}
