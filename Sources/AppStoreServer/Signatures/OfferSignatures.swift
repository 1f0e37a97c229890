public import AppStoreModels
internal import Crypto
internal import Encodings
internal import Foundation

/// Signs promotional offers in the older form (Reference.md S6.1), for the original StoreKit API, for StoreKit 2's
/// `promotionalOffer(offerID:keyID:nonce:signature:timestamp:)` and for retention messages.
///
/// Only customers who have or had a subscription can redeem a promotional offer.
public struct PromotionalOfferSignatureCreator: Sendable {
    private let key: InAppPurchaseKey
    private let bundleID: String

    /// A creator for one app.
    public init(key: InAppPurchaseKey, bundleID: String) {
        self.key = key
        self.bundleID = bundleID
    }

    /// Signs an offer.
    /// - Parameters:
    ///   - productId: the subscription.
    ///   - offerIdentifier: the offer, as named in App Store Connect.
    ///   - appAccountToken: the app account token that the app will pass (in the original API, the application
    ///     username); nil for none. It is lowercased here, and the app must pass it in lowercase.
    ///   - nonce: a UUID, new for each signature.
    ///   - timestamp: when the offer is signed, in milliseconds since 1970; the offer can be used for 24 hours.
    /// - Returns: the signature with everything that the app must pass to StoreKit unchanged.
    /// - Throws: ``SignatureCreatorError``.
    public func createSignature(
        productId: String, offerIdentifier: String, appAccountToken: String? = nil, nonce: UUIDText = UUIDText(),
        timestamp: Int64 = ServerClock.system.now()
    ) throws -> PromotionalOfferSignatureV1 {
        let token = appAccountToken.map { $0.lowercased() }
        let fields = [bundleID, key.keyID, productId, offerIdentifier, token ?? "", nonce.text, String(timestamp)]
        // With a separator in a field, one signature would be valid for two offers.
        guard !fields.contains(where: { $0.unicodeScalars.contains(Self.separator) }) else {
            throw SignatureCreatorError.separatorInField
        }
        guard !productId.isEmpty else { throw SignatureCreatorError.empty("productId") }
        guard !offerIdentifier.isEmpty else { throw SignatureCreatorError.empty("offerIdentifier") }
        let text = fields.joined(separator: String(Character(Self.separator)))
        let signature = try key.privateKey.signature(for: Array(text.utf8)).derRepresentation
        return PromotionalOfferSignatureV1(
            encodedSignature: Base64.encode(signature), productId: productId, nonce: nonce.text,
            timestamp: timestamp, keyId: key.keyID, offerIdentifier: offerIdentifier, appAccountToken: token)
    }

    /// INVISIBLE SEPARATOR.
    private static let separator: Unicode.Scalar = "\u{2063}"
}

/// Signs promotional offers as JWS (Reference.md S6.2).
public struct PromotionalOfferV2SignatureCreator: Sendable {
    private let signer: RequestSigner

    /// A creator for one app.
    public init(key: InAppPurchaseKey, bundleID: String, clock: ServerClock = .system) {
        signer = RequestSigner(audience: "promotional-offer", key: key, bundleID: bundleID, clock: clock)
    }

    /// Signs an offer.
    /// - Parameters:
    ///   - productId: the subscription.
    ///   - offerIdentifier: the offer, as named in App Store Connect.
    ///   - transactionId: any transaction of the customer, or the appTransactionId. Apple recommends it.
    ///   - nonce: a UUID, new for each signature.
    /// - Returns: the signature, a JWS in compact form.
    /// - Throws: ``SignatureCreatorError``.
    public func createSignature(
        productId: String, offerIdentifier: String, transactionId: String? = nil, nonce: UUIDText = UUIDText()
    ) throws -> String {
        guard !productId.isEmpty else { throw SignatureCreatorError.empty("productId") }
        guard !offerIdentifier.isEmpty else { throw SignatureCreatorError.empty("offerIdentifier") }
        return try signer.sign(nonce) { claims in
            claims.member("productId", productId)
            claims.member("offerIdentifier", offerIdentifier)
            claims.member("transactionId", transactionId)
        }
    }
}

/// Signs a decision whether a customer may use an introductory offer (Reference.md S6.3).
public struct IntroductoryOfferEligibilitySignatureCreator: Sendable {
    private let signer: RequestSigner

    /// A creator for one app.
    public init(key: InAppPurchaseKey, bundleID: String, clock: ServerClock = .system) {
        signer = RequestSigner(audience: "introductory-offer-eligibility", key: key, bundleID: bundleID, clock: clock)
    }

    /// Signs the decision.
    /// - Parameters:
    ///   - productId: the subscription.
    ///   - allowIntroductoryOffer: whether the customer may use the offer.
    ///   - transactionId: any transaction of the customer, or the appTransactionId.
    ///   - nonce: a UUID, new for each signature.
    /// - Returns: the signature, a JWS in compact form.
    /// - Throws: ``SignatureCreatorError``.
    public func createSignature(
        productId: String, allowIntroductoryOffer: Bool, transactionId: String, nonce: UUIDText = UUIDText()
    ) throws -> String {
        guard !productId.isEmpty else { throw SignatureCreatorError.empty("productId") }
        guard !transactionId.isEmpty else { throw SignatureCreatorError.empty("transactionId") }
        return try signer.sign(nonce) { claims in
            claims.member("productId", productId)
            claims.member("allowIntroductoryOffer", allowIntroductoryOffer)
            claims.member("transactionId", transactionId)
        }
    }
}

/// Signs Advanced Commerce requests that an app passes to StoreKit (Reference.md S6.4).
public struct AdvancedCommerceSignatureCreator: Sendable {
    private let signer: RequestSigner

    /// A creator for one app.
    public init(key: InAppPurchaseKey, bundleID: String, clock: ServerClock = .system) {
        signer = RequestSigner(audience: "advanced-commerce-api", key: key, bundleID: bundleID, clock: clock)
    }

    /// Signs a request.
    /// - Parameters:
    ///   - request: a request to create, modify or reactivate a subscription, or for a one-time charge.
    ///   - nonce: a UUID, new for each signature.
    /// - Returns: the signed request, a JWS in compact form.
    /// - Throws: `EncodingError` if the request cannot be written as JSON.
    public func createSignature(
        _ request: some AdvancedCommerceInAppRequest, nonce: UUIDText = UUIDText()
    ) throws -> String {
        let json = try DeterministicJSON.encode(request)
        return try signer.sign(nonce) { claims in
            claims.member("request", Base64.encode(json))
        }
    }

    /// The JSON that StoreKit's older purchase option takes: the signed request in a wrapper. Only third parties document the
    /// wrapper's spelling (Reference.md S6.4); `AdvancedCommerceProduct.purchase(compactJWS:)` takes the JWS itself.
    public static func purchaseOptionData(_ signedRequest: String) -> [UInt8] {
        JSONWriter.object { $0.object("signatureInfo") { $0.member("token", signedRequest) } }
    }

    /// The `advancedCommerceData` of a retention message: the wrapper as standard base64.
    public static func retentionData(_ signedRequest: String) -> String {
        Base64.encode(purchaseOptionData(signedRequest))
    }
}
