import AppStoreModels
import LegacyReceipts
import Purchases
import ReceiptForge
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt

/// The other documents that a validation can bring: transactions of StoreKit 2 and iOS 6 style receipts.
@Suite struct ValidateDocumentTests {
    private static let payload = KnownSignedTransaction.transaction
    private static let jws = KnownSignedTransaction.jws
    private static let now = created.adding(days: 1).milliseconds

    private func endpoint(
        _ payload: JWSTransactionDecodedPayload = payload, store: (any TransactionStore)? = nil,
        _ change: (inout EndpointConfiguration) -> Void = { _ in }
    ) throws -> VerifyReceiptEndpoint {
        try validatingEndpoint(store: store) {
            $0.signedTransactionVerifier = KnownSignedTransaction(payload: payload)
            change(&$0)
        }
    }

    // MARK: StoreKit 2

    @Test func aSignedTransactionIsAnsweredUnderItsType() async throws {
        let answer = try await endpoint().ask(validation: validation(ofSigned: Self.jws), now: Self.now)
        #expect(answer.isOK && answer.data?.text("id") == bundleId)
        #expect(answer.transaction?.text("type") == "apple-sk2")
        #expect(answer.transaction?.text("transactionId") == "530001234569999")
        #expect(answer.transaction?.text("productId") == monthly)
        let purchase = try unwrap(answer.purchase(monthly))
        #expect(purchase.text("platform") == "ios-appstore" && purchase.text("purchaseId") == "530001234567000")
        #expect(purchase["expiryDate"]?.integer == created.adding(months: 1).milliseconds)
        #expect(purchase["isExpired"] == .bool(false) && purchase["isTrialPeriod"] == .bool(false))
        let facts = answer.reply.facts
        #expect(facts.receiptName?.count == 12 && facts.bundleId == bundleId && facts.isConfiguredApp)
    }

    @Test func aSignedTransactionBringsTheCustomerOfTheStore() async throws {
        let store = MemoryStore()
        _ = try await store.apply([VerifyReceiptEndpoint.facts(of: appReceipt([month(0), nonConsumable]))])
        let answer = try await endpoint(store: store).ask(validation: validation(ofSigned: Self.jws), now: Self.now)
        #expect(answer.collection.count == 2 && answer.data?["latest_receipt"] == .bool(true))
        // And the store has learned it.
        let later = try await endpoint(store: store).ask(
            validation: validation(of: appReceipt([month(0)])), now: Self.now)
        #expect(later.purchase(monthly)?.text("transactionId") == "530001234569999")
    }

    @Test func aSignedTransactionThatIsOverIs6778003ForItsProduct() async throws {
        let request = validation(ofSigned: Self.jws, id: monthly, type: "paid subscription")
        #expect(try await endpoint().ask(validation: request, now: Self.now).isOK)
        #expect(try await endpoint().ask(validation: request, now: requestDate).code == 6_778_003)
        let application = try await endpoint().ask(validation: validation(ofSigned: Self.jws), now: requestDate)
        #expect(application.isOK && application.purchase(monthly)?["isExpired"] == .bool(true))
    }

    @Test func aRevokedSignedTransactionIsExpired() async throws {
        var revoked = Self.payload
        revoked.revocationDate = created.milliseconds + 1
        revoked.revocationReason = .issueWithinApp
        let answer = try await endpoint(revoked).ask(validation: validation(ofSigned: Self.jws), now: Self.now)
        #expect(answer.purchase(monthly)?["isExpired"] == .bool(true))
        #expect(answer.purchase(monthly)?.text("cancelationReason") == "Customer.TechnicalIssues")
    }

    @Test(arguments: [OfferType.promotional, .offerCode, .winBack])
    func theOfferOfASignedTransactionIsTheDiscount(_ type: OfferType) async throws {
        var offered = Self.payload
        offered.offerType = type
        offered.offerIdentifier = "spring"
        let answer = try await endpoint(offered).ask(validation: validation(ofSigned: Self.jws), now: Self.now)
        #expect(answer.purchase(monthly)?.text("discountId") == "spring")
    }

    @Test func aDocumentThatTheVerifierRefusesIs6777017() async throws {
        for text in ["eyJhbGciOiJFUzI1NiJ9.eyJhIjoxfQ.AAAA", "x", "eyJ..", base64([1, 2, 3])] {
            let answer = try await endpoint().ask(validation: validation(ofSigned: text))
            #expect(answer.code == 6_777_017 && answer.reply.httpStatus == 200)
        }
    }

    @Test func theRulesOfReceiptsApplyToSignedTransactions() async throws {
        let request = validation(ofSigned: Self.jws)
        #expect(try await endpoint().ask(validation: request, at: .sandbox).code == 6_777_017)
        var sandbox = Self.payload
        sandbox.environment = .sandbox
        #expect(try await endpoint(sandbox).ask(validation: request).code == 6_777_017)
        #expect(try await endpoint(sandbox).ask(validation: request, at: .sandbox).isOK)
        #expect(
            try await endpoint(sandbox) { $0.apps[0].sandboxAtProduction = .answered }.ask(validation: request).isOK)
        var other = Self.payload
        other.bundleId = "com.example.other"
        #expect(try await endpoint(other).ask(validation: request).reply.httpStatus == 404)
        #expect(
            try await endpoint().ask(validation: validation(ofSigned: Self.jws, id: "com.example.other")).code
                == 6_777_012)
        // No verifier is no verdict.
        #expect(try await validatingEndpoint().ask(validation: request).reply.httpStatus == 404)
    }

    @Test func aBackendThatFailsIsNoVerdict() async throws {
        struct Failing: SignedTransactionVerifying {
            let failure: BackendFailure

            func verifiedTransaction(
                _ jws: [UInt8], now: Int64
            ) async throws -> Verified<JWSTransactionDecodedPayload> { throw failure }
        }
        for (isRetryable, status) in [(true, 503), (false, 500)] {
            let failure = BackendFailure.internalDataAccess(code: 21150, isRetryable: isRetryable)
            let answer = try await endpoint { $0.signedTransactionVerifier = Failing(failure: failure) }
                .ask(validation: validation(ofSigned: Self.jws))
            #expect(answer.reply.httpStatus == status && answer.code == 6_777_014)
        }
    }

    /// Each of the two types has its own document.
    @Test func theTypeChoosesTheDocument() async throws {
        let receipt = try base64(appReceipt([nonConsumable]))
        let both = #""appStoreReceipt":"\#(receipt)","jwsRepresentation":"\#(Self.jws)""#
        let old = try await endpoint().ask(
            validation: validation(transaction: #"{"type":"ios-appstore",\#(both)}"#), now: Self.now)
        #expect(old.collection.compactMap { $0.text("id") } == [tree])
        let new = try await endpoint().ask(
            validation: validation(transaction: #"{"type":"apple-sk2",\#(both)}"#), now: Self.now)
        #expect(new.collection.compactMap { $0.text("id") } == [monthly])
    }

    // MARK: iOS 6

    @Test func anOldReceiptIsAnsweredWithItsTransaction() async throws {
        let endpoint = try validatingEndpoint()
        let receipt = try transactionReceipt()
        let answer = try await endpoint.ask(
            validation: validation(ofOld: receipt), now: transactionDate.milliseconds + 1)
        #expect(answer.isOK && answer.transaction?.text("type") == "ios-appstore")
        let reply = try await testEndpoint().ask(body(receipt), now: transactionDate.milliseconds + 1)
        let expected = try unwrap(reply.receipt)
        #expect(answer.transaction?.keys == ["type"] + expected.keys)
        for key in expected.keys { #expect(answer.transaction?[key] == expected[key], "\(key)") }
        #expect(answer.purchase(monthly)?["expiryDate"]?.integer == transactionDate.adding(months: 1).milliseconds)
        #expect(answer.purchase(monthly)?["isExpired"] == .bool(false))
    }

    @Test func anOldSubscriptionThatIsOverIs6778003ForItsProduct() async throws {
        let endpoint = try validatingEndpoint(store: MemoryStore())
        let receipt = try transactionReceipt()
        let product = validation(ofOld: receipt, id: monthly, type: "paid subscription")
        #expect(try await endpoint.ask(validation: product, now: transactionDate.milliseconds + 1).isOK)
        #expect(try await endpoint.ask(validation: product).code == 6_778_003)
        let application = try await endpoint.ask(validation: validation(ofOld: receipt))
        #expect(application.isOK && application.purchase(monthly)?["isExpired"] == .bool(true))
    }

    /// The type of an old purchase without an end is not known, so nothing is said about its access.
    @Test func anOldPurchaseWithoutAnEndHasNoExpiry() async throws {
        let endpoint = try validatingEndpoint()
        let answer = try await endpoint.ask(
            validation: validation(ofOld: transactionReceipt(subscription: false)))
        #expect(answer.isOK)
        #expect(answer.purchase(tree)?["expiryDate"] == nil && answer.purchase(tree)?["isExpired"] == nil)
    }

    @Test func aForgedOldReceiptIs6777017() async throws {
        let endpoint = try validatingEndpoint()
        var bytes = try transactionReceipt()
        bytes[bytes.count / 2] ^= 1
        #expect(try await endpoint.ask(validation: validation(ofOld: bytes)).code == 6_777_017)
    }

    @Test func theAppReceiptWinsOverTheOldOne() async throws {
        let transaction = try
            #"{"type":"ios-appstore","transactionReceipt":"AAAA","appStoreReceipt":"\#(base64(appReceipt()))"}"#
        #expect(
            try await validatingEndpoint().ask(validation: validation(transaction: transaction)).isOK
        )
    }
}
