import AppStoreModels
import Purchases
import TestSupport
import Testing

@Suite struct RecordedRenewalTests {
    typealias Support = RecordedSupport

    private func info(_ members: String, rows: String = "") throws -> MappedRenewalInfo {
        let json =
            "{\"environment\":\"Production\",\"latest_receipt_info\":[\(rows)],\"pending_renewal_info\":[{\(members)}]}"
        return try unwrap(try Support.map(json).renewalInfos.first)
    }

    @Test func everyKeyIsCarriedWithItsName() throws {
        let mapped = try info(
            """
            "auto_renew_product_id":"q","product_id":"p","original_transaction_id":"1","auto_renew_status":"0",
            "expiration_intent":"2","is_in_billing_retry_period":"1","grace_period_expires_date_ms":"77",
            "price_increase_status":"1","price_consent_status":"0"
            """)
        let expected = JWSRenewalInfoDecodedPayload {
            $0.expirationIntent = .billingError
            $0.originalTransactionId = "1"
            $0.autoRenewProductId = "q"
            $0.productId = "p"
            $0.autoRenewStatus = .off
            $0.isInBillingRetryPeriod = true
            $0.priceIncreaseStatus = .consentedOrNotified
            $0.gracePeriodExpiresDate = 77
            $0.environment = .production
        }
        #expect(mapped.payload == expected)
        #expect(
            mapped.provenance[.priceIncreaseStatus].text == "recorded reply pending_renewal_info.price_increase_status")
        #expect(mapped.provenance[.gracePeriodExpiresDate].text.hasSuffix(".grace_period_expires_date_ms"))
        #expect(
            mapped.provenance.absentFields.contains(.renewalDate)
                && mapped.provenance.absentFields.contains(.signedDate))
    }

    @Test func theOlderNameOfThePriceConsentIsRead() throws {
        let mapped = try info("\"price_consent_status\":\"0\"")
        #expect(mapped.payload.priceIncreaseStatus == .pending)
        #expect(mapped.provenance[.priceIncreaseStatus].text.hasSuffix("price_consent_status"))
    }

    @Test func theOfferOfTheNextRenewalIsPromotionalOrACode() throws {
        let promo = try info("\"promotional_offer_id\":\"x\"")
        #expect(promo.payload.offerType == .promotional && promo.payload.offerIdentifier == "x")
        let code = try info("\"offer_code_ref_name\":\"y\"")
        #expect(code.payload.offerType == .offerCode && code.payload.offerIdentifier == "y")
    }

    @Test func anUnknownExpirationIntentIsKept() throws {
        #expect(try info("\"expiration_intent\":\"9\"").payload.expirationIntent?.rawValue == 9)
    }

    @Test func withoutAnOriginalIdTheOnlySubscriptionOfTheProductIsMeant() throws {
        let one = "\(Support.row("1")),\(Support.row("2"))"
        let inferred = try info("\"product_id\":\"p\"", rows: one)
        #expect(inferred.payload.originalTransactionId == "1")
        #expect(inferred.provenance[.originalTransactionId] == .inferred(.onlySubscriptionOfProduct))
        let two = "\(one),\(Support.row("3", original: "3"))"
        #expect(try info("\"product_id\":\"p\"", rows: two).payload.originalTransactionId == nil)
    }

    @Test func thousandsOfRenewalsWithoutAnOriginalIdTakeLinearTime() throws {
        let rows = (1...5_000).map { Support.row("\($0)", original: "1") }.joined(separator: ",")
        let renewals = Array(repeating: "{\"product_id\":\"p\"}", count: 5_000).joined(separator: ",")
        let json =
            "{\"environment\":\"Production\",\"latest_receipt_info\":[\(rows)],\"pending_renewal_info\":[\(renewals)]}"
        let mapped = try Support.map(json)
        #expect(mapped.renewalInfos.count == 5_000)
        #expect(mapped.renewalInfos.last?.payload.originalTransactionId == "1")
    }

    @Test func aNumberBeyond32BitsIsAnError() {
        let json = "{\"pending_renewal_info\":[{\"expiration_intent\":\"5000000000\"}]}"
        #expect(Support.error(json)?.keyPath == "pending_renewal_info[0].expiration_intent")
    }
}
