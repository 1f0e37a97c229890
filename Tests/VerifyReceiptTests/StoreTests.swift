import AppStoreModels
import LegacyReceipts
import ProductCatalog
import Purchases
import ReceiptForge
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt

/// What the store's facts become in a reply, and what happens while it fails.
@Suite struct StoreTests {
    static let scope = StoreScope(environment: .production, bundleId: bundleId)

    /// A signed transaction of the subscription that `month` is a receipt's view of.
    private static func signed(
        _ id: String = "530001234567000", _ source: FactSource = .appStoreServerAPI, at date: Int64 = requestDate,
        _ change: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) -> TransactionFact {
        var payload = JWSTransactionDecodedPayload {
            $0.originalTransactionId = "530001234567000"
            $0.transactionId = id
            $0.webOrderLineItemId = "530000612345678"
            $0.productId = monthly
            $0.subscriptionGroupIdentifier = "20662382"
            $0.purchaseDate = created.milliseconds + 123
            $0.originalPurchaseDate = created.adding(months: -2).milliseconds
            $0.expiresDate = created.adding(months: 1).milliseconds + 123
            $0.quantity = 1
            $0.type = .autoRenewableSubscription
            $0.inAppOwnershipType = .purchased
        }
        change(&payload)
        return TransactionFact(
            payload: payload, legacy: nil, origin: FactOrigin(source: source, signedDate: date))
    }

    private func reply(
        _ facts: [FactSet], _ bytes: [UInt8], _ change: (inout EndpointConfiguration) throws -> Void = { _ in }
    ) async throws -> ReadReply {
        let store = MemoryStore()
        _ = try await store.apply(facts)
        return try await testEndpoint(store: store, change).ask(body(bytes))
    }

    private func entry(_ fact: TransactionFact, _ bytes: [UInt8]) async throws -> JSONObject {
        let reply = try await reply([FactSet(scope: Self.scope, transactions: [fact])], bytes)
        return try unwrap(reply.latest(fact.payload.transactionId ?? ""))
    }

    @Test func theGroupThatAppleStatesForAProductCountsBeforeThatOfTheCatalog() async throws {
        var entry = CatalogEntry(subject: .productId(monthly), source: CatalogSource(file: "test"))
        entry.subscriptionGroupIdentifier = "21ABC"
        let reply = try await reply(
            [FactSet(scope: Self.scope, transactions: [Self.signed("530001234569999")])], appReceipt([month(0)])
        ) { $0.apps = [AppConfiguration(bundleId: bundleId, catalog: try ProductCatalog(entries: [entry]))] }
        let groups = reply.latest?.map { $0.text("subscription_group_identifier") }
        #expect(groups == ["20662382", "20662382"])
    }

    @Test func theGroupOfTheCatalogCountsBeforeThatOfARow() async throws {
        var entry = CatalogEntry(subject: .productId(monthly), source: CatalogSource(file: "test"))
        entry.subscriptionGroupIdentifier = "21ABC"
        let row = FactSet(scope: Self.scope, transactions: [Self.signed("530001234567000", .notificationV1)])
        for (entries, expected) in [([entry], "21ABC"), ([], "20662382")] {
            let reply = try await reply([row], appReceipt([month(0)])) {
                $0.apps = [AppConfiguration(bundleId: bundleId, catalog: try ProductCatalog(entries: entries))]
            }
            #expect(reply.latest("530001234567000")?.text("subscription_group_identifier") == expected)
        }
    }

    @Test func aPurchaseWithoutAProductKeepsTheGroupOfItsRow() async throws {
        let row = Self.signed("530001234569999", .recordedReply) { $0.productId = nil }
        let reply = try await reply([FactSet(scope: Self.scope, transactions: [row])], appReceipt([month(0)])) {
            $0.recordedFacts = .granting
        }
        #expect(reply.latest("530001234569999")?.text("subscription_group_identifier") == "20662382")
    }

    // MARK: Modern facts in legacy words

    @Test func aSignedTransactionIsShownWithLegacyMembers() async throws {
        let token = "7e57a11c-0000-4000-8000-00000000f06e"
        let fact = Self.signed("530001234569999") { $0.appAccountToken = token }
        let entry = try await entry(fact, appReceipt([month(0)]))
        #expect(entry.text("purchase_date_ms") == "1710498030123")
        #expect(entry.text("purchase_date") == "2024-03-15 10:20:30 Etc/GMT")
        #expect(entry.text("is_trial_period") == "false")
        #expect(entry.text("is_in_intro_offer_period") == "false")
        #expect(entry.text("in_app_ownership_type") == "PURCHASED")
        #expect(entry.text("subscription_group_identifier") == "20662382")
        #expect(entry.text("app_account_token") == token)
        #expect(entry.text("web_order_line_item_id") == "530000612345678")
        #expect(entry["cancellation_date"] == nil && entry["is_upgraded"] == nil)
        #expect(entry.members.allSatisfy { $0.value.string != nil })
    }

    @Test func introductoryOffersBecomeTheTwoFlags() async throws {
        let bytes = try appReceipt([month(0)])
        let trial = try await entry(
            Self.signed("530001234569999") {
                $0.offerType = .introductory
                $0.offerDiscountType = .freeTrial
            }, bytes)
        #expect(trial.text("is_trial_period") == "true" && trial.text("is_in_intro_offer_period") == "false")
        let paid = try await entry(
            Self.signed("530001234569999") {
                $0.offerType = .introductory
                $0.offerDiscountType = .payAsYouGo
            }, bytes)
        #expect(paid.text("is_trial_period") == "false" && paid.text("is_in_intro_offer_period") == "true")
    }

    @Test func otherOffersBecomeTheirIdentifiers() async throws {
        let bytes = try appReceipt([month(0)])
        func offer(_ type: OfferType) async throws -> JSONObject {
            try await entry(
                Self.signed("530001234569999") {
                    $0.offerType = type
                    $0.offerIdentifier = "spring"
                    $0.offerDiscountType = .freeTrial
                }, bytes)
        }
        let promotional = try await offer(.promotional)
        #expect(promotional.text("promotional_offer_id") == "spring" && promotional["offer_code_ref_name"] == nil)
        // The flags are about introductory offers.
        #expect(promotional.text("is_trial_period") == "false")
        let code = try await offer(.offerCode)
        #expect(code.text("offer_code_ref_name") == "spring" && code["promotional_offer_id"] == nil)
        let winBack = try await offer(.winBack)
        #expect(winBack["offer_code_ref_name"] == nil && winBack["promotional_offer_id"] == nil)
    }

    @Test func aRevocationIsACancellation() async throws {
        let entry = try await entry(
            Self.signed {
                $0.revocationDate = 1_712_000_000_586
                $0.revocationReason = .issueWithinApp
            }, appReceipt([month(0)]))
        #expect(entry.text("cancellation_date_ms") == "1712000000586")
        #expect(entry.text("cancellation_date") == "2024-04-01 19:33:20 Etc/GMT")
        #expect(entry.text("cancellation_reason") == "1")
        #expect(entry["is_upgraded"] == nil)
    }

    @Test func theFirstReplyUsesADocumentUnderAnotherOriginalId() async throws {
        let refund = Self.signed {
            $0.originalTransactionId = "530009999999000"
            $0.revocationDate = 1_712_000_000_586
        }
        try await StoreKind.sqlite.withStore { store in
            _ = try await store.apply([FactSet(scope: Self.scope, transactions: [refund])])
            let endpoint = try testEndpoint(store: store)
            for _ in 1...2 {
                let reply = try await endpoint.ask(body(appReceipt([month(0)])))
                #expect(reply.latest("530001234567000")?.text("cancellation_date_ms") == "1712000000586")
            }
        }
    }

    @Test func anUpgradeHasTheDateIfAReceiptStatesIt() async throws {
        let fact = Self.signed { $0.isUpgraded = true }
        let without = try await entry(fact, appReceipt([month(0)]))
        #expect(without.text("is_upgraded") == "true" && without["cancellation_date"] == nil)
        let upgraded = month(0).with {
            $0.cancellationDate = .seconds(created.adding(days: -1))
            $0.cancellationReason = 0
        }
        let with = try await entry(fact, appReceipt([upgraded]))
        #expect(with.text("is_upgraded") == "true")
        #expect(with.text("cancellation_date") == "2024-03-14 10:20:30 Etc/GMT")
        #expect(with.text("cancellation_reason") == "0")
    }

    @Test func aRefundThatWasReversedIsGone() async throws {
        let refunded = month(0).with { $0.cancellationDate = .seconds(created.adding(days: -1)) }
        let entry = try await entry(Self.signed(), appReceipt([refunded]))
        #expect(entry["cancellation_date"] == nil)
    }

    @Test func theReceiptsOwnFlagsCountAsTheyWereStated() async throws {
        let both = month(0).with {
            $0.isTrialPeriod = true
            $0.isInIntroOfferPeriod = true
        }
        let entry = try await entry(Self.signed(), appReceipt([both]))
        #expect(entry.text("is_trial_period") == "true" && entry.text("is_in_intro_offer_period") == "true")
    }

    @Test func groupTokenAndUpgradeAreNotInTheMirror() async throws {
        let fact = Self.signed {
            $0.appAccountToken = "7e57a11c-0000-4000-8000-00000000f06e"
            $0.isUpgraded = true
        }
        let reply = try await reply(
            [FactSet(scope: Self.scope, transactions: [fact])], appReceipt([month(0)]))
        let keys = Set(reply.inApp.flatMap(\.keys))
        #expect(keys.isDisjoint(with: ["subscription_group_identifier", "app_account_token", "is_upgraded"]))
    }

    // MARK: Unsigned facts

    @Test func recordedTransactionsAreShownOnlyWhereTheyAreTrusted() async throws {
        let facts = [
            FactSet(scope: Self.scope, transactions: [Self.signed("530001234569999", .recordedReply)])
        ]
        let bytes = try appReceipt([month(0)])
        #expect(try await reply(facts, bytes).latest?.count == 1)
        #expect(try await reply(facts, bytes) { $0.recordedFacts = .granting }.latest?.count == 2)
    }

    @Test func aRecordedCancellationCountsOnlyWhereTheRecordIsTrusted() async throws {
        func facts(_ source: FactSource) -> [FactSet] {
            var legacy = LegacyTransactionFields()
            legacy.cancellationDate = created.adding(days: 3).milliseconds
            let payload = Self.signed("530001234567000", source).payload
            let origin = FactOrigin(source: source, signedDate: created.adding(days: 4).milliseconds)
            return [
                FactSet(
                    scope: Self.scope, transactions: [TransactionFact(payload: payload, legacy: legacy, origin: origin)]
                )
            ]
        }
        let bytes = try appReceipt([month(0)])
        let reply = try await reply(facts(.recordedReply), bytes)
        #expect(reply.latest?.first?["cancellation_date"] == nil)
        let granting = try await self.reply(facts(.recordedReply), bytes) { $0.recordedFacts = .granting }
        #expect(granting.latest?.first?.text("cancellation_date") == "2024-03-18 10:20:30 Etc/GMT")
        // A notification of version 1 came with the shared secret.
        let notified = try await self.reply(facts(.notificationV1), bytes)
        #expect(notified.latest?.first?.text("cancellation_date") == "2024-03-18 10:20:30 Etc/GMT")
        #expect(notified.inApp.first?["cancellation_date"] == nil)
    }

    @Test func aRecordedCancellationReachesTheCopiesOfThePurchaseWhereTheRecordIsTrusted() async throws {
        let restored = nonConsumable.with {
            $0.transactionId = "530001234500009"
            $0.originalTransactionId = "530001234500001"
        }
        var legacy = LegacyTransactionFields()
        legacy.cancellationDate = created.adding(days: 3).milliseconds
        let payload = JWSTransactionDecodedPayload {
            $0.transactionId = "530001234500001"
            $0.originalTransactionId = "530001234500001"
            $0.productId = tree
        }
        let origin = FactOrigin(source: .recordedReply, signedDate: created.adding(days: 4).milliseconds)
        let fact = TransactionFact(payload: payload, legacy: legacy, origin: origin)
        let reply = try await reply(
            [FactSet(scope: Self.scope, transactions: [fact])], appReceipt([nonConsumable, restored])
        ) { $0.recordedFacts = .granting }
        let dates = reply.latest?.map { $0.text("cancellation_date") }
        #expect(dates == Array(repeating: "2024-03-18 10:20:30 Etc/GMT", count: 2))
    }

    @Test func aStrangersReceiptsDoNotFillTheStore() async throws {
        let store = MemoryStore()
        let endpoint = try testEndpoint(store: store) { $0.apps = [AppConfiguration(bundleId: "com.example.other")] }
        #expect(try await endpoint.ask(body(appReceipt([month(0)]))).status == 0)
        #expect(try await store.counts().transactions == 0)
        let ours = try testEndpoint(store: store) { $0.apps = [AppConfiguration(bundleId: bundleId)] }
        // Without a purchase nothing names the customer.
        _ = try await ours.ask(body(appReceipt()))
        #expect(try await store.counts().receipts == 0)
        _ = try await ours.ask(body(appReceipt([month(0)])))
        #expect(try await store.counts().transactions == 1)
    }

    @Test func recordedFactsFillTheGapsOfSignedTransactions() async throws {
        let fact = Self.signed("530001234567000", .notificationV1) {
            $0.appAccountToken = "7e57a11c-0000-4000-8000-00000000f06e"
        }
        let entry = try await entry(fact, appReceipt([month(0)]))
        #expect(entry.text("subscription_group_identifier") == "20662382")
        #expect(entry.text("app_account_token") == "7e57a11c-0000-4000-8000-00000000f06e")
        // The receipt's date, not that of the unsigned document.
        #expect(entry.text("expires_date") == "2024-02-15 10:20:30 Etc/GMT")
    }

    // MARK: pending_renewal_info

    static func renewal(
        _ source: FactSource = .notificationV2, _ id: String = "530001234567000", at date: Int64 = requestDate,
        _ change: (inout JWSRenewalInfoDecodedPayload) -> Void = { _ in }
    ) -> FactSet {
        var payload = JWSRenewalInfoDecodedPayload {
            $0.originalTransactionId = id
            $0.autoRenewProductId = "com.example.orchard.yearly"
            $0.productId = monthly
            $0.autoRenewStatus = .on
            $0.isInBillingRetryPeriod = false
        }
        change(&payload)
        return FactSet(
            scope: scope,
            renewalInfos: [
                RenewalInfoFact(payload: payload, origin: FactOrigin(source: source, signedDate: date))
            ])
    }

    @Test func aRenewalHasTheFourBaseKeys() async throws {
        let reply = try await reply([Self.renewal()], appReceipt([month(0)]))
        let entry = try unwrap(reply.pending?.first)
        #expect(reply.pending?.count == 1)
        #expect(
            Set(entry.keys) == ["auto_renew_product_id", "product_id", "original_transaction_id", "auto_renew_status"])
        #expect(entry.text("auto_renew_product_id") == "com.example.orchard.yearly")
        #expect(entry.text("auto_renew_status") == "1")
    }

    @Test func anExpiredRenewalShowsItsIntentAndBillingRetry() async throws {
        let facts = Self.renewal {
            $0.autoRenewStatus = .off
            $0.expirationIntent = .cancelled
        }
        let entry = try unwrap(try await reply([facts], appReceipt([month(0)])).pending?.first)
        #expect(entry.text("expiration_intent") == "1")
        #expect(entry.text("is_in_billing_retry_period") == "0")
        #expect(entry.text("auto_renew_status") == "0")
    }

    @Test func gracePeriodPriceIncreaseAndOffersAreShown() async throws {
        let facts = Self.renewal {
            $0.expirationIntent = .billingError
            $0.isInBillingRetryPeriod = true
            $0.gracePeriodExpiresDate = 1_717_243_200_000
            $0.priceIncreaseStatus = .pending
            $0.offerType = .promotional
            $0.offerIdentifier = "spring"
        }
        let entry = try unwrap(try await reply([facts], appReceipt([month(0)])).pending?.first)
        #expect(entry.text("is_in_billing_retry_period") == "1")
        #expect(entry.text("grace_period_expires_date") == "2024-06-01 12:00:00 Etc/GMT")
        #expect(entry.text("grace_period_expires_date_ms") == "1717243200000")
        #expect(entry.text("grace_period_expires_date_pst") == "2024-06-01 05:00:00 America/Los_Angeles")
        #expect(entry.text("price_consent_status") == "0" && entry.text("price_increase_status") == "0")
        #expect(entry.text("promotional_offer_id") == "spring")
        #expect(entry.members.allSatisfy { $0.value.string != nil })
        let code = Self.renewal {
            $0.offerType = .offerCode
            $0.offerIdentifier = "autumn"
        }
        let other = try unwrap(try await reply([code], appReceipt([month(0)])).pending?.first)
        #expect(other.text("offer_code_ref_name") == "autumn" && other["promotional_offer_id"] == nil)
    }

    @Test func withoutAKnownRenewalThereIsNoList() async throws {
        let reply = try await reply([], appReceipt([month(0)]))
        #expect(reply.json["pending_renewal_info"] == nil)
    }

    @Test func recordedRenewalsCountWhereTheSubscriptionIsSigned() async throws {
        let bytes = try appReceipt([month(0)])
        #expect(try await reply([Self.renewal(.recordedReply)], bytes).pending?.count == 1)
        // An unsigned subscription, joined with the customer by a recorded document.
        let unsigned = FactSet(
            scope: Self.scope, identities: [CustomerIdentity(.originalTransactionId, "530001234567000")],
            transactions: [
                Self.signed("77", .recordedReply) { $0.originalTransactionId = "77" }
            ],
            renewalInfos: Self.renewal(.recordedReply, "77").renewalInfos)
        #expect(try await reply([unsigned], bytes).pending == nil)
        #expect(try await reply([unsigned], bytes) { $0.recordedFacts = .granting }.pending?.count == 1)
    }

    // MARK: Failures

    @Test(arguments: [
        (TransactionStoreError.Code.unavailable, 21005), (.busy, 21005), (.closed, 21005), (.engine, 21005),
        (.corrupt, 21009),
    ])
    func aStoreThatCannotBeReadIsReported(_ code: TransactionStoreError.Code, _ status: Int) async throws {
        let store = FailingStore(reading: TransactionStoreError(code, "on purpose"))
        let bytes = try appReceipt([month(0)])
        let reply = try await testEndpoint(store: store).ask(body(bytes))
        #expect(reply.status == status)
        #expect(reply.reply.facts.storeFailed)
        #expect(reply.reply.facts.reason?.contains("on purpose") == true)
        let own = try await testEndpoint(store: store) { $0.whenStoreFails = .receiptOnly }.ask(body(bytes))
        #expect(own.status == 0 && own.latest?.count == 1)
        #expect(own.reply.facts.storeFailed)
        let old = try await testEndpoint(store: store).ask(
            body(transactionReceipt()), now: transactionDate.milliseconds)
        #expect(old.status == status)
    }

    @Test func aStoreThatCannotBeWrittenToChangesNoAnswer() async throws {
        let store = FailingStore(applying: TransactionStoreError(.notWritable, "on purpose"))
        let bytes = try appReceipt([month(0)])
        let reply = try await testEndpoint(store: store).ask(body(bytes))
        let expected = try await testEndpoint().ask(body(bytes))
        #expect(reply.reply.body == expected.reply.body)
        #expect(reply.reply.facts.storeFailed && reply.reply.facts.reason != nil)
    }

    @Test func aBackendFailureOfTheStoreIsReturned() async throws {
        let bytes = try appReceipt([month(0)])
        for (failure, text) in [
            (
                BackendFailure.accountNotFound,
                #"{"status":21010,"environment":"Production","is_retryable":false,"is-retryable":false}"#
            ),
            (
                .internalDataAccess(code: 21104, isRetryable: true),
                #"{"status":21104,"environment":"Production","is_retryable":true,"is-retryable":true}"#
            ),
            (
                .internalDataAccess(code: 21199, isRetryable: false),
                #"{"status":21199,"environment":"Production","is_retryable":false,"is-retryable":false}"#
            ),
            (.internalDataAccess(code: 500, isRetryable: true), #"{"status":21009,"environment":"Production"}"#),
        ] {
            let reply = try await testEndpoint(store: FailingStore(reading: failure)).ask(body(bytes))
            #expect(String(decoding: reply.reply.body, as: UTF8.self) == text)
        }
    }

    @Test func errorsOfUnknownKindAreNotQuoted() async throws {
        struct Leak: Error { var receipt = "MIIT" }
        let reply = try await testEndpoint(store: FailingStore(reading: Leak())).ask(body(appReceipt()))
        #expect(reply.status == 21005)
        #expect(reply.reply.facts.reason?.contains("MIIT") == false)
    }

    @Test func customersOfOtherAppsAndEnvironmentsAreNotMixed() async throws {
        let store = MemoryStore()
        for scope in [
            StoreScope(environment: .sandbox, bundleId: bundleId),
            StoreScope(environment: .production, bundleId: "com.example.other"),
        ] {
            _ = try await store.apply([FactSet(scope: scope, transactions: [Self.signed("530001234569999")])])
        }
        let reply = try await testEndpoint(store: store).ask(body(appReceipt([month(0)])))
        #expect(reply.latest?.count == 1)
    }
}
