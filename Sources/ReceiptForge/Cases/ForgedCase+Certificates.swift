extension ForgedCase {
    private typealias Change = (name: String, shows: String, reason: String, openSSL: Bool, change: Edit)
    private typealias Edit = (inout CertificateDescription) -> Void

    /// The true authority's leaf with one thing wrong.
    static func leafCases() throws -> [ForgedCase] {
        let authority = try TestCertificateAuthority.shared()
        let receipt = Sample.usual()
        let cases = try leafChanges().map { change in
            let leaf = try TestCertificateAuthority.leafDescription(.g5).with(change.change)
                .issued(by: authority.intermediate(.g5))
            let chain = [leaf, try authority.intermediate(.g5), authority.root]
            return try app(
                change.name, change.shows, receipt,
                ForgedSignedData(content: receipt.content, chain: chain, digest: .sha256), .notGenuine, change.reason,
                openSSL: change.openSSL)
        }
        return try cases + creationDateCases()
    }

    private static func leafChanges() -> [Change] {
        let created = Sample.g5Date
        return [
            (
                "leaf-without-marker",
                "The leaf lacks the marker 6.11.1: some other certificate under the intermediate.",
                "missingLeafMarker", true, { $0.markers = [] }
            ),
            (
                "signed-by-developer", "A developer's certificate under the true intermediate signs.",
                "missingLeafMarker", true, { $0 = developerDescription }
            ),
            (
                "leaf-expired-at-creation", "The leaf expired the second before the receipt was created.",
                "certificateExpired", false, { $0.notAfter = created.adding(seconds: -1) }
            ),
            (
                "leaf-not-yet-valid-at-creation", "The leaf became valid the second after the receipt was created.",
                "certificateNotYetValid", false, { $0.notBefore = created.adding(seconds: 1) }
            ),
            (
                "leaf-is-authority", "The leaf is a certificate authority.", "basicConstraints", true,
                { $0.basicConstraints = .certificateAuthority(pathLength: nil) }
            ),
            (
                "leaf-key-usage", "The leaf may encipher keys and not sign.", "keyUsage", true,
                { $0.keyUsage = .keyEncipherment }
            ),
            (
                "leaf-unknown-critical-extension", "The leaf has a critical extension that nobody knows.",
                "criticalExtension", false, { $0.unknownCriticalExtension = true }
            ),
            (
                "leaf-broken-signature", "One bit of the intermediate's signature over the leaf is wrong.",
                "certificateSignatureMismatch", false, { $0.brokenSignature = true }
            ),
        ]
    }

    /// Genuine certificates and a creation date outside or just inside of their life.
    private static func creationDateCases() throws -> [ForgedCase] {
        let leaf = TestCertificateAuthority.leafDescription(.g5)
        func at(
            _ name: String, _ shows: String, _ date: ForgedInstant, _ verdict: ForgedExpectation.Verdict,
            _ reason: String, openSSL: Bool? = nil
        ) throws -> ForgedCase {
            let receipt = Sample.usual().with { $0.creationDate = .seconds(date) }
            return try app(name, shows, receipt, receipt.signedData(.g5), verdict, reason, openSSL: openSSL)
        }
        return [
            try at(
                "created-at-first-second", "Created in the first second of the leaf's life.", leaf.notBefore, .genuine,
                "genuine"),
            // RFC 5280, 4.1.2.5: the period includes its last second. OpenSSL ends it a second early.
            try at(
                "created-at-last-second", "Created in the last second of the leaf's life, which still counts.",
                leaf.notAfter, .genuine, "lastSecond", openSSL: false),
            try at(
                "created-before-leaf", "Created a second before the leaf was valid.",
                leaf.notBefore.adding(seconds: -1),
                .notGenuine, "certificateNotYetValid"),
            try at(
                "created-after-leaf", "Created a second after the leaf had expired.", leaf.notAfter.adding(seconds: 1),
                .notGenuine, "certificateExpired"),
        ]
    }

    /// The true root over an intermediate with one thing wrong.
    static func intermediateCases() throws -> [ForgedCase] {
        let root = try TestCertificateAuthority.shared().root
        let receipt = Sample.usual()
        return try intermediateChanges().map { change in
            let intermediate = try TestCertificateAuthority.intermediateDescription(.g5).with(change.change)
                .issued(by: root)
            let leaf = try TestCertificateAuthority.leafDescription(.g5).issued(by: intermediate)
            return try app(
                change.name, change.shows, receipt,
                ForgedSignedData(content: receipt.content, chain: [leaf, intermediate, root], digest: .sha256),
                .notGenuine, change.reason, openSSL: change.openSSL)
        }
    }

    private static func intermediateChanges() -> [Change] {
        let created = Sample.g5Date
        return [
            (
                "intermediate-without-marker", "The intermediate lacks the marker 6.2.1.", "missingIntermediateMarker",
                true,
                { $0.markers = [] }
            ),
            (
                "intermediate-of-itunes-store", "The intermediate bears the marker of the iTunes Store's (6.2.2).",
                "missingIntermediateMarker", true, { $0.markers = [.iTunesStoreIntermediateMarker] }
            ),
            (
                "intermediate-is-no-authority", "The intermediate says CA:FALSE.", "basicConstraints", false,
                { $0.basicConstraints = .endEntity }
            ),
            (
                "intermediate-without-basic-constraints", "The intermediate does not say that it is an authority.",
                "basicConstraints", false, { $0.basicConstraints = .absent }
            ),
            (
                "intermediate-key-usage", "The intermediate may sign, and not sign certificates.", "keyUsage", false,
                { $0.keyUsage = [.digitalSignature, .crlSign] }
            ),
            (
                "intermediate-expired-at-creation",
                "The intermediate expired the second before the receipt was created.",
                "certificateExpired", false, { $0.notAfter = created.adding(seconds: -1) }
            ),
            (
                "intermediate-not-yet-valid-at-creation",
                "The intermediate became valid the second after the receipt was created.", "certificateNotYetValid",
                false,
                { $0.notBefore = created.adding(seconds: 1) }
            ),
            (
                "intermediate-unknown-critical-extension",
                "The intermediate has a critical extension that nobody knows.",
                "criticalExtension", false, { $0.unknownCriticalExtension = true }
            ),
            (
                "intermediate-broken-signature", "One bit of the root's signature over the intermediate is wrong.",
                "certificateSignatureMismatch", false, { $0.brokenSignature = true }
            ),
        ]
    }
}
