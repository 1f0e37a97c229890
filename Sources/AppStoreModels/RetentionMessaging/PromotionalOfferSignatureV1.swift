/// The signature of a promotional offer in its older form, with all values that the app must pass to StoreKit unchanged
/// (Retention Messaging API, promotionalOfferSignatureV1).
public struct PromotionalOfferSignatureV1: Codable, Hashable, Sendable {
    /// Standard base64 of the DER signature. StoreKit 2 takes the decoded bytes, the original StoreKit this text.
    public var encodedSignature: String

    /// The subscription.
    public var productId: String

    /// A UUID text in lower case, new for each signature.
    public var nonce: String

    /// When the offer was signed; it can be used for 24 hours. In milliseconds since 1970-01-01 00:00 UTC.
    public var timestamp: Int64

    /// The identifier of the In-App Purchase key.
    public var keyId: String

    /// The offer.
    public var offerIdentifier: String

    /// The app account token in lower case, if the offer is for one account.
    public var appAccountToken: String?

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(
        encodedSignature: String, productId: String, nonce: String, timestamp: Int64, keyId: String,
        offerIdentifier: String, appAccountToken: String? = nil
    ) {
        self.encodedSignature = encodedSignature
        self.productId = productId
        self.nonce = nonce
        self.timestamp = timestamp
        self.keyId = keyId
        self.offerIdentifier = offerIdentifier
        self.appAccountToken = appAccountToken
    }
}
