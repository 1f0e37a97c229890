import AppStoreModels
import LegacyReceipts
import Purchases
import TestSupport
import Testing

@Suite struct SubscriptionChainTests {
    typealias Support = MappingSupport

    private func period(
        _ id: String, _ start: Int64, _ end: Int64?, product: String = "basic", original: String = "1",
        cancelled: Int64? = nil, type: ReceiptProductType = .autoRenewableSubscription
    ) -> InAppPurchase {
        InAppPurchase(
            productId: product, transactionId: id, purchaseDate: start, originalTransactionId: original,
            productType: type, expiresDate: end, cancellationDate: cancelled)
    }

    private func chain(_ purchases: InAppPurchase..., renewal: String? = nil) throws -> SubscriptionChain {
        var infos: [MappedRenewalInfo] = []
        if let renewal {
            let json = "{\"pending_renewal_info\":[{\"original_transaction_id\":\"1\",\(renewal)}]}"
            infos = ReceiptMapper().map(try RecordedReply(json: Array(json.utf8))).renewalInfos
        }
        let chains = SubscriptionChain.chains(of: Support.map(purchases).transactions, renewalInfos: infos)
        #expect(chains.count == 1)
        return try unwrap(chains.first)
    }

    @Test func transactionsAreGroupedByOriginalIdAndOrderedByDateThenNumber() {
        let mapped = Support.map([
            period("100", 50, 60), period("7", 10, 20, original: "7"), period("99", 50, 60), period("2", 10, 20),
            InAppPurchase(productId: "coins", transactionId: "3", productType: .consumable),
        ])
        let chains = SubscriptionChain.chains(of: mapped.transactions)
        #expect(chains.map(\.originalTransactionId) == ["1", "7"])
        #expect(chains[0].transactions.map(\.payload.transactionId) == ["2", "99", "100"])
    }

    @Test func duplicatesAreMergedAndARevocationIsTakenOver() throws {
        let chain = try chain(period("1", 10, 20), period("1", 10, 20, cancelled: 15))
        #expect(chain.transactions.count == 1)
        #expect(chain.transactions[0].payload.revocationDate == 15)
        #expect(chain.transactions[0].provenance[.revocationDate] == .signedAttribute(1712))
        #expect(chain.state(at: 16)?.status == .revoked)
    }

    @Test func aPeriodIsActiveFromItsStartToJustBeforeItsEnd() throws {
        let chain = try chain(period("1", 10, 20), period("2", 20, 30))
        #expect(chain.state(at: 9) == nil)
        #expect(chain.state(at: 10)?.status == .active && chain.state(at: 10)?.transactionIndex == 0)
        #expect(chain.state(at: 20)?.transactionIndex == 1)
        #expect(chain.state(at: 29)?.accessEnds == 30 && chain.state(at: 29)?.hasAccess == true)
        #expect(chain.state(at: 30)?.status == .expired && chain.state(at: 30)?.hasAccess == false)
        #expect(chain.currentTransaction(at: 25)?.payload.transactionId == "2")
        #expect(chain.currentTransaction(at: 30) == nil)
    }

    @Test func aRevocationEndsAccessAtItsDateAndNotBefore() throws {
        let chain = try chain(period("1", 10, 20), period("2", 20, 30, cancelled: 25))
        #expect(chain.state(at: 24)?.status == .active)
        let state = try unwrap(chain.state(at: 25))
        #expect(state.status == .revoked && state.accessEnds == 25 && !state.hasAccess)
    }

    @Test func aRevokedPeriodBeforeAPaidOneDoesNotRevokeTheSubscription() throws {
        let chain = try chain(period("1", 10, 20, cancelled: 12), period("2", 20, 30))
        #expect(chain.state(at: 15)?.status == .revoked)
        #expect(chain.state(at: 22)?.status == .active)
        #expect(chain.state(at: 31)?.status == .expired)
    }

    @Test func anUpgradeHandsOverToTheNewProductWithoutAGap() throws {
        let chain = try chain(
            period("1", 10_000, 90_000, cancelled: 40_000), period("2", 40_000, 120_000, product: "gold"))
        #expect(chain.transactions[0].payload.isUpgraded == true)
        #expect(chain.state(at: 39_999)?.transactionIndex == 0)
        #expect(chain.state(at: 40_000)?.transactionIndex == 1)
        #expect(chain.state(at: 20_000)?.status == .active)
        #expect(chain.gaps.isEmpty)
    }

    @Test func gapsTellWhenTheCustomerWasAway() throws {
        let chain = try chain(period("1", 10, 20), period("2", 20, 30), period("3", 45, 60))
        #expect(chain.gaps == [SubscriptionChain.Gap(from: 30, to: 45)])
        #expect(chain.state(at: 40)?.status == .expired)
    }

    @Test func graceAndRetryExistOnlyWhereARenewalInfoSaysSo() throws {
        let grace = "\"is_in_billing_retry_period\":\"1\",\"grace_period_expires_date_ms\":\"40\""
        let told = try chain(period("1", 10, 20), renewal: grace)
        let inGrace = try unwrap(told.state(at: 39))
        #expect(inGrace.status == .billingGracePeriod && inGrace.hasAccess && inGrace.accessEnds == 40)
        #expect(inGrace.restsOnRenewalInfo)
        let after = try unwrap(told.state(at: 40))
        #expect(after.status == .billingRetry && !after.hasAccess && after.accessEnds == 20)
        #expect(told.state(at: 19)?.status == .active)
        #expect(try chain(period("1", 10, 20)).state(at: 39)?.status == .expired)
        let notRetrying = "\"is_in_billing_retry_period\":\"0\",\"grace_period_expires_date_ms\":\"40\""
        #expect(try chain(period("1", 10, 20), renewal: notRetrying).state(at: 39)?.status == .expired)
    }

    @Test func aRevokedSubscriptionIsRevokedWhateverTheRenewalInfoSays() throws {
        let retry = "\"is_in_billing_retry_period\":\"1\""
        let chain = try chain(period("1", 10, 20, cancelled: 15), renewal: retry)
        #expect(chain.state(at: 16)?.status == .revoked)
    }

    @Test func aRenewalInfoSaysNothingAboutEarlierPeriods() throws {
        let retry = "\"is_in_billing_retry_period\":\"1\""
        let chain = try chain(period("1", 10, 20), period("2", 30, 40), renewal: retry)
        #expect(chain.state(at: 25)?.status == .expired)
        #expect(chain.state(at: 45)?.status == .billingRetry)
    }

    @Test func aFreeSubscriptionNeverExpires() throws {
        let chain = try chain(period("1", 10, nil, type: .freeSubscription))
        let state = try unwrap(chain.state(at: .max - 1))
        #expect(state.status == .active && state.accessEnds == nil)
        #expect(chain.gaps.isEmpty)
    }

    @Test func aRestoredPeriodDatedAfterItsExpiryIsNotTheNewest() throws {
        // As in receipts of 2013 and 2014: the purchase date of the first period is that of the restoration.
        let chain = try chain(period("1", 500, 20), period("2", 22, 30))
        #expect(chain.transactions.map(\.payload.transactionId) == ["1", "2"])
        #expect(chain.transactions[0].notes.contains(.purchasedAfterExpiry))
        #expect(chain.state(at: 25)?.status == .active)
        #expect(chain.state(at: 600)?.status == .expired && chain.state(at: 600)?.transactionIndex == 1)
        #expect(chain.gaps == [SubscriptionChain.Gap(from: 20, to: 22)])
        let unknownStart = try self.chain(period("1", 10, 20), period("2", 500, 40))
        #expect(unknownStart.gaps.isEmpty)
    }

    @Test func aPeriodWithoutAnEndTellsNothing() throws {
        #expect(try chain(period("1", 10, nil)).state(at: 15) == nil)
    }

    @Test func twentyThousandUpgradesTakeLinearTime() throws {
        let rows = (0..<20_000).map {
            "{\"transaction_id\":\"\($0)\",\"original_transaction_id\":\"1\",\"product_id\":\"p\",\"is_upgraded\":\"true\","
                + "\"purchase_date_ms\":\"\($0)\",\"expires_date_ms\":\"\($0 + 10)\"}"
        }
        let reply = try RecordedReply(json: Array("[\(rows.joined(separator: ","))]".utf8))
        let chains = SubscriptionChain.chains(of: ReceiptMapper().map(reply).transactions)
        #expect(chains[0].transactions.count == 20_000)
        #expect(chains[0].state(at: 30_000)?.status == .expired)
    }
}
