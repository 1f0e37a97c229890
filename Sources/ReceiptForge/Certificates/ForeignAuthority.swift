/// A certificate authority that nobody trusts, with the same markers and dates as the test authority's SHA-256 chain.
public struct ForeignAuthority: Sendable {
    /// Leaf, intermediate, root.
    public let certificates: [ForgedCertificate]

    /// - Parameter impostor: gives the certificates the names and serial numbers of the test authority's, so that only
    ///   keys and signatures tell them apart.
    public init(impostor: Bool = false) throws {
        typealias Authority = TestCertificateAuthority
        func name(_ commonName: String) -> DistinguishedName {
            .commonNameFirst(
                commonName, unit: "Foreign Test Certification Authority", organization: "Foreign Test Inc.")
        }
        let root = try Authority.rootDescription.with {
            $0.key = .foreignRootCA
            if !impostor { $0.subject = name("Foreign Test Root CA") }
        }.issued(by: nil)
        let intermediate = try Authority.intermediateDescription(.g5).with {
            $0.key = .foreignIntermediate
            if !impostor { $0.subject = name("Foreign Test Intermediate CA") }
        }.issued(by: root)
        let leaf = try Authority.leafDescription(.g5).with {
            $0.key = .foreignLeaf
            if !impostor { $0.subject = name("Foreign Test Receipt Signing") }
        }.issued(by: intermediate)
        certificates = [leaf, intermediate, root]
    }
}
