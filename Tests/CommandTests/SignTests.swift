import Foundation
import TestSupport
import Testing

@Suite("sign", .timeLimit(.minutes(10)))
struct SignTests {
    private static let issuer = "57246542-96fe-1a63-e053-0824d011072a"
    private static let nonce = "20fba8a0-2b80-4a7d-a17f-85c1854727f8"

    /// A folder with a key that OpenSSL made, as App Store Connect gives it, and its public half.
    private func folder() async throws -> Folder {
        let folder = try Folder()
        let made = try await Command.shell(
            """
            openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.p8 &&
            openssl pkey -in key.p8 -pubout -out public.pem
            """, in: folder)
        try #require(made.status == 0, "\(made.error)")
        return folder
    }

    private func sign(_ kind: String, _ arguments: [String], in folder: Folder) async throws -> Outcome {
        var all = ["sign", kind, "--private-key", "key.p8", "--key-id", "L256SYR32L", "--bundle-id", "com.example.app"]
        if kind != "promotional-offer-v1" { all += ["--issuer-id", Self.issuer] }
        return try await Command.run(all + arguments, in: folder)
    }

    private func claims(_ outcome: Outcome) throws -> [String: Any] {
        let jws = try #require(try outcome.object()["compactJWS"] as? String)
        let part = try #require(jws.split(separator: ".").dropFirst().first)
        let text = part.replacing("-", with: "+").replacing("_", with: "/")
        let data = try #require(Data(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4)))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    @Test("promotional-offer: the claims that were asked for")
    func promotionalOffer() async throws {
        let folder = try await folder()
        let outcome = try await sign(
            "promotional-offer",
            [
                "--product-id", "p", "--offer-id", "o", "--transaction-id", "5", "--nonce", Self.nonce.uppercased(),
                "--timestamp", "1698148900123",
            ], in: folder)
        #expect(outcome.status == 0 && outcome.error.isEmpty)
        let claims = try claims(outcome)
        let expected: NSDictionary = [
            "iss": Self.issuer, "iat": 1_698_148_900, "aud": "promotional-offer", "bid": "com.example.app",
            "nonce": Self.nonce, "productId": "p", "offerIdentifier": "o", "transactionId": "5",
        ]
        #expect(claims as NSDictionary == expected)
    }

    @Test("introductory-eligibility: --allow and --no-allow are different claims, and one has to be given")
    func introductory() async throws {
        let folder = try await folder()
        for (flag, value) in [("--allow", true), ("--no-allow", false)] {
            let outcome = try await sign(
                "introductory-eligibility", ["--product-id", "p", "--transaction-id", "5", flag], in: folder)
            #expect(try claims(outcome)["allowIntroductoryOffer"] as? Bool == value)
        }
        let neither = try await sign(
            "introductory-eligibility", ["--product-id", "p", "--transaction-id", "5"], in: folder)
        #expect(neither.status == 2)
        #expect(neither.output.isEmpty)
    }

    @Test("promotional-offer-v1: OpenSSL verifies the signature of the seven fields")
    func promotionalOfferV1() async throws {
        let folder = try await folder()
        let outcome = try await sign(
            "promotional-offer-v1",
            [
                "--product-id", "com.example.Größe", "--offer-id", "Offer", "--app-account-token",
                "0B1F3D5E-0000-4000-8000-00000000000A", "--nonce", Self.nonce, "--timestamp", "1698148900123",
            ], in: folder)
        let offer = try outcome.object()
        #expect(
            Set(offer.keys) == [
                "encodedSignature", "productId", "offerIdentifier", "keyId", "nonce", "timestamp", "appAccountToken",
            ])
        let fields = [
            "com.example.app", "L256SYR32L", "com.example.Größe", "Offer", "0b1f3d5e-0000-4000-8000-00000000000a",
            Self.nonce, "1698148900123",
        ]
        try folder.write("text", fields.joined(separator: "\u{2063}").utf8)
        let signature = try #require(Data(base64Encoded: offer["encodedSignature"] as? String ?? "?"))
        try folder.write("signature", signature)
        let verify = "openssl dgst -sha256 -verify public.pem -signature signature"
        let good = try await Command.shell("\(verify) text", in: folder)
        #expect(good.status == 0 && good.output == "Verified OK\n")
        let bad = try await Command.shell("printf x >>text; \(verify) text", in: folder)
        #expect(bad.status != 0)
    }

    static let request = """
        {"operation": "CREATE_ONE_TIME_CHARGE", "version": "1", "currency": "USD", "taxCode": "C003-00-2",
         "item": {"SKU": "sku", "description": "d", "displayName": "n", "price": 1990},
         "requestInfo": {"requestReferenceId": "20fba8a0-2b80-4a7d-a17f-85c1854727f8"}}
        """

    @Test("advanced-commerce: the request as base64 of its JSON; what is none of the four is refused by name")
    func advancedCommerce() async throws {
        let folder = try await folder()
        try folder.write("request.json", Self.request.utf8)
        let outcome = try await sign("advanced-commerce", ["--request", "request.json"], in: folder)
        let text = try #require(try claims(outcome)["request"] as? String)
        let data = try #require(Data(base64Encoded: text))
        let signed = try #require(try JSONSerialization.jsonObject(with: data) as? NSDictionary)
        let given = try #require(try JSONSerialization.jsonObject(with: Data(Self.request.utf8)) as? NSDictionary)
        #expect(signed == given)
        for (json, message) in [
            ("{", "it is not JSON"), ("{}", "operation is missing"),
            (#"{"operation":"CANCEL"}"#, "the operation CANCEL"),
            (#"{"operation":"CREATE_ONE_TIME_CHARGE","version":"2"}"#, "version has an unexpected value"),
            (#"{"operation":"CREATE_ONE_TIME_CHARGE","version":"1"}"#, "is missing"),
        ] {
            try folder.write("bad.json", json.utf8)
            let refused = try await sign("advanced-commerce", ["--request", "bad.json"], in: folder)
            #expect(refused.status == 2 && refused.output.isEmpty)
            #expect(refused.error.contains(message), "\(refused.error)")
        }
    }

    @Test("A key that cannot be used is refused, and never quoted")
    func badKeys() async throws {
        let folder = try await folder()
        let other = try await Command.shell("openssl genpkey -algorithm ED25519 -out other.p8", in: folder)
        try #require(other.status == 0)
        try folder.write("hush.p8", "hush-hush".utf8)
        for (file, message) in [
            ("hush.p8", "not a PEM text"), ("other.p8", "curve P-256"), ("missing.p8", "Cannot read"),
        ] {
            let outcome = try await Command.run(
                "sign", "promotional-offer-v1", "--private-key", file, "--key-id", "K", "--bundle-id", "b",
                "--product-id", "p", "--offer-id", "o", in: folder)
            #expect(outcome.status == 2 && outcome.output.isEmpty)
            #expect(outcome.error.contains(message), "\(outcome.error)")
            #expect(!outcome.error.contains("hush-hush"))
        }
    }

    @Test("Members that cannot be signed are rejected by name")
    func badFields() async throws {
        let folder = try await folder()
        for (arguments, message) in [
            (["--product-id", "", "--offer-id", "o"], "productId is empty"),
            (["--product-id", "a\u{2063}b", "--offer-id", "o"], "U+2063"),
            (["--product-id", "p", "--offer-id", "o", "--nonce", "1"], "--nonce takes a UUID"),
            (["--product-id", "p", "--offer-id", "o", "--timestamp", "-1"], "--timestamp"),
        ] {
            let outcome = try await sign("promotional-offer-v1", arguments, in: folder)
            #expect(outcome.status == 2 && outcome.output.isEmpty)
            #expect(outcome.error.contains(message), "\(outcome.error)")
        }
    }

    private static let python = ProcessInfo.processInfo.environment["LEGACY_RECEIPTS_PYTHON"]

    @Test(
        "Python's cryptography verifies what the command signs, and Apple's library signs the same claims",
        .enabled(if: python != nil, "LEGACY_RECEIPTS_PYTHON is not set"))
    func pythonAgrees() async throws {
        let folder = try await folder()
        var lines = ""
        func add(_ kind: String, _ members: [String: Any]) throws {
            let identity: [String: Any] = [
                "kind": kind, "privateKey": try folder.text("key.p8"), "keyId": "L256SYR32L",
                "issuerId": Self.issuer, "bundleId": "com.example.app",
            ]
            let line = try JSONSerialization.data(withJSONObject: identity.merging(members) { $1 })
            lines += String(decoding: line, as: UTF8.self) + "\n"
        }
        func jws(_ kind: String, _ arguments: [String]) async throws -> String {
            try #require(try await sign(kind, arguments, in: folder).object()["compactJWS"] as? String)
        }
        let offer = ["productId": "p", "offerIdentifier": "o", "transactionId": "5"]
        let v2 = try await jws(
            "promotional-offer", ["--product-id", "p", "--offer-id", "o", "--transaction-id", "5"])
        try add("promotionalOfferV2", offer.merging(["jws": v2]) { $1 })
        let introductory = try await jws(
            "introductory-eligibility", ["--product-id", "p", "--transaction-id", "5", "--no-allow"])
        try add(
            "introductoryOffer",
            ["jws": introductory, "productId": "p", "allowIntroductoryOffer": false, "transactionId": "5"])
        let v1 = try await sign("promotional-offer-v1", ["--product-id", "p", "--offer-id", "o"], in: folder)
        try add("promotionalOfferV1", ["signature": try v1.object()])
        try folder.write("request.json", Self.request.utf8)
        let request = try #require(try JSONSerialization.jsonObject(with: Data(Self.request.utf8)) as? [String: Any])
        let commerce = try await jws("advanced-commerce", ["--request", "request.json"])
        try add(
            "advancedCommerce",
            ["jws": commerce, "model": "AdvancedCommerceOneTimeChargeCreateRequest", "request": request])
        try folder.write("lines", lines.utf8)
        let script = PackageFolder.path("tools/judges/signatures/verify_signatures.py")
        let outcome = try await Command.shell("\"$LEGACY_RECEIPTS_PYTHON\" '\(script)' <lines", in: folder)
        #expect(outcome.status == 0 && outcome.output.contains("agree: 4; disagree: 0"), "\(outcome)")
    }
}
