import AppStoreModels
import ForgedTrust
import Foundation
import LegacyReceipts
import Purchases
import ReceiptForge
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt

/// All answers about one purchase agree with each other, and the order in which documents come changes none of them.
///
/// The customers are made from a seed. `LEGACY_RECEIPTS_AGREEMENT_CUSTOMERS` makes more of them.
@Suite struct AgreementTests {
    private static let count =
        ProcessInfo.processInfo.environment["LEGACY_RECEIPTS_AGREEMENT_CUSTOMERS"].flatMap { Int($0) } ?? 200

    /// A period of a subscription, in days.
    private struct Period {
        let id: String
        let product: String
        let start: Int64
        let end: Int64
        /// When it was refunded, or replaced by another product.
        var cancelled: Int64?
        var isUpgraded = false
    }

    private struct Story {
        var periods: [Period] = []
        var original = ""
        /// Signed receipts, the newest last, and what a notification said of single transactions.
        var receipts: [[UInt8]] = []
        var notified: [FactSet] = []
        /// Whether receipts carry the cancellation of a period that was replaced.
        var cancelsUpgraded = false
    }

    private static let start = ForgedInstant(2022, 10, 3, 4, 5, 6)
    private static let products: [(id: String, days: Int64)] = [
        ("com.example.orchard.weekly", 7), (monthly, 30), ("com.example.orchard.bimonthly", 60),
    ]

    private static func story(_ number: Int, _ generator: inout SeededGenerator) throws -> Story {
        var story = Story()
        story.cancelsUpgraded = generator.chance(50)
        let first = 600_000_000_000_000 + number * 1_000
        story.original = String(first)
        var day: Int64 = 0
        var product = Int.random(in: 0..<products.count, using: &generator)
        for place in 0..<Int.random(in: 1...8, using: &generator) {
            let length = products[product].days
            var period = Period(
                id: String(first + place * 7), product: products[product].id, start: day, end: day + length)
            let middle = day + Int64.random(in: 1..<length, using: &generator)
            if generator.chance(20) {
                period.cancelled = middle
                period.isUpgraded = true
                day = middle
                product = (product + Int.random(in: 1..<products.count, using: &generator)) % products.count
            } else if generator.chance(12) {
                period.cancelled = middle
                day = period.end + Int64.random(in: 1...30, using: &generator)
            } else {
                day = period.end
                if generator.chance(15) {
                    product = (product + Int.random(in: 1..<products.count, using: &generator)) % products.count
                }
            }
            story.periods.append(period)
        }
        // The last one is replaced by nothing.
        if let last = story.periods.indices.last, story.periods[last].isUpgraded {
            story.periods[last].isUpgraded = false
        }
        for moment in (0..<Int.random(in: 0...2, using: &generator)).map({ _ in
            Int64.random(in: 0...day, using: &generator)
        }) {
            story.receipts.append(try receipt(of: story, at: moment))
        }
        story.receipts.append(try receipt(of: story, at: day + 1))
        for period in story.periods where generator.chance(25) {
            story.notified.append(notification(of: period, story, at: day))
        }
        return story
    }

    private static func receipt(of story: Story, at day: Int64) throws -> [UInt8] {
        let known = story.periods.filter { $0.start <= day }
        let purchases = known.map { period in
            ForgedPurchase(
                .autoRenewable, product: period.product, id: period.id, at: start.adding(days: period.start),
                originalId: story.original, originallyAt: start
            ).with {
                $0.expiresDate = .seconds(start.adding(days: period.end))
                $0.webOrderLineItemId = Int64(period.id).map { $0 + 1 }
                $0.isInIntroOfferPeriod = false
                $0.ownershipType = 0
                guard let cancelled = period.cancelled, cancelled <= day else { return }
                if period.isUpgraded, !story.cancelsUpgraded { return }
                $0.cancellationDate = .seconds(start.adding(days: cancelled))
                $0.cancellationReason = 0
            }
        }
        return try appReceipt(purchases.reversed(), at: start.adding(days: day, hours: 1))
    }

    private static func notification(of period: Period, _ story: Story, at day: Int64) -> FactSet {
        let isKnown = period.cancelled.map { $0 <= day } ?? false
        let isRefunded = isKnown && !period.isUpgraded
        let payload = JWSTransactionDecodedPayload(
            originalTransactionId: story.original, transactionId: period.id, bundleId: bundleId,
            productId: period.product, purchaseDate: start.adding(days: period.start).milliseconds,
            originalPurchaseDate: start.milliseconds, expiresDate: start.adding(days: period.end).milliseconds,
            quantity: 1, type: .autoRenewableSubscription, inAppOwnershipType: .purchased,
            signedDate: start.adding(days: day).milliseconds,
            revocationReason: isRefunded ? .other : nil,
            revocationDate: isRefunded ? period.cancelled.map { start.adding(days: $0).milliseconds } : nil,
            isUpgraded: isKnown && period.isUpgraded ? true : nil, environment: .production)
        return FactSet(
            scope: StoreScope(environment: .production, bundleId: bundleId),
            transactions: [TransactionFact(payload, source: .notificationV2)])
    }

    private static func withStore(
        _ body: (SQLiteTransactionStore) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(
            path: folder.file("store.sqlite"), options: .init(durability: .normal))
        try await body(store)
        try await store.close()
    }

    private static func statements(_ story: Story, _ verifier: ReceiptVerifier) throws -> [FactSet] {
        try story.receipts.map { bytes in
            try unwrap(FactSet(try verifier.verify(ReceiptContainer(stored: bytes)), bytes: bytes))
        } + story.notified
    }

    /// What a store says of a customer at the end, without the history of how it came to know.
    private struct Told: Equatable {
        var transactions: [String: JWSTransactionDecodedPayload] = [:]
        var legacy: [String: LegacyTransactionFields] = [:]
        var ledger: [String: LedgerEntry.Event] = [:]
    }

    private static func told(of story: Story, by store: SQLiteTransactionStore, _ ledger: [LedgerEntry]) async throws
        -> Told
    {
        let scope = StoreScope(environment: .production, bundleId: bundleId)
        let identity = CustomerIdentity(.originalTransactionId, story.original)
        let customer = try unwrap(try await store.customer([identity], in: scope))
        var told = Told()
        for transaction in customer.transactions {
            let id = transaction.payload.transactionId ?? ""
            told.transactions[id] = transaction.payload
            told.legacy[id] = transaction.legacy
        }
        for entry in ledger where entry.event.isState && told.transactions[entry.transactionId] != nil {
            told.ledger[entry.transactionId] = entry.event
        }
        return told
    }

    private static func ledger(of store: SQLiteTransactionStore) async throws -> [LedgerEntry] {
        var entries: [LedgerEntry] = []
        while true {
            let next = try await store.changes(after: entries.last?.position ?? 0, limit: 10_000)
            guard !next.isEmpty else { return entries }
            entries += next
        }
    }

    @Test func storeLedgerReplyAndMappingAgreeInAnyOrder() async throws {
        var generator = SeededGenerator(seed: 12)
        let verifier = try ReceiptVerifier(trust: try forgedTrust())
        let stories = try (0..<Self.count).map { try Self.story($0, &generator) }
        let all = try stories.map { try Self.statements($0, verifier) }
        try await Self.withStore { first in
            try await Self.withStore { second in
                for statements in all { _ = try await first.apply(statements) }
                // Everybody's documents mixed, one after the other.
                for statement in all.flatMap({ $0 }).shuffled(using: &generator) {
                    _ = try await second.apply([statement])
                }
                let ledgers = (try await Self.ledger(of: first), try await Self.ledger(of: second))
                let entries = (
                    Dictionary(grouping: ledgers.0) { $0.transactionId.dropLast(3) },
                    Dictionary(grouping: ledgers.1) { $0.transactionId.dropLast(3) }
                )
                let endpoint = try testEndpoint(store: first) { $0.learnsFromReceipts = false }
                for story in stories {
                    let key = story.original.dropLast(3)
                    let told = try await Self.told(of: story, by: first, entries.0[key] ?? [])
                    let other = try await Self.told(of: story, by: second, entries.1[key] ?? [])
                    #expect(told == other, "\(story.original): the order of the documents matters")
                    Self.expectLedger(told, story)
                    try await Self.expectReply(endpoint, told, story)
                    try Self.expectMapping(verifier, story)
                }
            }
        }
    }

    /// The last entry of a transaction says what the transaction has become.
    private static func expectLedger(_ told: Told, _ story: Story) {
        for (id, payload) in told.transactions {
            let event = told.ledger[id]
            let expected: Set<LedgerEntry.Event> =
                if payload.isUpgraded == true {
                    [.upgraded]
                } else if payload.revocationDate != nil {
                    [.revoked]
                } else {
                    [.purchased, .reinstated]
                }
            #expect(event.map { expected.contains($0) } == true, "\(id): the ledger says \(String(describing: event))")
        }
        #expect(told.transactions.count == story.periods.count)
    }

    private static func expectReply(_ endpoint: VerifyReceiptEndpoint, _ told: Told, _ story: Story) async throws {
        let reply = try await endpoint.ask(body(try unwrap(story.receipts.last)))
        #expect(reply.status == 0)
        let rows = try unwrap(reply.latest)
        #expect(Set(rows.compactMap { $0.text("transaction_id") }) == Set(told.transactions.keys))
        for row in rows {
            let id = row.text("transaction_id") ?? ""
            let payload = try unwrap(told.transactions[id])
            #expect((row.text("is_upgraded") == "true") == (payload.isUpgraded == true), "\(id)")
            let cancelled = payload.revocationDate ?? told.legacy[id]?.cancellationDate
            #expect(row.text("cancellation_date_ms") == cancelled.map { String($0) }, "\(id)")
        }
    }

    /// A migration of one receipt concludes what a store does that knows nothing else.
    private static func expectMapping(_ verifier: ReceiptVerifier, _ story: Story) throws {
        for bytes in story.receipts {
            let verified = try verifier.verify(ReceiptContainer(stored: bytes))
            let mapped = ReceiptMapper().map(verified)
            let facts = try unwrap(FactSet(verified, bytes: bytes))
            let customer = try unwrap(Customer(resolving: [facts]))
            var known: [String: StoredTransaction] = [:]
            for transaction in customer.transactions { known[transaction.payload.transactionId ?? ""] = transaction }
            for transaction in mapped.transactions {
                let payload = transaction.payload
                let stored = try unwrap(known[payload.transactionId ?? ""])
                #expect(payload.isUpgraded == stored.payload.isUpgraded, "\(payload.transactionId ?? "")")
                #expect(payload.revocationDate == stored.payload.revocationDate, "\(payload.transactionId ?? "")")
                #expect(payload.revocationReason == stored.payload.revocationReason, "\(payload.transactionId ?? "")")
            }
        }
    }
}
