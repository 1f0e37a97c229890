import AppStoreModels
import AppStoreServer
import Foundation
import TestTraits
import Testing

/// Python's cryptography, and what Apple's library signs for the same input, check our signatures.
@Suite(.computing, .enabled(if: PythonCheck.python != nil, "LEGACY_RECEIPTS_PYTHON is not set"))
struct SignatureCheckTests {
    private let key = SigningKey.shared

    private func line(_ kind: String, _ members: [String: any Sendable]) -> [String: any Sendable] {
        let identity: [String: any Sendable] = [
            "kind": kind, "privateKey": key.privatePEM, "keyId": Sample.keyID, "issuerId": Sample.issuerID,
            "bundleId": Sample.bundleID,
        ]
        return identity.merging(members) { $1 }
    }

    private func lines() throws -> [[String: any Sendable]] {
        let key = key.inAppPurchaseKey
        let token = try BearerTokenSource(key: key, bundleID: Sample.bundleID).token()
        let v1 = PromotionalOfferSignatureCreator(key: key, bundleID: Sample.bundleID)
        let v2 = PromotionalOfferV2SignatureCreator(key: key, bundleID: Sample.bundleID)
        let introductory = IntroductoryOfferEligibilitySignatureCreator(key: key, bundleID: Sample.bundleID)
        var lines = [line("token", ["jws": token])]
        for account in [nil, Calls.uuid.uppercased()] {
            let offer = try v1.createSignature(
                productId: "com.example.Größe", offerIdentifier: "Offer", appAccountToken: account)
            lines.append(line("promotionalOfferV1", ["signature": try PythonCheck.json(offer)]))
        }
        for transaction in [nil, Calls.transactionId] {
            let jws = try v2.createSignature(
                productId: "com.example.\"1\"", offerIdentifier: "offer/é", transactionId: transaction)
            var members: [String: any Sendable] = [
                "jws": jws, "productId": "com.example.\"1\"", "offerIdentifier": "offer/é",
            ]
            members["transactionId"] = transaction
            lines.append(line("promotionalOfferV2", members))
        }
        for allowed in [true, false] {
            let jws = try introductory.createSignature(
                productId: "p", allowIntroductoryOffer: allowed, transactionId: "t")
            lines.append(
                line(
                    "introductoryOffer",
                    ["jws": jws, "productId": "p", "allowIntroductoryOffer": allowed, "transactionId": "t"]))
        }
        lines.append(try advancedCommerce(Requests.oneTimeCharge))
        lines.append(try advancedCommerce(Requests.create))
        lines.append(try advancedCommerce(Requests.modify))
        lines.append(try advancedCommerce(Requests.reactivate))
        return lines
    }

    private func advancedCommerce<Request: AdvancedCommerceInAppRequest>(
        _ request: Request
    ) throws -> [String: any Sendable] {
        let creator = AdvancedCommerceSignatureCreator(key: key.inAppPurchaseKey, bundleID: Sample.bundleID)
        return line(
            "advancedCommerce",
            [
                "jws": try creator.createSignature(request), "model": "\(Request.self)",
                "request": try PythonCheck.json(request),
            ])
    }

    @Test("Python's cryptography verifies our tokens and signatures, and Apple's library signs the same claims")
    func agreement() throws {
        let lines = try lines()
        let (status, output) = try PythonCheck.run("signatures/verify_signatures.py", lines)
        #expect(status == 0 && output.contains("agree: \(lines.count); disagree: 0"), "\(output)")
    }

    @Test("The check rejects a signature of another text or key")
    func refusal() throws {
        var forged: [[String: any Sendable]] = []
        for (name, value) in [
            ("bundleId", "com.example.other"), ("keyId", "OTHER"), ("issuerId", "other"),
            ("privateKey", try SigningKey().privatePEM),
        ] {
            for var line in try lines() {
                // The older form of an offer does not name the issuer.
                if name == "issuerId", line["kind"] as? String == "promotionalOfferV1" { continue }
                line[name] = value
                forged.append(line)
            }
        }
        let (status, output) = try PythonCheck.run("signatures/verify_signatures.py", forged)
        #expect(status == 1 && output.contains("agree: 0; disagree: \(forged.count)"), "\(output)")
    }

    @Test("Without payloads there is no agreement")
    func nothing() throws {
        #expect(try PythonCheck.run("signatures/verify_signatures.py").status == 2)
        #expect(try PythonCheck.run("api_requests/compare_models.py").status == 2)
    }
}
