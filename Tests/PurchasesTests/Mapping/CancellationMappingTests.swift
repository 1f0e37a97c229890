import AppStoreModels
import LegacyReceipts
import Purchases
import Testing

@Suite struct CancellationMappingTests {
    typealias Support = MappingSupport

    private func period(
        _ product: String, _ id: String, start: Int64, cancelled: Int64? = nil, original: String = "1",
        type: ReceiptProductType = .autoRenewableSubscription
    ) -> InAppPurchase {
        InAppPurchase(
            productId: product, transactionId: id, purchaseDate: start, originalTransactionId: original,
            productType: type, expiresDate: start + 1_000_000, cancellationDate: cancelled,
            cancellationReason: cancelled == nil ? nil : 1)
    }

    @Test func aCancellationInAReceiptIsARevocationThatMayBeAnUpgrade() {
        let mapped = Support.map([period("basic", "1", start: 0, cancelled: 5000)]).transactions[0]
        #expect(mapped.payload.revocationDate == 5000 && mapped.provenance[.revocationDate] == .signedAttribute(1712))
        #expect(mapped.payload.revocationReason == .issueWithinApp)
        #expect(mapped.provenance[.revocationReason] == .signedAttribute(1720))
        #expect(mapped.payload.isUpgraded == nil)
        #expect(mapped.notes == [.cancellationMayBeUpgrade])
    }

    @Test func aCancelledNonConsumableIsPlainlyRevoked() {
        let purchase = period("p", "1", start: 0, cancelled: 5000, type: .nonConsumable)
        let mapped = Support.map([purchase]).transactions[0]
        #expect(mapped.payload.revocationDate == 5000 && mapped.notes.isEmpty)
    }

    @Test func acancellationInTheSecondOfAnotherProductsStartIsAnUpgrade() {
        let mapped = Support.map([
            period("basic", "1", start: 0, cancelled: 5_000), period("gold", "2", start: 5_999),
        ]).transactions[0]
        #expect(mapped.payload.isUpgraded == true)
        #expect(mapped.provenance[.isUpgraded] == .inferred(.cancelledWhenNextPeriodBegan))
        #expect(mapped.payload.revocationDate == nil && mapped.payload.revocationReason == nil)
        #expect(mapped.provenance[.revocationDate] == .absent && mapped.provenance[.revocationReason] == .absent)
        #expect(mapped.notes.isEmpty)
    }

    @Test func onlyTheSameSubscriptionAnotherProductAndTheSameSecondMakeAnUpgrade() {
        let cancelled = period("basic", "1", start: 0, cancelled: 5_000)
        for other in [
            period("basic", "2", start: 5_000), period("gold", "2", start: 6_000),
            period("gold", "2", start: 5_000, original: "2"),
            period("gold", "2", start: 5_000, type: .nonConsumable),
        ] {
            let mapped = Support.map([cancelled, other]).transactions[0]
            #expect(mapped.payload.revocationDate == 5_000 && mapped.payload.isUpgraded == nil, "\(other)")
        }
    }
}
