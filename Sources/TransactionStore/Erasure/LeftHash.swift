internal import Crypto
public import Purchases

/// The hash that an erasure leaves of an identity, so that the store does not store its documents again
/// (``CustomerEraser/erase(_:in:quarantined:leavingHashes:)``). It is the HMAC-SHA256 of the app, the environment and
/// the identity. Nothing can be read from it, but everyone with the store can check an id against it.
public struct LeftHash: Hashable, Sendable {
    /// The app and the environment of the identity.
    public let scope: StoreScope
    /// The key of the HMAC: 32 random bytes. All hashes that one store left have the same secret. After a merge, a store
    /// has the secrets of the merged stores too.
    public let secret: [UInt8]
    /// The HMAC: 32 bytes.
    public let hash: [UInt8]

    /// A hash that a store contains.
    public init(scope: StoreScope, secret: [UInt8], hash: [UInt8]) {
        self.scope = scope
        self.secret = secret
        self.hash = hash
    }

    /// The hash of an identity.
    public init(of identity: CustomerIdentity, in scope: StoreScope, secret: [UInt8]) {
        let code = HMAC<SHA256>.authenticationCode(
            for: scope.joined(with: identity), using: SymmetricKey(data: secret))
        self.init(scope: scope, secret: secret, hash: Array(code))
    }

    /// A secret for a store that has none.
    public static func makeSecret() -> [UInt8] { SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) } }

    /// The hashes of identities. Identities of kinds that leave no hash are left out.
    public static func hashes(
        of identities: some Sequence<CustomerIdentity>, in scope: StoreScope, secret: [UInt8]
    ) -> [LeftHash] {
        identities.filter(\.kind.leavesHash).map { LeftHash(of: $0, in: scope, secret: secret) }
    }
}

extension Set<LeftHash> {
    /// Whether one of the hashes, all of one scope, is of the identity.
    package func contains(
        hashOf identity: CustomerIdentity, in scope: StoreScope, secrets: Set<[UInt8]>
    ) -> Bool {
        identity.kind.leavesHash && secrets.contains { contains(LeftHash(of: identity, in: scope, secret: $0)) }
    }
}

extension CustomerIdentity.Kind {
    /// Whether an erasure can leave a hash of such an identity. An account token leaves none. It belongs to an account
    /// of the app, which may buy again, and every document with the token also states a purchase.
    public var leavesHash: Bool {
        switch self {
        case .originalTransactionId, .appTransactionId, .receiptDigest: true
        case .appAccountToken: false
        }
    }
}
