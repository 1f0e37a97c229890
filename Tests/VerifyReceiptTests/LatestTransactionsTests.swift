import AppStoreModels
import LegacyReceipts
import ProductCatalog
import Purchases
import ReceiptForge
import Testing
import TransactionStore
import VerifyReceipt

/// `latest_receipt_info` and `latest_receipt` (Reference.md V3.5).
@Suite struct LatestTransactionsTests {
    private func ids(_ reply: ReadReply) -> [String] { reply.latest?.compactMap { $0.text("transaction_id") } ?? [] }

    @Test func withoutAStoreTheReceiptsOwnTransactionsAreListedNewestFirst() async throws {
        let reply = try await testEndpoint().ask(
            body(appReceipt([month(1), nonConsumable, month(2), consumable("9")])))
        #expect(ids(reply) == ["530001234569074", "530001234568037", "9", "530001234500001"])
    }

    @Test func idsAreComparedAsNumbers() async throws {
        let purchases = ["99", "100", "000000101", "9223372036854775808", "18446744073709551617"].map { consumable($0) }
        let reply = try await testEndpoint().ask(body(appReceipt(purchases)))
        #expect(ids(reply) == ["18446744073709551617", "9223372036854775808", "000000101", "100", "99"])
    }

    @Test func theListsAreThereForEveryReceiptWithAPurchase() async throws {
        let bytes = try appReceipt([nonConsumable])
        let reply = try await testEndpoint().ask(body(bytes))
        #expect(ids(reply) == ["530001234500001"])
        #expect(reply.json["latest_receipt"]?.string == base64(bytes))
        #expect(reply.json["pending_renewal_info"] == nil)
    }

    @Test func byOptionTheListsAreThereOnlyWithSubscriptions() async throws {
        let endpoint = try testEndpoint(store: MemoryStore()) { $0.latestTransactions = .withSubscriptions }
        let without = try await endpoint.ask(
            body(appReceipt([nonConsumable, consumable("9")], at: created.adding(days: -1))))
        #expect(without.keys == ["status", "environment", "receipt"])
        let with = try await endpoint.ask(body(appReceipt([nonConsumable, month(0)])))
        #expect(ids(with) == ["530001234567000", "530001234500001"])
        // Now the customer has one, and the older receipt shows it too.
        let older = try await endpoint.ask(body(appReceipt([nonConsumable], at: created.adding(days: -9))))
        #expect(ids(older) == ["530001234567000", "530001234500001"])
    }

    @Test(arguments: StoreKind.allCases)
    func anOldReceiptGetsTheRenewalsStoredSince(_ kind: StoreKind) async throws {
        let old = try appReceipt([month(0)], at: created.adding(months: -2))
        let new = try appReceipt([month(0), month(1), month(2)])
        let (first, reply) = try await kind.withStore { store in
            let endpoint = try testEndpoint(store: store)
            let first = try await endpoint.ask(body(old))
            _ = try await endpoint.ask(body(new))
            return (first, try await endpoint.ask(body(old)))
        }
        #expect(ids(first) == ["530001234567000"])
        #expect(ids(reply) == ["530001234569074", "530001234568037", "530001234567000"])
        #expect(reply.inApp.compactMap { $0.text("transaction_id") } == ["530001234567000"])
        #expect(reply.json["latest_receipt"]?.string == base64(new))
        #expect(reply.reply.facts.transactionsFromStore == 2)
        #expect(reply.reply.facts.storeNanoseconds != nil)
    }

    @Test func theSubmittedReceiptIsTheLatestWhereItIsTheNewest() async throws {
        let endpoint = try testEndpoint(store: MemoryStore())
        _ = try await endpoint.ask(body(appReceipt([month(0)], at: created.adding(months: -2))))
        let new = try appReceipt([month(0), month(1)])
        #expect(try await endpoint.ask(body(new)).json["latest_receipt"]?.string == base64(new))
    }

    @Test func newerFactsOfATransactionAreShownWithTheOlderReceipt() async throws {
        let endpoint = try testEndpoint(store: MemoryStore())
        let old = try appReceipt([month(0)], at: created.adding(months: -2))
        _ = try await endpoint.ask(
            body(appReceipt([month(0).with { $0.cancellationDate = .seconds(created.adding(days: -1)) }])))
        let reply = try await endpoint.ask(body(old))
        #expect(reply.latest?.first?.text("cancellation_date") == "2024-03-14 10:20:30 Etc/GMT")
        // What was submitted is mirrored as it was signed.
        #expect(reply.inApp.first?["cancellation_date"] == nil)
    }

    @Test func withoutStoringTheStoreIsReadAndNotWritten() async throws {
        let store = MemoryStore()
        _ = try await store.apply([VerifyReceiptEndpoint.facts(of: appReceipt([month(0), month(1)]))])
        let endpoint = try testEndpoint(store: store) { $0.learnsFromReceipts = false }
        let reply = try await endpoint.ask(body(appReceipt([month(0), month(2)], at: created.adding(days: 1))))
        #expect(ids(reply) == ["530001234569074", "530001234568037", "530001234567000"])
        #expect(try await store.counts().receipts == 1)
    }

    @Test func withoutStoringTheNewerOfReceiptAndStoreDecides() async throws {
        let cancelled = month(0).with { $0.cancellationDate = .seconds(created.adding(days: -1)) }
        for (stored, submitted, isCancelled) in [
            (cancelled, month(0), true), (month(0), cancelled, false),
        ] {
            let store = MemoryStore()
            _ = try await store.apply([VerifyReceiptEndpoint.facts(of: appReceipt([stored]))])
            let endpoint = try testEndpoint(store: store) { $0.learnsFromReceipts = false }
            let older = try await endpoint.ask(body(appReceipt([submitted], at: created.adding(days: -2))))
            #expect((older.latest?.first?["cancellation_date"] != nil) == isCancelled)
        }
        let store = MemoryStore()
        _ = try await store.apply([VerifyReceiptEndpoint.facts(of: appReceipt([month(0)]))])
        let endpoint = try testEndpoint(store: store) { $0.learnsFromReceipts = false }
        let newer = try await endpoint.ask(body(appReceipt([cancelled], at: created.adding(days: 2))))
        #expect(newer.latest?.first?["cancellation_date"] != nil)
    }

    @Test(arguments: StoreKind.allCases)
    func withoutStoringTheSubmittedReceiptIsLatestIfTheStoredOneIsOlder(_ kind: StoreKind) async throws {
        let stored = try appReceipt([month(0)], at: created)
        for (days, isStored) in [(Int64(1), false), (0, false), (-1, true)] {
            let submitted = try appReceipt([month(0), nonConsumable], at: created.adding(days: days))
            let reply = try await kind.withStore { store in
                _ = try await store.apply([VerifyReceiptEndpoint.facts(of: stored)])
                return try await testEndpoint(store: store) { $0.learnsFromReceipts = false }.ask(body(submitted))
            }
            #expect(reply.json["latest_receipt"]?.string == base64(isStored ? stored : submitted), "\(days) days")
        }
    }

    @Test func finishedConsumablesDisappear() async throws {
        let endpoint = try testEndpoint(store: MemoryStore())
        let old = try appReceipt([month(0), consumable("530001234567999")], at: created.adding(days: -2))
        _ = try await endpoint.ask(body(old))
        // The next receipt does not hold it any more, so neither does its reply.
        let next = try await endpoint.ask(body(appReceipt([month(0)])))
        #expect(ids(next) == ["530001234567000"])
        // The receipt that holds it shows it still.
        #expect(ids(try await endpoint.ask(body(old))) == ["530001234567999", "530001234567000"])
    }

    @Test(arguments: StoreKind.allCases)
    func withoutStoringTheSubmittedReceiptMayBeTheNewest(_ kind: StoreKind) async throws {
        let reply = try await kind.withStore { store in
            let known = try appReceipt([month(0), nonConsumable, consumable("530001234567999")])
            _ = try await store.apply([VerifyReceiptEndpoint.facts(of: known)])
            let endpoint = try testEndpoint(store: store) { $0.learnsFromReceipts = false }
            return try await endpoint.ask(body(appReceipt([month(0)], at: created.adding(days: 1))))
        }
        // What does not disappear is still there.
        #expect(ids(reply) == ["530001234567000", "530001234500001"])
    }

    @Test func unfinishedConsumablesOfTheNewestReceiptAreListed() async throws {
        let endpoint = try testEndpoint(store: MemoryStore())
        _ = try await endpoint.ask(body(appReceipt([month(0), consumable("530001234567999")])))
        let older = try await endpoint.ask(body(appReceipt([month(0)], at: created.adding(days: -2))))
        #expect(ids(older) == ["530001234567999", "530001234567000"])
    }

    /// Transaction receipts do not state what kind of product they are about.
    @Test func theCatalogMarksConsumablesThatDocumentsDoNot() async throws {
        let fact = TransactionFact(
            payload: JWSTransactionDecodedPayload {
                $0.originalTransactionId = "77"
                $0.transactionId = "77"
                $0.productId = "com.example.orchard.apples"
            },
            legacy: nil, origin: FactOrigin(source: .receipt, signedDate: created.milliseconds - 9))
        let facts = FactSet(
            scope: StoreScope(environment: .production, bundleId: bundleId),
            identities: [CustomerIdentity(.originalTransactionId, "530001234567000")], transactions: [fact])
        var entry = CatalogEntry(
            subject: .productId("com.example.orchard.apples"), source: CatalogSource(file: "test"))
        entry.type = .consumable
        for catalog in [nil, try ProductCatalog(entries: [entry])] {
            let store = MemoryStore()
            _ = try await store.apply([facts])
            let endpoint = try testEndpoint(store: store) {
                $0.apps = [AppConfiguration(bundleId: bundleId, catalog: catalog)]
            }
            let reply = try await endpoint.ask(body(appReceipt([month(0)])))
            #expect(ids(reply) == ["530001234567000"] + (catalog == nil ? ["77"] : []))
        }
    }

    @Test func excludingOldTransactionsLeavesOneOfEachSubscription() async throws {
        let other = ForgedPurchase(
            .autoRenewable, product: "com.example.orchard.radio", id: "530001234567500", at: created,
            originalId: "530001234567400"
        ).with { $0.expiresDate = .seconds(created.adding(months: 1)) }
        let bytes = try appReceipt([
            month(0), month(1), month(2, product: "com.example.orchard.yearly"), other, nonConsumable,
        ])
        let reply = try await testEndpoint().ask(body(bytes, #","exclude-old-transactions":true"#))
        // A change of the product within the subscription makes no other subscription.
        #expect(ids(reply) == ["530001234569074", "530001234567500", "530001234500001"])
        #expect(reply.inApp.count == 5)
        #expect(reply.json["latest_receipt"]?.string == base64(bytes))
    }

    @Test func excludingOldTransactionsKeepsThePeriodThatRuns() async throws {
        // The period with the newest id was refunded; one with an older id runs at the time of the request.
        let running = month(3).with { $0.transactionId = "220000000000001" }
        let refunded = month(4).with { $0.cancellationDate = .seconds(created.adding(days: 1)) }
        let request = { (purchases: [ForgedPurchase]) in
            body(try appReceipt(purchases), #","exclude-old-transactions":true"#)
        }
        let now = created.adding(months: 1).adding(days: 2).milliseconds
        let endpoint = try testEndpoint()
        #expect(ids(try await endpoint.ask(request([month(0), running, refunded]), now: now)) == ["220000000000001"])
        // None runs: the one that ended last, with any id.
        let late = created.adding(months: 30).milliseconds
        #expect(ids(try await endpoint.ask(request([month(0), month(1), running]), now: late)) == ["220000000000001"])
    }

    /// The upgraded year would end long after the month that took its place. Of the new product only a renewal is known, so that
    /// no transaction gives the year a cancellation date: that it was upgraded is all that ends it.
    @Test func excludingOldTransactionsDropsAnUpgradedPeriodThatEndsAfterItsSuccessor() async throws {
        func transaction(_ id: String, _ product: String, at date: ForgedInstant, months: Int64, isUpgraded: Bool)
            -> TransactionFact
        {
            var payload = JWSTransactionDecodedPayload {
                $0.originalTransactionId = "530001234567000"
                $0.transactionId = id
                $0.productId = product
                $0.subscriptionGroupIdentifier = "20662382"
                $0.purchaseDate = date.milliseconds
                $0.originalPurchaseDate = created.adding(months: -2).milliseconds
                $0.expiresDate = date.adding(months: months).milliseconds
                $0.quantity = 1
                $0.type = .autoRenewableSubscription
                $0.inAppOwnershipType = .purchased
                $0.transactionReason = .renewal
            }
            if isUpgraded { payload.isUpgraded = true }
            let origin = FactOrigin(source: .appStoreServerAPI, signedDate: created.adding(days: 50).milliseconds)
            return TransactionFact(payload: payload, legacy: nil, origin: origin)
        }
        let yearly = "com.example.orchard.premium.yearly"
        let renewed = created.adding(days: 40)
        let store = MemoryStore()
        let facts = [
            transaction("530001234570000", yearly, at: created, months: 12, isUpgraded: true),
            transaction("530001234580000", monthly, at: renewed, months: 1, isUpgraded: false),
        ]
        _ = try await store.apply([FactSet(scope: StoreTests.scope, transactions: facts)])
        let endpoint = try testEndpoint(store: store) { $0.learnsFromReceipts = false }
        let request = body(try appReceipt([month(0)]), #","exclude-old-transactions":true"#)
        let reply = try await endpoint.ask(request, now: renewed.adding(days: 2).milliseconds)
        #expect(ids(reply) == ["530001234580000"])
    }

    @Test func excludingOldTransactionsKeepsAllTransactionsOfThePeriodThatCounts() async throws {
        func transaction(_ id: String, at date: ForgedInstant, until end: ForgedInstant, isShared: Bool)
            -> TransactionFact
        {
            let payload = JWSTransactionDecodedPayload {
                $0.originalTransactionId = "530001234567000"
                $0.transactionId = id
                $0.productId = monthly
                $0.subscriptionGroupIdentifier = "20662382"
                $0.purchaseDate = date.milliseconds
                $0.originalPurchaseDate = created.adding(months: -2).milliseconds
                $0.expiresDate = end.milliseconds
                $0.quantity = 3
                $0.type = .autoRenewableSubscription
                $0.inAppOwnershipType = .purchased
                $0.transactionReason = .purchase
                $0.additionalTransactionReason = isShared ? .seatAddition : nil
            }
            let origin = FactOrigin(source: .appStoreServerAPI, signedDate: created.adding(days: 70).milliseconds)
            return TransactionFact(payload: payload, legacy: nil, origin: origin)
        }
        let (renewed, end) = (created.adding(days: 40), created.adding(days: 70))
        let store = MemoryStore()
        // The transaction that began the period was signed before the seats were added.
        let facts = [
            transaction("530001234570000", at: created.adding(days: 10), until: renewed, isShared: false),
            transaction("530001234580000", at: renewed, until: end, isShared: false),
            transaction("530001234590000", at: created.adding(days: 45), until: end, isShared: true),
        ]
        _ = try await store.apply([FactSet(scope: StoreTests.scope, transactions: facts)])
        let endpoint = try testEndpoint(store: store) { $0.learnsFromReceipts = false }
        let request = body(try appReceipt([month(0)]), #","exclude-old-transactions":true"#)
        let reply = try await endpoint.ask(request, now: created.adding(days: 50).milliseconds)
        #expect(Set(ids(reply)) == ["530001234580000", "530001234590000"])
    }

    @Test func excludingOldTransactionsDoesNothingWithoutAutoRenewables() async throws {
        let again = nonConsumable.with { $0.transactionId = "530001234500009" }
        let bytes = try appReceipt([nonConsumable, again])
        let reply = try await testEndpoint().ask(body(bytes, #","exclude-old-transactions":true"#))
        #expect(ids(reply) == ["530001234500009", "530001234500001"])
    }

    @Test func theCatalogGivesTheGroupWhereNoDocumentDoes() async throws {
        var entry = CatalogEntry(subject: .productId(monthly), source: CatalogSource(file: "test"))
        entry.subscriptionGroupIdentifier = "20662382"
        let endpoint = try testEndpoint {
            $0.apps = [AppConfiguration(bundleId: bundleId, catalog: try ProductCatalog(entries: [entry]))]
        }
        let reply = try await endpoint.ask(body(appReceipt([month(0), nonConsumable])))
        #expect(reply.latest("530001234567000")?.text("subscription_group_identifier") == "20662382")
        #expect(reply.latest("530001234500001")?["subscription_group_identifier"] == nil)
        #expect(!reply.inApp.contains { $0["subscription_group_identifier"] != nil })
    }

    /// The tables of an export have it for both products, with and without a catalog.
    @Test(arguments: [false, true])
    func aTransactionGivesTheGroupToAllProductsOfItsSubscription(_ hasCatalog: Bool) async throws {
        let payload = JWSTransactionDecodedPayload {
            $0.originalTransactionId = "530001234567000"
            $0.transactionId = "530001234580000"
            $0.productId = "com.example.orchard.premium.yearly"
            $0.subscriptionGroupIdentifier = "20662382"
            $0.purchaseDate = created.adding(days: 40).milliseconds
            $0.expiresDate = created.adding(days: 405).milliseconds
            $0.type = .autoRenewableSubscription
        }
        let origin = FactOrigin(source: .appStoreServerAPI, signedDate: created.adding(days: 50).milliseconds)
        let store = MemoryStore()
        _ = try await store.apply([
            FactSet(
                scope: StoreTests.scope,
                transactions: [TransactionFact(payload: payload, legacy: nil, origin: origin)])
        ])
        let entry = CatalogEntry(
            subject: .productId("com.example.orchard.other"), source: CatalogSource(file: "test"))
        let endpoint = try testEndpoint(store: store) {
            guard hasCatalog else { return }
            $0.apps = [AppConfiguration(bundleId: bundleId, catalog: try ProductCatalog(entries: [entry]))]
        }
        let reply = try await endpoint.ask(body(appReceipt([month(0), nonConsumable])))
        for id in ["530001234567000", "530001234580000"] {
            #expect(reply.latest(id)?.text("subscription_group_identifier") == "20662382")
        }
        #expect(reply.latest("530001234500001")?["subscription_group_identifier"] == nil)
    }
}
