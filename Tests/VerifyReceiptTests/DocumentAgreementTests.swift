import AnswerAgreement
import AppStoreModels
import Foundation
import LegacyReceipts
import ProductCatalog
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

/// All answers about a purchase agree for the receipts and tables of LegacyFixtures and for the real documents beside the package,
/// and the order of the documents changes none of them.
@Suite(.computing) struct DocumentAgreementTests {
    private struct Receipt {
        let name: String
        let bytes: [UInt8]
        let verified: Verified<LegacyReceipt>
    }

    /// Documents that are in one store.
    private struct Documents {
        let name: String
        var receipts: [Receipt] = []
        var recorded: [RecordedReply] = []

        var statements: [FactSet] {
            receipts.compactMap { FactSet($0.verified, bytes: $0.bytes) }
                + recorded.flatMap { [FactSet](recorded: ReceiptMapper().map($0)) }
        }
    }

    /// Answer from one store. Only the second one has a catalog, and answers validations.
    private struct Endpoints {
        let replying: VerifyReceiptEndpoint
        let validating: VerifyReceiptEndpoint
        let catalog: ProductCatalog

        init(
            _ store: SQLiteTransactionStore, _ trust: TrustPolicy, _ catalog: ProductCatalog, apps: Set<String>
        ) throws {
            var configuration = EndpointConfiguration(trust: trust)
            configuration.learnsFromReceipts = false
            replying = try VerifyReceiptEndpoint(configuration: configuration, store: store)
            configuration.apps = apps.sorted().map {
                var app = AppConfiguration(bundleId: $0, catalog: catalog)
                app.answersValidations = true
                return app
            }
            validating = try VerifyReceiptEndpoint(configuration: configuration, store: store)
            self.catalog = catalog
        }
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

    /// The products of the fixtures.
    private static func catalog() throws -> ProductCatalog {
        let file = PackageFolder.url.appending(path: "LegacyFixtures/products.yaml")
        return try ProductCatalog(
            entries: CatalogFileReader.entries(try Data(contentsOf: file), file: file.lastPathComponent))
    }

    /// The documents of each record of LegacyFixtures/inputs, by a simple reading. A record that no document is found in has none.
    private static func inputs(_ verifier: ReceiptVerifier) throws -> [Documents] {
        let folder = PackageFolder.url.appending(path: "LegacyFixtures/inputs")
        let lines = try Data(contentsOf: folder.appending(path: "customers.ndjson")).split(
            separator: UInt8(ascii: "\n"))
        // An export cut off the last line.
        let objects = lines.compactMap { try? JSONValue.parse(Array($0)) }
        let table = try Data(contentsOf: folder.appending(path: "customers.csv"))
        let rows = try CSV.rows(String(decoding: table, as: UTF8.self)).dropFirst()
        let values = objects.compactMap { $0["receipt"] } + rows.map { JSONValue.string($0[1]) }
        return values.enumerated().map { documents("record \($0) of inputs", $1, verifier) }
    }

    private static func documents(_ name: String, _ value: JSONValue, _ verifier: ReceiptVerifier) -> Documents {
        let parsed = value.string.flatMap { try? JSONValue.parse(Array($0.utf8)) } ?? value
        var documents = Documents(name: name)
        if parsed["Store"]?.string == "AppleAppStore", let payload = parsed["Payload"]?.string {
            // Unity's form.
            documents.receipts = verified([(name, Array(payload.utf8))], verifier)
        } else if let reply = try? RecordedReply(parsed) {
            documents.recorded = [reply]
            documents.receipts = verified(reply.embeddedReceipts.map { (name, Array($0.text.utf8)) }, verifier)
        } else if let text = value.string {
            documents.receipts = verified([(name, Array(text.utf8))], verifier)
        }
        return documents
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
        of documents: Documents, _ trust: TrustPolicy, _ catalog: ProductCatalog, seed: UInt64
    ) async throws {
        let statements = documents.statements
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
            let endpoints = try Endpoints(first, trust, catalog, apps: Set(scopes.map(\.bundleId)))
            for receipt in documents.receipts {
                try expectMapping(receipt)
                try await expectReplies(receipt, stated, first, endpoints)
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

    /// The mapping of one receipt concludes what a store and its tables do that know nothing else, and states what the store
    /// states.
    private static func expectMapping(_ receipt: Receipt) throws {
        guard let facts = FactSet(receipt.verified, bytes: receipt.bytes), let customer = Customer(resolving: [facts])
        else { return }
        var known: [String: JWSTransactionDecodedPayload] = [:]
        var completed: [String: JWSTransactionDecodedPayload] = [:]
        for (transaction, entry) in zip(customer.transactions, customer.purchaseHistory(catalog: nil).entries) {
            let id = transaction.payload.transactionId ?? ""
            known[id] = transaction.payload
            completed[id] = transaction.completed(type: entry.productType, nil).payload
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
            #expect(mapped.transactionReason == completed[id]?.transactionReason, "\(place)")
            #expect(mapped.inAppOwnershipType == completed[id]?.inAppOwnershipType, "\(place)")
        }
    }

    /// The reply lists the purchases of the store. It grants the same as the entitlements, and so does a validation.
    private static func expectReplies(
        _ receipt: Receipt, _ stated: [Key: StoredAnswer], _ store: SQLiteTransactionStore, _ endpoints: Endpoints
    ) async throws {
        guard let facts = FactSet(receipt.verified, bytes: receipt.bytes) else { return }
        let environment: EndpointEnvironment = facts.scope.environment == .production ? .production : .sandbox
        let request =
            if case .app = receipt.verified.payload {
                validation(of: receipt.bytes, id: facts.scope.bundleId)
            } else {
                validation(ofOld: receipt.bytes, id: facts.scope.bundleId)
            }
        for now in [requestDate, (facts.receipt?.signedDate ?? 0) + 1_000] {
            let reply = try await endpoints.replying.ask(body(receipt.bytes), at: environment, now: now)
            let answer = try await endpoints.validating.ask(validation: request, at: environment, now: now)
            // 21006: the subscription of an iOS 6 receipt is over. A validation of the application is no question about it.
            #expect(
                answer.isOK == [0, 21_006].contains(reply.status), "\(receipt.name): \(reply.status), \(answer.message)"
            )
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
            guard answer.isOK else { continue }
            let history = signedHistory(of: customer, endpoints.catalog)
            #expect(
                Disagreements.validation(answer.collection, history, at: now) == [], "\(receipt.name) at \(now)")
        }
    }

    /// Unsigned purchases do not count for replies.
    private static func signedHistory(of customer: Customer, _ catalog: ProductCatalog?) -> PurchaseHistory {
        var history = customer.purchaseHistory(catalog: catalog)
        history.entries.removeAll { !$0.isSigned }
        return history
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
        let isComplete = if case .app = receipt.verified.payload { true } else { false }
        let disagreements = Disagreements.grants(
            of: try unwrap(reply.json.object), signedHistory(of: customer, nil), at: now, isComplete: isComplete)
        #expect(disagreements == [], "\(receipt.name) at \(now)")
    }

    /// The tables of an export say what the documents resolve to, after the last receipt and at the date of the middle one.
    private static func expectExport(_ statements: [FactSet], _ catalog: ProductCatalog) async throws {
        let dates = statements.compactMap { $0.receipt?.signedDate }.sorted()
        let folder = try TemporaryFolder()
        try await withStore { store in
            _ = try await store.apply(statements)
            for date in [requestDate, dates[dates.count / 2] + 1_000] {
                let exported = try await ExportedRows(
                    store, catalog: catalog, date: date, in: folder.url.appending(path: "tables"))
                var isEmpty = true
                for scope in Set(statements.map(\.scope)) {
                    try await store.forEachCustomer(in: scope) { customer in
                        isEmpty = isEmpty && exported.of(customer, in: "entitlements").isEmpty
                        #expect(exported.disagreements(about: customer) == [], "\(scope.bundleId) at \(date)")
                    }
                }
                #expect(!isEmpty)
            }
        }
    }

    @Test("Every fixture and every record of the tables of LegacyFixtures agrees with itself")
    func everyFixtureAgreesWithItself() async throws {
        let (trust, catalog) = (try Self.trust(), try Self.catalog())
        let verifier = try ReceiptVerifier(trust: trust)
        let receipts = Self.verified(try Self.fixtures(), verifier)
        #expect(receipts.contains { $0.name.hasPrefix("upgraded/") })
        let records = try Self.inputs(verifier).filter { !$0.statements.isEmpty }
        #expect(records.count > 25 && records.count(where: { !$0.recorded.isEmpty }) > 2)
        // Fixtures repeat ids, so each is a store of its own.
        let all = receipts.map { Documents(name: $0.name, receipts: [$0]) } + records
        for documents in all where documents.statements.contains(where: { !$0.transactions.isEmpty }) {
            try await Self.expectAgreement(of: documents, trust, catalog, seed: 1)
        }
        // For the export, each is an app of its own.
        let renamed = all.flatMap { documents in documents.statements.map { Self.renamed($0, documents.name) } }
        try await Self.expectExport(renamed, catalog)
    }

    private static func renamed(_ facts: FactSet, _ bundleId: String) -> FactSet {
        FactSet(
            scope: StoreScope(environment: facts.scope.environment, bundleId: bundleId), identities: facts.identities,
            transactions: facts.transactions, renewalInfos: facts.renewalInfos, appTransaction: facts.appTransaction,
            receipt: facts.receipt)
    }

    @Test(.enabled(if: SharedReceipts.arePresent)) func allRealDocumentsAgree() async throws {
        let (trust, catalog) = (try Self.trust(), try Self.catalog())
        let (stored, recorded) = try Self.shared()
        let receipts = Self.verified(stored, try ReceiptVerifier(trust: trust))
        #expect(receipts.count > 10 && recorded.count > 10)
        let documents = Documents(name: "real documents", receipts: receipts, recorded: recorded)
        try await Self.expectAgreement(of: documents, trust, catalog, seed: 13)
        try await Self.expectExport(documents.statements, catalog)
    }
}
