/// Asks whether certificates were revoked. Off unless a ``SignedDataVerifier`` is given one.
public protocol RevocationChecking: Sendable {
    /// What is known about leaf and intermediate of a chain whose signatures were found good.
    ///
    /// - Parameters:
    ///   - chain: leaf, intermediate, root.
    ///   - now: milliseconds since 1970-01-01T00:00:00Z.
    func status(of chain: SignedDataCertificates, now: Int64) async -> RevocationStatus
}

/// The path that a payload's signature rests on, DER.
public struct SignedDataCertificates: Hashable, Sendable {
    /// The certificate whose key signed.
    public let leaf: [UInt8]
    /// Issued the leaf.
    public let intermediate: [UInt8]
    /// Issued the intermediate: the trusted one, whatever `x5c` holds.
    public let root: [UInt8]

    public init(leaf: [UInt8], intermediate: [UInt8], root: [UInt8]) {
        self.leaf = leaf
        self.intermediate = intermediate
        self.root = root
    }
}

/// What a revocation check found.
public enum RevocationStatus: Hashable, Sendable {
    /// No certificate of the chain is revoked.
    case good
    /// A certificate was revoked. The text says which, for a person.
    case revoked(String)
    /// There is an answer, and it does not say that the certificates are good: asking again will not help. The text says
    /// why.
    case unknown(String)
    /// There was no answer: asking again can help. The text says why.
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
