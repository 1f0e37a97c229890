/// Checks whether certificates are revoked. A ``SignedDataVerifier`` has no revocation check unless one is given.
public protocol RevocationChecking: Sendable {
    /// The revocation status of leaf and intermediate, for a chain with valid signatures.
    ///
    /// - Parameters:
    ///   - chain: leaf, intermediate, root.
    ///   - now: milliseconds since 1970-01-01T00:00:00Z.
    func status(of chain: SignedDataCertificates, now: Int64) async -> RevocationStatus
}

/// The path that a payload's signature depends on, in DER.
public struct SignedDataCertificates: Hashable, Sendable {
    /// The certificate whose key created the signature.
    public let leaf: [UInt8]
    /// The certificate that issued the leaf.
    public let intermediate: [UInt8]
    /// The trusted root that issued the intermediate. The third certificate of `x5c` can differ from it.
    public let root: [UInt8]

    /// The path of a chain, in DER. Nothing is parsed or checked.
    public init(leaf: [UInt8], intermediate: [UInt8], root: [UInt8]) {
        self.leaf = leaf
        self.intermediate = intermediate
        self.root = root
    }
}

/// The result of a revocation check.
public enum RevocationStatus: Hashable, Sendable {
    /// No certificate of the chain is revoked.
    case good
    /// A certificate was revoked. The text names it.
    case revoked(String)
    /// The answer does not confirm the certificates. A retry will not help. The text contains the reason.
    case unknown(String)
    /// There was no answer. A retry can help. The text contains the reason.
    case unavailable(String)

    /// - Throws: ``SignedDataError`` unless this is ``good``.
    func check() throws {
        switch self {
        case .good: return
        case .revoked(let reason): throw SignedDataError(.revoked, reason)
        case .unknown(let reason): throw SignedDataError(.revocationUnknown, reason)
        case .unavailable(let reason): throw SignedDataError(.revocationCheckFailed, reason)
        }
    }
}
