public import AppStoreModels

/// A notification, and what is signed inside of it, each verified by itself.
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
