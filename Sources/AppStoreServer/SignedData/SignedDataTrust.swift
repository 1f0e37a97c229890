@_exported public import AppStoreTrust

/// The trust anchors for JWS of the App Store.
///
/// ``apple`` is the default: Apple's roots by fingerprint. A JWS contains its root (Reference.md S4), so the verifier needs no
/// system trust store, no file and no network.
public struct SignedDataTrust: Sendable {
    /// SHA-256 fingerprints of the accepted roots (the third certificate of `x5c`).
    public var roots: Set<Fingerprint>
    /// Additional roots in DER, for the sandbox of this package and for tests. A chain that one of them signed is accepted with
    /// any third certificate in `x5c`, as in Apple's libraries.
    public var additionalRoots: [[UInt8]]
    /// Whether data of the environments Xcode and LocalTesting is accepted. Such data can be forged, so accept it on test
    /// servers only. Its evidence has the anchor `SignatureEvidence.Anchor.xcode`. It is never valid for Production or Sandbox.
    public var acceptsXcode: Bool

    /// Only Apple's roots.
    public static let apple = SignedDataTrust()

    /// Trust anchors, by default Apple's pinned roots alone. Certificates in `additionalRoots` are not parsed here:
    /// ``SignedDataVerifier`` throws for a malformed one.
    public init(
        roots: Set<Fingerprint> = PinnedRoots.apple, additionalRoots: [[UInt8]] = [], acceptsXcode: Bool = false
    ) {
        self.roots = roots
        self.additionalRoots = additionalRoots
        self.acceptsXcode = acceptsXcode
    }
}
