import AppStoreModels
import Foundation
import LegacyReceipts
import Purchases
import ReceiptForge
import ReplyComparison
import SQLiteTransactionStore
import SharedReceipts
import TestSupport
import TestTraits
import Testing
import TransactionStore
import VerifyReceipt

/// All answers about a purchase agree for the receipts of LegacyFixtures and for the real documents beside the package, and the
/// order of the documents changes none of them.
@Suite(.computing) struct DocumentAgreementTests {
    private struct Receipt {
        let name: String
        let bytes: [UInt8]
        let verified: Verified<LegacyReceipt>
    }

    /// What a store says of one transaction in the end.
    private struct StoredAnswer: Equatable {
        let payload: JWSTransactionDecodedPayload
        let legacy: LegacyTransactionFields
        let isSigned: Bool
        var event: LedgerEntry.Event?
    }

    /// What the rules conclude about one customer.
    private struct Concluded: Equatable {
        let entitlements: [[Entitlement]]
        let promotional: [[PromotionalCandidate]]
        let introductory: [[OfferVerdict]]
        let winBack: [[OfferVerdict]]

        init(_ customer: Customer) {
            let history = customer.purchaseHistory(catalog: nil)
            let dates = customer.transactions.flatMap { [$0.payload.purchaseDate, $0.payload.expiresDate] }
            let moments = Set(dates.compactMap { $0 }.suffix(20).map { $0 + 1 } + [requestDate]).sorted()
            entitlements = moments.map { history.entitlements(at: $0) }
            promotional = moments.map { history.promotionalCandidates(at: $0) }
            introductory = moments.map { now in
                history.subscriptionGroups.map { history.introductoryEligibility(group: $0, at: now) }
            }
            winBack = moments.map { now in
                history.subscriptionGroups.map {
                    let rules = WinBackRules(minimumPaidMonths: 1, minimumMonthsSince: 1, monthsBetweenOffers: 1)
                    return history.eligibility(
                        for: WinBackOffer(offerIdentifier: "return", group: $0, rules: rules), at: now)
                }
            }
        }
    }

    private struct Key: Hashable {
        let scope: StoreScope
        let id: String
    }

    /// Apple's roots and the test authority.
    private static func trust() throws -> TrustPolicy {
        TrustPolicy(
            additionalRoots: [try TestCertificateAuthority.rootDER],
            additionalIntermediates: [
                try TestCertificateAuthority.iTunesStoreIntermediateDER,
                try TestCertificateAuthority.version3IntermediateDER,
                try TestCertificateAuthority.version4IntermediateDER,
            ])
    }

    private static func fixtures() throws -> [(String, [UInt8])] {
        let folder = PackageFolder.url.appending(path: "LegacyFixtures")
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil).flatMap {
            place in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []
            return try names.filter { $0.hasPrefix("receipt.") }.map {
                ("\(place.lastPathComponent)/\($0)", Array(try Data(contentsOf: place.appending(path: $0))))
            }
        }.sorted { $0.0 < $1.0 }
    }

    /// The stored receipts, and the receipts and the rows of the recorded documents.
    private static func shared() throws -> (receipts: [(String, [UInt8])], recorded: [RecordedReply]) {
        var receipts: [(String, [UInt8])] = []
        for kind in ["production", "sandbox", "ios6", "mac-2010"] {
            for file in try SharedReceipts.files(kind) {
                receipts.append(("\(kind)/\(file.lastPathComponent)", try SharedReceipts.bytes(file)))
            }
        }
        var recorded: [RecordedReply] = []
        for kind in ["pairs", "responses", "notifications-v1"] {
            for file in try SharedReceipts.files(kind) where file.pathExtension == "json" {
                guard let reply = try? RecordedReply(json: try SharedReceipts.bytes(file)) else { continue }
                recorded.append(reply)
                receipts += reply.embeddedReceipts.map { ("\(kind)/\(file.lastPathComponent)", Array($0.text.utf8)) }
            }
        }
        return (receipts, recorded)
    }

    private static func verified(_ stored: [(String, [UInt8])], _ verifier: ReceiptVerifier) -> [Receipt] {
        stored.compactMap { name, stored in
            guard let container = try? ReceiptContainer(stored: stored), let verified = try? verifier.verify(container)
            else { return nil }
            return Receipt(name: name, bytes: container.bytes, verified: verified)
        }
    }

    private static func answers(
        by store: SQLiteTransactionStore, in scopes: Set<StoreScope>
    ) async throws -> (transactions: [Key: StoredAnswer], customers: [Key: Concluded]) {
        var stated: [Key: StoredAnswer] = [:]
        var concluded: [Key: Concluded] = [:]
        for scope in scopes {
            try await store.forEachCustomer(in: scope) { customer in
                concluded[Key(scope: scope, id: customer.identities.first?.value ?? "")] = Concluded(customer)
                for transaction in customer.transactions {
                    let key = Key(scope: scope, id: transaction.payload.transactionId ?? "")
                    #expect(stated[key] == nil, "\(key.id) belongs to two customers")
                    stated[key] = StoredAnswer(
                        payload: transaction.payload, legacy: transaction.legacy, isSigned: transaction.isSigned)
                }
            }
        }
        var position: Int64 = 0
        while true {
            let entries = try await store.changes(after: position, limit: 10_000)
            guard let last = entries.last else { return (stated, concluded) }
            for entry in entries where entry.event.isState {
                stated[Key(scope: entry.scope, id: entry.transactionId)]?.event = entry.event
            }
            position = last.position
        }
    }

    private static func withStore<Result>(
        _ body: (SQLiteTransactionStore) async throws -> Result
    ) async throws -> Result {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(
            path: folder.file("store.sqlite"), options: .init(durability: .normal))
        let result = try await body(store)
        try await store.close()
        return result
    }

    private static func expectAgreement(
        _ receipts: [Receipt], recorded: [RecordedReply], _ trust: TrustPolicy, seed: UInt64
    ) async throws {
        let statements =
            receipts.compactMap { FactSet($0.verified, bytes: $0.bytes) }
            + recorded.flatMap { [FactSet](recorded: ReceiptMapper().map($0)) }
        #expect(statements.contains { !$0.transactions.isEmpty })
        let scopes = Set(statements.map(\.scope))
        try await withStore { first in
            for statement in statements { _ = try await first.apply([statement]) }
            let (stated, concluded) = try await answers(by: first, in: scopes)
            var generator = SeededGenerator(seed: seed)
            // One document has one order.
            for _ in 0..<(statements.count > 1 ? 3 : 0) {
                let other = try await withStore { second in
                    for statement in statements.shuffled(using: &generator) { _ = try await second.apply([statement]) }
                    return try await Self.answers(by: second, in: scopes)
                }
                #expect(Set(stated.keys) == Set(other.transactions.keys))
                for (key, one) in stated {
                    #expect(one == other.transactions[key], "\(key.id): the order of the documents matters")
                }
                #expect(Set(concluded.keys) == Set(other.customers.keys))
                for (key, one) in concluded {
                    #expect(one == other.customers[key], "\(key.id): the order of the documents matters")
                }
            }
            for (key, one) in stated { expectLedger(one, key.id) }
            for receipt in receipts {
                try expectMapping(receipt)
                try await expectReply(receipt, stated, first, trust)
            }
        }
    }

    private static func expectLedger(_ stated: StoredAnswer, _ id: String) {
        guard stated.isSigned else {
            #expect(stated.event == nil, "\(id): an unsigned purchase is in the ledger")
            return
        }
        let expected: Set<LedgerEntry.Event> =
            if stated.payload.isUpgraded == true {
                [.upgraded]
            } else if stated.payload.revocationDate != nil {
                [.revoked]
            } else {
                [.purchased, .reinstated]
            }
        #expect(stated.event.map { expected.contains($0) } == true, "\(id): \(String(describing: stated.event))")
    }

    /// The mapping of one receipt concludes what a store does that knows nothing else, and states what the store states.
    private static func expectMapping(_ receipt: Receipt) throws {
        guard let facts = FactSet(receipt.verified, bytes: receipt.bytes), let customer = Customer(resolving: [facts])
        else { return }
        var known: [String: JWSTransactionDecodedPayload] = [:]
        for transaction in customer.transactions {
            known[transaction.payload.transactionId ?? ""] = transaction.payload
        }
        for transaction in ReceiptMapper().map(receipt.verified).transactions {
            let mapped = transaction.payload
            guard let id = mapped.transactionId, let stored = known[id] else { continue }
            let place = "\(receipt.name) \(id)"
            #expect(mapped.isUpgraded == stored.isUpgraded, "\(place)")
            #expect(mapped.revocationDate == stored.revocationDate, "\(place)")
            #expect(mapped.revocationReason == stored.revocationReason, "\(place)")
            #expect(mapped.productId == stored.productId, "\(place)")
            #expect(mapped.purchaseDate == stored.purchaseDate, "\(place)")
            #expect(mapped.originalPurchaseDate == stored.originalPurchaseDate, "\(place)")
            #expect(mapped.expiresDate == stored.expiresDate, "\(place)")
            #expect(mapped.offerType == stored.offerType, "\(place)")
            #expect(mapped.quantity == stored.quantity, "\(place)")
        }
    }

    /// The reply lists the purchases of the store, and grants the same as the entitlements.
    private static func expectReply(
        _ receipt: Receipt, _ stated: [Key: StoredAnswer], _ store: SQLiteTransactionStore, _ trust: TrustPolicy
    ) async throws {
        guard let facts = FactSet(receipt.verified, bytes: receipt.bytes) else { return }
        var configuration = EndpointConfiguration(trust: trust)
        configuration.learnsFromReceipts = false
        let endpoint = try VerifyReceiptEndpoint(configuration: configuration, store: store)
        let environment: EndpointEnvironment = facts.scope.environment == .production ? .production : .sandbox
        for now in [requestDate, (facts.receipt?.signedDate ?? 0) + 1_000] {
            let reply = try await endpoint.ask(body(receipt.bytes), at: environment, now: now)
            for row in reply.latest ?? [] {
                guard let id = row.text("transaction_id"), let one = stated[Key(scope: facts.scope, id: id)],
                    one.isSigned
                else { continue }
                let place = "\(receipt.name) \(id)"
                #expect((row.text("is_upgraded") == "true") == (one.payload.isUpgraded == true), "\(place)")
                let cancelled = one.payload.revocationDate ?? one.legacy.cancellationDate
                #expect(row.text("cancellation_date_ms") == cancelled.map { String($0) }, "\(place)")
            }
            guard let customer = try await store.customer(facts.identities, in: facts.scope) else { continue }
            try expectGrants(reply, customer, receipt, at: now)
        }
    }

    /// A reply to an app receipt grants what the entitlements say of the customer's signed purchases, one to a transaction receipt
    /// nothing else.
    private static func expectGrants(
        _ reply: ReadReply, _ customer: Customer, _ receipt: Receipt, at now: Int64
    ) throws {
        let bytes = reply.reply.body
        let comparison = try ReplyComparison(apples: bytes, ours: bytes, context: ComparisonContext(now: now))
        #expect(comparison.isIdentical && !comparison.entitlement.isDifferent, "\(receipt.name)")
        #expect(comparison.entitlement.obstacle == nil, "\(receipt.name)")
        guard reply.status == 0 else { return }
        let listed = try unwrap(ReplyPurchases(try unwrap(reply.json.object), at: now))
        var history = customer.purchaseHistory(catalog: nil)
        history.entries.removeAll { !$0.isSigned }
        let entitlements = history.entitlements(at: now)
        let subscribed = Set(
            entitlements.flatMap(\.subscriptions).filter(\.hasAccess).map {
                ReplyPurchases.Key(productId: $0.productId, originalTransactionId: $0.originalTransactionId)
            })
        let owned = Set(
            entitlements.filter { $0.subscriptions.isEmpty && $0.status != .revoked }.compactMap(\.productId))
        let consumables = Set(
            history.entries.filter { $0.transaction.type == .consumable }.compactMap(\.transaction.productId))
        let granted = listed.keys.filter { listed[$0]?.isGranted == true && !consumables.contains($0.productId ?? "") }
        for key in granted {
            #expect(subscribed.contains(key) || owned.contains(key.productId ?? ""), "\(receipt.name) \(key) at \(now)")
        }
        guard case .app = receipt.verified.payload else { return }
        for key in subscribed { #expect(listed[key]?.isGranted == true, "\(receipt.name) \(key) at \(now)") }
        for product in owned {
            #expect(granted.contains { $0.productId == product }, "\(receipt.name) \(product) at \(now)")
        }
    }

    @Test func everyFixtureAgreesWithItself() async throws {
        let trust = try Self.trust()
        let receipts = Self.verified(try Self.fixtures(), try ReceiptVerifier(trust: trust))
        #expect(receipts.contains { $0.name.hasPrefix("upgraded/") })
        // Fixtures repeat ids, so each is a store of its own.
        for receipt in receipts {
            guard let facts = FactSet(receipt.verified, bytes: receipt.bytes), !facts.transactions.isEmpty else {
                continue
            }
            try await Self.expectAgreement([receipt], recorded: [], trust, seed: 1)
        }
    }

    @Test(.enabled(if: SharedReceipts.arePresent)) func allRealDocumentsAgree() async throws {
        let trust = try Self.trust()
        let (stored, recorded) = try Self.shared()
        let receipts = Self.verified(stored, try ReceiptVerifier(trust: trust))
        #expect(receipts.count > 10 && recorded.count > 10)
        try await Self.expectAgreement(receipts, recorded: recorded, trust, seed: 13)
    }
}
