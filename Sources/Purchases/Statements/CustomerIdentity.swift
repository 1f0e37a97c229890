public import AppStoreModels

/// One app in one environment: the scope in which the App Store's ids are unique.
public struct StoreScope: Hashable, Sendable {
    /// The environment of the documents. The App Store's ids are those of one environment.
    public let environment: Environment
    /// The bundle id of the app. Upper and lower case differ.
    public let bundleId: String

    /// Creates a scope without checking it. Any text can be a bundle id.
    public init(environment: Environment, bundleId: String) {
        self.environment = environment
        self.bundleId = bundleId
    }
}

/// An id that identifies a customer of an app. Documents with the same id are about the same customer.
public struct CustomerIdentity: Hashable, Sendable {
    /// The kinds of ids. Databases and hashes contain the raw values: never change one. Their order is that of the
    /// identities of a customer.
    public enum Kind: Int, Codable, Hashable, Sendable, CaseIterable {
        /// The id of the first transaction of a purchase. All renewals of a subscription have it.
        case originalTransactionId = 1
        /// The id of the download of the app, unique per Apple Account and app (App Store Server API,
        /// appTransactionId).
        case appTransactionId = 2
        /// Set by the app for its own accounts. The nil UUID identifies no customer and is never used.
        case appAccountToken = 3
        /// SHA-256 of a receipt without purchases, which contains no id of its customer; or of what an unsigned document
        /// without purchases states about the app.
        case receiptDigest = 4
    }

    /// Two ids of different kinds are different, even if they have the same value.
    public let kind: Kind
    /// The id. Account tokens are in lower case, because a UUID is the same in either (RFC 9562, 4).
    public let value: String

    /// Creates an identity. The value of an account token becomes lower case, other values stay. Documents can contain
    /// any text, so the identity need not be meaningful (``isMeaningful``).
    public init(_ kind: Kind, _ value: String) {
        self.kind = kind
        self.value = kind == .appAccountToken ? value.lowercased() : value
    }

    /// The longest accepted value, in bytes of UTF-8. Ids of the App Store have up to 20 digits, and UUIDs have 36
    /// characters. The limit bounds the size of an index, because documents can contain any text.
    public static let maximumLength = 256

    /// Whether the value identifies a customer. These do not: ids that are all zeros (Xcode and masked records contain
    /// them), empty and overlong values, values with characters other than printable ASCII, and account tokens that are
    /// nil or invalid UUIDs.
    public var isMeaningful: Bool {
        switch kind {
        case .appAccountToken: Self.isUUID(value) && value.utf8.contains { $0 != 0x30 && $0 != 0x2D }
        case .originalTransactionId, .appTransactionId, .receiptDigest: Self.isMeaningful(id: value)
        }
    }

    /// Whether a transaction id identifies a transaction. The App Store's ids are decimal numbers; edited documents
    /// contain others. Characters that Unicode or a database may consider equal to others are not accepted.
    package static func isMeaningful(id: String) -> Bool {
        isPlain(id) && id.utf8.contains { $0 != 0x30 }
    }

    /// Whether the text is printable ASCII within the length limit.
    package static func isPlain(_ text: String) -> Bool {
        text.utf8.count <= maximumLength && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    private static func isUUID(_ text: String) -> Bool {
        guard text.utf8.count == 36 else { return false }
        for (place, byte) in text.utf8.enumerated() {
            switch place {
            case 8, 13, 18, 23: guard byte == 0x2D else { return false }
            default: guard (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) else { return false }
            }
        }
        return true
    }
}

extension CustomerIdentity: Comparable {
    /// By kind, then by the bytes of the value.
    public static func < (left: CustomerIdentity, right: CustomerIdentity) -> Bool {
        if left.kind != right.kind { return left.kind.rawValue < right.kind.rawValue }
        return left.value.utf8.lexicographicallyPrecedes(right.value.utf8)
    }
}
