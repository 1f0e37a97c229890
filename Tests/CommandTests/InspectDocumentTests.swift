import Foundation
import ReceiptForge
import Testing

@Suite("inspect: JWS, notifications and recorded replies", .timeLimit(.minutes(10)))
struct InspectDocumentTests {
    private static let authority = TestSignedDataAuthority.standard
    /// 2025-06-01T00:00:00Z, while the certificates of the test authority are valid.
    private static let date = 1_748_736_000_000
    private static let app = "com.example.orchard"

    private static func transaction(_ change: (String, String) = ("", "")) -> String {
        let json = """
            {"transactionId":"20","originalTransactionId":"10","bundleId":"\(app)","productId":"apple","purchaseDate":1748735995000,\
            "type":"Consumable","quantity":1,"signedDate":\(date),"environment":"Sandbox"}
            """
        return change.0.isEmpty ? json : json.replacing(change.0, with: change.1)
    }

    private static let renewalInfo = """
        {"originalTransactionId":"10","autoRenewProductId":"apple","productId":"apple","autoRenewStatus":1,"signedDate":\(date),\
        "environment":"Sandbox"}
        """
    private static let appTransaction = """
        {"receiptType":"Sandbox","bundleId":"\(app)","applicationVersion":"2","originalApplicationVersion":"1",\
        "receiptCreationDate":\(date),"originalPurchaseDate":1748735995000}
        """

    private static func notification(_ transaction: String, _ renewal: String) -> String {
        """
        {"notificationType":"DID_RENEW","notificationUUID":"3b0a","version":"2.0","signedDate":\(date),\
        "data":{"bundleId":"\(app)","environment":"Sandbox","signedTransactionInfo":"\(transaction)","signedRenewalInfo":"\(renewal)"}}
        """
    }

    private static func sign(_ json: String, _ authority: TestSignedDataAuthority = authority) throws -> String {
        try authority.sign(payload: Array(json.utf8))
    }

    private func inspect(_ text: String, _ options: String..., trusting: Bool = true) async throws -> Outcome {
        let folder = try Folder.withRoot()
        try folder.write("jws.der", Self.authority.rootCertificate)
        try folder.write("input", Array(text.utf8))
        let trust = trusting ? ["--trust-root", "jws.der", "--trust-root", "root.der"] : []
        return try await Command.run(["inspect", "input"] + trust + options, in: folder)
    }

    private func outcomes(_ object: [String: Any]) throws -> [String: String] {
        let checks = try #require(object["checks"] as? [[String: Any]])
        return Dictionary(
            uniqueKeysWithValues: checks.map { ($0["check"] as? String ?? "", $0["outcome"] as? String ?? "") })
    }

    @Test("A genuine JWS of each kind: 0, its members, certificates, and every check")
    func genuine() async throws {
        let kinds = [
            ("Signed transaction", Self.transaction()), ("Signed renewal info", Self.renewalInfo),
            ("Signed app transaction", Self.appTransaction),
        ]
        for (name, json) in kinds {
            let outcome = try await inspect(try Self.sign(json) + "\n")
            #expect(outcome.status == 0 && outcome.error.isEmpty, "\(outcome.output)")
            #expect(
                outcome.output.hasPrefix(
                    "Genuine: signed under a root that YOU added, not Apple's; SHA-256 with ECDSA; certificates checked for "
                        + "2025-06-01T00:00:00Z\n\n\(name), JWS, "))
            for check in [
                "header", "certificates", "chain", "trustedRoot", "leafCertificate", "intermediateCertificate",
                "signature", "payload", "environment", "dates",
            ] { #expect(outcome.output.contains("\n  passed   \(check)\n"), "\(check) of \(name)") }
            #expect(outcome.output.contains("\n  skipped  bundleId "))
            #expect(outcome.output.split(separator: "\n").count { $0.hasPrefix("     SHA-256    ") } == 3)
        }
    }

    @Test("--json has the payload as it is, and the checks by name")
    func json() async throws {
        let id = Self.transaction((#""20""#, #""9007199254740993""#))
        let outcome = try await inspect(try Self.sign(id), "--json", "--bundle-id", Self.app)
        #expect(outcome.status == 0)
        let object = try outcome.object()
        #expect(object["verdict"] as? String == "genuine" && object["kind"] as? String == "transaction")
        #expect(object["form"] as? String == "jws" && object["anchor"] as? String == "additionalRoot")
        let payload = try #require(object["payload"] as? [String: Any])
        #expect(payload["transactionId"] as? String == "9007199254740993")
        #expect(try outcomes(object)["bundleId"] == "passed")
        #expect((object["certificates"] as? [Any])?.count == 3)
    }

    @Test("A JWS that is not genuine: 1, and the check that failed; the others are still made")
    func notGenuine() async throws {
        let genuine = try Self.sign(Self.transaction())
        let parts = genuine.split(separator: ".").map(String.init)
        let changed = ForgedSignedPayload.base64URL(Array(Self.transaction((#""apple""#, #""pear""#)).utf8))
        let late = Self.transaction(("\(Self.date)", "4102444800000"))
        let cases = [
            ("signatureMismatch", "signature", "\(parts[0]).\(changed).\(parts[2])"),
            ("untrustedRoot", "trustedRoot", try Self.sign(Self.transaction(), TestSignedDataAuthority.foreign())),
            (
                "certificateSignatureMismatch", "trustedRoot",
                try Self.sign(Self.transaction(), TestSignedDataAuthority.foreign(impostor: true))
            ),
            ("certificateExpired", "dates", try Self.sign(late)),
            (
                "unsupportedAlgorithm", "header",
                try Self.authority.signedPayload(Array(Self.transaction().utf8)).with { $0.algorithm = "ES384" }.text()
            ),
            (
                "xcodeNotAccepted", "environment",
                try TestSignedDataAuthority.xcodeSignedPayload(Array(Self.transaction(("Sandbox", "Xcode")).utf8))
                    .text()
            ),
        ]
        for (code, check, jws) in cases {
            let text = try await inspect(jws)
            #expect(text.status == 1 && text.output.hasPrefix("Not genuine (\(code)): "), "\(text.output)")
            let object = try await inspect(jws, "--json").object()
            #expect(object["verdict"] as? String == "notGenuine" && object["code"] as? String == code)
            let outcomes = try outcomes(object)
            #expect(outcomes[check] == "failed", "\(code): \(outcomes)")
            #expect(outcomes["payload"] == "passed", "\(code)")
        }
        let mismatch = try await inspect(genuine, "--bundle-id", "com.example.other")
        #expect(mismatch.status == 1 && mismatch.output.hasPrefix("Not genuine (bundleIdMismatch): "))
        #expect(mismatch.output.contains("\n  FAILED   bundleId "))
        #expect(try await inspect(genuine, trusting: false).output.hasPrefix("Not genuine (untrustedRoot)"))
    }

    @Test("Certificates that have expired since the signature are no reason to reject a JWS")
    func signedDate() async throws {
        let old = Self.transaction(("\(Self.date)", "1700000000000"))
        let outcome = try await inspect(try Self.sign(old))
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("2023-11-14T22:13:20Z"))
    }

    @Test("A notification is inspected with every JWS in it, raw or as JSON; a forged one in it is named")
    func notifications() async throws {
        let (transaction, renewal) = (try Self.sign(Self.transaction()), try Self.sign(Self.renewalInfo))
        let whole = try Self.sign(Self.notification(transaction, renewal))
        for text in [whole, "{\"signedPayload\":\"\(whole)\"}", " \"\(whole)\" "] {
            let outcome = try await inspect(text, "--json")
            #expect(outcome.status == 0, "\(outcome.output)")
            let object = try outcome.object()
            #expect(object["kind"] as? String == "notification")
            let nested = try #require(object["nested"] as? [[String: Any]])
            #expect(nested.map { $0["kind"] as? String } == ["transaction", "renewalInfo"])
            #expect(nested.map { $0["path"] as? String } == ["data.signedTransactionInfo", "data.signedRenewalInfo"])
            #expect(try outcomes(object)["nestedData"] == "passed")
            #expect(try outcomes(nested[0])["bundleId"] == "passed")
        }
        let other = try Self.sign(Self.transaction((Self.app, "com.example.other")))
        let forged = try Self.sign(Self.renewalInfo, TestSignedDataAuthority.foreign())
        for (inner, code, member) in [
            ((other, renewal), "bundleIdMismatch", "data.signedTransactionInfo"),
            ((transaction, forged), "untrustedRoot", "data.signedRenewalInfo"),
        ] {
            let outcome = try await inspect(try Self.sign(Self.notification(inner.0, inner.1)), "--json")
            let object = try outcome.object()
            #expect(outcome.status == 1 && object["code"] as? String == code)
            #expect(object["member"] as? String == member)
            let outcomes = try outcomes(object)
            #expect(outcomes["nestedData"] == "failed" && outcomes["signature"] == "passed")
        }
        let text = try await inspect(whole)
        #expect(text.output.contains("\ndata.signedRenewalInfo\n  Genuine: "))
    }

    @Test("A recorded reply has no signature: 1; the receipts in it are inspected, and its app is compared with theirs")
    func replies() async throws {
        let receipt = Forged.base64(try #require(Forged.named("production-sha256").container))
        func reply(_ app: String, _ receipt: String) -> String {
            """
            {"status":0,"environment":"Production","receipt":{"bundle_id":"\(app)","in_app":[]},"latest_receipt_info":[\
            {"product_id":"apple","transaction_id":"20","original_transaction_id":"10","purchase_date_ms":"1600000000000"}],\
            "latest_receipt":"\(receipt)"}
            """
        }
        let outcome = try await inspect(reply(Self.app, receipt), "--json")
        #expect(outcome.status == 1, "\(outcome.error)")
        let object = try outcome.object()
        #expect(object["verdict"] as? String == "notSigned" && object["kind"] as? String == "verifyReceiptReply")
        let outcomes = try outcomes(object)
        #expect(
            outcomes == [
                "content": "passed", "signature": "failed", "embeddedReceipt": "passed", "bundleId": "passed",
            ])
        let receipts = try #require(object["receipts"] as? [[String: Any]])
        #expect(receipts.map { $0["path"] as? String } == ["latest_receipt"])
        #expect(receipts.map { $0["verdict"] as? String } == ["genuine"])
        let other = try await inspect(reply("com.example.other", receipt))
        #expect(other.output.hasPrefix("Not signed: "))
        #expect(other.output.contains("\n  FAILED   bundleId "))
        let masked = try await inspect(reply(Self.app, "MII..."))
        #expect(masked.status == 1 && masked.output.contains("\n  FAILED   embeddedReceipt "))
    }

    @Test("A receipt in a verifyReceipt request is inspected like the receipt, and several documents one by one")
    func requests() async throws {
        let receipt = Forged.base64(try #require(Forged.named("production-sha256").container))
        let request = try await inspect("{\"receipt-data\":\"\(receipt)\",\"password\":\"secret\"}")
        #expect(request.status == 0)
        #expect(request.output.contains("  2    bundle_id                     com.example.orchard\n"))
        #expect(!request.output.contains("secret"))
        let jws = try Self.sign(Self.transaction())
        let several = try await inspect("[{\"receipt\":\"\(receipt)\"},{\"jws\":\"\(jws)\"}]", "--json")
        let documents = try #require(try several.object()["documents"] as? [[String: Any]])
        #expect(several.status == 0 && documents.map { $0["verdict"] as? String } == ["genuine", "genuine"])
    }

    @Test("StoreKit 2 JSON without its signature, and version 1 notifications, are not signed")
    func recorded() async throws {
        let transaction = try await inspect(Self.transaction(), "--json")
        #expect(transaction.status == 1)
        #expect(try transaction.object()["kind"] as? String == "storeKit2JSON")
        let text = try await inspect(Self.transaction())
        #expect(text.output.contains("\n  signedDate                      \(Self.date) (2025-06-01T00:00:00Z)\n"))
    }

    @Test("A JWS that is not from the App Store: 3; values cannot control the terminal")
    func others() async throws {
        let token = try Self.sign(#"{"sub":"me"}"#)
        let outcome = try await inspect(token)
        #expect(outcome.status == 3 && outcome.output.hasPrefix("Not a JWS of the App Store (malformedPayload): "))
        let cut = try await inspect(String(token.split(separator: ".").prefix(2).joined(separator: ".")))
        #expect(cut.status == 3 && cut.error.contains("a JWS that was cut"))
        let nothing = try await inspect("{\"hello\":1}")
        #expect(nothing.status == 3 && nothing.error.contains("contains no document of the App Store"))
        for json in [#"{"orders":[{"id":1}]}"#, #"{"a":{"b":"c"}}"#, #"[{"a":1}]"#, "{}"] {
            let other = try await inspect(json, "--json")
            let object = try other.object()
            #expect(other.status == 3 && object["code"] as? String == "unrecognizedInput", "\(json) \(other)")
            #expect(
                (object["message"] as? String)?.contains("the JSON contains") == true && object["form"] == nil,
                "\(json)")
        }
        // The JSON form of a transaction receipt, without its other keys.
        let receipt = try await inspect(#"{"purchase-info":"e30="}"#, "--json")
        #expect(try receipt.object()["code"] as? String == "missingKey", "\(receipt)")
        let hostile = try await inspect(try Self.sign(Self.transaction((#""apple""#, #""\u001b[31m\u202e""#))))
        #expect(hostile.status == 0 && hostile.output.contains(#"\u{1b}[31m\u{202e}"#))
    }

    @Test("An option that checks nothing in the document is an error")
    func options() async throws {
        let jws = try Self.sign(Self.renewalInfo)
        let bundle = try await inspect(jws, "--bundle-id", Self.app)
        #expect(bundle.status == 2 && bundle.error.contains("a renewal info has none"))
        #expect(try await inspect(jws, "--device", "6c:40:08:b5:94:5e").status == 2)
        let receipt = Forged.base64(try #require(Forged.named("production-sha256").container))
        #expect(try await inspect(receipt, "--bundle-id", Self.app).status == 2)
    }
}
