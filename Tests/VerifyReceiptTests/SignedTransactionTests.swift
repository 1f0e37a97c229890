import AppStoreModels
import LegacyReceipts
import Purchases
import ReceiptForge
import Testing
import TransactionStore
import VerifyReceipt

/// The extension for StoreKit 2: a JWS in `receipt-data`.
@Suite struct SignedTransactionTests {
    private struct Verifier: SignedTransactionVerifying {
        var payload: JWSTransactionDecodedPayload?
        var failure: BackendFailure?

        struct NotGenuine: Error {}

        func verifiedTransaction(
            _ jws: [UInt8], now: Int64
        ) async throws -> Verified<JWSTransactionDecodedPayload> {
            if let failure { throw failure }
            guard let payload else { throw NotGenuine() }
            let none = Fingerprint(of: [UInt8]())
            return Verified(
                payload: payload,
                evidence: SignatureEvidence(
                    anchor: .additionalRoot, leaf: none, trustAnchor: none, digestAlgorithm: .sha256,
                    validationTime: now))
        }
    }

    private static let jws = KnownSignedTransaction.jws
    private static let payload = KnownSignedTransaction.transaction

    private func endpoint(
        _ payload: JWSTransactionDecodedPayload? = payload, failure: BackendFailure? = nil,
        store: (any TransactionStore)? = nil, _ change: (inout EndpointConfiguration) -> Void = { _ in }
    ) throws -> VerifyReceiptEndpoint {
        try testEndpoint(store: store) {
            $0.answersSignedTransactions = true
            $0.signedTransactionVerifier = Verifier(payload: payload, failure: failure)
            change(&$0)
        }
    }

    @Test func itIsOffUnlessOptionAndVerifierAreThere() async throws {
        let request = body(text: Self.jws)
        #expect(try await testEndpoint().ask(request).status == 21002)
        #expect(try await testEndpoint { $0.answersSignedTransactions = true }.ask(request).status == 21002)
        #expect(try await endpoint { $0.answersSignedTransactions = false }.ask(request).status == 21002)
        #expect(try await endpoint().ask(request).status == 0)
    }

    @Test func theReplyHasTheShapeOfAnAppReceipts() async throws {
        let reply = try await endpoint { $0.apps = [AppConfiguration(bundleId: bundleId, appleId: 6_001_234_567)] }
            .ask(body(text: Self.jws))
        #expect(reply.keys == ["status", "environment", "receipt", "latest_receipt_info", "latest_receipt"])
        #expect(reply.receipt?.text("bundle_id") == bundleId)
        #expect(reply.receipt?.text("receipt_type") == "Production")
        #expect(reply.receipt?["adam_id"] == .integer(6_001_234_567))
        #expect(reply.inApp.first?.text("transaction_id") == "530001234569999")
        #expect(reply.inApp.first?["subscription_group_identifier"] == nil)
        #expect(reply.latest?.first?.text("subscription_group_identifier") == "20662382")
        #expect(reply.json["latest_receipt"]?.string == Self.jws)
        #expect(reply.reply.facts.bundleId == bundleId && reply.reply.facts.receiptName?.count == 12)
    }

    @Test func theReplyContainsTheStoredPurchasesOfTheCustomer() async throws {
        let store = MemoryStore()
        let bytes = try appReceipt([month(0)])
        _ = try await store.apply([VerifyReceiptEndpoint.facts(of: bytes)])
        let reply = try await endpoint(store: store).ask(body(text: Self.jws))
        #expect(reply.latest?.compactMap { $0.text("transaction_id") } == ["530001234569999", "530001234567000"])
        #expect(reply.inApp.count == 1)
        #expect(reply.json["latest_receipt"]?.string == base64(bytes))
        #expect(reply.receipt?.text("original_application_version") == "1.2")
        #expect(reply.reply.facts.transactionsFromStore == 1)
        // And the store has learned it.
        let old = try await endpoint(store: store).ask(body(bytes))
        #expect(old.latest?.count == 2)
    }

    /// Without a signing date a JWS is as old as it can be, and takes nothing back that is known since.
    @Test(arguments: StoreKind.allCases)
    func withoutASigningDateItTakesNoRefundBack(_ kind: StoreKind) async throws {
        var refunded = Self.payload
        refunded.revocationDate = created.adding(days: 1).milliseconds
        refunded.signedDate = created.adding(days: 2).milliseconds
        var undated = Self.payload
        undated.signedDate = nil
        let scope = StoreScope(environment: .production, bundleId: bundleId)
        try await kind.withStore { store in
            _ = try await store.apply([
                FactSet(scope: scope, transactions: [TransactionFact(refunded, source: .notificationV2)])
            ])
            for _ in 0..<2 {
                let reply = try await endpoint(undated, store: store).ask(body(text: Self.jws))
                #expect(reply.latest?.first?["cancellation_date"] != nil)
            }
        }
        // One that states a refund is no older than that.
        refunded.signedDate = nil
        let fact = TransactionFact(refunded, source: .signedTransaction)
        #expect(fact.origin.signedDate == created.adding(days: 1).milliseconds)
    }

    /// A receipt that lacks attribute 1712 does not state that there is no refund. A newer signed transaction does.
    @Test func aReceiptWithoutACancellationTakesBackNoRevocationOfASignedTransaction() async throws {
        var revoked = Self.payload
        revoked.transactionId = "530001234567000"
        revoked.revocationDate = created.adding(days: -1).milliseconds
        let store = MemoryStore()
        let receipt = try appReceipt([month(0)], at: created.adding(days: 1))
        _ = try await store.apply([VerifyReceiptEndpoint.facts(of: receipt)])
        let service = try endpoint(revoked, store: store) { $0.learnsFromReceipts = false }
        let reply = try await service.ask(body(text: Self.jws))
        #expect(reply.latest?.count == 1)
        #expect(
            reply.latest("530001234567000")?.text("cancellation_date_ms")
                == String(created.adding(days: -1).milliseconds))
        var current = revoked
        current.revocationDate = nil
        current.signedDate = created.adding(days: 2).milliseconds
        let scope = StoreScope(environment: .production, bundleId: bundleId)
        _ = try await store.apply([
            FactSet(scope: scope, transactions: [TransactionFact(current, source: .notificationV2)])
        ])
        let later = try await service.ask(body(text: Self.jws))
        #expect(later.latest?.count == 1 && later.latest("530001234567000")?["cancellation_date"] == nil)
    }

    @Test func aForgedJWSIs21003() async throws {
        #expect(try await endpoint(nil).ask(body(text: Self.jws)).status == 21003)
    }

    @Test func theEnvironmentAndThePasswordCountAsForReceipts() async throws {
        #expect(try await endpoint().ask(body(text: Self.jws), at: .sandbox).status == 21008)
        var sandbox = Self.payload
        sandbox.environment = .sandbox
        #expect(try await endpoint(sandbox).ask(body(text: Self.jws)).status == 21007)
        #expect(try await endpoint(sandbox).ask(body(text: Self.jws), at: .sandbox).status == 0)
        let secret = try endpoint { $0.accountSecrets = [SharedSecret("s3cret")] }
        #expect(try await secret.ask(body(text: Self.jws)).status == 21004)
        #expect(try await secret.ask(body(text: Self.jws, password: "s3cret")).status == 0)
        let refused = try endpoint { $0.unknownBundleIds = .refused }
        #expect(try await refused.ask(body(text: Self.jws)).status == 21003)
    }

    @Test func aBackendFailureOfTheVerifierIsReturned() async throws {
        let failure = BackendFailure.internalDataAccess(code: 21150, isRetryable: true)
        let reply = try await endpoint(failure: failure).ask(body(text: Self.jws))
        #expect(reply.status == 21150 && reply.json["is-retryable"] == .bool(true))
    }

    @Test(arguments: ["eyJh.eyJi", "eyJh.eyJi.c.d", "eyJh.eyJi.c=", "MIIT.eyJi.c", "eyJhbGciOiJFUzI1NiJ9"])
    func otherTextIsNoJWS(_ text: String) async throws {
        #expect(try await endpoint().ask(body(text: text)).status == 21002)
    }
}
