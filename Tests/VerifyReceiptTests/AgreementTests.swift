import AppStoreModels
import ForgedTrust
import Foundation
import LegacyReceipts
import ProductCatalog
import Purchases
import ReplyComparison
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt

/// All answers about one customer agree with each other and with what was bought, and the order in which documents come changes
/// none of them.
///
/// The customers are made from a seed, `LEGACY_RECEIPTS_SEED` or 12. `LEGACY_RECEIPTS_AGREEMENT_CUSTOMERS` makes more of them; the work is done in batches, each
/// with stores of its own.
@Suite struct AgreementTests {
    private static let count =
        ProcessInfo.processInfo.environment["LEGACY_RECEIPTS_AGREEMENT_CUSTOMERS"].flatMap { Int($0) } ?? fewCustomers
    #if DEBUG
        private static let fewCustomers = 50
    #else
        private static let fewCustomers = 200
    #endif
    private static let batchSize = 1_000
    private static let seed =
        ProcessInfo.processInfo.environment["LEGACY_RECEIPTS_SEED"].flatMap(UInt64.init) ?? 12

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

    @Test func allAnswersAgreeInAnyOrder() async throws {
        var generator = SeededGenerator(seed: Self.seed)
        let catalog = try Shelf.catalog()
        let verifier = try ReceiptVerifier(trust: try forgedTrust())
        for first in stride(from: 0, to: Self.count, by: Self.batchSize) {
            let customers = try (first..<min(first + Self.batchSize, Self.count)).map {
                try GeneratedCustomer($0, &generator)
            }
            try await Self.check(customers, catalog, verifier, &generator)
        }
    }

    @inline(never)
    private static func check(
        _ customers: [GeneratedCustomer], _ catalog: ProductCatalog, _ verifier: ReceiptVerifier,
        _ generator: inout SeededGenerator
    ) async throws {
        var all: [[FactSet]] = []
        for customer in customers { all.append(try await statements(customer, verifier)) }
        // The documents of all customers mixed, one after the other.
        let mixed = all.flatMap { $0 }.shuffled(using: &generator)
        let folder = try TemporaryFolder()
        let stores = try ["first", "second"].map {
            try SQLiteTransactionStore.open(path: folder.file($0), options: .init(durability: .normal))
        }
        for statements in all { _ = try await stores[0].apply(statements) }
        for statement in mixed { _ = try await stores[1].apply([statement]) }
        let ledgers = (try await ledger(of: stores[0]), try await ledger(of: stores[1]))
        let endpoint = try testEndpoint(store: stores[0]) { $0.learnsFromReceipts = false }
        for (customer, statements) in zip(customers, all) {
            let identity = CustomerIdentity(.originalTransactionId, customer.purchases.first?.original ?? "")
            let stored = try unwrap(try await stores[0].customer([identity], in: Shelf.scope))
            let other = try unwrap(try await stores[1].customer([identity], in: Shelf.scope))
            let answers = answers(stored, ledgers.0[customer.key] ?? [], catalog)
            #expect(
                answers == Self.answers(other, ledgers.1[customer.key] ?? [], catalog),
                "\(customer.number): the order of the documents matters")
            let documents = connected(statements.reversed(), to: identity)
            let resolved = try unwrap(Customer(resolving: documents))
            #expect(
                answers == Self.answers(resolved, ledgers.0[customer.key] ?? [], catalog),
                "\(customer.number): the store and the statements alone differ")
            let added = documents.dropFirst().reduce(Customer(resolving: Array(documents.prefix(1)))) { $0?.adding($1) }
            #expect(
                answers == Self.answers(try unwrap(added), ledgers.0[customer.key] ?? [], catalog),
                "\(customer.number): adding the documents one by one differs")
            let conclusions = Conclusions(answers.history, customer)
            expectPurchases(answers, conclusions, customer)
            expectLedger(answers, customer)
            expectOffers(conclusions, customer)
            try await expectReply(endpoint, stored, answers, customer)
            try await expectUnlearnedReplies(endpoint, statements, customer)
            try expectMapping(verifier, customer, catalog)
        }
        for store in stores { try await store.close() }
    }

    /// The statements of all documents; some receipts were answered by verifyReceipt, and the reply was kept.
    @inline(never)
    private static func statements(_ customer: GeneratedCustomer, _ verifier: ReceiptVerifier) async throws -> [FactSet]
    {
        var statements = try customer.receipts.map { bytes in
            try unwrap(FactSet(try verifier.verify(ReceiptContainer(stored: bytes)), bytes: bytes))
        }
        if customer.number % 5 == 0, let receipt = customer.receipts.first {
            let reply = try await testEndpoint().ask(body(receipt), now: GeneratedCustomer.moment(customer.today))
            statements += [FactSet](recorded: ReceiptMapper().map(try RecordedReply(json: reply.reply.body)))
        }
        return statements + customer.signed
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
    private static func ledger(of store: SQLiteTransactionStore) async throws -> [Substring: [LedgerEntry]] {
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
        _ stored: Customer, _ ledger: [LedgerEntry], _ catalog: ProductCatalog
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
        answers.terms = stored.nonRenewingTerms(catalog)
        return answers
    }

    // MARK: What was bought

    /// Transactions, terms and entitlements are what was bought.
    private static func expectPurchases(
        _ answers: Answers, _ conclusions: Conclusions, _ customer: GeneratedCustomer
    ) {
        let consumables = Set(customer.purchases.filter { $0.item.type == .consumable }.map(\.id))
        let bought = Set(customer.purchases.map(\.id))
        #expect(Set(answers.transactions.keys).union(consumables) == bought, "\(customer.number)")
        for purchase in customer.purchases {
            guard let payload = answers.transactions[purchase.id] else { continue }
            let isCancelled = purchase.isCancelled(at: customer.today)
            #expect((payload.isUpgraded == true) == (isCancelled && purchase.isUpgraded), "\(purchase.id)")
            guard purchase.item.type != .consumable else { continue }
            #expect((payload.revocationDate != nil) == (isCancelled && !purchase.isUpgraded), "\(purchase.id)")
        }
        expectTerms(answers, customer)
        for (now, entitlements) in zip(moments(customer), conclusions.entitlements) {
            for entitlement in entitlements { expect(entitlement, customer, at: now) }
            let listed = Set(entitlements.flatMap { $0.subscriptions.compactMap(\.originalTransactionId) })
            let begun = customer.purchases.filter { $0.end != nil && GeneratedCustomer.moment($0.start) <= now }
            #expect(listed == Set(begun.map(\.original)), "\(customer.number)")
        }
    }

    private static func expect(_ entitlement: Entitlement, _ customer: GeneratedCustomer, at now: Int64) {
        guard entitlement.type != .autoRenewableSubscription else {
            for standing in entitlement.subscriptions {
                let runs = customer.purchases.contains {
                    $0.original == standing.originalTransactionId && isRunning($0, at: now)
                }
                #expect((standing.status == .active) == runs, "\(customer.number): \(standing)")
            }
            #expect(entitlement.hasAccess == entitlement.subscriptions.contains(where: \.hasAccess))
            return
        }
        let purchases = customer.purchases.filter { $0.item.id == entitlement.productId && $0.start == $0.known }
        if entitlement.type == .nonConsumable {
            let owns = purchases.contains { isRunning($0, at: now) }
            #expect(entitlement.hasAccess == owns, "\(customer.number): \(entitlement)")
        } else {
            let terms = terms(customer)
            let runs = purchases.compactMap { terms[$0.id] }.contains { $0.lowerBound <= now && now < $0.upperBound }
            #expect(entitlement.hasAccess == runs, "\(customer.number): \(entitlement)")
        }
    }

    private static func isRunning(_ purchase: GeneratedCustomer.Purchase, at now: Int64) -> Bool {
        GeneratedCustomer.moment(purchase.start) <= now
            && purchase.accessEnds.map { now < GeneratedCustomer.moment($0) } ?? true
    }

    /// The terms of non-renewing subscriptions: each begins at its purchase or at the end of the one before, and what was refunded
    /// extends nothing.
    private static func terms(_ customer: GeneratedCustomer) -> [String: Range<Int64>] {
        let length = Shelf.season.days * GeneratedCustomer.day
        func range(_ start: Int64, _ end: Int64) -> Range<Int64> {
            GeneratedCustomer.moment(start)..<GeneratedCustomer.moment(end)
        }
        var last = Int64.min
        var terms: [String: Range<Int64>] = [:]
        for purchase in customer.purchases.filter({ $0.item == Shelf.season }).sorted(by: { $0.start < $1.start }) {
            if let cancelled = purchase.cancelled {
                terms[purchase.id] = range(purchase.start, min(cancelled, purchase.start + length))
            } else {
                let start = max(purchase.start, last)
                last = start + length
                terms[purchase.id] = range(start, last)
            }
        }
        return terms
    }

    private static func expectTerms(_ answers: Answers, _ customer: GeneratedCustomer) {
        let expected = terms(customer)
        #expect(Set(answers.terms.keys) == Set(expected.keys), "\(customer.number)")
        for (id, term) in answers.terms where term.revocationDate == nil {
            // Signed transactions have milliseconds, receipts do not.
            let start = expected[id]?.lowerBound ?? 0
            #expect(abs(term.start - start) < 1_000, "\(id)")
        }
    }

    // MARK: Answers

    /// The last entry of a transaction says what the transaction has become.
    private static func expectLedger(_ answers: Answers, _ customer: GeneratedCustomer) {
        for (id, payload) in answers.transactions {
            let expected: LedgerEntry.Event =
                payload.isUpgraded == true ? .upgraded : payload.revocationDate != nil ? .revoked : .purchased
            #expect(answers.ledger[id] == expected, "\(id): the ledger says \(String(describing: answers.ledger[id]))")
        }
    }

    /// No offer contradicts the status of the customer's own subscription.
    private static func expectOffers(_ conclusions: Conclusions, _ customer: GeneratedCustomer) {
        for place in conclusions.entitlements.indices {
            for (index, offer) in Shelf.offers.enumerated() {
                let entitlement = conclusions.entitlements[place].first { $0.group == offer.group }
                let own = entitlement?.subscriptions.filter { !$0.isFamilyShared } ?? []
                let hasAccess = own.contains(where: \.hasAccess)
                let isUnpaid = own.contains { $0.status == .billingGracePeriod || $0.status == .billingRetry }
                for verdict in [conclusions.winBack[place][index], conclusions.introductory[place][index]] {
                    let lapsed = verdict.reasons.first { $0.rule == .lapsed }
                    #expect((lapsed == nil) == own.isEmpty, "\(customer.number)")
                    #expect((lapsed?.outcome == .failed) == (hasAccess || isUnpaid), "\(customer.number): \(verdict)")
                    if verdict.eligibility == .eligible { #expect(!hasAccess && !isUnpaid, "\(customer.number)") }
                }
                let hadTrial = customer.purchases.contains {
                    $0.item.group == offer.group && $0.isTrial && !$0.isShared
                }
                if hadTrial { #expect(conclusions.introductory[place][index].eligibility == .notEligible) }
                let candidate = conclusions.promotional[place].first { $0.group == offer.group }
                #expect((candidate == nil) == own.isEmpty, "\(customer.number)")
                switch candidate?.situation {
                case .autoRenewOff?, .renewing?: #expect(own.contains { $0.status == .active })
                case .billingRetry?: #expect(isUnpaid)
                case .lapsed?, .revoked?: #expect(!hasAccess && !isUnpaid, "\(customer.number)")
                case .unknown?, nil: break
                }
            }
        }
    }

    /// The reply lists the transactions as the store resolves them, and a client that reads it grants what the entitlements say.
    @inline(never)
    private static func expectReply(
        _ endpoint: VerifyReceiptEndpoint, _ stored: Customer, _ answers: Answers, _ customer: GeneratedCustomer
    ) async throws {
        let receipt = body(try unwrap(customer.receipts.last))
        for now in moments(customer)[1...2] {
            let reply = try await endpoint.ask(receipt, now: now)
            #expect(reply.status == 0)
            let rows = reply.latest ?? []
            #expect(reply.latest != nil || customer.purchases.allSatisfy { $0.end == nil })
            // A finished consumable is in no newer receipt.
            let finished = Set(
                customer.purchases.filter {
                    $0.item.type == .consumable && customer.today >= $0.start + Shelf.shelfLife
                }.map(\.id))
            #expect(
                Set(rows.compactMap { $0.text("transaction_id") })
                    == Set(answers.transactions.keys).subtracting(finished))
            for row in rows {
                let id = row.text("transaction_id") ?? ""
                let payload = try unwrap(answers.transactions[id])
                #expect((row.text("is_upgraded") == "true") == (payload.isUpgraded == true), "\(id)")
                let cancelled = payload.revocationDate ?? answers.legacy[id]?.cancellationDate
                #expect(row.text("cancellation_date_ms") == cancelled.map { String($0) }, "\(id)")
            }
            try expectGrants(reply, stored, customer, at: now)
            guard now == moments(customer)[1] else { continue }
            let bytes = reply.reply.body
            let comparison = try ReplyComparison(apples: bytes, ours: bytes, context: ComparisonContext(now: now))
            #expect(comparison.isIdentical, "\(customer.number)")
            #expect(comparison.entitlement.obstacle == nil && !comparison.entitlement.isDifferent, "\(customer.number)")
        }
    }

    /// Whether the store has the submitted receipt changes no reply, and neither does a store that has nothing else.
    @inline(never)
    private static func expectUnlearnedReplies(
        _ endpoint: VerifyReceiptEndpoint, _ statements: [FactSet], _ customer: GeneratedCustomer
    ) async throws {
        let now = GeneratedCustomer.moment(customer.today)
        for bytes in customer.receipts {
            let request = body(bytes)
            let submitted = try VerifyReceiptEndpoint.facts(of: bytes)
            let others = MemoryStore()
            _ = try await others.apply(statements.filter { $0.receipt != submitted.receipt })
            let partial = try testEndpoint(store: others) { $0.learnsFromReceipts = false }
            let (unlearned, learned) = (
                await partial.reply(to: request, at: .production, now: now),
                await endpoint.reply(to: request, at: .production, now: now)
            )
            #expect(unlearned.body == learned.body, "\(customer.number)")
            let alone = await (try testEndpoint()).reply(to: request, at: .production, now: now)
            let only = await (try testEndpoint(store: MemoryStore())).reply(to: request, at: .production, now: now)
            #expect(alone.body == only.body, "\(customer.number)")
        }
    }

    private static func expectGrants(
        _ reply: ReadReply, _ stored: Customer, _ customer: GeneratedCustomer, at now: Int64
    ) throws {
        let granted = try unwrap(ReplyPurchases(try unwrap(reply.json.object), at: now))
        var entitled: Set<ReplyPurchases.Key> = []
        for entitlement in stored.purchaseHistory(catalog: nil).entitlements(at: now) {
            for standing in entitlement.subscriptions where standing.hasAccess {
                entitled.insert(
                    ReplyPurchases.Key(
                        productId: standing.productId, originalTransactionId: standing.originalTransactionId))
            }
            guard entitlement.type != .autoRenewableSubscription else { continue }
            // A reply states no term, so that only a revocation ends it.
            let isGranted = granted.keys.contains {
                $0.productId == entitlement.productId && granted[$0]?.isGranted == true
            }
            #expect(isGranted == (entitlement.status != .revoked), "\(customer.number): \(entitlement)")
        }
        let plans = Set((Shelf.plans + Shelf.otherPlans).map(\.id))
        let subscribed = granted.keys.filter {
            plans.contains($0.productId ?? "") && granted[$0]?.isGranted == true
        }
        #expect(Set(subscribed) == entitled, "\(customer.number) at \(now)")
    }

    /// A migration of one receipt concludes what a store does that knows nothing else.
    @inline(never)
    private static func expectMapping(
        _ verifier: ReceiptVerifier, _ customer: GeneratedCustomer, _ catalog: ProductCatalog
    ) throws {
        for bytes in customer.receipts {
            let verified = try verifier.verify(ReceiptContainer(stored: bytes))
            let facts = try unwrap(FactSet(verified, bytes: bytes))
            guard let resolved = Customer(resolving: [facts]) else { continue }
            let terms = resolved.nonRenewingTerms(catalog)
            var known: [String: JWSTransactionDecodedPayload] = [:]
            for transaction in resolved.transactions {
                known[transaction.payload.transactionId ?? ""] = transaction.payload
            }
            for transaction in ReceiptMapper(catalog: catalog).map(verified).transactions {
                let payload = transaction.payload
                let id = payload.transactionId ?? ""
                let stored = try unwrap(known[id])
                #expect(payload.isUpgraded == stored.isUpgraded, "\(id)")
                #expect(payload.revocationDate == stored.revocationDate, "\(id)")
                #expect(payload.revocationReason == stored.revocationReason, "\(id)")
                #expect(payload.type == stored.type, "\(id)")
                #expect(transaction.termStart == terms[id]?.start, "\(id)")
                #expect(payload.expiresDate == terms[id]?.end ?? stored.expiresDate, "\(id)")
            }
        }
    }
}
