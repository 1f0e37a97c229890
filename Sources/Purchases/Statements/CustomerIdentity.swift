public import AppStoreModels

/// The part of the App Store in which ids mean something: one app in one environment.
public struct StoreScope: Hashable, Sendable {
    public let environment: Environment
    public let bundleId: String

    public init(environment: Environment, bundleId: String) {
        self.environment = environment
        self.bundleId = bundleId
    }
}

/// Something by which a customer of an app is known. Documents that share one are about the same customer.
public struct CustomerIdentity: Hashable, Sendable {
    public enum Kind: Int, Codable, Hashable, Sendable, CaseIterable {
        case originalTransactionId = 1
        case appTransactionId = 2
        /// Set by the app for its own accounts. The nil UUID names nobody and is never used.
        case appAccountToken = 3
        /// SHA-256 of a receipt without any purchase: it is about somebody, but nothing in it says about whom.
        case receiptDigest = 4
    }

    public let kind: Kind
    /// The id. Account tokens are in lower case, because a UUID is the same in either (RFC 9562, 4).
    public let value: String

    public init(_ kind: Kind, _ value: String) {
        self.kind = kind
        self.value = kind == .appAccountToken ? value.lowercased() : value
    }

    /// The longest value that is taken, in bytes of UTF-8. Ids of the App Store have up to 20 digits and UUIDs 36
    /// characters; the bound keeps what an index has to hold small, whatever a document says.
    public static let maximumLength = 256

    /// Whether the value names anybody. Ids of nothing but zeros do not (Xcode and masked records write them), nor do
    /// empty and overlong ones, nor ones with anything but printable ASCII in them, nor an account token that is not a UUID
    /// or is the nil UUID.
    public var isMeaningful: Bool {
        switch kind {
        case .appAccountToken: Self.isUUID(value) && value.utf8.contains { $0 != 0x30 && $0 != 0x2D }
        case .originalTransactionId, .appTransactionId, .receiptDigest: Self.isMeaningful(id: value)
        }
    }

    /// Whether a transaction id names a transaction. The App Store's are decimal numbers; others stand in documents that
    /// people edited. Text that Unicode or a database may take for another text is not an id.
    package static func isMeaningful(id: String) -> Bool {
        isPlain(id) && id.utf8.contains { $0 != 0x30 }
    }

    /// Printable ASCII within the bound.
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
