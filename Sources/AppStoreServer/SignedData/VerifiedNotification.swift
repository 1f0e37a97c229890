public import AppStoreModels

/// A notification and the signed data inside it. Each part is verified.
public struct VerifiedNotification: Sendable {
    /// The notification.
    public let notification: Verified<ResponseBodyV2DecodedPayload>
    /// `data.signedTransactionInfo`, if there is one; of the same app and environment as the notification.
    public let transaction: Verified<JWSTransactionDecodedPayload>?
    /// `data.signedRenewalInfo`, if there is one; of the same environment as the notification.
    public let renewalInfo: Verified<JWSRenewalInfoDecodedPayload>?
    /// `appData.signedAppTransactionInfo`, if there is one; of the same app and environment as the notification.
    public let appTransaction: Verified<AppTransaction>?
}
