extension ForgedCase {
    /// Messages whose SignerInfos are not one true signature of the leaf.
    static func signerCases() throws -> [ForgedCase] {
        try signerCountCases() + digestCases() + signerIdentifierCases()
    }

    private static func signerCountCases() throws -> [ForgedCase] {
        let receipt = Sample.usual()
        let message = try receipt.signedData(.g5)
        let foreign = try ForeignAuthority().certificates
        return [
            try app(
                "two-signers", "Two signers, both genuine; a receipt has one.", receipt,
                message.with { $0.signers += $0.signers }, .notGenuine, "signerCount", openSSL: true),
            try app(
                "two-signers-one-foreign", "A genuine signer and a foreign one.", receipt,
                message.with {
                    $0.certificates += foreign.map(\.der)
                    $0.signers.append(ForgedSigner(certificate: foreign[0], digest: .sha256))
                }, .notGenuine, "signerCount"),
            try app(
                "no-signers", "Nobody signed.", receipt, message.with { $0.signers = [] }, .notGenuine, "signerCount"),
            try app(
                "no-certificates", "No certificates are embedded.", receipt, message.with { $0.certificates = [] },
                .notGenuine, "certificateMissing"),
        ]
    }

    private static func digestCases() throws -> [ForgedCase] {
        let receipt = Sample.usual()
        let message = try receipt.signedData(.g5)
        return [
            try app(
                "digest-not-the-signed-one", "The signer names SHA-256 and signed SHA-1.", receipt,
                message.with { $0.signers[0].digest = .sha1 }, .notGenuine, "signatureMismatch"),
            try app(
                "digest-sha512", "Signed with SHA-512, which is sound and which Apple never used.", receipt,
                message.with {
                    $0.signers[0].digest = .sha512
                    $0.signers[0].claimedDigest = .sha512
                }, .notGenuine, "unsupportedDigestAlgorithm", openSSL: true),
            try app(
                "digest-md5", "The signer names MD5.", receipt, message.with { $0.signers[0].claimedDigest = .md5 },
                .notGenuine, "unsupportedDigestAlgorithm"),
            try app(
                "sha1-by-sha256-leaf",
                "A SHA-1 signature by the leaf of the SHA-256 generation, as Apple's servers made "
                    + "for a while: the digest is the signer's to name.", receipt,
                message.with {
                    $0.signers[0].digest = .sha1
                    $0.signers[0].claimedDigest = .sha1
                }),
        ]
    }

    private static func signerIdentifierCases() throws -> [ForgedCase] {
        let receipt = Sample.usual()
        let message = try receipt.signedData(.g5)
        let root = try TestCertificateAuthority.shared().root
        return [
            try app(
                "signer-serial-of-nobody", "The signer's serial number is that of no certificate.", receipt,
                message.with { $0.signers[0].serial = [0x7E, 0x57, 0x00] }, .notGenuine, "signerCertificateNotFound"),
            try app(
                "signer-issuer-of-nobody", "The signer's issuer is not that of the leaf.", receipt,
                message.with { $0.signers[0].issuer = root.subject }, .notGenuine, "signerCertificateNotFound"),
            try app(
                "signer-points-at-intermediate", "The signer is said to be the intermediate; the leaf signed.", receipt,
                message.with {
                    $0.signers[0].issuer = root.subject
                    $0.signers[0].serial = TestCertificateAuthority.intermediateDescription(.g5).serial
                }, .notGenuine, "missingLeafMarker"),
        ]
    }

    /// Genuine receipts that somebody changed afterwards.
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
                    // All but the bundle id stays, the device hash too.
                    $0.content = replaced(in: receipt.content, "orchard", by: "orcharf")
                    $0.signers[0].signsInstead = receipt.content
                }, .notGenuine, "signatureMismatch",
                expect: {
                    $0.otherAttributes = receipt.otherFacts
                    $0.deviceGuid = nil
                }),
            try app(
                "flipped-signature-bit", "One bit of the signature is changed.", receipt,
                message.with { $0.signers[0].brokenSignature = true }, .notGenuine, "signatureMismatch"),
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
