import AppStoreModels
package import LegacyReceipts
package import Purchases
import TransactionStore

/// Builds documents from values, to test which facts a store keeps.
package enum FactSupport {
    package static func verified<Payload: Sendable>(
        _ payload: Payload, by anchor: SignatureEvidence.Anchor = .apple, signingInput: Fingerprint? = nil
    ) -> Verified<Payload> {
        let fingerprint = Fingerprint(of: [])
        return Verified(
            payload: payload,
            evidence: SignatureEvidence(
                anchor: anchor, leaf: fingerprint, trustAnchor: fingerprint, digestAlgorithm: .sha1,
                validationTime: 0, signingInput: signingInput))
    }

    /// An answer of the App Store Server API about one subscription.
    package static func answer(_ signingInput: Fingerprint?, signedAt date: Int64) -> FactSet {
        let scope = StoreSamples.scope
        var transaction = StoreSamples.payload("1")
        transaction.bundleId = scope.bundleId
        transaction.environment = scope.environment
        transaction.signedDate = date
        var info = JWSRenewalInfoDecodedPayload()
        info.originalTransactionId = "1"
        info.environment = scope.environment
        info.signedDate = date
        var app = AppTransaction()
        app.bundleId = scope.bundleId
        app.receiptType = scope.environment
        app.appTransactionId = "700"
        app.receiptCreationDate = date
        return FactSet(
            scope: scope, source: .appStoreServerAPI, transactions: [verified(transaction, signingInput: signingInput)],
            renewalInfos: [verified(info, signingInput: signingInput)],
            appTransaction: verified(app, signingInput: signingInput))
    }

    package static func receipt(
        _ purchases: [InAppPurchase], type: ReceiptType? = .production, bundleId: String = "com.example.app",
        createdAt: Int64? = StoreSamples.june
    ) -> Verified<AppReceipt> {
        verified(
            AppReceipt(
                receiptType: type, appItemId: 42, bundleId: bundleId, applicationVersion: "7",
                receiptCreationDate: createdAt, inAppPurchases: purchases,
                originalPurchaseDate: StoreSamples.june - StoreSamples.day, originalApplicationVersion: "1"))
    }

    /// A subscription period of June 2020, with all attributes of a subscription.
    package static func purchase(_ id: String = "200", original: String? = "100", cancelledAt: Int64? = nil)
        -> InAppPurchase
    {
        InAppPurchase(
            quantity: 1, productId: "monthly", transactionId: id, purchaseDate: StoreSamples.june,
            originalTransactionId: original, originalPurchaseDate: StoreSamples.june - 30 * StoreSamples.day,
            productType: .autoRenewableSubscription, expiresDate: StoreSamples.june + 30 * StoreSamples.day,
            webOrderLineItemId: 77, cancellationDate: cancelledAt, isTrialPeriod: false, isInIntroOfferPeriod: true)
    }
}
