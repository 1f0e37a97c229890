extension ForgedCase {
    /// Chains that do not lead to the trusted root, or do so by the wrong way.
    static func chainCases() throws -> [ForgedCase] {
        try foreignChainCases() + misledChainCases()
    }

    private static func signed(_ chain: [ForgedCertificate]) -> ForgedSignedData {
        ForgedSignedData(content: Sample.usual().content, chain: chain, digest: .sha256)
    }

    private static func foreignChainCases() throws -> [ForgedCase] {
        let receipt = Sample.usual()
        let authority = try TestCertificateAuthority.shared()
        let foreign = try ForeignAuthority().certificates
        let impostor = try ForeignAuthority(impostor: true).certificates
        let selfSigned = try TestCertificateAuthority.leafDescription(.g5).with {
            $0.key = .foreignLeaf
        }.issued(by: nil)
        return [
            try app(
                "foreign-root", "A whole chain of a foreign authority, root embedded, every marker in place.", receipt,
                signed(foreign), .notGenuine, "untrustedRoot"),
            try app(
                "impostor-root", "A whole chain that bears the trusted authority's names, with other keys.", receipt,
                signed(impostor), .notGenuine, "untrustedRoot"),
            try app(
                "impostor-with-trusted-root",
                "An impostor's leaf and intermediate beside the true root, whose signature the intermediate lacks.",
                receipt, signed([impostor[0], impostor[1], authority.root]), .notGenuine, "certificateSignatureMismatch"
            ),
            try app(
                "foreign-chain-beside-trusted-chain",
                "A foreign leaf signs; the true chain is embedded too, and proves nothing.", receipt,
                signed(foreign + authority.chain(.g5)), .notGenuine, "untrustedRoot"),
            try app(
                "self-signed-leaf", "A leaf that signs itself, beside the true intermediate and root.", receipt,
                signed([selfSigned, authority.intermediate(.g5), authority.root]), .notGenuine, "untrustedRoot"),
        ]
    }

    private static func misledChainCases() throws -> [ForgedCase] {
        let receipt = Sample.usual()
        let authority = try TestCertificateAuthority.shared()
        let intermediate = try authority.intermediate(.g5)
        let direct = try TestCertificateAuthority.leafDescription(.g5).issued(by: authority.root)
        let marked = try TestCertificateAuthority.leafDescription(.g5).with {
            $0.markers.append(.intermediateMarker)
        }.issued(by: authority.root)
        let developer = try developerDescription.issued(by: intermediate)
        let byDeveloper = try TestCertificateAuthority.leafDescription(.g5).with {
            $0.key = .foreignLeaf
        }.issued(by: developer)
        let lower = try TestCertificateAuthority.intermediateDescription(.g5).with {
            $0.subject = .commonNameFirst(
                "Test Lower Intermediate", unit: "Test G5", organization: TestCertificateAuthority.organization)
            $0.serial = [0x7E, 0x57, 0x01]
            $0.key = .developer
        }.issued(by: intermediate)
        let tooDeep = try TestCertificateAuthority.leafDescription(.g5).with {
            $0.key = .foreignLeaf
        }.issued(by: lower)
        return [
            try app(
                "leaf-under-root", "A leaf that the root itself issued, without an intermediate.", receipt,
                signed([direct, intermediate, authority.root]), .notGenuine, "missingIntermediateMarker", openSSL: true),
            try app(
                "leaf-under-root-with-both-markers",
                "A leaf under the root that bears the intermediate's marker as well.",
                receipt, signed([marked, authority.root]), .notGenuine, "missingIntermediateMarker", openSSL: true),
            try app(
                "leaf-under-developer", "A leaf with the right marker, issued by a developer's certificate.", receipt,
                signed([byDeveloper, developer, intermediate, authority.root]), .notGenuine, "basicConstraints"),
            try app(
                "path-too-long", "Two intermediates where the path length of the upper one allows none below.", receipt,
                signed([tooDeep, lower, intermediate, authority.root]), .notGenuine, "basicConstraints"),
        ]
    }

    /// A developer's own certificate: under the same intermediate, with its own marker and not that of receipts.
    static var developerDescription: CertificateDescription {
        TestCertificateAuthority.leafDescription(.g5).with {
            $0.serial = [0x7E, 0x57, 0xDE, 0x7E]
            $0.subject = .commonNameFirst(
                "Test Developer: Jane Example (EXAMPLE123)", unit: "EXAMPLE123", organization: "Jane Example")
            $0.key = .developer
            $0.markers = [.developerMarker]
            $0.extendedKeyUsage = [.codeSigning]
            $0.policy = nil
        }
    }
}
