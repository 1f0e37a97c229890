@_exported public import AppStoreTrust

/// Whose signatures over the App Store's JWS are believed.
///
/// ``apple`` is the default everywhere: Apple's roots by fingerprint and nothing else. The root itself travels in the JWS
/// (Reference.md S4); no system trust store, no file and no network are consulted.
public struct SignedDataTrust: Sendable {
    /// SHA-256 of roots that the third certificate of `x5c` may be.
    public var roots: Set<Fingerprint>
    /// Roots added by the caller, DER: for the sandbox of this package and for one's own tests. A chain that one of them
    /// signed is accepted whatever the third certificate of its `x5c` is, as in Apple's libraries.
    public var additionalRoots: [[UInt8]]
    /// Whether data of the environments Xcode and LocalTesting is accepted. Anybody can make such data: for test servers
    /// only. Its evidence is anchored in `SignatureEvidence.Anchor.xcode`, and it never speaks for Production or Sandbox.
    public var acceptsXcode: Bool

    /// Apple's roots, nothing else.
    public static let apple = SignedDataTrust()

    public init(
        roots: Set<Fingerprint> = PinnedRoots.apple, additionalRoots: [[UInt8]] = [], acceptsXcode: Bool = false
    ) {
        self.roots = roots
        self.additionalRoots = additionalRoots
        self.acceptsXcode = acceptsXcode
    }
}
