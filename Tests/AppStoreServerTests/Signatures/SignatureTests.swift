import AppStoreModels
import AppStoreServer
import Crypto
import Foundation
import Testing

@Suite struct SignatureTests {
    private let key = SigningKey.shared
    private let clock = TestClock().clock

    @Test("Promotional offer V1: seven fields joined by U+2063, DER signature, token and nonce in lower case")
    func promotionalOfferV1() throws {
        let creator = PromotionalOfferSignatureCreator(key: key.inAppPurchaseKey, bundleID: Sample.bundleID)
        let nonce = try #require(UUIDText("20FBA8A0-2B80-4A7D-A17F-85C1854727F8"))
        let offer = try creator.createSignature(
            productId: "com.Example.Product", offerIdentifier: "Offer", appAccountToken: Calls.uuid.uppercased(),
            nonce: nonce, timestamp: 1_698_148_900_000)
        let text =
            "com.example.app\u{2063}L256SYR32L\u{2063}com.Example.Product\u{2063}Offer\u{2063}\(Calls.uuid)\u{2063}"
            + "20fba8a0-2b80-4a7d-a17f-85c1854727f8\u{2063}1698148900000"
        let signature = try P256.Signing.ECDSASignature(
            derRepresentation: try #require(Data(base64Encoded: offer.encodedSignature)))
        #expect(key.publicKey.isValidSignature(signature, for: Data(text.utf8)))
        #expect(
            offer
                == PromotionalOfferSignatureV1(
                    encodedSignature: offer.encodedSignature, productId: "com.Example.Product",
                    nonce: "20fba8a0-2b80-4a7d-a17f-85c1854727f8", timestamp: 1_698_148_900_000, keyId: Sample.keyID,
                    offerIdentifier: "Offer", appAccountToken: Calls.uuid))
    }

    @Test("Promotional offer V1 without a token keeps the empty field and its separators")
    func withoutToken() throws {
        let creator = PromotionalOfferSignatureCreator(key: key.inAppPurchaseKey, bundleID: "b")
        let offer = try creator.createSignature(productId: "p", offerIdentifier: "o", timestamp: 5)
        let text = "b\u{2063}L256SYR32L\u{2063}p\u{2063}o\u{2063}\u{2063}\(offer.nonce)\u{2063}5"
        let signature = try P256.Signing.ECDSASignature(
            derRepresentation: try #require(Data(base64Encoded: offer.encodedSignature)))
        #expect(key.publicKey.isValidSignature(signature, for: Data(text.utf8)))
        #expect(offer.appAccountToken == nil)
        let other = try creator.createSignature(productId: "p", offerIdentifier: "o", timestamp: 5)
        #expect(other.nonce != offer.nonce)
    }

    @Test("A field with the separator is refused, for the signature could stand for another offer")
    func separator() {
        let creator = PromotionalOfferSignatureCreator(key: key.inAppPurchaseKey, bundleID: "b")
        #expect(throws: SignatureCreatorError.separatorInField) {
            try creator.createSignature(productId: "p\u{2063}q", offerIdentifier: "o")
        }
        #expect(throws: SignatureCreatorError.separatorInField) {
            try creator.createSignature(productId: "p", offerIdentifier: "o", appAccountToken: "e\u{2063}\u{301}")
        }
        let error = #expect(throws: SignatureCreatorError.self) {
            try creator.createSignature(productId: "", offerIdentifier: "o")
        }
        #expect(error?.description == "productId is empty.")
    }

    @Test("Errors of a signature are equal if they are of the same kind")
    func equalErrors() {
        let all: [SignatureCreatorError] = [.empty("productId"), .empty("transactionId"), .separatorInField]
        #expect(all[0] == all[1] && all[0] != all[2] && Set(all).count == 2)
    }

    /// The base claims, without `exp`; returns the others.
    private func open(_ jws: String, audience: String, nonce: UUIDText) throws -> [String: any Sendable] {
        var (header, claims) = try key.open(jws)
        #expect(header.keys.sorted() == ["alg", "kid", "typ"])
        #expect(header["alg"] as? String == "ES256" && header["typ"] as? String == "JWT")
        #expect(header["kid"] as? String == Sample.keyID)
        #expect(claims["iss"] as? String == Sample.issuerID)
        #expect(claims["iat"] as? Int == 1_760_000_000)
        #expect(claims["exp"] == nil)
        #expect(claims["aud"] as? String == audience)
        #expect(claims["bid"] as? String == Sample.bundleID)
        #expect(claims["nonce"] as? String == nonce.text)
        for name in ["iss", "iat", "aud", "bid", "nonce"] { claims[name] = nil }
        return claims
    }

    @Test("Promotional offer V2: the claims of Reference.md S6.2; no transactionId if there is none")
    func promotionalOfferV2() throws {
        let creator = PromotionalOfferV2SignatureCreator(
            key: key.inAppPurchaseKey, bundleID: Sample.bundleID, clock: clock)
        let nonce = UUIDText()
        let full = try creator.createSignature(
            productId: "p", offerIdentifier: "o", transactionId: "t", nonce: nonce)
        let claims = try open(full, audience: "promotional-offer", nonce: nonce)
        #expect(claims as? [String: String] == ["productId": "p", "offerIdentifier": "o", "transactionId": "t"])
        let short = try creator.createSignature(productId: "p", offerIdentifier: "o", nonce: nonce)
        #expect(
            try open(short, audience: "promotional-offer", nonce: nonce) as? [String: String]
                == ["productId": "p", "offerIdentifier": "o"])
    }

    @Test("Introductory offer eligibility: the claims of Reference.md S6.3", arguments: [true, false])
    func introductoryOffer(allowed: Bool) throws {
        let creator = IntroductoryOfferEligibilitySignatureCreator(
            key: key.inAppPurchaseKey, bundleID: Sample.bundleID, clock: clock)
        let nonce = UUIDText()
        let jws = try creator.createSignature(
            productId: "p", allowIntroductoryOffer: allowed, transactionId: "t", nonce: nonce)
        let claims = try open(jws, audience: "introductory-offer-eligibility", nonce: nonce)
        #expect(claims.keys.sorted() == ["allowIntroductoryOffer", "productId", "transactionId"])
        #expect(claims["allowIntroductoryOffer"] as? Bool == allowed)
        let error = #expect(throws: SignatureCreatorError.self) {
            try creator.createSignature(productId: "p", allowIntroductoryOffer: true, transactionId: "")
        }
        #expect(error?.description == "transactionId is empty.")
    }

    @Test("Advanced Commerce: the request as standard base64 of JSON, with operation and version")
    func advancedCommerce() throws {
        let creator = AdvancedCommerceSignatureCreator(
            key: key.inAppPurchaseKey, bundleID: Sample.bundleID, clock: clock)
        let nonce = UUIDText()
        func request(_ jws: String) throws -> [String: any Sendable] {
            let claims = try open(jws, audience: "advanced-commerce-api", nonce: nonce)
            #expect(claims.keys.sorted() == ["request"])
            let json = try #require(Data(base64Encoded: claims["request"] as? String ?? "?"))
            return try #require(try JSONSerialization.jsonObject(with: json) as? [String: any Sendable])
        }
        for (jws, operation) in [
            (try creator.createSignature(Requests.oneTimeCharge, nonce: nonce), "CREATE_ONE_TIME_CHARGE"),
            (try creator.createSignature(Requests.create, nonce: nonce), "CREATE_SUBSCRIPTION"),
            (try creator.createSignature(Requests.modify, nonce: nonce), "MODIFY_SUBSCRIPTION"),
            (try creator.createSignature(Requests.reactivate, nonce: nonce), "REACTIVATE_SUBSCRIPTION"),
        ] {
            let object = try request(jws)
            #expect(object["operation"] as? String == operation)
            #expect(object["version"] as? String == "1")
        }
    }

    @Test("The wrapper for StoreKit's older purchase option, and its base64 for retention messages")
    func wrapper() throws {
        let data = AdvancedCommerceSignatureCreator.purchaseOptionData("a.b.c")
        #expect(String(decoding: data, as: UTF8.self) == #"{"signatureInfo":{"token":"a.b.c"}}"#)
        #expect(Data(base64Encoded: AdvancedCommerceSignatureCreator.retentionData("a.b.c")) == Data(data))
    }

    @Test("A nonce is a UUID in lower case")
    func nonce() {
        #expect(UUIDText("nonsense") == nil)
        #expect(UUIDText(Calls.uuid.uppercased())?.text == Calls.uuid)
    }
}
