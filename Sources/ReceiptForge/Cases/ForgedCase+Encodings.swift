extension ForgedCase {
    /// Containers written in other ways than Apple's, all of them genuine.
    static func encodingCases() throws -> [ForgedCase] {
        try berCases() + certificateListCases() + signedAttributeCases() + surroundingCases()
    }

    private static func berCases() throws -> [ForgedCase] {
        let receipt = Sample.usual()
        let message = try receipt.signedData(.g5)
        return [
            try app(
                "ber-one-segment", "Indefinite lengths, the content in one segment.", receipt,
                message.with { $0.encoding = .ber(segmentLength: 100_000) }),
            try app(
                "ber-segments", "Indefinite lengths, the content in segments of 100 bytes.", receipt,
                message.with { $0.encoding = .ber(segmentLength: 100) }),
            try app(
                "ber-nested-segments", "Segments of the content inside of segments.", receipt,
                message.with { $0.encoding = .berNestedSegments(segmentLength: 250) }),
            try app(
                "content-wrapped-twice", "The content is an OCTET STRING within the OCTET STRING; both are signed.",
                receipt,
                message.with { $0.wrapsContentTwice = true }),
            try app(
                "content-wrapped-twice-ber", "The content wrapped twice, in segments of indefinite length.", receipt,
                message.with {
                    $0.wrapsContentTwice = true
                    $0.encoding = .ber(segmentLength: 333)
                }),
            try app(
                "signature-algorithm-named-with-digest", "The signer names sha256WithRSAEncryption.", receipt,
                message.with { $0.signers[0].signatureAlgorithm = .sha256WithRSA }),
        ]
    }

    private static func certificateListCases() throws -> [ForgedCase] {
        let receipt = Sample.usual()
        let message = try receipt.signedData(.g5)
        let authority = try TestCertificateAuthority.shared()
        let developer = try developerDescription.issued(by: authority.intermediate(.g5)).der
        let foreign = try ForeignAuthority().certificates.map(\.der)
        let others = [foreign[2], developer, try authority.leaf(.g1).der, try authority.intermediate(.g1).der]
        return [
            try app(
                "certificates-reversed", "The certificates from root to leaf.", receipt,
                message.with { $0.certificates.reverse() }),
            try app(
                "certificates-doubled", "Every certificate twice.", receipt,
                message.with { $0.certificates += $0.certificates }),
            try app(
                "certificates-extra", "Certificates of others, genuine and foreign, among those of the chain.", receipt,
                message.with { $0.certificates.insert(contentsOf: others, at: 1) }),
            try app(
                "root-not-embedded", "The root is not in the receipt, so that its fingerprint alone does not help.",
                receipt, message.with { $0.certificates.removeLast() }, expect: { $0.needsRootCertificate = true }),
            try app(
                "intermediate-not-embedded", "The intermediate is not in the receipt.", receipt,
                message.with { $0.certificates.remove(at: 1) }, .notGenuine, "untrustedRoot"),
        ]
    }

    private static func signedAttributeCases() throws -> [ForgedCase] {
        let receipt = Sample.usual()
        let old = ForgedAppReceipt.production(bundleId: Sample.bundleId, created: Sample.g1Date)
        let attributes = ForgedSignedAttributes(signingTime: Sample.g5Date)
        func with(_ attributes: ForgedSignedAttributes) throws -> ForgedSignedData {
            try receipt.signedData(.g5).with { $0.signers[0].signedAttributes = attributes }
        }
        return [
            try app(
                "signed-attributes", "Signed attributes: content type, message digest, signing time.", receipt,
                with(attributes)),
            try app(
                "signed-attributes-sha1", "Signed attributes in a SHA-1 message.", old,
                old.signedData(.g1).with { $0.signers[0].signedAttributes = ForgedSignedAttributes() }),
            try app(
                "signed-attributes-wrong-digest", "The signed message digest is not that of the content.", receipt,
                with(ForgedSignedAttributes(messageDigest: .wrong)), .notGenuine, "digestMismatch"),
            try app(
                "signed-attributes-no-digest", "The signed attributes do not say the message digest.", receipt,
                with(ForgedSignedAttributes(messageDigest: .missing)), .notGenuine, "signedAttributesMismatch"),
            try app(
                "signed-attributes-wrong-content-type", "The signed content type is not that of the content.", receipt,
                with(ForgedSignedAttributes(contentType: .signedData)), .notGenuine, "signedAttributesMismatch",
                openSSL: true),
            try app(
                "signed-attributes-no-content-type", "The signed attributes do not say the content type.", receipt,
                with(ForgedSignedAttributes(contentType: nil)), .notGenuine, "signedAttributesMismatch"),
        ]
    }

    private static func surroundingCases() throws -> [ForgedCase] {
        let receipt = Sample.usual()
        let message = try receipt.signedData(.g5)
        return [
            try app("raw-der", "The container itself, without base64.", receipt, message, form: .der),
            try app(
                "raw-ber", "A container of indefinite length, without base64.", receipt,
                message.with { $0.encoding = .ber(segmentLength: 500) }, form: .der),
            try app(
                "trailing-bytes", "Bytes after the container, which Apple ignores.", receipt, message, .genuine,
                "trailingBytes", container: { $0 += [0, 0, 0xDE, 0xAD] }),
            try app(
                "trailing-second-receipt", "A second container after the first: the first one counts.", receipt,
                message,
                .genuine, "trailingBytes", container: { $0 += $0 }),
        ]
    }
}
