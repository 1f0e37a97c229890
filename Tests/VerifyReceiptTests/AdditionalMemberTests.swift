import AppStoreModels
import ProductCatalog
import Purchases
import ReceiptForge
import ReplyComparison
import Testing
import TransactionStore
import VerifyReceipt

/// Members that Apple's endpoint does not have (`endpoint.add`).
@Suite struct AdditionalMemberTests {
    private static let names: Set<String> = [
        "term_start_date", "term_start_date_ms", "term_start_date_pst", "term_end_date", "term_end_date_ms",
        "term_end_date_pst", "seats",
    ]

    @inline(never)
    private static func catalog() throws -> ProductCatalog {
        var entry = CatalogEntry(subject: .productId("season"), source: CatalogSource(file: "test"))
        entry.type = .nonRenewingSubscription
        entry.duration = SubscriptionPeriod(iso8601: "P1W")
        return try ProductCatalog(entries: [entry])
    }

    private static func season(
        _ id: String, day: Int64, refunded: Bool = false, signed: Int64 = 0
    ) -> TransactionFact {
        let payload = JWSTransactionDecodedPayload {
            $0.originalTransactionId = id
            $0.transactionId = id
            $0.productId = "season"
            $0.purchaseDate = created.adding(days: day).milliseconds
            $0.originalPurchaseDate = created.adding(days: day).milliseconds
            $0.quantity = 1
            $0.type = .nonRenewingSubscription
            $0.inAppOwnershipType = .purchased
            $0.revocationDate = refunded ? created.adding(days: day + 1).milliseconds : nil
            $0.transactionReason = .purchase
        }
        let origin = FactOrigin(
            source: .appStoreServerAPI, signedDate: created.adding(days: 70 + signed).milliseconds)
        return TransactionFact(payload: payload, legacy: nil, origin: origin)
    }

    private static func team(_ id: String, quantity: Int32, revoked: Int32? = nil) -> TransactionFact {
        let payload = JWSTransactionDecodedPayload {
            $0.originalTransactionId = "530001234567000"
            $0.transactionId = id
            $0.productId = monthly
            $0.subscriptionGroupIdentifier = "20662382"
            $0.purchaseDate = created.adding(days: 40).milliseconds
            $0.originalPurchaseDate = created.adding(months: -2).milliseconds
            $0.expiresDate = created.adding(days: 70).milliseconds
            $0.quantity = quantity
            $0.type = .autoRenewableSubscription
            $0.inAppOwnershipType = .purchased
            $0.transactionReason = .purchase
            $0.multiSeatInfo = TransactionMultiSeatInfo { $0.revokedSeatQuantity = revoked }
            $0.additionalTransactionReason = .seatAddition
        }
        let origin = FactOrigin(source: .appStoreServerAPI, signedDate: created.adding(days: 70).milliseconds)
        return TransactionFact(payload: payload, legacy: nil, origin: origin)
    }

    /// The rows by transaction id.
    @inline(never)
    private static func rows(
        _ store: MemoryStore, _ change: @Sendable (inout EndpointConfiguration) -> Void
    ) async throws -> [String: JSONObject] {
        let catalog = try catalog()
        let endpoint = try testEndpoint(store: store) {
            $0.apps = [AppConfiguration(bundleId: bundleId, catalog: catalog)]
            change(&$0)
        }
        let reply = try await endpoint.ask(body(appReceipt([month(0)])))
        let names = reply.inApp.flatMap(\.keys)
        #expect(Self.names.isDisjoint(with: names), "in_app mirrors the receipt")
        let known = Set(FieldRules.latestInfo.rules.flatMap(\.keys))
        for row in reply.latest ?? [] { #expect(known.isSuperset(of: row.keys), "the comparison knows each member") }
        var rows: [String: JSONObject] = [:]
        for row in try #require(reply.latest) { rows[row.text("transaction_id") ?? ""] = row }
        return rows
    }

    private static func set(_ facts: [TransactionFact]) -> FactSet {
        FactSet(
            scope: StoreTests.scope, identities: [CustomerIdentity(.originalTransactionId, "530001234567000")],
            transactions: facts)
    }

    @Test func termsOfNonRenewingSubscriptionsAreAddedWhereConfigured() async throws {
        let store = MemoryStore()
        _ = try await store.apply([Self.set([Self.season("1", day: 0), Self.season("2", day: 3)])])
        func terms() async throws -> [String: [String?]] {
            try await Self.rows(store) { $0.additionalMembers.terms = true }.mapValues {
                [$0.text("term_start_date_ms"), $0.text("term_end_date_ms")]
            }
        }
        func days(_ start: Int64, _ end: Int64) -> [String?] {
            [start, end].map { String(created.adding(days: $0).milliseconds) }
        }
        var found = try await terms()
        #expect(found["1"] == days(0, 7) && found["2"] == days(7, 14))
        #expect(found["530001234567000"] == [nil, nil])
        // The refund moves the term after it.
        _ = try await store.apply([Self.set([Self.season("1", day: 0, refunded: true, signed: 1)])])
        found = try await terms()
        #expect(found["2"] == days(3, 10))
    }

    @Test func seatsOfThePeriodAreAddedWhereConfigured() async throws {
        let store = MemoryStore()
        _ = try await store.apply([
            Self.set([Self.team("530001234580000", quantity: 5, revoked: 2), Self.team("530001234590000", quantity: 3)])
        ])
        let rows = try await Self.rows(store) { $0.additionalMembers.seats = true }
        #expect(rows["530001234580000"]?.text("seats") == "6" && rows["530001234590000"]?.text("seats") == "6")
        #expect(rows["530001234580000"]?.text("quantity") == "5")
        #expect(rows["530001234567000"].map { $0["seats"] == nil } == true)
    }

    @Test func nothingIsAddedByDefault() async throws {
        let store = MemoryStore()
        _ = try await store.apply([
            Self.set([Self.season("1", day: 0), Self.team("530001234580000", quantity: 5)])
        ])
        let rows = try await Self.rows(store) { _ in }
        #expect(rows.count == 3)
        for row in rows.values { #expect(Self.names.isDisjoint(with: row.keys)) }
    }
}
