/// A payload whose signature was verified up to a trusted root. Only this package's verifiers can create one, so a
/// function with a `Verified` parameter cannot receive unverified data.
public struct Verified<Payload: Sendable>: Sendable {
    /// The signed payload.
    public let payload: Payload
    /// How it was verified.
    public let evidence: SignatureEvidence

    @inlinable
    package init(payload: Payload, evidence: SignatureEvidence) {
        self.payload = payload
        self.evidence = evidence
    }

    /// The same evidence for a part of the payload.
    @inlinable
    package func map<Part: Sendable>(_ part: (Payload) -> Part) -> Verified<Part> {
        Verified<Part>(payload: part(payload), evidence: evidence)
    }
}

/// A payload that was decoded but not verified. It can be forged: display it, but never grant access based on it.
public struct Unverified<Payload: Sendable>: Sendable {
    /// The decoded payload.
    public let payload: Payload

    /// Marks a decoded payload as unverified. It makes no check.
    public init(payload: Payload) { self.payload = payload }
}

/// The evidence for the signature of a ``Verified`` payload: its root, digest and time.
public struct SignatureEvidence: Hashable, Sendable {
    /// Why the chain is trusted.
    public enum Anchor: String, Hashable, Sendable {
        /// One of Apple's pinned roots.
        case apple
        /// An Apple leaf pinned by its own fingerprint, because transaction receipts contain no intermediate.
        case pinnedLeaf
        /// A root that the caller added.
        case additionalRoot
        /// Xcode's StoreKit testing certificate, accepted by an explicit option. Its key is public.
        case xcode
    }

    /// Why the chain is trusted.
    public let anchor: Anchor
    /// SHA-256 of the leaf certificate.
    public let leaf: Fingerprint
    /// SHA-256 of the trust anchor: the root, or the pinned leaf.
    public let trustAnchor: Fingerprint
    /// The digest algorithm of the signature.
    public let digestAlgorithm: DigestAlgorithm
    /// The time for which the certificates were checked: milliseconds since 1970-01-01T00:00:00Z.
    public let validationTime: Int64
    /// The certificates of the path in DER, from the leaf to the trust anchor. Empty for JWS.
    package let path: [[UInt8]]
    /// The SHA-256 that the signature of a JWS signs: that of its header and payload with the period between them (RFC
    /// 7515, JWS Signing Input). Nil for CMS.
    package let signingInput: Fingerprint?

    package init(
        anchor: Anchor, leaf: Fingerprint, trustAnchor: Fingerprint, digestAlgorithm: DigestAlgorithm,
        validationTime: Int64, path: [[UInt8]] = [], signingInput: Fingerprint? = nil
    ) {
        self.path = path
        self.signingInput = signingInput
        self.anchor = anchor
        self.leaf = leaf
        self.trustAnchor = trustAnchor
        self.digestAlgorithm = digestAlgorithm
        self.validationTime = validationTime
    }
}

/// The digest algorithm of a signature: of CMS (RFC 5754), or of JWS (ES256, RFC 7518, 3.4).
public enum DigestAlgorithm: String, Hashable, Sendable {
    /// The App Store's receipts until its change to SHA-256, which took from June 2023 to January 2025 (Reference.md
    /// V7.4).
    case sha1 = "SHA-1"
    /// The App Store's receipts since that change, and every JWS.
    case sha256 = "SHA-256"
}
