/// Who stated a fact about a purchase.
public enum FactSource: String, Codable, Hashable, Sendable, CaseIterable {
    /// A legacy receipt whose signature was checked.
    case receipt
    /// A transaction signed by the App Store that a client or a migration handed in (StoreKit 2 JWS).
    case signedTransaction
    /// An answer of the App Store Server API, its JWS verified.
    case appStoreServerAPI
    /// An App Store Server Notification, version 2, its JWS verified.
    case notificationV2
    /// A kept verifyReceipt reply or rows of one. Nobody signed it.
    case recordedReply
    /// An App Store Server Notification, version 1. Nobody signed it.
    case notificationV1
    /// StoreKit 2 JSON that was kept decoded, without its signature.
    case recordedStoreKit2

    /// Facts compete only with facts of the same kind: what a receipt cannot state it cannot overwrite.
    public var kind: FactKind {
        switch self {
        case .receipt: .receipt
        case .signedTransaction, .appStoreServerAPI, .notificationV2: .signedTransaction
        case .recordedReply, .notificationV1, .recordedStoreKit2: .recorded
        }
    }
}

extension FactSource {
    /// The number by which engines store the source. Never change one: it stands in files.
    package var code: Int64 {
        switch self {
        case .receipt: 1
        case .signedTransaction: 2
        case .appStoreServerAPI: 3
        case .notificationV2: 4
        case .recordedReply: 5
        case .notificationV1: 6
        case .recordedStoreKit2: 7
        }
    }

    /// The source with a number; nil for one that this version does not know.
    package init?(code: Int64) {
        guard let source = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = source
    }
}

/// The three kinds of documents that facts come from. A store keeps the newest fact of each kind per purchase, so that the
/// order in which documents arrive does not matter, and joins them on reading.
public enum FactKind: Int, Codable, Hashable, Sendable, CaseIterable {
    /// Signed legacy receipts: they know the trial and introductory flags, and nothing of groups, prices or upgrades.
    case receipt = 1
    /// Transactions signed by the App Store: they state every field of the modern model.
    case signedTransaction = 2
    /// Documents without a signature.
    case recorded = 3

    /// Whether facts of this kind rest on a verified signature.
    public var isSigned: Bool { self != .recorded }
}

/// Where a stored fact comes from, and of when it is.
public struct FactOrigin: Hashable, Sendable {
    public let source: FactSource
    /// When the document was signed, in milliseconds since 1970-01-01T00:00:00Z: attribute 12 of an app receipt, the
    /// purchase date of a transaction receipt or the cancellation date if that is later (it says no other), `signedDate` of
    /// a JWS, the request date of a reply.
    public let signedDate: Int64

    public init(source: FactSource, signedDate: Int64) {
        self.source = source
        self.signedDate = signedDate
    }
}
