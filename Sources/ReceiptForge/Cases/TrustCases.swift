extension ForgedCase {
    /// Chains that do not lead to the trusted root, or lead to it in an invalid way.
    static func chainCases() throws -> [ForgedCase] {
        try foreignChainCases() + misledChainCases()
    }

    /// The usual receipt with a chain of which a verifier must not trust the first certificate, which signs.
    private static func untrusted(
        _ name: String, _ shows: String, _ reason: String, openSSL: Bool? = nil, _ chain: [ForgedCertificate]
    ) throws -> ForgedCase {
        let receipt = Sample.usual()
        let message = ForgedSignedData(content: receipt.content, chain: chain, digest: .sha256)
        return try app(name, shows, receipt, message, .notGenuine, reason, openSSL: openSSL)
    }

    private static func foreignChainCases() throws -> [ForgedCase] {
        let authority = try TestCertificateAuthority.shared()
        let foreign = try ForeignAuthority().certificates
        let impostor = try ForeignAuthority(impostor: true).certificates
        let selfSigned = try TestCertificateAuthority.leafDescription(.g5).with {
            $0.key = .foreignLeaf
        }.issued(by: nil)
        return [
            try untrusted(
                "foreign-root", "A whole chain of a foreign authority, root embedded, every marker in place.",
                "untrustedRoot", foreign),
            try untrusted(
                "impostor-root", "A whole chain with the trusted authority's names and other keys.",
                "untrustedRoot", impostor),
            try untrusted(
                "impostor-with-trusted-root",
                "A forged leaf and intermediate with the genuine root, which did not sign the intermediate.",
                "certificateSignatureMismatch", [impostor[0], impostor[1], authority.root]),
            try untrusted(
                "foreign-chain-beside-trusted-chain",
                "A foreign leaf signs; the true chain is embedded too, and proves nothing.", "untrustedRoot",
                foreign + authority.chain(.g5)),
            try untrusted(
                "self-signed-leaf", "A leaf that signs itself, beside the true intermediate and root.",
                "untrustedRoot", [selfSigned, authority.intermediate(.g5), authority.root]),
        ]
    }

    private static func misledChainCases() throws -> [ForgedCase] {
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
            try untrusted(
                "leaf-under-root", "A leaf that the root itself issued, without an intermediate.",
                "missingIntermediateMarker", openSSL: true, [direct, intermediate, authority.root]),
            try untrusted(
                "leaf-under-root-with-both-markers",
                "A leaf under the root that also has the intermediate's marker.",
                "missingIntermediateMarker", openSSL: true, [marked, authority.root]),
            try untrusted(
                "leaf-under-developer", "A leaf with the right marker, issued by a developer's certificate.",
                "basicConstraints", [byDeveloper, developer, intermediate, authority.root]),
            try untrusted(
                "path-too-long", "Two intermediates; the path length of the upper one allows no other below it.",
                "basicConstraints", [tooDeep, lower, intermediate, authority.root]),
        ]
    }

    /// A developer's own certificate: issued by the same intermediate, with its own marker instead of the marker for
    /// receipts.
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

    /// The certificate of a chain that is wrong. The others are real, or signed by it.
    private enum Place { case leaf, intermediate }

    private static func wrong(
        _ place: Place, _ name: String, _ shows: String, _ reason: String, openSSL: Bool,
        _ change: (inout CertificateDescription) -> Void
    ) throws -> ForgedCase {
        let root = try TestCertificateAuthority.shared().root
        let intermediate = try TestCertificateAuthority.intermediateDescription(.g5)
            .with { if place == .intermediate { change(&$0) } }.issued(by: root)
        let leaf = try TestCertificateAuthority.leafDescription(.g5)
            .with { if place == .leaf { change(&$0) } }.issued(by: intermediate)
        return try untrusted(name, shows, reason, openSSL: openSSL, [leaf, intermediate, root])
    }

    /// What can be wrong with a leaf and with an intermediate alike.
    private static func commonCases(_ place: Place, of issuer: String) throws -> [ForgedCase] {
        let created = Sample.g5Date
        return try [
            wrong(
                place, "\(place)-expired-at-creation",
                "The \(place) expired the second before the receipt was created.", "certificateExpired", openSSL: false
            ) { $0.notAfter = created.adding(seconds: -1) },
            wrong(
                place, "\(place)-not-yet-valid-at-creation",
                "The \(place) became valid the second after the receipt was created.", "certificateNotYetValid",
                openSSL: false
            ) { $0.notBefore = created.adding(seconds: 1) },
            wrong(
                place, "\(place)-unknown-critical-extension", "The \(place) has an unknown critical extension.",
                "criticalExtension", openSSL: false
            ) { $0.unknownCriticalExtension = true },
            wrong(
                place, "\(place)-broken-signature",
                "One bit of the \(issuer)'s signature over the \(place) is wrong.", "certificateSignatureMismatch",
                openSSL: false
            ) { $0.brokenSignature = true },
        ]
    }

    /// The real leaf with one thing wrong.
    static func leafCases() throws -> [ForgedCase] {
        return try [
            wrong(
                .leaf, "leaf-without-marker",
                "The leaf lacks the marker 6.11.1: some other certificate under the intermediate.", "missingLeafMarker",
                openSSL: true
            ) { $0.markers = [] },
            wrong(
                .leaf, "signed-by-developer", "A developer's certificate under the true intermediate signs.",
                "missingLeafMarker", openSSL: true
            ) { $0 = developerDescription },
            wrong(
                .leaf, "leaf-is-authority", "The leaf is a certificate authority.", "basicConstraints", openSSL: true
            ) { $0.basicConstraints = .certificateAuthority(pathLength: nil) },
            wrong(.leaf, "leaf-key-usage", "The leaf may encipher keys and not sign.", "keyUsage", openSSL: true) {
                $0.keyUsage = .keyEncipherment
            },
        ] + commonCases(.leaf, of: "intermediate") + creationDateCases()
    }

    /// Genuine certificates, and creation dates outside or just inside their validity period.
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
                "created-at-first-second", "Created in the first second of the leaf's validity.", leaf.notBefore,
                .genuine,
                "genuine"),
            // RFC 5280, 4.1.2.5: the period includes its last second. OpenSSL ends it a second early.
            try at(
                "created-at-last-second", "Created in the last second of the leaf's validity.",
                leaf.notAfter, .genuine, "lastSecond", openSSL: false),
            try at(
                "created-before-leaf", "Created a second before the leaf was valid.",
                leaf.notBefore.adding(seconds: -1), .notGenuine, "certificateNotYetValid"),
            try at(
                "created-after-leaf", "Created a second after the leaf had expired.", leaf.notAfter.adding(seconds: 1),
                .notGenuine, "certificateExpired"),
        ]
    }

    /// The real root over an intermediate with one thing wrong.
    static func intermediateCases() throws -> [ForgedCase] {
        return try [
            wrong(
                .intermediate, "intermediate-without-marker", "The intermediate lacks the marker 6.2.1.",
                "missingIntermediateMarker", openSSL: true
            ) { $0.markers = [] },
            wrong(
                .intermediate, "intermediate-of-itunes-store",
                "The intermediate has the marker of the iTunes Store (6.2.2).", "missingIntermediateMarker",
                openSSL: true
            ) { $0.markers = [.iTunesStoreIntermediateMarker] },
            wrong(
                .intermediate, "intermediate-is-no-authority", "The intermediate says CA:FALSE.", "basicConstraints",
                openSSL: false
            ) { $0.basicConstraints = .endEntity },
            wrong(
                .intermediate, "intermediate-without-basic-constraints", "The intermediate has no basic constraints.",
                "basicConstraints", openSSL: false
            ) { $0.basicConstraints = .absent },
            wrong(
                .intermediate, "intermediate-key-usage", "The intermediate may sign, and not sign certificates.",
                "keyUsage", openSSL: false
            ) { $0.keyUsage = [.digitalSignature, .crlSign] },
        ] + commonCases(.intermediate, of: "root")
    }

    /// Messages whose SignerInfos are not exactly one valid signature of the leaf.
    static func signerCases() throws -> [ForgedCase] {
        try signerCountCases() + digestCases() + signerIdentifierCases()
    }

    private static func signerCountCases() throws -> [ForgedCase] {
        let foreign = try ForeignAuthority().certificates
        return [
            try refused("two-signers", "Two signers, both genuine; a receipt has one.", "signerCount", openSSL: true) {
                $0.signers += $0.signers
            },
            try refused("two-signers-one-foreign", "A genuine signer and a foreign one.", "signerCount") {
                $0.certificates += foreign.map(\.der)
                $0.signers.append(ForgedSigner(certificate: foreign[0], digest: .sha256))
            },
            try refused("no-signers", "The message has no signers.", "signerCount") { $0.signers = [] },
            try refused("no-certificates", "No certificates are embedded.", "certificateMissing") {
                $0.certificates = []
            },
        ]
    }

    private static func digestCases() throws -> [ForgedCase] {
        return [
            try refused("digest-not-the-signed-one", "The signer names SHA-256 and signed SHA-1.", "signatureMismatch")
            { $0.signers[0].digest = .sha1 },
            try refused(
                "digest-sha512", "Signed with SHA-512, which is sound and which Apple never used.",
                "unsupportedDigestAlgorithm", openSSL: true
            ) {
                $0.signers[0].digest = .sha512
                $0.signers[0].claimedDigest = .sha512
            },
            try refused("digest-md5", "The signer names MD5.", "unsupportedDigestAlgorithm") {
                $0.signers[0].claimedDigest = .md5
            },
            try genuine(
                "sha1-by-sha256-leaf",
                "A SHA-1 signature by the leaf of the SHA-256 generation, as Apple's servers made "
                    + "for a while: the signer chooses the digest."
            ) {
                $0.signers[0].digest = .sha1
                $0.signers[0].claimedDigest = .sha1
            },
        ]
    }

    private static func signerIdentifierCases() throws -> [ForgedCase] {
        let root = try TestCertificateAuthority.shared().root
        return [
            try refused(
                "signer-serial-unknown", "No certificate has the signer's serial number.",
                "signerCertificateNotFound"
            ) { $0.signers[0].serial = [0x7E, 0x57, 0x00] },
            try refused(
                "signer-issuer-unknown", "The signer names another issuer than the leaf.", "signerCertificateNotFound"
            ) { $0.signers[0].issuer = root.subject },
            try refused(
                "signer-points-at-intermediate", "The signer is named as the intermediate, but the leaf signed.",
                "missingLeafMarker"
            ) {
                $0.signers[0].issuer = root.subject
                $0.signers[0].serial = TestCertificateAuthority.intermediateDescription(.g5).serial
            },
        ]
    }

    /// Genuine receipts that were changed after signing.
    static func tamperedCases() throws -> [ForgedCase] {
        let receipt = Sample.usual()
        let message = try receipt.signedData(.g5)
        let richer = Sample.production([Sample.renewal(0), Sample.renewal(1), Sample.nonConsumable])
        let flipped = Sample.usual().with { $0.bundleId = "com.example.orcharf" }
        return [
            try app(
                "swapped-payload", "The signature of one receipt under the content of another.", richer,
                richer.signedData(.g5).with { $0.signers[0].signsInstead = receipt.content }, .notGenuine,
                "signatureMismatch"),
            try app(
                "swapped-payload-with-signed-attributes", "As swapped-payload, with signed attributes.", richer,
                richer.signedData(.g5).with {
                    $0.signers[0].signsInstead = receipt.content
                    $0.signers[0].signedAttributes = ForgedSignedAttributes()
                }, .notGenuine, "digestMismatch"),
            try app(
                "flipped-content-bit", "One bit of the bundle id is changed after signing: d became f.", flipped,
                flipped.signedData(.g5).with {
                    // Everything stays except the bundle id, including the device hash.
                    $0.content = replaced(in: receipt.content, "orchard", by: "orcharf")
                    $0.signers[0].signsInstead = receipt.content
                }, .notGenuine, "signatureMismatch",
                expect: {
                    $0.otherAttributes = receipt.otherFacts
                    $0.deviceGuid = nil
                }),
            try refused("flipped-signature-bit", "One bit of the signature is changed.", "signatureMismatch") {
                $0.signers[0].brokenSignature = true
            },
            try app(
                "truncated", "The receipt ends in the middle of its certificates.", receipt, message, .notAReceipt,
                "truncated", openSSL: false, container: { $0.removeLast($0.count / 3) }),
            try app(
                "truncated-by-one-byte", "The last byte is missing.", receipt, message, .notAReceipt, "truncated",
                openSSL: false, container: { $0.removeLast() }),
        ]
    }

    /// The first occurrence of a text in bytes, replaced by one of the same length.
    static func replaced(in bytes: [UInt8], _ text: String, by other: String) -> [UInt8] {
        let (old, new) = (Array(text.utf8), Array(other.utf8))
        guard old.count == new.count, bytes.count >= old.count else { return bytes }
        var result = bytes
        for start in 0...(bytes.count - old.count) where bytes[start..<start + old.count].elementsEqual(old) {
            result.replaceSubrange(start..<start + old.count, with: new)
            break
        }
        return result
    }
}
