import AppStoreModels
import Purchases
import ReceiptForge
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt

/// What `pending_renewal_info` says beside a newer period.
@Suite struct PendingRenewalTests {
    private static let id = "530001234567000"

    /// The subscription is in the grace period; the newest receipt has a month that runs from 2024-03-15 on.
    private func entry(
        at date: Int64, _ source: FactSource = .notificationV2, receipt: [UInt8]? = nil,
        _ change: (inout JWSRenewalInfoDecodedPayload) -> Void = { _ in }
    ) async throws -> JSONObject {
        var info = JWSRenewalInfoDecodedPayload()
        info.originalTransactionId = Self.id
        info.autoRenewProductId = monthly
        info.productId = monthly
        info.autoRenewStatus = .on
        info.expirationIntent = .billingError
        info.isInBillingRetryPeriod = true
        info.gracePeriodExpiresDate = requestDate + 86_400_000
        info.priceIncreaseStatus = .pending
        change(&info)
        let store = MemoryStore()
        _ = try await store.apply([
            FactSet(
                scope: StoreTests.scope,
                renewalInfos: [RenewalInfoFact(payload: info, origin: FactOrigin(source: source, signedDate: date))])
        ])
        let bytes = try receipt ?? appReceipt([month(1), month(2)])
        return try unwrap(try await testEndpoint(store: store).ask(body(bytes)).pending?.first)
    }

    private static let base: Set<String> = [
        "auto_renew_product_id", "product_id", "original_transaction_id", "auto_renew_status", "price_consent_status",
        "price_increase_status",
    ]
    private static let ending: Set<String> = [
        "expiration_intent", "is_in_billing_retry_period", "grace_period_expires_date",
        "grace_period_expires_date_ms", "grace_period_expires_date_pst",
    ]

    @Test(arguments: [FactSource.notificationV2, .recordedReply])
    func theEndOfAnOlderPeriodIsNotShownForANewerOne(_ source: FactSource) async throws {
        // The newest month begins at the creation of the receipt.
        let start = created.milliseconds
        #expect(Set(try await entry(at: start - 1, source).keys) == Self.base)
        let end = created.adding(months: 1).milliseconds
        #expect(Set(try await entry(at: end, source).keys) == Self.base.union(Self.ending))
    }

    /// A record without a date of its own is at least as new as the purchases in it, and may be newer.
    @Test func aRecordWithoutDateMayBeAboutTheNewestPeriod() async throws {
        let start = created.milliseconds
        #expect(Set(try await entry(at: start, .recordedReply).keys) == Self.base.union(Self.ending))
        #expect(Set(try await entry(at: start).keys) == Self.base)
    }

    @Test func aPeriodThatRunsIsNotBeingRetried() async throws {
        // Recovered within the grace period, the next one begins where the last ended.
        let start = created.milliseconds
        #expect(Set(try await entry(at: start + 1).keys) == Self.base)
        // Billing begins a day before the end.
        let end = created.adding(months: 1).milliseconds
        #expect(Set(try await entry(at: end - 86_400_000).keys) == Self.base.union(Self.ending))
    }

    @Test func anIntentOfARefundedPeriodStays() async throws {
        let refunded = try appReceipt([month(2).with { $0.cancellationDate = .seconds(created.adding(days: 3)) }])
        let entry = try await entry(at: created.adding(days: 3).milliseconds, receipt: refunded) {
            $0.isInBillingRetryPeriod = false
            $0.expirationIntent = .cancelled
            $0.gracePeriodExpiresDate = nil
        }
        #expect(entry.text("expiration_intent") == "1" && entry.text("is_in_billing_retry_period") == "0")
    }
}
