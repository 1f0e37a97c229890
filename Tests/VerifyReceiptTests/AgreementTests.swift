import AnswerAgreement
import AppStoreModels
import ForgedTrust
import Foundation
import LegacyReceipts
import Migration
import PostgreSQLTransactionStore
import ProductCatalog
import Purchases
import ReceiptForge
import ReplyComparison
import SQLiteTransactionStore
import Synchronization
import TestDatabase
import TestSupport
import TestTraits
import Testing
import TransactionStore
import VerifyReceipt

/// All answers about one customer agree with each other and with what was bought, and the order in which documents come changes
/// none of them.
///
/// Each customer is made from a seed of its own: `LEGACY_RECEIPTS_SEED` or 12 is that of the first, and
/// `LEGACY_RECEIPTS_AGREEMENT_CUSTOMERS` says how many there are. A failure names the seed of its customer, who can be made
/// again alone. The work is done in batches, each with stores of its own, on all processors.
@Suite(.computing) struct AgreementTests {
    private static let requestedCount = ProcessInfo.processInfo.environment["LEGACY_RECEIPTS_AGREEMENT_CUSTOMERS"]
        .flatMap { Int($0) }
    private static let count = requestedCount ?? (librariesAreOptimized ? 180 : 45)
    private static let countOnPostgreSQL = requestedCount ?? (librariesAreOptimized ? 100 : 25)
    /// The batches do not depend on the number of processors, and so neither does what is checked.
    private static let batchSize = 500
    private static let documentsPerTransaction = 100
    /// The moment of the exports, during or after the purchases.
    private static let exportDate = GeneratedCustomer.moment(150 * GeneratedCustomer.day, hours: 12)
    /// Small, because the ids of the customer's transactions contain it.
    private static let firstSeed = Int(
        (ProcessInfo.processInfo.environment["LEGACY_RECEIPTS_SEED"].flatMap { UInt64($0) } ?? 12) % 100_000_000)

    /// Every answer about a customer at the end, without the history of how a store came to know.
    private struct Answers: Equatable {
        var transactions: [String: JWSTransactionDecodedPayload] = [:]
        var legacy: [String: LegacyTransactionFields] = [:]
        var renewalInfos: [JWSRenewalInfoDecodedPayload] = []
        var ledger: [String: LedgerEntry.Event] = [:]
        var terms: [String: NonRenewingTerm] = [:]
        /// What the rules about offers and entitlements read, and nothing else: equal histories give equal conclusions.
        var history: PurchaseHistory
    }

    /// What the rules conclude about a customer, by the dates of ``moments(_:)``.
    private struct Conclusions {
        var entitlements: [[Entitlement]] = []
        var winBack: [[OfferVerdict]] = []
        var introductory: [[OfferVerdict]] = []
        var promotional: [[PromotionalCandidate]] = []

        init(_ history: PurchaseHistory, _ customer: GeneratedCustomer) {
            for now in AgreementTests.moments(customer) {
                entitlements.append(history.entitlements(at: now))
                winBack.append(Shelf.offers.map { history.eligibility(for: $0, at: now) })
                introductory.append(Shelf.offers.map { history.introductoryEligibility(group: $0.group, at: now) })
                promotional.append(history.promotionalCandidates(at: now))
            }
        }
    }

    /// A customer with all documents.
    private struct Documented {
        let customer: GeneratedCustomer
        let receipts: [Verified<LegacyReceipt>]
        /// The reply of verifyReceipt to the first receipt, if it was kept.
        let recordedReply: JSONValue?
        /// Those of the receipts first, then that of the iOS 6 receipt, then those of the recorded reply.
        let statements: [FactSet]
        /// Where the statements stand among those of all customers. Made from the customer's seed, so that a customer alone
        /// has the same order.
        let places: [UInt64]
    }

    typealias Catalogs = [Shelf.CatalogKind: ProductCatalog]

    /// Made once for many customers, because each endpoint verifies the certificate chain again. All but the first keep no
    /// receipt: they verify each request.
    private struct Endpoints {
        /// Has the store with all documents of all customers.
        let complete: VerifyReceiptEndpoint
        /// Has what ``others`` contains, and learns nothing.
        let partial: VerifyReceiptEndpoint
        let others = MemoryStore()
        /// Has no store.
        let alone: VerifyReceiptEndpoint
        /// Learns into ``learned``.
        let learning: VerifyReceiptEndpoint
        let learned = MemoryStore()
        /// Answer the plugin's validations, with the store of ``complete`` and a catalog. Their replies have the terms and seats too.
        let validating: [Shelf.CatalogKind: VerifyReceiptEndpoint]

        init(_ store: any TransactionStore, _ catalogs: Catalogs) throws {
            var validating: [Shelf.CatalogKind: VerifyReceiptEndpoint] = [:]
            for kind in Shelf.CatalogKind.allCases {
                validating[kind] = try validatingEndpoint(store: store) {
                    $0.learnsFromReceipts = false
                    $0.apps[0].catalog = catalogs[kind]
                    $0.additionalMembers.terms = true
                    $0.additionalMembers.seats = true
                }
            }
            self.validating = validating
            complete = try testEndpoint(store: store) { $0.learnsFromReceipts = false }
            partial = try testEndpoint(store: others) {
                $0.learnsFromReceipts = false
                $0.receiptCacheBytes = 0
            }
            alone = try testEndpoint { $0.receiptCacheBytes = 0 }
            learning = try testEndpoint(store: learned) { $0.receiptCacheBytes = 0 }
        }
    }

    /// What a failure says about its customer.
    private static func name(_ customer: GeneratedCustomer) -> String { name(customer.number) }
    private static func name(_ seed: Int) -> String { "LEGACY_RECEIPTS_SEED=\(seed)" }

    private static func catalogs() throws -> Catalogs {
        var catalogs: Catalogs = [:]
        for kind in Shelf.CatalogKind.allCases { catalogs[kind] = try Shelf.catalog(kind) }
        return catalogs
    }

    @Test func allAnswersAgreeInAnyOrder() async throws {
        let catalogs = try Self.catalogs()
        let verifier = try ReceiptVerifier(trust: try forgedTrust())
        let tasks = ProcessInfo.processInfo.activeProcessorCount
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<tasks {
                group.addTask {
                    for first in stride(from: task * Self.batchSize, to: Self.count, by: tasks * Self.batchSize) {
                        let folder = try TemporaryFolder()
                        let stores = try ["first", "second"].map {
                            try SQLiteTransactionStore.open(
                                path: folder.file($0), options: .init(durability: .normal))
                        }
                        try await Self.check(
                            first..<min(first + Self.batchSize, Self.count), catalogs, verifier, stores)
                        for store in stores { try await store.close() }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test(
        "All answers agree on PostgreSQL in any order",
        .enabled(if: PostgreSQLServer.shared != nil, "run the tests by 'tools/postgres.sh run swift test'"))
    func allAnswersAgreeOnPostgreSQL() async throws {
        let server = try unwrap(PostgreSQLServer.shared)
        let catalogs = try Self.catalogs()
        let verifier = try ReceiptVerifier(trust: try forgedTrust())
        for first in stride(from: 0, to: Self.countOnPostgreSQL, by: Self.batchSize) {
            let batch = first..<min(first + Self.batchSize, Self.countOnPostgreSQL)
            try await Self.withStores(on: server) { try await Self.check(batch, catalogs, verifier, $0) }
        }
    }

    /// Two new stores in schemas of their own, which are removed afterwards.
    @inline(never)
    private static func withStores(
        on server: PostgreSQLServer, _ body: ([any CompleteTransactionStore]) async throws -> Void
    ) async throws {
        let name = "agreement_" + UUID().uuidString.lowercased().filter { $0 != "-" }
        let schemas = ["\(name)_1", "\(name)_2"]
        defer {
            for schema in schemas {
                _ = try? server.sql("SET client_min_messages TO error; DROP SCHEMA IF EXISTS \(schema) CASCADE")
            }
        }
        var stores: [any CompleteTransactionStore] = []
        for schema in schemas {
            stores.append(
                try await PostgreSQLTransactionStore.open(
                    url: server.url,
                    options: .init(
                        schema: schema, maximumConnections: 4, statementTimeout: 120, lockTimeout: 120,
                        connectionTimeout: 120)))
        }
        try await body(stores)
        for store in stores { try await store.close() }
    }

    /// - Parameters:
    ///   - batch: the places of the customers.
    ///   - catalogs: the catalogs of the customers.
    ///   - verifier: verifies the receipts.
    ///   - stores: two empty stores of one engine.
    @inline(never)
    private static func check(
        _ batch: Range<Int>, _ catalogs: Catalogs, _ verifier: ReceiptVerifier, _ stores: [any CompleteTransactionStore]
    ) async throws {
        let folder = try TemporaryFolder()
        let endpoints = try Endpoints(stores[0], catalogs)
        var all: [Documented] = []
        for number in batch {
            let seed = firstSeed + number
            do {
                all.append(try await documented(seed, verifier, endpoints))
            } catch {
                Issue.record(error, "\(name(seed))")
            }
        }
        // Many documents share a transaction of the store. SQLite still takes them one after the other.
        _ = try await stores[0].apply(all.flatMap(\.statements))
        let mixed = all.flatMap { Array(zip($0.places, $0.statements)) }.sorted { $0.0 < $1.0 }.map { $0.1 }
        for start in stride(from: 0, to: mixed.count, by: documentsPerTransaction) {
            _ = try await stores[1].apply(Array(mixed[start..<min(start + documentsPerTransaction, mixed.count)]))
        }
        let ledgers = (try await ledger(of: stores[0]), try await ledger(of: stores[1]))
        let exported = try await ExportedRows(
            stores[0], catalog: catalogs[.whole], date: exportDate, in: folder.url.appending(path: "tables"))
        try await expectReport(stores[0], all.map(\.customer), catalogs[.whole])
        try await expectStream(all, try unwrap(catalogs[.whole]), in: folder)
        for documented in all {
            let key = documented.customer.key
            do {
                try await check(
                    documented, stores, (ledgers.0[key] ?? [], ledgers.1[key] ?? []),
                    catalogs[documented.customer.catalogKind], endpoints, exported)
            } catch {
                Issue.record(error, "\(name(documented.customer))")
            }
        }
    }

    @inline(never)
    private static func check(
        _ documented: Documented, _ stores: [any CompleteTransactionStore],
        _ ledgers: (first: [LedgerEntry], second: [LedgerEntry]), _ catalog: ProductCatalog?, _ endpoints: Endpoints,
        _ exported: ExportedRows
    ) async throws {
        let customer = documented.customer
        let identity = CustomerIdentity(.originalTransactionId, customer.purchases.first?.original ?? "")
        let stored = try unwrap(try await stores[0].customer([identity], in: Shelf.scope))
        let other = try unwrap(try await stores[1].customer([identity], in: Shelf.scope))
        let answers = answers(stored, ledgers.first, catalog)
        #expect(
            answers == Self.answers(other, ledgers.second, catalog),
            "\(name(customer)): the order of the documents matters")
        let documents = connected(documented.statements.reversed(), to: identity)
        let resolved = try unwrap(Customer(resolving: documents))
        #expect(
            answers == Self.answers(resolved, ledgers.first, catalog),
            "\(name(customer)): the store and the statements alone differ")
        let added = documents.dropFirst().reduce(Customer(resolving: Array(documents.prefix(1)))) { $0?.adding($1) }
        #expect(
            answers == Self.answers(try unwrap(added), ledgers.first, catalog),
            "\(name(customer)): adding the documents one by one differs")
        let conclusions = Conclusions(answers.history, customer)
        expectPurchases(answers, conclusions, customer)
        expectLedger(answers, customer)
        expectAmounts(stored, answers, customer)
        expectOffers(answers, conclusions, customer)
        expectWinBackOrder(stored, catalog, customer)
        try expectExport(exported, stored, answers, customer)
        try await expectReply(endpoints, stored, answers, customer)
        let validating = try unwrap(endpoints.validating[customer.catalogKind])
        try await expectAdditionalMembers(validating, answers, customer)
        try await expectValidations(validating, answers, conclusions, customer)
        try await expectOldReply(endpoints.complete, customer)
        try await expectUnlearnedReplies(endpoints, documented)
        try expectMapping(documented, catalog)
    }

    /// The statements of all documents; some receipts were answered by verifyReceipt, and the reply was kept.
    @inline(never)
    private static func documented(
        _ seed: Int, _ verifier: ReceiptVerifier, _ endpoints: Endpoints
    ) async throws -> Documented {
        var generator = SeededGenerator(seed: UInt64(seed))
        let customer = try GeneratedCustomer(seed, &generator)
        let receipts = try customer.receipts.map { try verifier.verify(ReceiptContainer(stored: $0)) }
        var statements = try zip(receipts, customer.receipts).map { verified, bytes in
            try unwrap(FactSet(verified, bytes: bytes))
        }
        var recordedReply: JSONValue?
        if customer.number % 5 == 0, let receipt = customer.receipts.first {
            let reply = try await endpoints.alone.ask(body(receipt), now: GeneratedCustomer.moment(customer.today))
            statements += [FactSet](recorded: ReceiptMapper().map(try RecordedReply(json: reply.reply.body)))
            recordedReply = reply.json
        }
        if let old = customer.oldReceipt {
            let verified = try verifier.verify(ReceiptContainer(stored: old.bytes))
            statements.insert(try unwrap(FactSet(verified, bytes: old.bytes)), at: receipts.count)
        }
        statements += customer.notified
        return Documented(
            customer: customer, receipts: receipts, recordedReply: recordedReply, statements: statements,
            places: statements.map { _ in generator.next() })
    }

    /// Without the statements that share no identity with the others: a consumable that only a notification states.
    private static func connected(_ statements: [FactSet], to identity: CustomerIdentity) -> [FactSet] {
        var identities: Set = [identity]
        while let more = statements.first(where: {
            !identities.isDisjoint(with: $0.identities) && !identities.isSuperset(of: $0.identities)
        }) {
            identities.formUnion(more.identities)
        }
        return statements.filter { !identities.isDisjoint(with: $0.identities) }
    }

    /// By customer, in order.
    @inline(never)
    private static func ledger(of store: any DeliveryLedger) async throws -> [Substring: [LedgerEntry]] {
        var entries: [LedgerEntry] = []
        while true {
            let next = try await store.changes(after: entries.last?.position ?? 0, limit: 10_000)
            guard !next.isEmpty else { return Dictionary(grouping: entries) { $0.transactionId.dropLast(3) } }
            entries += next
        }
    }

    /// During the purchases, now, and later.
    private static func moments(_ customer: GeneratedCustomer) -> [Int64] {
        let (today, day) = (customer.today, GeneratedCustomer.day)
        return [today / 2, today, today + 10 * day, today + 70 * day].map { GeneratedCustomer.moment($0, hours: 12) }
    }

    private static func answers(
        _ stored: Customer, _ ledger: [LedgerEntry], _ catalog: ProductCatalog?
    ) -> Answers {
        var answers = Answers(history: stored.purchaseHistory(catalog: catalog))
        for transaction in stored.transactions {
            let id = transaction.payload.transactionId ?? ""
            answers.transactions[id] = transaction.payload
            answers.legacy[id] = transaction.legacy
        }
        answers.renewalInfos = stored.renewalInfos.map(\.payload)
        for entry in ledger where entry.event.isState && answers.transactions[entry.transactionId] != nil {
            answers.ledger[entry.transactionId] = entry.event == .reinstated ? .purchased : entry.event
        }
        answers.terms = catalog.map { stored.nonRenewingTerms($0) } ?? [:]
        return answers
    }

    // MARK: What was bought

    /// Transactions, terms and entitlements are what was bought.
    private static func expectPurchases(
        _ answers: Answers, _ conclusions: Conclusions, _ customer: GeneratedCustomer
    ) {
        let consumables = Set(customer.purchases.filter { $0.item.type == .consumable }.map(\.id))
        let bought = Set(customer.purchases.map(\.id))
        #expect(Set(answers.transactions.keys).union(consumables) == bought, "\(name(customer))")
        for purchase in customer.purchases {
            guard let payload = answers.transactions[purchase.id] else { continue }
            let isCancelled = purchase.isCancelled(at: customer.today)
            #expect(
                (payload.isUpgraded == true) == (isCancelled && purchase.isUpgraded),
                "\(name(customer)): \(purchase.id)")
            guard purchase.item.type != .consumable else { continue }
            // A signed refund of an upgraded period stays beside the upgrade.
            let isRefunded = isCancelled && !purchase.isUpgraded || purchase.upgradeRefund != nil
            #expect((payload.revocationDate != nil) == isRefunded, "\(name(customer)): \(purchase.id)")
            guard let refund = purchase.upgradeRefund else { continue }
            #expect(payload.revocationType == refund.type, "\(name(customer)): \(purchase.id)")
            let difference = (payload.revocationDate ?? 0) - GeneratedCustomer.moment(refund.date)
            #expect(abs(difference) < 1_000, "\(name(customer)): \(purchase.id)")
        }
        expectTerms(answers, customer)
        expectSeats(answers, customer)
        for (now, entitlements) in zip(moments(customer), conclusions.entitlements) {
            for entitlement in entitlements { expect(entitlement, customer, at: now) }
            let listed = Set(entitlements.flatMap { $0.subscriptions.compactMap(\.originalTransactionId) })
            let begun = customer.purchases.filter { $0.end != nil && GeneratedCustomer.moment($0.start) <= now }
            #expect(listed == Set(begun.map(\.original)), "\(name(customer))")
        }
    }

    /// The seats of a period are those of all its transactions, less the refunded ones.
    private static func expectSeats(_ answers: Answers, _ customer: GeneratedCustomer) {
        let team = customer.purchases.filter { $0.seats != nil }
        let seats = answers.history.seats
        #expect(Set(seats.keys) == Set(team.map(\.id)), "\(name(customer))")
        for purchase in team {
            let expected = team.filter { $0.end == purchase.end }.map { $0.remainingSeats(at: customer.today) }.reduce(
                0, +)
            #expect(seats[purchase.id] == expected, "\(name(customer)): \(purchase.id)")
        }
    }

    private static func expect(_ entitlement: Entitlement, _ customer: GeneratedCustomer, at now: Int64) {
        guard entitlement.type != .autoRenewableSubscription else {
            for standing in entitlement.subscriptions {
                let runs = customer.purchases.contains {
                    $0.original == standing.originalTransactionId && isRunning($0, at: now)
                }
                #expect((standing.status == .active) == runs, "\(name(customer)): \(standing)")
            }
            #expect(
                entitlement.hasAccess == entitlement.subscriptions.contains(where: \.hasAccess), "\(name(customer))")
            return
        }
        let purchases = customer.purchases.filter { $0.item.id == entitlement.productId && $0.start == $0.known }
        if entitlement.type == .nonConsumable {
            let owns = purchases.contains { isRunning($0, at: now) }
            #expect(entitlement.hasAccess == owns, "\(name(customer)): \(entitlement)")
        } else {
            let terms = terms(customer)
            let runs = purchases.compactMap { terms[$0.id] }.contains { $0.lowerBound <= now && now < $0.upperBound }
            #expect(entitlement.hasAccess == runs, "\(name(customer)): \(entitlement)")
        }
    }

    private static func isRunning(_ purchase: GeneratedCustomer.Purchase, at now: Int64) -> Bool {
        GeneratedCustomer.moment(purchase.start) <= now
            && purchase.accessEnds.map { now < GeneratedCustomer.moment($0) } ?? true
    }

    /// The terms of non-renewing subscriptions: each begins at its purchase or at the end of the one before, and what was refunded
    /// extends nothing. A copy has the term of its purchase. Without lengths there are none.
    private static func terms(_ customer: GeneratedCustomer) -> [String: Range<Int64>] {
        customer.catalogKind.hasLengths ? termsWithLengths(customer.purchases) : [:]
    }

    private static func termsWithLengths(_ purchases: [GeneratedCustomer.Purchase]) -> [String: Range<Int64>] {
        let length = Shelf.season.days * GeneratedCustomer.day
        func range(_ start: Int64, _ end: Int64) -> Range<Int64> {
            GeneratedCustomer.moment(start)..<GeneratedCustomer.moment(end)
        }
        var last = Int64.min
        var terms: [String: Range<Int64>] = [:]
        let seasons = purchases.filter { $0.item == Shelf.season }
        for purchase in seasons.filter({ $0.id == $0.original }).sorted(by: { $0.start < $1.start }) {
            if purchase.reversed == nil, let cancelled = purchase.cancelled {
                terms[purchase.id] = range(purchase.start, min(cancelled, purchase.start + length))
            } else {
                let start = max(purchase.start, last)
                last = start + length
                terms[purchase.id] = range(start, last)
            }
        }
        for copy in seasons where copy.id != copy.original { terms[copy.id] = terms[copy.original] }
        return terms
    }

    private static func expectTerms(_ answers: Answers, _ customer: GeneratedCustomer) {
        let expected = terms(customer)
        #expect(Set(answers.terms.keys) == Set(expected.keys), "\(name(customer))")
        for (id, term) in answers.terms where term.revocationDate == nil {
            // Signed transactions have milliseconds, receipts do not.
            let (start, end) = (expected[id]?.lowerBound ?? 0, expected[id]?.upperBound ?? 0)
            #expect(abs(term.start - start) < 1_000, "\(name(customer)): \(id)")
            #expect(abs((term.end ?? 0) - end) < 1_000, "\(name(customer)): \(id)")
        }
    }

    // MARK: Answers

    /// The last entry of a transaction says what the transaction has become.
    private static func expectLedger(_ answers: Answers, _ customer: GeneratedCustomer) {
        for (id, payload) in answers.transactions {
            let expected: LedgerEntry.Event =
                payload.isUpgraded == true ? .upgraded : payload.revocationDate != nil ? .revoked : .purchased
            #expect(
                answers.ledger[id] == expected,
                "\(name(customer)): \(id): the ledger says \(String(describing: answers.ledger[id]))")
        }
    }

    /// What the customer paid and got back, which an answer to a consumption request contains. Copies were paid once. A refund
    /// after an upgrade counts if its type is stated.
    private static func expectAmounts(_ stored: Customer, _ answers: Answers, _ customer: GeneratedCustomer) {
        var (purchased, refunded): (Int64, Int64) = (0, 0)
        var seen: [GeneratedCustomer.Purchase] = []
        for purchase in customer.purchases where purchase.item.type != .consumable {
            guard !purchase.isShared, !purchase.isAssigned, let price = answers.transactions[purchase.id]?.price,
                !seen.contains(where: { purchase.isCopy(of: $0) })
            else { continue }
            seen.append(purchase)
            purchased += price * Int64(purchase.seats ?? 1)
            if purchase.isCancelled(at: customer.today), !purchase.isUpgraded {
                refunded += price * Int64(purchase.seats ?? 1)
            } else if let refund = customer.countedRefund(ofUpgraded: purchase) {
                refunded += price * Int64(refund.percentage) / 100_000
            } else {
                refunded += price * Int64(purchase.refundedSeats?.count ?? 0)
            }
        }
        let counted = stored.transactions.filter { $0.payload.productId != Shelf.apples.id }
        let amounts = LifetimeAmounts(counted.onePerPurchase(nil).map(\.payload))
        #expect(amounts.purchased["USD"] ?? 0 == purchased, "\(name(customer))")
        #expect(amounts.refunded["USD"] ?? 0 == refunded, "\(name(customer))")
    }

    /// The tables of an export say what the other answers say.
    @inline(never)
    private static func expectExport(
        _ exported: ExportedRows, _ stored: Customer, _ answers: Answers, _ customer: GeneratedCustomer
    ) throws {
        let transactions = Dictionary(
            exported.of(stored, in: "transactions").map { ($0.text("transactionId") ?? "", $0) },
            uniquingKeysWith: { first, _ in first })
        for (id, payload) in answers.transactions {
            let row = try unwrap(transactions[id])
            #expect(row["expiresDate"]?.integer == payload.expiresDate, "\(name(customer)): \(id)")
            #expect(row["revocationDate"]?.integer == payload.revocationDate, "\(name(customer)): \(id)")
            #expect(row["isUpgraded"]?.bool == payload.isUpgraded, "\(name(customer)): \(id)")
        }
        let now = exportDate
        let subscriptions = exported.of(stored, in: "subscriptions")
        let begun = customer.purchases.filter { $0.end != nil && GeneratedCustomer.moment($0.start) <= now }
        #expect(
            Set(subscriptions.compactMap { $0.text("originalTransactionId") }) == Set(begun.map(\.original)),
            "\(name(customer))")
        for row in subscriptions {
            let runs = begun.contains { $0.original == row.text("originalTransactionId") && isRunning($0, at: now) }
            #expect((row.text("status") == "active") == runs, "\(name(customer)): \(row)")
        }
        #expect(exported.disagreements(about: stored) == [], "\(name(customer))")
    }

    /// What the report about all customers counts is what they bought.
    ///
    /// Its entitlements and access are counted from what the customers bought, and from the grace periods in the store. Its refunds
    /// are not those of the answers to consumption requests (Documentation/Report.md): it counts purchases that are no
    /// longer shared or assigned, and no purchase of which only some seats were refunded.
    @inline(never)
    private static func expectReport(
        _ store: any CompleteTransactionStore, _ customers: [GeneratedCustomer], _ catalog: ProductCatalog?
    ) async throws {
        // What is known of consumables and assignments depends on the documents. A consumable can be a customer of its own.
        var apples: [JWSTransactionDecodedPayload] = []
        var assigned: Set<String> = []
        // Until when a grace period grants access, by subscription. The purchases do not show what documents state of it.
        var graces: [String: Int64] = [:]
        var (count, refundsOfConsumption) = (0, 0)
        try await store.forEachCustomer(in: Shelf.scope) { customer in
            count += 1
            refundsOfConsumption += customer.lifetimeAmounts(catalog: catalog).refunds
            for payload in customer.transactions.map(\.payload) {
                if payload.productId == Shelf.apples.id { apples.append(payload) }
                if payload.inAppOwnershipType == .assigned { assigned.insert(payload.originalTransactionId ?? "") }
            }
            for info in customer.renewalInfos.map(\.payload) {
                graces[info.originalTransactionId ?? ""] = info.gracePeriodExpiresDate
            }
        }
        var transactions: [String: Int] = [:]
        if !apples.isEmpty { transactions[Shelf.apples.id] = apples.count }
        var refundsByYear: [String: Int] = [:]
        for date in apples.compactMap(\.revocationDate) { refundsByYear[year(date), default: 0] += 1 }
        var ownRefunds = refundsByYear.values.reduce(0, +)
        var (subscriptions, active, trials, paidTrials, terms, running) = (0, 0, 0, 0, 0, 0)
        var (entitlements, withAccess) = (0, 0)
        for customer in customers {
            let today = customer.today
            func refundDate(_ purchase: GeneratedCustomer.Purchase) -> Int64? {
                purchase.isCancelled(at: today) && !purchase.isUpgraded
                    ? purchase.cancelled : customer.countedRefund(ofUpgraded: purchase)?.date
            }
            func isRefunded(_ purchase: GeneratedCustomer.Purchase) -> Bool { refundDate(purchase) != nil }
            let purchases = customer.purchases.filter { $0.item.type != .consumable }
            var seen: [GeneratedCustomer.Purchase] = []
            for purchase in purchases {
                transactions[purchase.item.id, default: 0] += 1
                guard !seen.contains(where: { purchase.isCopy(of: $0) }) else { continue }
                seen.append(purchase)
                if let date = refundDate(purchase) {
                    refundsByYear[year(GeneratedCustomer.moment(date)), default: 0] += 1
                }
                if !purchase.isShared, !assigned.contains(purchase.original),
                    isRefunded(purchase) || purchase.refundedSeats != nil
                {
                    ownRefunds += 1
                }
            }
            let begun = purchases.filter { $0.end != nil && GeneratedCustomer.moment($0.start) <= exportDate }
            let originals = Set(begun.map(\.original))
            subscriptions += originals.count
            active += Set(begun.filter { isRunning($0, at: exportDate) }.map(\.original)).count
            for original in originals {
                let valid = purchases.filter { $0.original == original && !isRefunded($0) }
                guard let trial = valid.first(where: \.isTrial) else { continue }
                trials += 1
                if valid.contains(where: { !$0.isTrial && $0.start > trial.start }) { paidTrials += 1 }
            }
            let ranges = termsWithLengths(purchases).values
            terms += ranges.count
            running += ranges.count { $0.contains(exportDate) }
            // One for each group, for the product of the terms, and for the product that lasts.
            let single = purchases.filter { $0.end == nil && GeneratedCustomer.moment($0.originalStart) <= exportDate }
            entitlements += Set(begun.map(\.item.group)).count + Set(single.map(\.item)).count
            let isInGracePeriod = originals.contains { original in
                let ends = purchases.filter { $0.original == original }.compactMap(\.accessEnds)
                let last = GeneratedCustomer.moment(ends.max() ?? 0)
                return last <= exportDate && exportDate < graces[original] ?? 0
            }
            let lasting = begun + purchases.filter { $0.item == Shelf.unlock }
            let isLasting = lasting.contains { isRunning($0, at: exportDate) }
            if isLasting || isInGracePeriod || ranges.contains(where: { $0.contains(exportDate) }) { withAccess += 1 }
        }
        let report = try await StoreReport(store, catalog: catalog, date: exportDate)
        let first = customers.first.map { name($0) } ?? ""
        let place = "the report about \(customers.count) customers from \(first)"
        #expect(report.customers == count, "\(place)")
        #expect(report.transactionsByProduct == transactions, "\(place)")
        #expect(report.entitlements == entitlements, "\(place)")
        #expect(report.customersWithAccess == withAccess, "\(place)")
        #expect(report.refundsByYear == refundsByYear, "\(place)")
        #expect(refundsOfConsumption == ownRefunds, "\(place)")
        #expect(report.subscriptions == subscriptions, "\(place)")
        #expect(report.subscriptionsByStatus["active"] ?? 0 == active, "\(place)")
        #expect(report.months.reduce(0) { $0 + $1.started } == subscriptions, "\(place)")
        #expect(report.trials == trials && report.trialsPaid == paidTrials, "\(place)")
        let seasons = report.terms.filter { $0.productId == Shelf.season.id }
        #expect(report.terms.count == seasons.count, "\(place)")
        #expect(seasons.reduce(0) { $0 + $1.terms } == terms, "\(place)")
        #expect(seasons.reduce(0) { $0 + $1.running } == running, "\(place)")
    }

    /// The year of a date in UTC.
    private static func year(_ milliseconds: Int64) -> String {
        String(Date(timeIntervalSince1970: Double(milliseconds) / 1_000).formatted(.iso8601).prefix(4))
    }

    /// No offer contradicts the status of the customer's own subscription.
    private static func expectOffers(_ answers: Answers, _ conclusions: Conclusions, _ customer: GeneratedCustomer) {
        // Receipts do not state that a purchase was assigned.
        let transactions = answers.transactions.values.filter { $0.inAppOwnershipType == .assigned }
        let assigned = Set(transactions.compactMap(\.originalTransactionId))
        for place in conclusions.entitlements.indices {
            for (index, offer) in Shelf.offers.enumerated() {
                let entitlement = conclusions.entitlements[place].first { $0.group == offer.group }
                let own =
                    entitlement?.subscriptions.filter {
                        !$0.isFamilyShared && !assigned.contains($0.originalTransactionId ?? "")
                    } ?? []
                let hasAccess = own.contains(where: \.hasAccess)
                let isUnpaid = own.contains { $0.status == .billingGracePeriod || $0.status == .billingRetry }
                for verdict in [conclusions.winBack[place][index], conclusions.introductory[place][index]] {
                    let lapsed = verdict.reasons.first { $0.rule == .lapsed }
                    #expect((lapsed == nil) == own.isEmpty, "\(name(customer))")
                    #expect((lapsed?.outcome == .failed) == (hasAccess || isUnpaid), "\(name(customer)): \(verdict)")
                    if verdict.eligibility == .eligible { #expect(!hasAccess && !isUnpaid, "\(name(customer))") }
                }
                let bought = customer.purchases.filter { $0.item.group == offer.group && !$0.isShared }
                let isSubscribed = bought.contains { isRunning($0, at: moments(customer)[place]) }
                for verdict in [conclusions.winBack[place][index], conclusions.introductory[place][index]]
                where isSubscribed {
                    #expect(verdict.eligibility != .eligible, "\(name(customer)): \(verdict)")
                }
                let trials = Set(bought.filter(\.isTrial).map(\.original))
                if !trials.isDisjoint(with: assigned) {
                    #expect(conclusions.introductory[place][index].eligibility != .eligible, "\(name(customer))")
                } else if !trials.isEmpty {
                    let verdict = conclusions.introductory[place][index]
                    // Without a catalog, documents can leave the group unknown.
                    let placed = conclusions.entitlements.last?.first { $0.group == offer.group }?.subscriptions ?? []
                    let isPlaced = placed.contains { trials.contains($0.originalTransactionId ?? "") }
                    #expect(
                        isPlaced ? verdict.eligibility == .notEligible : verdict.eligibility != .eligible,
                        "\(name(customer)): \(verdict)")
                }
                let candidate = conclusions.promotional[place].first { $0.group == offer.group }
                #expect((candidate == nil) == own.isEmpty, "\(name(customer))")
                switch candidate?.situation {
                case .autoRenewOff?, .renewing?: #expect(own.contains { $0.status == .active }, "\(name(customer))")
                case .billingRetry?: #expect(isUnpaid, "\(name(customer))")
                case .lapsed?, .revoked?: #expect(!hasAccess && !isUnpaid, "\(name(customer))")
                case .unknown?, nil: break
                }
            }
        }
    }

    /// The win-back offers of a group come in the order of Documentation/Offers.md: high priority, then those of the product that
    /// the customer bought last, then the identifiers.
    private static func expectWinBackOrder(
        _ stored: Customer, _ catalog: ProductCatalog?, _ customer: GeneratedCustomer
    ) {
        // Most subscriptions have ended, and are no longer retried.
        let now = moments(customer)[3]
        let history = stored.purchaseHistory(catalog: catalog, currentThrough: now)
        for plans in [Shelf.plans, Shelf.otherPlans] {
            let offers = Shelf.rankedOffers(plans)
            let listed = history.eligibleWinBackOffers(offers, at: now).map(\.offerIdentifier)
            // All have the same conditions, so the customer is eligible for all or for none.
            guard !listed.isEmpty else { continue }
            let bought = customer.purchases.filter { plans.contains($0.item) && !$0.isShared }
            let last = bought.max { $0.accessEnds ?? 0 < $1.accessEnds ?? 0 }?.item.id
            let ofLast = offers.filter { $0.productId != nil && $0.productId == last }.map(\.offerIdentifier)
            let rest = Set(offers.map(\.offerIdentifier)).subtracting(ofLast + ["urgent"]).sorted()
            #expect(ofLast.count == 1, "\(name(customer))")
            #expect(listed == ["urgent"] + ofLast + rest, "\(name(customer))")
        }
    }

    /// The reply lists the transactions as the store resolves them, and a client that reads it grants what the entitlements say.
    @inline(never)
    private static func expectReply(
        _ endpoints: Endpoints, _ stored: Customer, _ answers: Answers, _ customer: GeneratedCustomer
    ) async throws {
        let receipt = body(try unwrap(customer.receipts.last))
        for now in moments(customer)[1...2] {
            let reply = try await endpoints.complete.ask(receipt, now: now)
            #expect(reply.status == 0, "\(name(customer))")
            let rows = reply.latest ?? []
            #expect(reply.latest != nil || customer.purchases.allSatisfy { $0.end == nil }, "\(name(customer))")
            // A finished consumable is in no newer receipt.
            let finished = Set(
                customer.purchases.filter {
                    $0.item.type == .consumable && customer.today >= $0.start + Shelf.shelfLife
                }.map(\.id))
            #expect(
                Set(rows.compactMap { $0.text("transaction_id") })
                    == Set(answers.transactions.keys).subtracting(finished), "\(name(customer))")
            for row in rows {
                let id = row.text("transaction_id") ?? ""
                let payload = try unwrap(answers.transactions[id])
                #expect((row.text("is_upgraded") == "true") == (payload.isUpgraded == true), "\(name(customer)): \(id)")
                let cancelled = payload.revocationDate ?? answers.legacy[id]?.cancellationDate
                #expect(row.text("cancellation_date_ms") == cancelled.map { String($0) }, "\(name(customer)): \(id)")
            }
            try expectGrants(reply, stored, customer, at: now)
            try await expectCurrentRows(endpoints.complete, reply, customer, at: now)
            guard now == moments(customer)[1] else { continue }
            let bytes = reply.reply.body
            let comparison = try ReplyComparison(apples: bytes, ours: bytes, context: ComparisonContext(now: now))
            #expect(comparison.isIdentical, "\(name(customer))")
            #expect(comparison.entitlement.obstacle == nil && !comparison.entitlement.isDifferent, "\(name(customer))")
            let oldest = body(try unwrap(customer.receipts.first))
            try expectComparison(reply, try await endpoints.alone.ask(oldest, now: now), customer, at: now)
        }
    }

    /// The rows have the terms and the seats that the ledger and the entitlements have.
    @inline(never)
    private static func expectAdditionalMembers(
        _ endpoint: VerifyReceiptEndpoint, _ answers: Answers, _ customer: GeneratedCustomer
    ) async throws {
        let now = GeneratedCustomer.moment(customer.today, hours: 12)
        let reply = try await endpoint.ask(body(try unwrap(customer.receipts.last)), now: now)
        #expect(reply.status == 0, "\(name(customer))")
        let seats = answers.history.seats
        for row in reply.latest ?? [] {
            let id = row.text("transaction_id") ?? ""
            let term = answers.terms[id]
            #expect(row.text("term_start_date_ms") == term.map { String($0.start) }, "\(name(customer)): \(id)")
            #expect(
                row.text("term_end_date_ms") == term.flatMap(\.end).map { String($0) }, "\(name(customer)): \(id)")
            #expect(row.text("seats") == seats[id].map { String($0) }, "\(name(customer)): \(id)")
        }
    }

    /// With `exclude-old-transactions`, the reply has at least one row of each subscription and every other row, and grants the same
    /// purchases.
    @inline(never)
    private static func expectCurrentRows(
        _ endpoint: VerifyReceiptEndpoint, _ whole: ReadReply, _ customer: GeneratedCustomer, at now: Int64
    ) async throws {
        let request = body(try unwrap(customer.receipts.last), #","exclude-old-transactions":true"#)
        let current = try await endpoint.ask(request, now: now)
        func ids(_ reply: ReadReply, _ key: String) -> Set<String> {
            Set((reply.latest ?? []).compactMap { $0.text(key) })
        }
        let (left, all) = (ids(current, "transaction_id"), ids(whole, "transaction_id"))
        let periods = Set(customer.purchases.filter { $0.end != nil }.map(\.id))
        #expect(left.isSubset(of: all) && left.isSuperset(of: all.subtracting(periods)), "\(name(customer)) at \(now)")
        #expect(
            ids(current, "original_transaction_id") == ids(whole, "original_transaction_id"),
            "\(name(customer)) at \(now)")
        let hidden = hiddenPeriods(customer)
        func granted(_ reply: ReadReply, withHidden: Bool) throws -> Set<String> {
            let purchases = try unwrap(ReplyPurchases(try unwrap(reply.json.object), at: now))
            let shown = purchases.keys.filter {
                purchases[$0]?.isGranted == true && (withHidden || !hidden.contains($0))
            }
            return Set(shown.compactMap(\.originalTransactionId))
        }
        for (one, other) in [(current, whole), (whole, current)] {
            let missing = try granted(one, withHidden: false).subtracting(granted(other, withHidden: true))
            #expect(missing == [], "\(name(customer)) at \(now)")
        }
    }

    /// The comparison with the reply to the oldest receipt alone counts the purchases that only one of the two grants.
    private static func expectComparison(
        _ reply: ReadReply, _ alone: ReadReply, _ customer: GeneratedCustomer, at now: Int64
    ) throws {
        let all = try unwrap(ReplyPurchases(try unwrap(reply.json.object), at: now))
        let known = try unwrap(ReplyPurchases(try unwrap(alone.json.object), at: now))
        func granted(by one: ReplyPurchases, not other: ReplyPurchases) -> Int {
            one.keys.count { one[$0]?.isGranted == true && other[$0]?.isGranted != true }
        }
        let comparison = try ReplyComparison(
            apples: reply.reply.body, ours: alone.reply.body, context: ComparisonContext(now: now)
        ).entitlement
        #expect(comparison.obstacle == nil, "\(name(customer))")
        #expect(comparison.grantedByAppleOnly == granted(by: all, not: known), "\(name(customer))")
        #expect(comparison.grantedByOursOnly == granted(by: known, not: all), "\(name(customer))")
    }

    /// The plugin gets the same access as the entitlements, until they end, and the same introductory offers, whichever
    /// receipt it sends.
    @inline(never)
    private static func expectValidations(
        _ endpoint: VerifyReceiptEndpoint, _ answers: Answers, _ conclusions: Conclusions, _ customer: GeneratedCustomer
    ) async throws {
        let receipt = validation(of: try unwrap(customer.receipts.last))
        var groups = answers.history.knownGroups
        if customer.catalogKind == .whole {
            for plan in Shelf.subscriptions { groups[plan.id] = plan.group }
        }
        for (place, now) in moments(customer).enumerated().dropFirst() {
            let answer = try await endpoint.ask(validation: receipt, now: now)
            #expect(answer.isOK, "\(name(customer)) at \(now)")
            #expect(
                Disagreements.validation(answer.collection, answers.history, at: now) == [],
                "\(name(customer)) at \(now)")
            let standings = conclusions.entitlements[place].flatMap(\.subscriptions)
            for purchase in answer.collection where purchase["isExpired"]?.bool == false {
                let product = purchase.text("id") ?? ""
                let bought = customer.purchases.filter {
                    $0.item.id == product && $0.end != nil && isRunning($0, at: now)
                }.compactMap(\.accessEnds).max()
                guard let bought, let end = purchase["expiryDate"]?.integer else { continue }
                // Receipts have no milliseconds. Another subscription to the product may be in its grace period.
                let difference = end - GeneratedCustomer.moment(bought)
                let isGrace = standings.contains { $0.status == .billingGracePeriod && $0.productId == product }
                #expect(
                    abs(difference) < 1_000 || isGrace && difference > 0, "\(name(customer)): \(product) at \(now)")
            }
            if let old = customer.oldReceipt {
                let other = try await endpoint.ask(validation: validation(ofOld: old.bytes), now: now)
                #expect(other.isOK, "\(name(customer)) at \(now)")
                for member in ["collection", "ineligible_for_intro_price"] {
                    #expect(
                        other.data?[member] == answer.data?[member],
                        "\(name(customer)): \(member) of the iOS 6 receipt at \(now)")
                }
            }
            let ineligible = Set(answer.data?["ineligible_for_intro_price"]?.array?.compactMap(\.string) ?? [])
            for (index, offer) in Shelf.offers.enumerated() {
                let isRefused = conclusions.introductory[place][index].eligibility == .notEligible
                let products = groups.filter { $0.value == offer.group }.keys
                let refused = products.filter(ineligible.contains)
                #expect(
                    refused.count == (isRefused ? products.count : 0), "\(name(customer)): \(offer.group) at \(now)")
            }
        }
    }

    /// The reply to an iOS 6 receipt of a subscription is valid while a period of it is current.
    @inline(never)
    private static func expectOldReply(_ endpoint: VerifyReceiptEndpoint, _ customer: GeneratedCustomer) async throws {
        guard let old = customer.oldReceipt else { return }
        for now in moments(customer).dropFirst() {
            let reply = try await endpoint.ask(body(old.bytes), now: now)
            let runs = customer.purchases.contains { $0.original == old.purchase.original && isRunning($0, at: now) }
            #expect(
                (reply.status == 0) == (runs || old.purchase.end == nil), "\(name(customer)): \(reply.status) at \(now)"
            )
        }
    }

    /// Whether the store has the submitted receipt changes no reply, and neither does a store that has nothing else.
    @inline(never)
    private static func expectUnlearnedReplies(_ endpoints: Endpoints, _ documented: Documented) async throws {
        let customer = documented.customer
        let now = GeneratedCustomer.moment(customer.today)
        // As text, because comparing arrays costs a call per byte in unoptimized code.
        func answer(_ endpoint: VerifyReceiptEndpoint, _ request: [UInt8]) async -> String {
            String(decoding: await endpoint.reply(to: request, at: .production, now: now).body, as: UTF8.self)
        }
        let old = [customer.oldReceipt?.bytes].compactMap(\.self)
        for (bytes, submitted) in zip(customer.receipts + old, documented.statements) {
            let request = body(bytes)
            await endpoints.others.replace(with: documented.statements.filter { $0.receipt != submitted.receipt })
            let (unlearned, learned) = (
                await answer(endpoints.partial, request), await answer(endpoints.complete, request)
            )
            #expect(unlearned == learned, "\(name(customer))")
            await endpoints.learned.replace(with: [])
            let (alone, only) = (await answer(endpoints.alone, request), await answer(endpoints.learning, request))
            #expect(alone == only, "\(name(customer))")
        }
    }

    private static func expectGrants(
        _ reply: ReadReply, _ stored: Customer, _ customer: GeneratedCustomer, at now: Int64
    ) throws {
        let disagreements = Disagreements.grants(
            of: try unwrap(reply.json.object), stored.purchaseHistory(catalog: nil), at: now,
            hidden: hiddenPeriods(customer))
        #expect(disagreements == [], "\(name(customer)) at \(now)")
    }

    /// A reply does not show that a refund was reversed: the later product seems to be an upgrade.
    private static func hiddenPeriods(_ customer: GeneratedCustomer) -> Set<ReplyPurchases.Key> {
        Set(
            customer.periodsBesideOthers.map {
                ReplyPurchases.Key(productId: $0.item.id, originalTransactionId: $0.original)
            })
    }

    // MARK: Records with several documents

    /// `migrate --stream` of records with the receipts of a customer, and often with JWS or a recorded reply, writes the transactions
    /// and terms that these documents resolve to in a store.
    ///
    /// A record is one customer, also if its documents share no id (Documentation/Migrate.md). So in a record with the receipts of
    /// two customers, their terms extend one another, which they do not in a store. Everything else stays as it was.
    @inline(never)
    private static func expectStream(
        _ all: [Documented], _ catalog: ProductCatalog, in folder: TemporaryFolder
    ) async throws {
        var records: [[Documented]] = all.map { [$0] }
        for place in stride(from: 1, to: all.count, by: 4) { records.append([all[place - 1], all[place]]) }
        let others = try all.map(otherDocuments)
        let lines = try await streamed(records, others.map { $0.members }, catalog, in: folder)
        for (number, customers) in records.enumerated() {
            let place = "the record of \(customers.map { name($0.customer) }.joined(separator: " and "))"
            var expected: [String: JWSTransactionDecodedPayload] = [:]
            var terms: [String: Range<Int64>] = [:]
            for documented in customers {
                var statements = receiptStatements(documented)
                if number < others.count { statements += others[number].statements }
                let resolved = try unwrap(Customer(resolving: statements))
                for transaction in resolved.transactionsWithTypes(from: catalog) {
                    expected[transaction.payload.transactionId ?? ""] = transaction.payload
                }
                for (id, term) in resolved.nonRenewingTerms(catalog) { terms[id] = term.start..<(term.end ?? .max) }
            }
            if customers.count > 1 {
                terms = termsWithLengths(customers.flatMap { purchasesOfReceipts($0.customer) })
            }
            // The first receipt, and so the reply to it, can lack the refunds of the last one. Then the row has a line of its own.
            let found = (lines[number] ?? []).filter {
                $0["notes"]?.array?.contains(.string("contradictsSignedReceipt")) != true
            }
            #expect(found.count == expected.count, "\(place)")
            for line in found {
                let (transaction, id) = (line["transaction"], line["transaction"]?["transactionId"]?.string ?? "")
                guard let payload = expected[id] else {
                    Issue.record("\(place): nothing else states \(id)")
                    continue
                }
                #expect(transaction?["productId"]?.string == payload.productId, "\(place): \(id)")
                #expect(
                    transaction?["originalTransactionId"]?.string == payload.originalTransactionId, "\(place): \(id)")
                #expect(transaction?["purchaseDate"]?.integer == payload.purchaseDate, "\(place): \(id)")
                #expect(transaction?["isUpgraded"]?.bool == payload.isUpgraded, "\(place): \(id)")
                #expect(transaction?["revocationDate"]?.integer == payload.revocationDate, "\(place): \(id)")
                #expect(
                    transaction?["revocationType"]?.string == payload.revocationType?.rawValue, "\(place): \(id)")
                #expect(transaction?["price"]?.integer == payload.price, "\(place): \(id)")
                // A refunded purchase moves no term. Until when it would have lasted is nothing that was bought.
                if customers.count > 1, payload.revocationDate != nil { continue }
                #expect(line["termStart"]?.integer == terms[id]?.lowerBound, "\(place): \(id)")
                #expect(
                    transaction?["expiresDate"]?.integer == terms[id]?.upperBound ?? payload.expiresDate,
                    "\(place): \(id)")
            }
        }
    }

    /// Documents of a customer that a record contains beside the receipts: for every second customer JWS and notifications of
    /// version 2, for some a recorded reply.
    ///
    /// A store takes notifications of version 1 only from a server, so no record has one. A cancellation in a reply that is as new as
    /// the newest receipt counts for lines, and not for a store (Documentation/Migrate.md, Merging). So only replies to an earlier
    /// receipt are in records.
    /// - Returns: the JSON of the record's members, and what a store gets from the documents.
    private static func otherDocuments(
        _ documented: Documented
    ) throws -> (members: String, statements: [FactSet]) {
        let customer = documented.customer
        var (members, statements): (String, [FactSet]) = ("", [])
        let signed = customer.notified.filter { facts in
            facts.transactions.allSatisfy { $0.origin.source != .notificationV1 }
        }
        if customer.number % 2 == 1, !signed.isEmpty {
            let texts = try signed.flatMap(signedDocuments).map { #""\#($0)""# }
            members += #","signed":[\#(texts.joined(separator: ","))]"#
            statements += signed
        }
        if let reply = documented.recordedReply, customer.receipts.count > 1 {
            members += #","reply":\#(String(decoding: reply.json, as: UTF8.self))"#
            let first = receiptStatements(documented).count
            statements += documented.statements[first..<documented.statements.count - customer.notified.count]
        }
        return (members, statements)
    }

    /// A notification of version 2 with its transaction and renewal info, or each JWS in an answer of the App Store Server API.
    private static func signedDocuments(_ facts: FactSet) throws -> [String] {
        guard let first = facts.transactions.first, first.origin.source == .notificationV2 else {
            return try facts.transactions.map { try sign($0.payload) } + facts.renewalInfos.map { try sign($0.payload) }
        }
        let notification = try ResponseBodyV2DecodedPayload {
            $0.notificationType = .didRenew
            $0.notificationUUID = "\(first.payload.transactionId ?? "")-\(first.origin.signedDate)"
            $0.data = try NotificationData {
                $0.environment = Shelf.scope.environment
                $0.bundleId = Shelf.scope.bundleId
                $0.signedTransactionInfo = try sign(first.payload)
                $0.signedRenewalInfo = try facts.renewalInfos.first.map { try sign($0.payload) }
            }
            $0.version = "2.0"
            $0.signedDate = first.origin.signedDate
        }
        return [try sign(notification)]
    }

    private static func sign(_ payload: some Encodable) throws -> String {
        try TestSignedDataAuthority.standard.sign(payload: Array(try JSONEncoder().encode(payload)))
    }

    /// The lines of the transactions, by the place of their record.
    /// - Parameters:
    ///   - records: the customers of each record.
    ///   - others: the JSON of further members of the first records.
    ///   - catalog: the product data.
    ///   - folder: for the input.
    @inline(never)
    private static func streamed(
        _ records: [[Documented]], _ others: [String], _ catalog: ProductCatalog, in folder: TemporaryFolder
    ) async throws -> [Int: [JSONValue]] {
        var input = ""
        for (number, customers) in records.enumerated() {
            let documents = customers.flatMap { documented in
                documented.customer.receipts + [documented.customer.oldReceipt?.bytes].compactMap(\.self)
            }.map { #""\#(base64($0))""# }
            // The order of the documents in a record changes nothing.
            let ordered = number % 2 == 0 ? documents : documents.reversed()
            let receipts = #""receipts":[\#(ordered.joined(separator: ","))]"#
            let more = number < others.count ? others[number] : ""
            input += #"{"user":\#(number),\#(receipts)\#(more)}"# + "\n"
        }
        let path = try folder.write("records.ndjson", input)
        let written = Mutex<[UInt8]>([])
        let trust = try forgedTrust { $0.additionalRoots.append(TestSignedDataAuthority.standard.rootCertificate) }
        let options = MigrationOptions(trust: trust, catalog: catalog)
        let summary = try await MigrationStream(options: options).run(inputs: [path]) { bytes in
            written.withLock { $0 += bytes }
        }
        #expect(summary.migrated == records.count)
        let bytes = StreamedLines.byOutput(written.withLock { $0 })["transactions"] ?? []
        let lines = try bytes.split(separator: UInt8(ascii: "\n")).map { try JSONValue.parse($0) }
        return Dictionary(grouping: lines) { Int($0["record"]?["user"]?.integer ?? -1) }
    }

    /// The statements of the app receipts and of the iOS 6 receipt.
    private static func receiptStatements(_ documented: Documented) -> [FactSet] {
        let count = documented.receipts.count + (documented.customer.oldReceipt == nil ? 0 : 1)
        return Array(documented.statements.prefix(count))
    }

    /// The purchases as the receipts alone state them: without the refunds that only notifications state.
    private static func purchasesOfReceipts(_ customer: GeneratedCustomer) -> [GeneratedCustomer.Purchase] {
        customer.purchases.map { purchase in
            let isStated = customer.purchases.contains {
                purchase.isCopy(of: $0) && $0.isCancelled(at: customer.today + GeneratedCustomer.hour)
                    && !$0.isNotified && $0.statesRefund
            }
            guard !isStated else { return purchase }
            var purchase = purchase
            (purchase.cancelled, purchase.reversed) = (nil, nil)
            return purchase
        }
    }

    /// A migration of one receipt concludes what a store does that knows nothing else.
    @inline(never)
    private static func expectMapping(_ documented: Documented, _ catalog: ProductCatalog?) throws {
        let customer = documented.customer
        for (verified, facts) in zip(documented.receipts, documented.statements) {
            guard let resolved = Customer(resolving: [facts]) else { continue }
            let terms = catalog.map { resolved.nonRenewingTerms($0) } ?? [:]
            var known: [String: JWSTransactionDecodedPayload] = [:]
            for transaction in resolved.transactions {
                known[transaction.payload.transactionId ?? ""] = transaction.payload
            }
            for transaction in ReceiptMapper(catalog: catalog).map(verified).transactions {
                let payload = transaction.payload
                let id = payload.transactionId ?? ""
                let stored = try unwrap(known[id])
                #expect(payload.isUpgraded == stored.isUpgraded, "\(name(customer)): \(id)")
                #expect(payload.revocationDate == stored.revocationDate, "\(name(customer)): \(id)")
                #expect(payload.revocationReason == stored.revocationReason, "\(name(customer)): \(id)")
                // The mapper concludes a type that the receipt does not state.
                if let type = stored.type { #expect(payload.type == type, "\(name(customer)): \(id)") }
                #expect(transaction.termStart == terms[id]?.start, "\(name(customer)): \(id)")
                #expect(payload.expiresDate == terms[id]?.end ?? stored.expiresDate, "\(name(customer)): \(id)")
            }
        }
    }
}
