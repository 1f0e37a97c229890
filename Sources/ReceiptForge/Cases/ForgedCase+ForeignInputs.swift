import Foundation

extension ForgedCase {
    /// What else turns up in a column called "receipt".
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
                usual,
                appAttestReceipt(), .notAReceipt, "contentNotReceipt", openSSL: true, expect: validated),
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
                "pkcs7-data", "A PKCS#7 message of the type data: nobody signed it.", "notSignedData", base64(data),
                form: .base64),
            foreign(
                "bare-content", "The content of a receipt without any signature around it.", "notSignedData",
                base64(usual.content), form: .base64),
            foreign(
                "certificate", "A certificate in place of a receipt.", "notSignedData", base64(authority.root.der),
                form: .base64),
        ]
    }

    /// Attributes 2, 3, … whose values are plain bytes (Reference.md V5.1 is not about them).
    private static func appAttestReceipt() throws -> ForgedSignedData {
        let authority = try TestCertificateAuthority.shared()
        let signing = try TestCertificateAuthority.leafDescription(.g5).with {
            $0.subject = .commonNameFirst(
                "Test Attestation Fraud Receipt Signing", unit: "Test Attestation",
                organization: TestCertificateAuthority.organization)
            $0.key = .developer
            // Apple's marker for these leaves is another one in the same family.
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
                "html", "A page of an error, saved as a receipt.", "unrecognizedInput",
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

    private static func urlSafe(_ text: String) -> String {
        Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
            "=", with: "")
    }
}
