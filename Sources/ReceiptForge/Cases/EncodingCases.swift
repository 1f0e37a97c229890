import Foundation

extension ForgedCase {
    /// Genuine containers in encodings that Apple does not use.
    static func encodingCases() throws -> [ForgedCase] {
        try berCases() + certificateListCases() + signedAttributeCases() + surroundingCases()
    }

    private static func berCases() throws -> [ForgedCase] {
        return [
            try genuine("ber-one-segment", "Indefinite lengths, the content in one segment.") {
                $0.encoding = .ber(segmentLength: 100_000)
            },
            try genuine("ber-segments", "Indefinite lengths, the content in segments of 100 bytes.") {
                $0.encoding = .ber(segmentLength: 100)
            },
            try genuine("ber-nested-segments", "Segments of the content inside of segments.") {
                $0.encoding = .berNestedSegments(segmentLength: 250)
            },
            try genuine(
                "content-wrapped-twice", "The content is an OCTET STRING within the OCTET STRING; both are signed."
            ) { $0.wrapsContentTwice = true },
            try genuine("content-wrapped-twice-ber", "The content wrapped twice, in segments of indefinite length.") {
                $0.wrapsContentTwice = true
                $0.encoding = .ber(segmentLength: 333)
            },
            try genuine("signature-algorithm-named-with-digest", "The signer names sha256WithRSAEncryption.") {
                $0.signers[0].signatureAlgorithm = .sha256WithRSA
            },
        ]
    }

    private static func certificateListCases() throws -> [ForgedCase] {
        let authority = try TestCertificateAuthority.shared()
        let developer = try developerDescription.issued(by: authority.intermediate(.g5)).der
        let foreign = try ForeignAuthority().certificates.map(\.der)
        let others = [foreign[2], developer, try authority.leaf(.g1).der, try authority.intermediate(.g1).der]
        return [
            try genuine("certificates-reversed", "The certificates from root to leaf.") { $0.certificates.reverse() },
            try genuine("certificates-doubled", "Every certificate twice.") { $0.certificates += $0.certificates },
            try genuine("certificates-extra", "Certificates of others, genuine and foreign, among those of the chain.")
            { $0.certificates.insert(contentsOf: others, at: 1) },
            try genuine(
                "root-not-embedded", "The receipt lacks the root, so the root's fingerprint alone is not enough.",
                message: { $0.certificates.removeLast() }, expect: { $0.needsRootCertificate = true }),
            try refused("intermediate-not-embedded", "The intermediate is not in the receipt.", "untrustedRoot") {
                $0.certificates.remove(at: 1)
            },
        ]
    }

    private static func signedAttributeCases() throws -> [ForgedCase] {
        func wrong(
            _ name: String, _ shows: String, _ attributes: ForgedSignedAttributes,
            _ reason: String = "signedAttributesMismatch", openSSL: Bool? = nil
        ) throws -> ForgedCase {
            try refused(name, shows, reason, openSSL: openSSL) { $0.signers[0].signedAttributes = attributes }
        }
        let old = ForgedAppReceipt.production(bundleId: Sample.bundleId, created: Sample.g1Date)
        return [
            try genuine("signed-attributes", "Signed attributes: content type, message digest, signing time.") {
                $0.signers[0].signedAttributes = ForgedSignedAttributes(signingTime: Sample.g5Date)
            },
            try genuine("signed-attributes-sha1", "Signed attributes in a SHA-1 message.", old, .g1) {
                $0.signers[0].signedAttributes = ForgedSignedAttributes()
            },
            try wrong(
                "signed-attributes-wrong-digest", "The signed message digest is not that of the content.",
                ForgedSignedAttributes(messageDigest: .wrong), "digestMismatch"),
            try wrong(
                "signed-attributes-no-digest", "The signed attributes lack the message digest.",
                ForgedSignedAttributes(messageDigest: .missing)),
            try wrong(
                "signed-attributes-wrong-content-type", "The signed content type is not that of the content.",
                ForgedSignedAttributes(contentType: .signedData), openSSL: true),
            try wrong(
                "signed-attributes-no-content-type", "The signed attributes lack the content type.",
                ForgedSignedAttributes(contentType: nil)),
        ]
    }

    private static func surroundingCases() throws -> [ForgedCase] {
        let receipt = Sample.usual()
        let message = try receipt.signedData(.g5)
        return [
            try genuine("raw-der", "The container itself, without base64.", form: .der),
            try genuine("raw-ber", "A container of indefinite length, without base64.", form: .der) {
                $0.encoding = .ber(segmentLength: 500)
            },
            try app(
                "trailing-bytes", "Bytes after the container, which Apple ignores.", receipt, message, .genuine,
                "trailingBytes", container: { $0 += [0, 0, 0xDE, 0xAD] }),
            try app(
                "trailing-second-receipt", "A second container after the first: the first one counts.", receipt,
                message, .genuine, "trailingBytes", container: { $0 += $0 }),
        ]
    }

    /// Changes that clients and databases make to base64.
    static func textCases() throws -> [ForgedCase] {
        try soundTextCases() + brokenTextCases()
    }

    /// A receipt whose base64 needs padding and contains both `+` and `/`, so that the damage shows.
    private static func textReceipt() throws -> (ForgedAppReceipt, ForgedSignedData) {
        for build in 0..<64 {
            let receipt = Sample.usual().with { $0.applicationVersion = "3.4." + String(repeating: "1", count: build) }
            let message = try receipt.signedData(.g5)
            let text = base64(try message.encoded())
            if text.last == UInt8(ascii: "="), text.contains(UInt8(ascii: "+")), text.contains(UInt8(ascii: "/")) {
                return (receipt, message)
            }
        }
        throw ForgeError.badDescription("no receipt whose base64 shows every kind of damage")
    }

    private static func soundTextCases() throws -> [ForgedCase] {
        let (receipt, message) = try textReceipt()
        func text(
            _ name: String, _ shows: String, _ change: ([UInt8]) -> [UInt8]
        ) throws -> ForgedCase {
            try app(
                name, shows, receipt, message, expect: { $0.strictBase64Refuses = true }, text: { change(base64($0)) })
        }
        return [
            try text("base64-url-alphabet", "base64 in the URL-safe alphabet, still padded.") {
                $0.map {
                    $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0
                }
            },
            try text("base64-no-padding", "base64 without its padding.") { $0.filter { $0 != UInt8(ascii: "=") } },
            try text("base64-lines", "base64 in lines of 64 that end in CR LF.") { lines($0, ending: "\r\n") },
            try text("base64-line-feeds", "base64 in lines of 64 that end in LF, the last one too.") {
                lines($0, ending: "\n") + [10]
            },
            try text("base64-escaped-slashes", "base64 with `\\/` for `/`, as JSON encoders write it.") {
                $0.flatMap { $0 == UInt8(ascii: "/") ? [UInt8(ascii: "\\"), $0] : [$0] }
            },
            try text("base64-trailing-newline", "base64 with a line feed at the end.") { $0 + [10] },
        ]
    }

    private static func brokenTextCases() throws -> [ForgedCase] {
        let (receipt, message) = try textReceipt()
        func broken(
            _ name: String, _ shows: String, _ reason: String, _ change: ([UInt8]) -> [UInt8]
        ) throws -> ForgedCase {
            try app(name, shows, receipt, message, .notAReceipt, reason, openSSL: true, text: { change(base64($0)) })
        }
        return [
            try broken("base64-foreign-character", "base64 with a character of neither alphabet.", "invalidBase64") {
                var text = $0
                text[text.count / 2] = UInt8(ascii: "!")
                return text
            },
            try broken("base64-padding-inside", "base64 with padding in the middle.", "invalidBase64") {
                var text = $0
                text[text.count / 2] = UInt8(ascii: "=")
                return text
            },
            try broken("base64-cut", "base64 cut in the middle, as by a column that is too narrow.", "truncated") {
                Array($0.prefix(4_000))
            },
        ]
    }

    private static func lines(_ text: [UInt8], ending: String) -> [UInt8] {
        let lines = stride(from: 0, to: text.count, by: 64).map { text[$0..<min($0 + 64, text.count)] }
        return Array(lines.joined(separator: Array(ending.utf8)))
    }

    /// Other data that databases contain in a column called "receipt".
    static func foreignInputCases() throws -> [ForgedCase] {
        try signedForeignInputs() + plainForeignInputs()
    }

    private static func signedForeignInputs() throws -> [ForgedCase] {
        let authority = try TestCertificateAuthority.shared()
        let mailer = try developerDescription.with { $0.extendedKeyUsage = [.emailProtection] }
            .issued(by: authority.intermediate(.g5))
        let mail = "Content-Type: text/plain; charset=utf-8\r\n\r\nThe apples are ripe.\r\n"
        let message = ForgedSignedData(
            content: Array(mail.utf8), chain: [mailer, try authority.intermediate(.g5), authority.root], digest: .sha256
        ).with { $0.signers[0].signedAttributes = ForgedSignedAttributes(signingTime: Sample.g5Date) }
        let usual = Sample.usual()
        let texts = [UInt8](DERWriter.utf8String("a text in place of a set"))
        let detached = try usual.signedData(.g5).with { $0.isDetached = true }
        let data = DERWriter.sequence(
            DERWriter.objectIdentifier(.data), DERWriter.explicit(0, DERWriter.octetString(usual.content)))
        let validated = { (expected: inout ForgedExpectation) in expected.validatedAt = Sample.g5Date }
        return [
            try app(
                "smime-message", "A signed e-mail.", usual, message, .notAReceipt, "contentNotReceipt", openSSL: true,
                expect: validated),
            try app(
                "app-attest-receipt", "A receipt of App Attest: the same container, other attributes, plain values.",
                usual, appAttestReceipt(), .notAReceipt, "contentNotReceipt", openSSL: true, expect: validated),
            try app(
                "content-is-a-text", "Signed by the true leaf, and the content is a text.", usual,
                ForgedSignedData(content: texts, chain: authority.chain(.g5), digest: .sha256), .notAReceipt,
                "contentNotReceipt", openSSL: true, expect: validated),
            try app(
                "content-is-empty", "Signed by the true leaf, and the content is empty.", usual,
                ForgedSignedData(content: [], chain: authority.chain(.g5), digest: .sha256), .notAReceipt,
                "contentNotReceipt", openSSL: true, expect: validated),
            try app(
                "content-detached", "A signature whose content is elsewhere.", usual, detached, .notAReceipt,
                "contentMissing", openSSL: false, expect: validated),
            foreign(
                "pkcs7-data", "A PKCS#7 message of the type data, without a signature.", "notSignedData", base64(data),
                form: .base64),
            foreign(
                "bare-content", "The content of a receipt without any signature around it.", "notSignedData",
                base64(usual.content), form: .base64),
            foreign(
                "certificate", "A certificate in place of a receipt.", "notSignedData", base64(authority.root.der),
                form: .base64),
        ]
    }

    /// Attributes 2, 3, … whose values are plain bytes (unlike those in Reference.md V5.1).
    private static func appAttestReceipt() throws -> ForgedSignedData {
        let authority = try TestCertificateAuthority.shared()
        let signing = try TestCertificateAuthority.leafDescription(.g5).with {
            $0.subject = .commonNameFirst(
                "Test Attestation Fraud Receipt Signing", unit: "Test Attestation",
                organization: TestCertificateAuthority.organization)
            $0.key = .developer
            // Apple uses a different marker of the same family for these leaves.
            $0.markers = [.apple.appending(12, 15)]
        }.issued(by: authority.intermediate(.g5))
        let attributes = [
            ForgedAttribute(2, value: Array("EXAMPLE123.com.example.orchard".utf8)),
            ForgedAttribute(3, value: signing.der),
            ForgedAttribute(4, value: opaqueBytes("client hash", count: 32)),
            ForgedAttribute(5, value: Array("test-token".utf8)),
            ForgedAttribute(6, value: Array("ATTEST".utf8)),
            ForgedAttribute(12, value: Array("2024-03-15T10:20:30.942Z".utf8)),
            ForgedAttribute(21, value: Array("2024-06-13T10:20:30.942Z".utf8)),
        ]
        return ForgedSignedData(
            content: DERWriter.set(inOrderGiven: attributes.map(\.encoded)),
            chain: [signing, try authority.intermediate(.g5), authority.root], digest: .sha256
        ).with { $0.encoding = .ber(segmentLength: 1_000) }
    }

    private static func plainForeignInputs() -> [ForgedCase] {
        let json = #"{"status":0,"receipt":{"bundle_id":"com.example.orchard","in_app":[]}}"# + "\n"
        let header = urlSafe(#"{"alg":"ES256","x5c":[]}"#)
        let payload = urlSafe(#"{"transactionId":"2000000612345678","bundleId":"com.example.orchard"}"#)
        let jws = "\(header).\(payload).\(String(repeating: "A", count: 86))"
        let random = opaqueBytes("random bytes", count: 900)
        return [
            foreign("plain-text", "A sentence.", "unrecognizedInput", Array("This is no receipt.\n".utf8)),
            foreign("json", "A reply of verifyReceipt in place of the receipt.", "unrecognizedInput", Array(json.utf8)),
            foreign("jws", "A signed transaction of StoreKit 2.", "unrecognizedInput", Array(jws.utf8)),
            foreign(
                "html", "An error page, saved as a receipt.", "unrecognizedInput",
                Array("<!DOCTYPE html>\n<html><body><h1>502 Bad Gateway</h1></body></html>\n".utf8)),
            foreign(
                "base64-of-text", "base64 of a word: what verifyReceipt answered with 21002.", "unrecognizedInput",
                base64(Array("foobar".utf8)), form: .base64),
            foreign("random-bytes", "Bytes without a meaning.", "unrecognizedInput", random, form: .der),
            foreign(
                "base64-of-random-bytes", "base64 of bytes without a meaning.", "unrecognizedInput", base64(random),
                form: .base64),
            foreign(
                "null", "The word null, as a database export writes it.", "unrecognizedInput", Array("null\n".utf8)),
            foreign("empty", "Nothing at all.", "empty", []),
            foreign("white-space", "White space only.", "empty", Array(" \r\n\t\n".utf8)),
        ]
    }

    private static func urlSafe(_ text: String) -> String { ForgedSignedPayload.base64URL(Array(text.utf8)) }
}
