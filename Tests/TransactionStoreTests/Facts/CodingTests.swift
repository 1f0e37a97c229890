import AppStoreModels
import Foundation
import Purchases
import Testing
import TransactionStore
import TransactionStoreConformance

@Suite("Facts are read as they were written")
struct CodingTests {
    /// Sets every field of a model to a value of its own, through its JSON.
    private func full<Model: Decodable>(_ json: String) throws -> Model {
        try JSONDecoder().decode(Model.self, from: Data(json.utf8))
    }

    private func assertComplete(_ value: Any) {
        for child in Mirror(reflecting: value).children {
            let optional = Mirror(reflecting: child.value)
            #expect(optional.displayStyle != .optional || !optional.children.isEmpty, "\(child.label ?? "") is not set")
        }
    }

    @Test func everyFieldOfATransactionComesBack() throws {
        let payload: JWSTransactionDecodedPayload = try full(
            """
            {"originalTransactionId":"1","transactionId":"2","previousOriginalTransactionId":"3",
            "webOrderLineItemId":"4","bundleId":"com.example.app","productId":"5 \\"\\\\\\u0000é","subscriptionGroupIdentifier":"6",
            "purchaseDate":-7,"originalPurchaseDate":9223372036854775807,"expiresDate":-9223372036854775808,"quantity":2147483647,
            "type":"Consumable","appAccountToken":"12","inAppOwnershipType":"NEW","signedDate":14,"revocationReason":15,
            "revocationDate":16,"revocationType":"REFUND_FULL","revocationPercentage":-18,"isUpgraded":true,"offerType":3,
            "offerIdentifier":"21","offerDiscountType":"ONE_TIME","offerPeriod":"P1M","environment":"Production",
            "storefront":"USA","storefrontId":"26","transactionReason":"RENEWAL","currency":"EUR","price":1990,
            "appTransactionId":"30","advancedCommerceInfo":{"taxCode":"c","items":[{"SKU":"s","price":5}]},
            "billingPlanType":"MONTHLY","commitmentInfo":{"billingPeriodNumber":2,"commitmentPrice":9},
            "multiSeatInfo":{"priceTiers":[{"price":3,"quantity":4}],"revokedSeatQuantity":1,"new":[true]},
            "additionalTransactionReason":"SEAT_ADDITION"}
            """)
        assertComplete(payload)
        var legacy = LegacyTransactionFields()
        legacy.isTrialPeriod = false
        legacy.isInIntroOfferPeriod = true
        legacy.promotionalOfferId = "a\n"
        legacy.offerCodeRefName = ""
        legacy.cancellationDate = .min
        legacy.cancellationReason = .max
        legacy.inAppOwnershipType = .familyShared
        legacy.itemId = "7"
        legacy.productType = 4
        assertComplete(legacy)
        var model = ModelStore()
        // Of the signed kind, so that joining takes nothing away; the flags come from a receipt.
        model.apply(
            StoreSamples.set(
                TransactionFact(
                    payload: payload, legacy: legacy, origin: FactOrigin(source: .notificationV2, signedDate: 1))))
        let found = try model.customer([StoreSamples.original("1")], in: StoreSamples.scope)?.transactions.first
        #expect(found?.payload == payload)

        var alone = ModelStore()
        let origin = FactOrigin(source: .recordedReply, signedDate: 1)
        alone.apply(
            StoreSamples.set(
                TransactionFact(payload: StoreSamples.payload("1"), legacy: legacy, origin: origin)))
        var expected = legacy
        expected.inAppOwnershipType = .familyShared
        #expect(
            try alone.customer([StoreSamples.original("1")], in: StoreSamples.scope)?.transactions.first?.legacy
                == expected)
    }

    @Test func everyFieldOfARenewalInfoComesBack() throws {
        let payload: JWSRenewalInfoDecodedPayload = try full(
            """
            {"expirationIntent":1,"originalTransactionId":"2","autoRenewProductId":"3","productId":"4","autoRenewStatus":0,
            "isInBillingRetryPeriod":false,"priceIncreaseStatus":1,"gracePeriodExpiresDate":8,"offerType":4,
            "offerIdentifier":"10","offerDiscountType":"FREE_TRIAL","offerPeriod":"P1W","signedDate":13,
            "environment":"Production","recentSubscriptionStartDate":15,"renewalDate":16,"currency":"USD","renewalPrice":18,
            "eligibleWinBackOfferIds":["a","b"],"appAccountToken":"20","appTransactionId":"21",
            "advancedCommerceInfo":{"taxCode":"c"},"renewalBillingPlanType":"MONTHLY",
            "commitmentInfo":{"commitmentRenewalDate":5},"renewalQuantity":25,
            "multiSeatInfo":{"renewalPriceTiers":[{"price":26,"quantity":27}]}}
            """)
        assertComplete(payload)
        var model = ModelStore()
        let origin = FactOrigin(source: .notificationV2, signedDate: 1)
        model.apply(StoreSamples.set(renewals: [RenewalInfoFact(payload: payload, origin: origin)]))
        let found = try model.customer([StoreSamples.original("2")], in: StoreSamples.scope)
        #expect(found?.renewalInfos.first?.payload == payload)
    }

    @Test func everyFieldOfAnAppTransactionComesBack() throws {
        let payload: AppTransaction = try full(
            """
            {"receiptType":"Production","appAppleId":1,"bundleId":"com.example.app","applicationVersion":"2",
            "versionExternalIdentifier":3,"receiptCreationDate":4,"originalPurchaseDate":5,"originalApplicationVersion":"6",
            "deviceVerification":"7","deviceVerificationNonce":"8","preorderDate":9,"appTransactionId":"10",
            "originalPlatform":"visionOS","storeType":"CONSUMER"}
            """)
        assertComplete(payload)
        var model = ModelStore()
        let origin = FactOrigin(source: .signedTransaction, signedDate: 1)
        model.apply(StoreSamples.set(app: AppTransactionFact(payload: payload, origin: origin)))
        let identity = CustomerIdentity(.appTransactionId, "10")
        #expect(try model.customer([identity], in: StoreSamples.scope)?.appTransaction?.payload == payload)
    }

    @Test func everyLegacyFieldOfAnAppTransactionComesBack() throws {
        var legacy = LegacyAppTransactionFields()
        legacy.receiptType = "ProductionVPP"
        legacy.expirationDate = .max
        legacy.volumePurchaseDate = .min
        legacy.volumePurchaseOrganization = "\u{0}\"é"
        assertComplete(legacy)
        let set = StoreSamples.set(
            identities: [StoreSamples.original("1")], app: StoreSamples.app("1", legacy: legacy))
        var model = ModelStore()
        model.apply(set)
        let customer = try model.customer([StoreSamples.original("1")], in: StoreSamples.scope)
        #expect(customer?.appTransaction?.legacy == legacy)
        // The form in which a spool stores it.
        let encoded = try EncodedFactSet(set)
        #expect(try FactSet(encoded: encoded.facts, receipt: nil).appTransaction?.legacy == legacy)
    }

    /// Apple names these members of a transaction from a bundle in StoreKit and does not document their JSON.
    @Test func membersOfABundleTransactionThatAppleDoesNotDocumentComeBack() throws {
        let payload: JWSTransactionDecodedPayload = try full(
            """
            {"transactionId":"2","originalTransactionId":"1","bundleId":"com.example.app","environment":"Production",
            "bundleProductID":"bundle","bundleTransactionID":"7",
            "bundleOriginalTransactionID":"6","bundleSubscriptionGroupID":"5","previousOriginalTransactionID":"4",
            "inAppOwnershipType":"NEW","revocationDate":5,"revocationReason":2,"revocationType":"UPGRADED_TO_BUNDLE"}
            """)
        let names = [
            "bundleOriginalTransactionID", "bundleProductID", "bundleSubscriptionGroupID", "bundleTransactionID",
            "previousOriginalTransactionID",
        ]
        #expect(payload.unknownMembers.names == names)
        var model = ModelStore()
        model.apply(
            StoreSamples.set(
                TransactionFact(
                    payload: payload, legacy: nil, origin: FactOrigin(source: .notificationV2, signedDate: 1))))
        let found = try model.customer([StoreSamples.original("1")], in: StoreSamples.scope)?.transactions.first
        #expect(found?.payload == payload)
    }

    @Test(arguments: [
        #"{"transactionId":5}"#, #"{"quantity":2147483648}"#, #"{"price":9223372036854775808}"#, #"{"price":1.5}"#,
        #"{"isUpgraded":"yes"}"#, #"{"transactionId":"1""#, "", "[]", #"{"commitmentInfo":7}"#, "{}x",
    ])
    func damagedRowsAreCorrupt(_ json: String) throws {
        var assembler = CustomerAssembler(scope: StoreSamples.scope)
        let row = CustomerAssembler.Row(kind: 2, source: 2, signedDate: 1)
        let error = #expect(throws: TransactionStoreError.self) {
            try Array(json.utf8).withUnsafeBufferPointer {
                try assembler.addTransaction(row, payload: $0, legacy: UnsafeBufferPointer(start: nil, count: 0))
            }
        }
        #expect(error?.code == .corrupt)
    }

    @Test func membersOfANewerVersionAreIgnored() throws {
        var assembler = CustomerAssembler(scope: StoreSamples.scope)
        try assembler.addIdentity(kind: 1, value: "1")
        let json = #"{"future":{"a":[1,{}]},"transactionId":"1","alsoFuture":null,"price":5}"#
        try Array(json.utf8).withUnsafeBufferPointer {
            try assembler.addTransaction(
                CustomerAssembler.Row(kind: 2, source: 2, signedDate: 1), payload: $0,
                legacy: UnsafeBufferPointer(start: nil, count: 0))
        }
        #expect(assembler.customer()?.transactions.first?.payload.price == 5)
    }
}
