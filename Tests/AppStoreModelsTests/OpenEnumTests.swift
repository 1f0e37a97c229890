import AppStoreModels
import Foundation
import Testing

@Suite struct OpenEnumTests {
    @Test("An unknown text is kept and written again")
    func unknownText() throws {
        let transaction = try decode(JWSTransactionDecodedPayload.self, #"{"type":"Rental","environment":"Moon"}"#)
        #expect(transaction.type == ProductType(rawValue: "Rental"))
        #expect(transaction.type?.isKnown == false)
        #expect(writtenText(transaction) == #"{"type":"Rental","environment":"Moon"}"#)
        #expect(try canonical(JSONEncoder().encode(transaction)) == #"{"environment":"Moon","type":"Rental"}"#)
    }

    @Test("An unknown number is kept and written again")
    func unknownNumber() throws {
        let transaction = try decode(JWSTransactionDecodedPayload.self, #"{"offerType":77,"revocationReason":-1}"#)
        #expect(transaction.offerType == OfferType(rawValue: 77))
        #expect(transaction.offerType?.isKnown == false)
        #expect(writtenText(transaction) == #"{"revocationReason":-1,"offerType":77}"#)
        #expect(try canonical(JSONEncoder().encode(transaction)) == #"{"offerType":77,"revocationReason":-1}"#)
    }

    @Test("A known value is known, reads as its constant and describes itself by its raw value")
    func knownValues() throws {
        #expect(try decode([Environment].self, #"["LocalTesting"]"#) == [.localTesting])
        #expect(try decode([SubscriptionStatus].self, "[4]") == [.billingGracePeriod])
        #expect(Environment.sandbox.isKnown)
        #expect("\(Environment.sandbox) \(AutoRenewStatus.on)" == "Sandbox 1")
    }

    @Test("No value is listed twice and every listed value is written as its bare raw value")
    func listedValues() throws {
        for values in Enumerations.all {
            #expect(Set(values.rawValues).count == values.rawValues.count, "\(values.name)")
            #expect(try canonical(values.encoded()) == canonical(Data(values.jsonOfRawValues.utf8)), "\(values.name)")
        }
    }

    @Test("Numbers have the meaning of Apple's documentation")
    func numbers() {
        #expect(OfferType.introductory.rawValue == 1 && OfferType.promotional.rawValue == 2)
        #expect(OfferType.offerCode.rawValue == 3 && OfferType.winBack.rawValue == 4)
        #expect(RevocationReason.other.rawValue == 0 && RevocationReason.issueWithinApp.rawValue == 1)
        #expect(AutoRenewStatus.off.rawValue == 0 && AutoRenewStatus.on.rawValue == 1)
        #expect(PriceIncreaseStatus.pending.rawValue == 0 && PriceIncreaseStatus.consentedOrNotified.rawValue == 1)
        #expect(
            SubscriptionStatus.knownValues == [.active, .expired, .billingRetry, .billingGracePeriod, .revoked]
                && SubscriptionStatus.knownValues.map(\.rawValue) == [1, 2, 3, 4, 5])
        #expect(
            ExpirationIntent.knownValues
                == [.cancelled, .billingError, .noConsentToPriceIncrease, .productUnavailable, .other]
                && ExpirationIntent.knownValues.map(\.rawValue) == [1, 2, 3, 4, 5])
    }
}

/// Every enumeration of the package, with its types erased.
struct Enumerations: Sendable {
    let name: String
    let rawValues: [String]
    /// The raw values as a JSON array, made without `Encodable`.
    let jsonOfRawValues: String
    let encoded: @Sendable () throws -> Data

    private init<Value: OpenEnum>(_ type: Value.Type) {
        name = "\(type)"
        rawValues = Value.knownValues.map { "\($0.rawValue)" }
        let quote = Value.RawValue.self == String.self ? "\"" : ""
        jsonOfRawValues = "[" + rawValues.map { quote + $0 + quote }.joined(separator: ",") + "]"
        encoded = { try JSONEncoder().encode(Value.knownValues) }
    }

    static let all = [
        Enumerations(Environment.self), Enumerations(ProductType.self), Enumerations(InAppOwnershipType.self),
        Enumerations(TransactionReason.self), Enumerations(OfferType.self), Enumerations(OfferDiscountType.self),
        Enumerations(RevocationReason.self), Enumerations(RevocationType.self), Enumerations(SubscriptionStatus.self),
        Enumerations(AutoRenewStatus.self), Enumerations(ExpirationIntent.self), Enumerations(PriceIncreaseStatus.self),
        Enumerations(BillingPlanType.self), Enumerations(RenewalBillingPlanType.self),
        Enumerations(PurchasePlatform.self), Enumerations(ConsumptionRequestReason.self),
        Enumerations(NotificationTypeV2.self), Enumerations(Subtype.self), Enumerations(AdvancedCommercePeriod.self),
        Enumerations(AdvancedCommerceOfferPeriod.self), Enumerations(AdvancedCommerceOfferReason.self),
        Enumerations(AdvancedCommerceRefundReason.self), Enumerations(AdvancedCommerceRefundType.self),
        Enumerations(AdvancedCommercePriceIncreaseInfoStatus.self), Enumerations(AdditionalTransactionReason.self),
        Enumerations(InvitationManagement.self), Enumerations(StoreType.self),
    ]
}
