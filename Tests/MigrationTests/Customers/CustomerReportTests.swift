import AppStoreModels
import Foundation
import LegacyReceipts
import Migration
import ProductCatalog
import Purchases
import TestSupport
import Testing
import TransactionStore
import TransactionStoreConformance

@Suite("The report of one customer")
struct CustomerReportTests {
    /// 1000 has a trial, a period with a win-back offer and one that was refunded; its documents state web order line items.
    private static let subscriber = StoreSamples.set(
        Samples.period("1000", "1000", from: 0, source: .notificationV2, at: 2) {
            $0.offerType = .introductory
            $0.webOrderLineItemId = "9001"
            $0.subscriptionGroupIdentifier = "20456789"
        },
        Samples.period("1001", "1000", "premium", from: 30, to: 60, source: .appStoreServerAPI, at: 45) {
            $0.offerType = .winBack
            $0.offerIdentifier = "come-back"
            $0.webOrderLineItemId = "9002"
            $0.subscriptionGroupIdentifier = "20456789"
            $0.revocationDate = Samples.june + 40 * Samples.day
        })

    private static let offers = """
        version: 1
        groups: {orchard: {identifier: "20456789"}, other: {identifier: "3"}}
        products:
          premium:
            type: auto-renewable
            period: P1M
            group: orchard
            offers:
              - {type: winBack, id: come-back, paidMonths: 1, monthsSince: {minimum: 2}}
          unused:
            type: auto-renewable
            period: P1M
            group: other
            offers:
              - {type: introductory, period: P1W, paymentMode: free}
        """

    private func found(_ id: String, _ store: any CompleteTransactionStore) async throws -> [String] {
        try await CustomerSearch(for: id, in: store).matches.map { match in
            let environment = match.customer.scope.environment.rawValue
            let kinds = match.kinds.map(\.rawValue).joined(separator: ",")
            return "\(environment) \(match.customer.identities.first?.value ?? ""): \(kinds)"
        }
    }

    /// The JSON of a search: one object for each customer.
    private func reports(
        _ id: String, _ store: any CompleteTransactionStore, _ catalog: ProductCatalog?, at date: Int64 = Samples.date
    ) async throws -> [JSONObject] {
        let search = try await CustomerSearch(for: id, in: store)
        let reports = search.matches.map { CustomerReport($0, catalog: catalog, date: date) }
        let root = try JSONValue.parse(CustomerReport.json(search, reports, date: date))
        #expect(root["id"]?.string == id && root["at"]?.integer == date && root["version"]?.integer == 1)
        return try #require(root["matches"]?.array).compactMap(\.object)
    }

    private func rows(_ report: JSONObject, _ table: String) throws -> [JSONValue] {
        try #require(report[table]?.array, "\(table)")
    }

    @Test("Each kind of id leads to its customer, and the report names the kind")
    func kinds() async throws {
        try await Samples.withStore(Samples.sets + [Self.subscriber]) { store in
            // The compiler finds no try within macros.
            let byTransaction = try await found("101", store)
            #expect(byTransaction == ["Production 100: transactionId"])
            #expect(try await found("100", store) == ["Production 100: transactionId,originalTransactionId"])
            #expect(try await found("9002", store) == ["Production 1000: webOrderLineItemId"])
            #expect(try await found("704", store) == ["Production 100: appTransactionId"])
            #expect(try await found(Samples.token.uppercased(), store) == ["Production 100: appAccountToken"])
            #expect(try await found("u1", store) == ["Production 100: userId"])
            #expect(try await found(Samples.hostile, store) == ["Production 200: userId"])
            #expect(try await found("900", store) == ["Sandbox 900: transactionId,originalTransactionId"])
            let digest = StoreSamples.receipt("nothing").digest
            #expect(try await found(digest, store) == ["Production \(digest): receiptDigest"])
            for id in ["", "1", "0", "U1", "u", "00000000-0000-0000-0000-000000000000", "1000 "] {
                #expect(try await found(id, store).isEmpty, "\(id)")
            }
        }
    }

    @Test("An id of several customers shows each of them, with the kinds of ids that led there")
    func several() async throws {
        try await Samples.withStore { store in
            let users = [("800", "100"), ("300", "100"), ("4711", "100"), ("4711", "lost")].map { purchase, user in
                UserClaim(scope: StoreSamples.scope, identity: StoreSamples.original(purchase), userId: user)
            }
            _ = try await store.apply(
                MigrationStep(
                    facts: [StoreSamples.set(Samples.period("100", "100", from: 0), scope: Samples.sandbox)],
                    users: users))
            #expect(
                try await found("100", store) == [
                    "Production 100: transactionId,originalTransactionId",
                    "Sandbox 100: transactionId,originalTransactionId", "Production 300: userId",
                    "Production 800: userId",
                ])
            let search = try await CustomerSearch(for: "100", in: store)
            #expect(search.isComplete && search.unknownPurchases.map(\.identity.value) == ["4711"])
            #expect(search.matches.map { $0.users.map(\.userId) } == [["u1", "u1"], [], ["100"], ["100"]])
            let lost = try await CustomerSearch(for: "lost", in: store)
            #expect(lost.matches.isEmpty && lost.unknownPurchases.map(\.identity.value) == ["4711"])
        }
    }

    @Test("A user id with more purchases than the search follows is reported")
    func many() async throws {
        try await Samples.withStore([]) { store in
            let users = (1...CustomerSearch.maximumIdentities).map { number in
                UserClaim(scope: StoreSamples.scope, identity: StoreSamples.original("\(number)"), userId: "shared")
            }
            _ = try await store.apply(
                MigrationStep(facts: [StoreSamples.set(StoreSamples.fact("7"))], users: Array(users.dropLast())))
            #expect(try await CustomerSearch(for: "shared", in: store).isComplete)
            _ = try await store.apply(MigrationStep(users: Array(users.suffix(1))))
            let search = try await CustomerSearch(for: "shared", in: store)
            #expect(!search.isComplete && search.matches.count == 1)
        }
    }

    @Test("Each row is like its line in the NDJSON of an export, byte for byte")
    func exported() async throws {
        let folder = try TemporaryFolder()
        try await Samples.withStore { store in
            _ = try await Samples.export(.ndjson).run(store, to: folder.path)
            var compared: Set<String> = []
            for id in ["100", "200", "300", "400", "500", "700", "800", "900"] {
                let report = try #require(try await reports(id, store, try catalog(Samples.products)).first)
                let key = try #require(try rows(report, "customers").first?["customer"]?.string)
                for outline in ExportedTables.outlines where outline.name != "quarantine" {
                    let text = try String(contentsOfFile: folder.file("\(outline.name).ndjson"), encoding: .utf8)
                    let lines = text.split(separator: "\n").filter { $0.contains("\"customer\":\"\(key)\"") }
                    let found = try rows(report, outline.name).map { row in
                        var writer = JSONWriter()
                        writer.value(row)
                        return String(decoding: writer.finish(), as: UTF8.self)
                    }
                    // The questions of an export are ordered by reason over all customers.
                    #expect(found.sorted() == lines.map(String.init).sorted(), "\(outline.name) of \(id)")
                    if !found.isEmpty { compared.insert(outline.name) }
                }
            }
            #expect(compared.count == ExportedTables.outlines.count - 1)
        }
    }

    @Test("The periods are the timeline: a refund ends one early, an upgrade at the start of the next")
    func periods() async throws {
        try await Samples.withStore(Samples.sets + [Self.subscriber]) { store in
            let products = try catalog(Samples.products)
            let refunded = try rows(try #require(try await reports("1000", store, products).first), "periods")
            #expect(refunded.map { $0["transactionId"]?.string } == ["1000", "1001"])
            #expect(refunded.map { $0["periodEnd"]?.integer } == [30, 40].map { Samples.june + $0 * Samples.day })
            #expect(refunded.last?["expiresDate"]?.integer == Samples.june + 60 * Samples.day)
            #expect(refunded.map { $0["offerType"]?.integer } == [1, 4])
            let upgraded = try rows(try #require(try await reports("200", store, products).first), "periods")
            #expect(upgraded.map { $0["isUpgraded"]?.bool } == [true, nil])
            #expect(upgraded.first?["periodEnd"] == upgraded.last?["periodStart"])
        }
    }

    @Test("Offers used are transactions with an offer; open ones have the verdicts that offers gives")
    func offers() async throws {
        try await Samples.withStore([Self.subscriber]) { store in
            let products = try catalog(Self.offers)
            let date = Samples.june + 50 * Samples.day
            let report = try #require(try await reports("1000", store, products, at: date).first)
            let used = try rows(report, "offers_used")
            #expect(used.map { $0["transactionId"]?.string } == ["1001", "1000"])
            #expect(used.map { $0["offerIdentifier"]?.string } == ["come-back", nil])
            let open = try rows(report, "offers_open")
            #expect(open.map { $0["kind"]?.string } == ["introductory", "introductory", "win-back", "promotional"])
            #expect(
                open.map { $0["subscriptionGroupIdentifier"]?.string } == ["20456789", "3", "20456789", "20456789"])
            let customer = try #require(try await CustomerSearch(for: "1000", in: store).matches.first?.customer)
            let history = customer.purchaseHistory(catalog: products)
            let winBack = history.eligibility(for: try #require(products.winBackOffers.first), at: date)
            let verdicts = ["20456789", "3"].map { history.introductoryEligibility(group: $0, at: date) } + [winBack]
            #expect(open.dropLast().map { $0["eligibility"]?.string } == verdicts.map(\.eligibility.rawValue))
            #expect(open.first?["eligibility"]?.string == "notEligible")
            #expect(open.map { $0["reasons"]?.array?.count } == verdicts.map(\.reasons.count) + [nil])
            let situation = history.promotionalCandidates(at: date).first?.situation.rawValue
            #expect(situation != nil && open.last?["situation"]?.string == situation)
            let plain = try rows(try #require(try await reports("1000", store, nil).first), "offers_open")
            #expect(plain.map { $0["kind"]?.string } == ["introductory", "promotional"])
        }
    }

    @Test("documents has each document whose statements count, and the hash of a receipt that the store keeps")
    func documents() async throws {
        try await Samples.withStore { store in
            let rows = try rows(try #require(try await reports("100", store, nil).first), "documents")
            let digest = StoreSamples.receipt("receipt").digest
            // The newer API answer states what the receipt of the same day does not.
            #expect(
                rows.map { $0["document"]?.string } == [
                    "receipt", "signedTransaction", "receipt", "appStoreServerAPI",
                ])
            #expect(rows.map { $0["sha256"]?.string } == [digest, nil, nil, nil])
            #expect(rows.first?["form"]?.string == "app")
            #expect(rows.map { $0["transactions"]?.integer } == [2, 0, 1, 1])
            #expect(rows.map { $0["renewalInfos"]?.integer } == [0, 0, 0, 1])
            #expect(rows.map { $0["appTransaction"]?.bool } == [false, true, false, false])
            let recorded = try self.rows(try #require(try await reports("400", store, nil).first), "documents")
            #expect(recorded.map { $0["evidence"]?.string } == ["recorded"])
            #expect(recorded.first?["asOf"]?.integer == Samples.june + 3 * Samples.day)
        }
    }

    @Test("documents has the hash of each document: of receipts that a newer one replaced, and of unsigned ones too")
    func hashesOfAll() async throws {
        func set(_ id: String, _ source: FactSource, _ hash: Fingerprint?, _ receipt: KnownReceipt?) -> FactSet {
            let date = receipt?.signedDate ?? Samples.june
            let fact = TransactionFact(
                payload: StoreSamples.payload(id, original: "1"), legacy: nil,
                origin: FactOrigin(source: source, signedDate: date, document: hash))
            return StoreSamples.set([fact], receipt: receipt)
        }
        let old = StoreSamples.receipt("old", at: Samples.june)
        let new = StoreSamples.receipt("new", at: Samples.june + 1)
        let reply = Fingerprint(of: [7])
        let sets = [
            set("1", .receipt, old.hash, old), set("2", .receipt, new.hash, new), set("2", .recordedReply, reply, nil),
            set("3", .recordedReply, nil, nil),
        ]
        for sets in [sets, sets.reversed()] {
            try await Samples.withStore(sets) { store in
                let rows = try rows(try #require(try await reports("1", store, nil).first), "documents")
                #expect(
                    rows.map { $0["document"]?.string } == ["receipt", "recordedReply", "recordedReply", "receipt"])
                #expect(rows.map { $0["sha256"]?.string } == [old.digest, nil, reply.description, new.digest])
                // The store has only the newer receipt itself.
                #expect(rows.map { $0["form"]?.string } == [nil, nil, nil, "app"])
                #expect(rows.map { $0["transactions"]?.integer } == [1, 1, 1, 1])
            }
        }
    }

    @Test("documents has the hash of the signed part of each JWS")
    func hashesOfJWS() async throws {
        let (old, new) = (Fingerprint(of: [1]), Fingerprint(of: [2]))
        let sets = [(old, Int64(0)), (new, 1)].map { FactSupport.answer($0.0, signedAt: Samples.june + $0.1) }
        try await Samples.withStore(sets) { store in
            let rows = try rows(try #require(try await reports("1", store, nil).first), "documents")
            #expect(rows.map { $0["document"]?.string } == ["appStoreServerAPI"])
            #expect(rows.map { $0["sha256"]?.string } == [new.description])
            #expect(rows.map { $0["asOf"]?.integer } == [Samples.june + 1])
            #expect(rows.map { $0["transactions"]?.integer } == [1])
        }
    }

    @Test("The order in which documents arrive does not matter for the report")
    func order() async throws {
        var texts: Set<[UInt8]> = []
        for sets in [Samples.sets + [Self.subscriber], [Self.subscriber] + Samples.sets.reversed()] {
            try await Samples.withStore(sets) { store in
                for id in ["100", "1000"] {
                    let search = try await CustomerSearch(for: id, in: store)
                    let reports = search.matches.map { CustomerReport($0, catalog: nil, date: Samples.date) }
                    texts.insert(CustomerReport.json(search, reports, date: Samples.date))
                }
            }
        }
        #expect(texts.count == 2)
    }
}
