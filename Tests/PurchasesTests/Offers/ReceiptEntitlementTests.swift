import AppStoreModels
import LegacyReceipts
import Purchases
import TestSupport
import Testing

/// Entitlements that are resolved from legacy documents alone.
@Suite struct ReceiptEntitlementTests {
    private func period(
        _ id: String, _ start: Int64, _ end: Int64?, product: String = "basic", original: String = "1",
        cancelled: Int64? = nil, type: ReceiptProductType = .autoRenewableSubscription
    ) -> InAppPurchase {
        InAppPurchase(
            productId: product, transactionId: id, purchaseDate: start * day, originalTransactionId: original,
            productType: type, expiresDate: end.map { $0 * day }, cancellationDate: cancelled.map { $0 * day })
    }

    private let day = MappingSupport.day

    @inline(never)
    private func history(_ purchases: [InAppPurchase], renewal: String? = nil) throws -> PurchaseHistory {
        let receipt = AppReceipt(
            receiptType: .production, bundleId: "com.example.app", receiptCreationDate: 1_000 * day,
            inAppPurchases: purchases)
        var sets = [try unwrap(FactSet(MappingSupport.verified(receipt), bytes: []))]
        if let renewal {
            let json = """
                {"status":0,"environment":"Production","receipt":{"receipt_type":"Production","bundle_id":"com.example.app","request_date_ms":"\(1_001 * day)"},
                "pending_renewal_info":[{"original_transaction_id":"1",\(renewal)}]}
                """
            sets += [FactSet](recorded: ReceiptMapper().map(try RecordedReply(json: Array(json.utf8))))
        }
        return try unwrap(Customer(resolving: sets)).purchaseHistory(catalog: nil)
    }

    @inline(never)
    private func entitlement(_ purchases: InAppPurchase..., at date: Int64) throws -> Entitlement? {
        let entitlements = try history(purchases).entitlements(at: date * day)
        #expect(entitlements.count <= 1)
        return entitlements.first
    }

    @Test func aPeriodIsActiveFromItsStartToJustBeforeItsEnd() throws {
        let history = try history([period("1", 10, 20), period("2", 20, 30)])
        func state(_ date: Int64) -> Entitlement? { history.entitlements(at: date).first }
        #expect(state(10 * day - 1) == nil)
        #expect(state(10 * day)?.status == .active && state(10 * day)?.transactionId == "1")
        #expect(state(20 * day)?.transactionId == "2")
        #expect(state(30 * day - 1)?.hasAccess == true)
        #expect(state(30 * day)?.status == .expired && state(30 * day)?.hasAccess == false)
    }

    @Test func aRevocationEndsAccessAtItsDateAndNotBefore() throws {
        let purchases = [period("1", 10, 20), period("2", 20, 30, cancelled: 25)]
        let history = try history(purchases)
        #expect(history.entitlements(at: 25 * day - 1).first?.status == .active)
        #expect(history.entitlements(at: 25 * day).first?.status == .revoked)
    }

    @Test func anUpgradeHandsOverToTheNewProduct() throws {
        let history = try history([period("1", 10, 90, cancelled: 40), period("2", 40, 120, product: "gold")])
        #expect(history.entitlements(at: 40 * day - 1).first?.transactionId == "1")
        #expect(history.entitlements(at: 40 * day).first?.transactionId == "2")
    }

    @Test func graceRestsOnTheRecordedRenewalInfo() throws {
        let grace = "\"is_in_billing_retry_period\":\"1\",\"grace_period_expires_date_ms\":\"\(1_010 * day)\""
        let inGrace = try history([period("1", 980, 1_000)], renewal: grace)
        #expect(inGrace.entitlements(at: 1_005 * day).first?.status == .billingGracePeriod)
        #expect(inGrace.entitlements(at: 1_020 * day).first?.status == .billingRetry)
        #expect(try history([period("1", 980, 1_000)]).entitlements(at: 1_005 * day).first?.status == .expired)
    }

    @Test func aRenewalInfoDoesNotAffectEarlierPeriods() throws {
        let retry = "\"is_in_billing_retry_period\":\"1\""
        let history = try history([period("1", 900, 910), period("2", 980, 1_000)], renewal: retry)
        #expect(history.entitlements(at: 915 * day).first?.status == .expired)
        #expect(history.entitlements(at: 1_005 * day).first?.status == .billingRetry)
    }

    @Test func aFreeSubscriptionOfAReceiptNeverExpires() throws {
        let free = try entitlement(period("1", 10, nil, type: .freeSubscription), at: 100_000)
        #expect(free?.status == .active && free?.accessEnds == nil)
    }

    @Test func withoutAnExpiryTheStatusIsUnknown() throws {
        let purchase = InAppPurchase(
            productId: "basic", transactionId: "1", purchaseDate: 10 * day, originalTransactionId: "1",
            webOrderLineItemId: 77)
        let unknown = try entitlement(purchase, at: 15)
        #expect(unknown != nil && unknown?.status == nil && unknown?.hasAccess == false)
    }

    @Test func aRestoredPeriodDatedAfterItsExpiryIsNotTheNewest() throws {
        // As in receipts of 2013 and 2014: the purchase date of the first period is that of the restoration.
        let history = try history([period("1", 500, 20), period("2", 22, 30)])
        #expect(history.entitlements(at: 25 * day).first?.status == .active)
        #expect(history.entitlements(at: 600 * day).first?.transactionId == "2")
    }

    @Test func twentyThousandUpgradesTakeLinearTime() throws {
        let purchases = (1...20_000).map { (number: Int64) -> InAppPurchase in
            let product = number.isMultiple(of: 2) ? "even" : "odd"
            return period(String(number), number, number + 10, product: product, cancelled: number + 1)
        }
        let history = try history(purchases)
        #expect(history.entries.count == 20_000)
        #expect(history.entries.count { $0.transaction.isUpgraded == true } == 19_999)
        #expect(history.entitlements(at: 30_000 * day).first?.hasAccess == false)
    }
}
