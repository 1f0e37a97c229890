import AppStoreModels
import LegacyReceipts
import Purchases
import ReceiptForge
import Testing
import TransactionStore
import VerifyReceipt

/// An upgrade whose notification contained only the new transaction (Reference.md V3.5).
@Suite struct UpgradeTests {
    private static let yearly = "com.example.orchard.premium.yearly"
    private static let start = ForgedInstant(2024, 5, 20, 9, 8, 7)

    /// Bought in January 2024, running until January 2025.
    private static var year: ForgedPurchase {
        month(0, product: yearly).with { $0.expiresDate = .seconds(created.adding(months: 10)) }
    }

    private static func upgrade(
        _ product: String = monthly, original: String = "530001234567000",
        at date: Int64 = UpgradeTests.start.milliseconds,
        until end: Int64 = UpgradeTests.start.adding(months: 1).milliseconds,
        _ change: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) -> FactSet {
        var payload = JWSTransactionDecodedPayload {
            $0.originalTransactionId = original
            $0.transactionId = "530001234570000"
            $0.bundleId = bundleId
            $0.productId = product
            $0.purchaseDate = date
            $0.originalPurchaseDate = created.adding(months: -2).milliseconds
            $0.expiresDate = end
            $0.quantity = 1
            $0.type = .autoRenewableSubscription
            $0.inAppOwnershipType = .purchased
            $0.signedDate = date + 1_000
            $0.environment = .production
            $0.transactionReason = .purchase
        }
        change(&payload)
        return FactSet(
            scope: StoreScope(environment: .production, bundleId: bundleId),
            transactions: [TransactionFact(payload, source: .notificationV2)])
    }

    @Test(arguments: StoreKind.allCases)
    func theReplyCallsTheOldPlanUpgradedAndCancelled(_ kind: StoreKind) async throws {
        let bytes = try appReceipt([Self.year])
        try await kind.withStore { store in
            for learns in [true, false] {
                let endpoint = try testEndpoint(store: store) { $0.learnsFromReceipts = learns }
                _ = try await store.apply([Self.upgrade()])
                let reply = try await endpoint.ask(body(bytes))
                let old = try #require(reply.latest("530001234567000"))
                #expect(old.text("is_upgraded") == "true" && old.text("cancellation_reason") == "0")
                #expect(old.text("cancellation_date_ms") == String(Self.start.milliseconds))
                let new = try #require(reply.latest("530001234570000"))
                #expect(new["is_upgraded"] == nil && new["cancellation_date"] == nil)
                // What was submitted is mirrored as it was signed.
                #expect(reply.inApp.first?["cancellation_date"] == nil)
            }
        }
    }

    @Test func aDowngradeAtRenewalLeavesTheOldPlanAsItWas() async throws {
        let store = MemoryStore()
        let end = created.adding(months: 10).milliseconds
        _ = try await store.apply([Self.upgrade(at: end, until: end + 1_000_000) { $0.transactionReason = .renewal }])
        let reply = try await testEndpoint(store: store).ask(body(appReceipt([Self.year])))
        #expect(reply.latest?.count == 2)
        #expect(reply.latest("530001234567000")?["is_upgraded"] == nil)
        #expect(reply.latest("530001234567000")?["cancellation_date"] == nil)
    }

    /// A receipt states neither. That it is newer than the store takes nothing from what the App Store stated.
    @Test(arguments: [true, false])
    func anUnstoredNewerReceiptKeepsTheUpgradesOfTheAppStore(_ isRenewal: Bool) async throws {
        let next = month(0).with {
            $0.transactionId = "530001234570000"
            $0.purchaseDate = .seconds(Self.start)
            $0.expiresDate = .seconds(Self.start.adding(months: 1))
            $0.webOrderLineItemId = 530_000_612_399_999
        }
        let bytes = try appReceipt([Self.year, next], at: Self.start.adding(days: 2))
        let store = MemoryStore()
        let endpoint = try testEndpoint(store: store) { $0.learnsFromReceipts = false }
        let before = try await endpoint.ask(body(bytes))
        #expect(before.latest("530001234567000")?.text("is_upgraded") == "true")
        let stated =
            isRenewal
            ? Self.upgrade { $0.transactionReason = .renewal }
            : Self.upgrade(
                Self.yearly, at: created.adding(months: -2).milliseconds,
                until: created.adding(months: 10).milliseconds
            ) {
                $0.transactionId = "530001234567000"
                $0.signedDate = Self.start.milliseconds + 5_000
            }
        _ = try await store.apply([stated])
        let reply = try await endpoint.ask(body(bytes))
        #expect(reply.latest?.count == 2)
        #expect(reply.latest("530001234567000")?["is_upgraded"] == nil)
        #expect(reply.latest("530001234567000")?["cancellation_date"] == nil)
    }

    @Test func withoutAStoreTheReceiptAloneShowsIt() async throws {
        let other = month(1).with { $0.purchaseDate = .seconds(created.adding(days: -20)) }
        let reply = try await testEndpoint().ask(body(appReceipt([Self.year, other])))
        #expect(reply.latest("530001234567000")?.text("is_upgraded") == "true")
    }

    @Test func theNewPlanAnswersForTheOldOnesTransactionReceipt() async throws {
        let now = ForgedInstant(2015, 3, 10).milliseconds
        let bytes = try transactionReceipt()
        let store = MemoryStore()
        let endpoint = try testEndpoint(store: store)
        #expect(
            try await endpoint.ask(body(bytes), now: now).json["latest_receipt_info"]?.object?
                .text("product_id") == monthly)
        let start = ForgedInstant(2015, 3, 5).milliseconds
        _ = try await store.apply([
            Self.upgrade("weekly", original: "350000535213977", at: start, until: start + 7 * 86_400_000)
        ])
        let reply = try await endpoint.ask(body(bytes), now: now)
        #expect(reply.status == 0)
        // The old plan would run for longer.
        #expect(reply.json["latest_receipt_info"]?.object?.text("product_id") == "weekly")
    }

    @Test func excludingOldTransactionsKeepsTheNewPlan() async throws {
        let store = MemoryStore()
        _ = try await store.apply([Self.upgrade()])
        let reply = try await testEndpoint(store: store).ask(
            body(appReceipt([Self.year]), #","exclude-old-transactions":true"#))
        #expect(reply.latest?.compactMap { $0.text("product_id") } == [monthly])
    }

    @Test func anUpgradeThatTheAppStoreStatesHasItsDateFromTheNewPlan() async throws {
        let store = MemoryStore()
        let stated = Self.upgrade(
            Self.yearly, at: created.adding(months: -2).milliseconds, until: created.adding(months: 10).milliseconds
        ) {
            $0.transactionId = "530001234567000"
            $0.isUpgraded = true
            $0.signedDate = Self.start.milliseconds + 5_000
        }
        _ = try await store.apply([stated])
        let endpoint = try testEndpoint(store: store)
        let bytes = try appReceipt([Self.year])
        let alone = try await endpoint.ask(body(bytes))
        // Without the new plan nothing says when.
        #expect(alone.latest("530001234567000")?.text("is_upgraded") == "true")
        #expect(alone.latest("530001234567000")?["cancellation_date"] == nil)
        _ = try await store.apply([Self.upgrade()])
        let reply = try await endpoint.ask(body(bytes))
        #expect(
            reply.latest("530001234567000")?.text("cancellation_date_ms") == String(Self.start.milliseconds))
    }
}
