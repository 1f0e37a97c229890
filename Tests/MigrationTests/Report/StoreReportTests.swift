import AppStoreModels
import Foundation
import Migration
import ProductCatalog
import Purchases
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore
import TransactionStoreConformance

@Suite("Reports")
struct StoreReportTests {
    private static func report(_ sets: [FactSet] = Samples.sets) async throws -> StoreReport {
        let result = ReportBox()
        try await Samples.withStore(sets) {
            result.value = try await StoreReport($0, catalog: try catalog(Samples.products), date: Samples.date)
        }
        return try #require(result.value)
    }

    private final class ReportBox: @unchecked Sendable { var value: StoreReport? }

    private static func counts(_ values: [String]) -> [String: Int] {
        values.reduce(into: [:]) { $0[$1.isEmpty ? "unknown" : $1, default: 0] += 1 }
    }

    /// The year of a date in a table, by Foundation.
    private static func year(_ milliseconds: String) throws -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let date = Date(timeIntervalSince1970: Double(try #require(Int64(milliseconds))) / 1_000)
        return String(calendar.component(.year, from: date))
    }

    @Test("The numbers are those of the tables of the export")
    func equalsExport() async throws {
        let folder = try TemporaryFolder()
        try await Samples.withStore { _ = try await Samples.export(.ndjson).run($0, to: folder.path) }
        func table(_ name: String) throws -> ExportedRows { try ExportedRows(name, in: folder) }
        let report = try await Self.report()
        #expect(report.customers == (try table("customers").rows.count))
        #expect(report.customersWithAccess == (try table("customers")["hasAccess"].count { $0 == "true" }))
        #expect(report.entitlements == (try table("entitlements").rows.count))
        let transactions = try table("transactions")
        #expect(report.transactions == transactions.rows.count)
        #expect(report.transactionsByEnvironment == Self.counts(transactions["environment"]))
        #expect(report.transactionsByEvidence == Self.counts(transactions["evidence"]))
        #expect(report.transactionsBySource == Self.counts(transactions["source"]))
        let documents = try transactions["documents"].flatMap { text -> [String] in
            let value = try JSONValue.parse(Array(text.utf8))
            return try #require(value.array).compactMap(\.string)
        }
        #expect(report.transactionsByDocument == Self.counts(documents))
        #expect(report.transactionsByDocument.count > 2 && documents.count > transactions.rows.count)
        #expect(report.receiptsByForm == ["app": 2])
        #expect(report.transactionsByType == Self.counts(transactions["type"]))
        #expect(report.transactionsByProduct == Self.counts(transactions["productId"]))
        #expect(report.transactionsByYear == Self.counts(try transactions["purchaseDate"].map(Self.year)))
        let revoked = transactions.rows.filter { $0["revocationDate"] != nil && $0["isUpgraded"] != "true" }
        #expect(!revoked.isEmpty)
        #expect(report.refundsByYear == Self.counts(try revoked.map { try Self.year($0["revocationDate"] ?? "") }))
        #expect(report.refundsByType == Self.counts(revoked.map { $0["revocationType"] ?? "" }))
        let subscriptions = try table("subscriptions")
        #expect(report.subscriptions == subscriptions.rows.count)
        #expect(report.subscriptionsByStatus == Self.counts(subscriptions["status"]))
        #expect(report.months.reduce(0) { $0 + $1.started } == subscriptions.rows.count)
        #expect(report.months.reduce(0) { $0 + $1.ended } == subscriptions["hasAccess"].count { $0 == "false" })
        #expect(report.months.last?.active == subscriptions["hasAccess"].count { $0 == "true" })
        #expect(report.months.last.map { "\($0.year)-\($0.month)" } == "2020-7")
        let terms = try table("terms")
        #expect(report.terms.map(\.productId) == ["pass"])
        #expect(report.terms.map(\.terms) == [terms.rows.count])
        let ends = terms["termEnd"].compactMap { Int64($0) }
        #expect(
            report.terms.map(\.running) == [
                zip(terms["termStart"].compactMap { Int64($0) }, ends).count {
                    $0 <= Samples.date && $1 > Samples.date
                }
            ])
        let quarantine = try table("quarantine")
        #expect(report.quarantine.map(\.reason) == quarantine["reason"])
        #expect(report.quarantine.flatMap(\.examples).map(\.sha256) == quarantine["sha256"])
        let conflicts = try table("conflicts")
        #expect(report.conflicts == conflicts.rows.count)
        #expect(report.conflictExamples.map(\.originalTransactionId) == conflicts["originalTransactionId"])
        let questions = Self.counts(try table("to_ask_apple")["reason"])
        #expect(Dictionary(uniqueKeysWithValues: report.questions.map { ($0.reason, $0.purchases) }) == questions)
        let answered = transactions.rows.filter { ($0["documents"] ?? "").contains("\"appStoreServerAPI\"") }
        func purchases(_ rows: [[String: String]]) -> Int {
            Set(rows.map { [$0["environment"], $0["customer"], $0["originalTransactionId"] ?? $0["transactionId"]] })
                .count
        }
        #expect(report.purchases == purchases(transactions.rows))
        #expect(report.purchasesAnswered == purchases(answered))
        #expect(report.customersAnswered == Set(answered.map { [$0["environment"], $0["customer"]] }).count)
    }

    @Test("Answers of the App Store are counted by purchase, unknown and bare ids too, and the apps that are left")
    func answers() async throws {
        let (other, local) = (
            StoreScope(environment: .sandbox, bundleId: "com.example.other"),
            StoreScope(environment: .xcode, bundleId: "com.example.local")
        )
        // The App Store described one period of 10. It can be queried for 20 and 30, not for 40, which is from Xcode.
        let sets = [
            StoreSamples.set(
                Samples.period("10", "10", from: 0), Samples.period("11", "10", from: 30, source: .appStoreServerAPI)),
            StoreSamples.set(Samples.period("20", "20", from: 0), scope: other),
            StoreSamples.set(Samples.period("30", "30", from: 0), scope: other),
            StoreSamples.set(Samples.period("40", "40", from: 0), scope: local),
        ]
        func line(_ number: Int) -> QuarantinedRecord {
            QuarantinedRecord(line: Array(#"{"reason":"bareTransactionId","original":"\#(number)"}"#.utf8))
        }
        let result = ReportBox()
        try await Samples.withStore(sets) { store in
            _ = try await store.apply(MigrationStep(quarantined: [line(50), line(60)]))
            try await store.remember([UnknownTransaction(scope: other, transactionId: "30", answeredDate: Samples.date)]
            )
            result.value = try await StoreReport(store, catalog: nil, date: Samples.date)
        }
        let report = try #require(result.value)
        #expect(report.customersAnswered == 1)
        #expect(report.purchases == 3)
        #expect(report.purchasesAnswered == 1)
        #expect(report.unknownToAppStore == 1)
        #expect(report.bareTransactionIds == 2)
        #expect(report.appsToQuery == ["com.example.other"])
    }

    @Test("Fields that no document and no catalog states are counted by the transactions that lack them")
    func uncarriedFields() async throws {
        let sets = [
            // An answer of the App Store has every field, except those that an app sets.
            StoreSamples.set(
                Samples.period("10", "10", from: 0, source: .appStoreServerAPI) {
                    $0.type = .autoRenewableSubscription
                }),
            StoreSamples.set(
                Samples.period("20", "20", from: 0) { $0.appAccountToken = Samples.token }),
            StoreSamples.set(Samples.purchase("30", "pass", nil, from: 0, source: .recordedReply)),
        ]
        func fields(_ catalog: ProductCatalog?) async throws -> [String: Int] {
            let result = ReportBox()
            try await Samples.withStore(sets) { store in
                result.value = try await StoreReport(store, catalog: catalog, date: Samples.date)
            }
            let report = try #require(result.value)
            #expect(
                report.uncarriedFields.map(\.transactions) == report.uncarriedFields.map(\.transactions).sorted(by: >))
            return Dictionary(uniqueKeysWithValues: report.uncarriedFields.map { ($0.field, $0.transactions) })
        }
        var expected = [
            "price": 2, "currency": 2, "storefront": 2, "transactionReason": 2, "appTransactionId": 2,
            "appAccountToken": 2, "subscriptionGroupIdentifier": 1, "offerType": 1, "type": 1,
        ]
        #expect(try await fields(nil) == expected)
        expected["type"] = nil
        expected["subscriptionGroupIdentifier"] = nil
        #expect(try await fields(try catalog(Samples.products)) == expected)
    }

    @Test("The records of each migration are counted, each once over all its runs")
    func sources() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        func line(_ id: Int, _ more: String = "") -> String {
            let ids = #""transaction_id":"53000\#(id)","original_transaction_id":"53000\#(id)""#
            let row = #"{"product_id":"p",\#(ids),"purchase_date_ms":"1700000000000","quantity":"1"}"#
            return #"{"bundle_id":"com.example.app","environment":"Production","row":\#(row)\#(more)}"# + "\n"
        }
        let nonsense = "{\"receipt\":\"nonsense\"}\n"
        func migrate(_ inputs: [String], startsOver: Bool = false) async throws {
            let options = StoreMigration.Options(
                migration: MigrationOptions(), startsOver: startsOver, date: Samples.date)
            _ = try await StoreMigration(options: options).run(inputs: inputs, into: store)
        }
        func sources() async throws -> [StoreReport.Source] {
            try await StoreReport(store, catalog: nil, date: Samples.date).sources
        }
        #expect(try await sources().isEmpty)
        let first = try folder.write("a.ndjson", line(1) + line(2) + nonsense)
        try await migrate([first])
        // The next run continues with the appended records.
        try folder.write("a.ndjson", line(1) + line(2) + nonsense + line(3, #","recorded_at":"March 1, 2024""#))
        try await migrate([first])
        var found = try await sources()
        #expect(found.map(\.inputs) == [[first]])
        let summary = try #require(found.first?.summary)
        #expect(summary.recordsRead == 4 && summary.migrated == 3 && summary.quarantined == 1)
        #expect(summary.unreadColumns.map(\.role) == [.recordedAt])
        #expect(summary.unreadColumns.map(\.count) == [1])
        // A start from the beginning reads the records again.
        try folder.write("a.ndjson", line(1) + line(2))
        try await migrate([first], startsOver: true)
        let second = try folder.write("b.ndjson", line(9))
        try await migrate([second, first])
        found = try await sources()
        #expect(found.map(\.inputs) == [[first], [second, first]])
        #expect(found.map(\.summary.recordsRead) == [2, 3] && found.map(\.summary.quarantined) == [0, 0])
        #expect(found.map(\.inputCount) == [1, 2])
        try await store.close()
    }

    @Test("Of a query without a key the last run is counted, and of retries all runs")
    func sourcesWithoutPosition() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        try await SQLiteTransactionStore.open(path: folder.file("rows.sqlite")).close()
        let query = RowQuery(sql: "SELECT 'nonsense' AS receipt UNION ALL SELECT 'other nonsense'")
        let migration = StoreMigration(
            options: StoreMigration.Options(migration: MigrationOptions(query: query), date: Samples.date))
        for _ in 1...2 {
            let read = try await migration.run(inputs: ["sqlite:" + folder.file("rows.sqlite")], into: store)
            #expect(read.records.recordsRead == 2 && read.recordsBefore == 0)
            let sources = try await StoreReport(store, catalog: nil, date: Samples.date).sources
            #expect(sources.map(\.summary.recordsRead) == [2] && sources.map(\.summary.quarantined) == [2])
        }
        for _ in 1...2 {
            let retried = try await migration.retry(store)
            #expect(retried.records.recordsRead == 2)
        }
        let sources = try await StoreReport(store, catalog: nil, date: Samples.date).sources
        #expect(sources.map(\.summary.recordsRead) == [2, 4] && sources.map(\.summary.quarantined) == [2, 4])
        #expect(sources.last?.inputs == ["the quarantine (migrate --retry)"])
        try await store.close()
    }

    private static func enrichment(_ requests: Int, refused: Int = 0) -> EnrichmentCounts {
        var counts = EnrichmentCounts()
        (counts.requests, counts.answered, counts.unknown) = (requests, requests / 2, requests / 4)
        (counts.failed, counts.refused, counts.newFacts) = (requests / 5, refused, requests * 2)
        return counts
    }

    @Test("The counts of all runs of enrich are added, each run once however often it keeps its counts")
    func enrichmentRuns() async throws {
        try await Samples.withStore([]) { store in
            func report() async throws -> StoreReport {
                try await StoreReport(store, catalog: nil, date: Samples.date)
            }
            var found = try await report()
            #expect(found.enrichmentRuns == 0 && found.enrichment == EnrichmentCounts())
            let (first, second) = (EnrichmentRecord(), EnrichmentRecord())
            // A run without a query is none.
            try await first.keep(EnrichmentCounts(), in: store)
            #expect(try await report().enrichmentRuns == 0)
            for requests in [20, 40, 40] { try await first.keep(Self.enrichment(requests), in: store) }
            try await second.keep(Self.enrichment(20, refused: 1), in: store)
            // The first run goes on meanwhile.
            try await first.keep(Self.enrichment(80), in: store)
            found = try await report()
            #expect(found.enrichmentRuns == 2)
            #expect(found.enrichment == Self.enrichment(100, refused: 1))
            #expect(found.sources.isEmpty)
        }
    }

    @Test("Runs of enrich that keep their counts at the same time lose nothing")
    func enrichmentRunsAtOnce() async throws {
        try await Samples.withStore([]) { store in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 1...8 {
                    group.addTask {
                        let record = EnrichmentRecord()
                        for requests in [20, 40, 60] { try await record.keep(Self.enrichment(requests), in: store) }
                    }
                }
                try await group.waitForAll()
            }
            let found = try await StoreReport(store, catalog: nil, date: Samples.date)
            #expect(found.enrichmentRuns == 8)
            #expect(found.enrichment == Self.enrichment(480))
        }
    }

    @Test("The counts of enrich have a bounded size, and those of the oldest runs stay in the sum")
    func oldEnrichmentRuns() throws {
        var runs = EnrichmentRuns()
        let number = 2 * EnrichmentRuns.maximumRuns
        for run in 1...number {
            let isNew = runs.keep(Self.enrichment(20), of: "\(run)")
            // One run lasts.
            let isChanged = runs.keep(Self.enrichment(20 * run), of: "long")
            #expect(isNew && isChanged)
        }
        #expect(runs.count == number + 1)
        #expect(runs.total == Self.enrichment(40 * number))
        #expect(runs.state.count < 200 * EnrichmentRuns.maximumRuns)
        let read = try #require(EnrichmentRuns(state: runs.state))
        #expect(read == runs)
        #expect(EnrichmentRuns(state: Array(#"{"summary":{}}"#.utf8)) == nil)
        let run = #"{"run":"a","requests":\#(Int64.max)}"#
        let damaged = #"{"enrich":{"earlier":{"requests":\#(Int64.max),"failed":-5},"runs":[\#(run)]}}"#
        let large = try #require(EnrichmentRuns(state: Array(damaged.utf8)))
        #expect(large.total.requests > 0 && large.total.failed == 0)
    }

    @Test("The order of the documents changes nothing")
    func order() async throws {
        #expect(try await Self.report() == (try await Self.report(Samples.sets.reversed())))
    }

    @Test("Refunds, also after an upgrade, and the end of Family Sharing are counted, upgrades are not")
    func refunds() async throws {
        func revoked(_ id: String, _ configure: (inout JWSTransactionDecodedPayload) -> Void) -> FactSet {
            StoreSamples.set(
                Samples.period(id, id, from: 0, source: .appStoreServerAPI) {
                    $0.revocationDate = Samples.june + Samples.day
                    configure(&$0)
                })
        }
        let report = try await Self.report([
            revoked("10") { $0.revocationType = .refundFull }, revoked("20") { $0.revocationType = .familyRevoke },
            revoked("30") { $0.isUpgraded = true },
            revoked("40") {
                $0.isUpgraded = true
                $0.revocationType = .refundProrated
            },
        ])
        #expect(report.refundsByYear == ["2020": 3])
        #expect(report.refundsByType == ["REFUND_FULL": 1, "FAMILY_REVOKE": 1, "REFUND_PRORATED": 1])
    }

    @Test("A trial is paid if a later period is neither free nor revoked")
    func trials() async throws {
        func trial(_ id: String, _ original: String, from: Int64) -> TransactionFact {
            Samples.period(id, original, from: from, source: .appStoreServerAPI) { $0.offerDiscountType = .freeTrial }
        }
        let sets = [
            trial("10", "10", from: 0), Samples.period("11", "10", from: 30, source: .appStoreServerAPI),
            trial("20", "20", from: 0),
            trial("30", "30", from: 0),
            Samples.period("31", "30", from: 30, source: .appStoreServerAPI) {
                $0.revocationDate = Samples.june + 31 * Samples.day
                $0.revocationReason = .other
            },
            Samples.period("40", "40", from: 0, source: .appStoreServerAPI), trial("41", "40", from: 30),
            trial("50", "50", from: 0),
            Samples.period("51", "50", from: 30, source: .appStoreServerAPI) { $0.price = 0 },
            // Two copies of an upgraded period: one states the refund.
            trial("60", "60", from: 0),
            Samples.period("61", "60", from: 30, source: .appStoreServerAPI) {
                $0.webOrderLineItemId = "600"
                $0.isUpgraded = true
                $0.revocationDate = Samples.june + 40 * Samples.day
                $0.revocationType = .refundFull
            },
            Samples.period("62", "60", from: 30, source: .appStoreServerAPI) {
                $0.webOrderLineItemId = "600"
                $0.isUpgraded = true
            },
        ].map { StoreSamples.set($0) }
        let report = try await Self.report(sets)
        #expect(report.trials == 6)
        #expect(report.trialsPaid == 1)
    }

    @Test("A term runs until its end or its refund")
    func terms() async throws {
        func pass(_ id: String, from: Int64, revoked: Int64? = nil) -> FactSet {
            let date = Samples.june + from * Samples.day
            return StoreSamples.set(
                StoreSamples.fact(id, product: "pass", source: .appStoreServerAPI, at: date) {
                    $0.purchaseDate = date
                    $0.originalPurchaseDate = date
                    $0.type = .nonRenewingSubscription
                    $0.revocationDate = revoked.map { Samples.june + $0 * Samples.day }
                })
        }
        // A pass lasts a month. The report is of the 49th day.
        let report = try await Self.report([
            pass("10", from: 0), pass("20", from: 30), pass("30", from: 30, revoked: 48),
            pass("40", from: 30, revoked: 50),
        ])
        #expect(report.terms.map(\.terms) == [4])
        #expect(report.terms.map(\.running) == [2])
    }

    @Test("A store without documents has a report of zeros")
    func empty() async throws {
        let report = try await Self.report([])
        #expect(report.customers + report.transactions + report.quarantined == 0)
        #expect(report.months.isEmpty)
    }
}
