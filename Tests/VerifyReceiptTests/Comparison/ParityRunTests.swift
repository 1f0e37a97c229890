import AppStoreModels
import Foundation
import LegacyReceipts
import Migration
import ReplyComparison
import SharedReceipts
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt

/// The recorded pairs as `compare` reads them: through the index of the real receipts.
@Suite("Recorded pairs of the App Store", .enabled(if: SharedReceipts.arePresent)) struct ParityRunTests {
    // Real pairs that grant differently, and why.
    private static let namesReplaced = ["ios6-011.json": "the product's name was replaced in the reply"]
    private static let bought = ["sandbox-007.json": "bought after the receipt was made"]
    private static let edited = [
        "042.json": "the date was edited by hand", "045.json": "the name was replaced, the date edited by hand",
        "120.json": "the product's name was replaced in the reply",
    ]

    private func report(_ store: (any TransactionStore)?, learns: Bool) async throws -> ParityReport {
        let folder = try unwrap(SharedReceipts.folder)
        var configuration = EndpointConfiguration()
        // Other tests keep the processor busy.
        configuration.learningLimit = .seconds(60)
        let endpoint = try VerifyReceiptEndpoint(configuration: configuration, store: store)
        let run = ParityRun(endpoint: endpoint, learning: learns ? .sameReply : .none, now: requestDate)
        let source = RecordedPairSource([folder.appending(path: "index.json").path])
        var report = ParityReport(learning: learns ? .sameReply : .none)
        while let batch = try source.next() {
            for case .pair(let pair) in batch { report.add(try await run.compare(pair), place: pair.place) }
        }
        return report
    }

    /// Its author replaced the names in the reply and not in the receipt.
    private func isReplacedName(_ example: ParityReport.Example) -> Bool {
        example.place.hasSuffix("ios6-011.json")
            && ["receipt.bid", "receipt.product_id"].contains(example.difference.path)
    }

    /// Pairs that grant differently and are none of these.
    private func unexplained(_ report: ParityReport, _ explained: [String: String]) -> [String] {
        let examples = report.entitlement.examples.map { ($0, name: $0.place.split(separator: "/").last ?? "") }
        for (example, name) in examples {
            print("grants differently: \(example.summary): \(explained[String(name)] ?? "?")")
        }
        #expect(Set(examples.map { String($0.name) }) == Set(explained.keys), "an explanation too many, or too few")
        return examples.filter { explained[String($0.name)] == nil }.map(\.0.summary)
    }

    private func expectNoFault(_ report: ParityReport) {
        let faults = report.examples.filter { $0.difference.kind == .mismatch && !isReplacedName($0) }
        #expect(faults.isEmpty, "\(faults)")
        #expect(report.counts.mismatch == report.examples.filter(isReplacedName).count)
        #expect(report.pairs == 6)
    }

    @Test("Without a store, what a receipt determines is equal")
    func receiptsAlone() async throws {
        let report = try await report(nil, learns: false)
        print(report.table())
        expectNoFault(report)
        #expect(report.counts.equalDerivable > 800)
        #expect(report.counts.formatting > 0)
        #expect(unexplained(report, Self.namesReplaced.merging(Self.bought) { $1 }) == [])
    }

    @Test("With the later receipts learned, no purchase is missing")
    func learned() async throws {
        let report = try await report(MemoryStore(), learns: true)
        print(report.table())
        expectNoFault(report)
        #expect(report.fields["latest_receipt_info[]"]?.serverState ?? 0 == 0)
        #expect(report.entitlement.pairsCompared == 6 && unexplained(report, Self.namesReplaced) == [])
    }

    /// Replies without their request. The test submits the receipt that Apple issued in the reply.
    @Test("Reissued receipts grant what their replies granted")
    func reissued() async throws {
        let endpoint = try VerifyReceiptEndpoint(configuration: EndpointConfiguration(), store: nil)
        let run = ParityRun(endpoint: endpoint, now: requestDate)
        var report = ParityReport()
        for file in try SharedReceipts.files("responses") {
            let reply = try JSONValue.parse(SharedReceipts.bytes(file))
            guard let text = reply["latest_receipt"]?.string,
                (try? ReceiptContainer(requestText: Array(text.utf8))) != nil
            else { continue }
            let pair = RecordedPair(request: body(text: text), reply: reply, place: file.lastPathComponent)
            report.add(try await run.compare(pair), place: pair.place)
        }
        print("reissued receipts: \(report.pairs) pairs, \(report.entitlement.pairsDiffering) grant differently")
        #expect(report.entitlement.pairsCompared == report.pairs && unexplained(report, Self.edited) == [])
    }
}

@Suite("Report of many pairs") struct ParityReportTests {
    @Test("Counts add up, faults are all kept, others once for each member and rule")
    func examples() throws {
        let wrong = Reply.app.with("receipt.bundle_id", "com.example.other").with("latest_receipt", "MIIU")
        var report = ParityReport()
        for index in 0..<3 { report.add(try compared(.app, wrong), place: "record \(index)") }
        report.add(try compared(.app, .app), place: "record 3")
        report.addSkipped(place: "record 4", reason: "no reply")
        report.addFailed(place: "record 5", error: .appleReplyUnreadable)
        #expect(report.pairs == 4 && report.identicalPairs == 1 && report.pairsWithoutFault == 1)
        #expect(report.counts.mismatch == 3 && report.counts.serverState == 3)
        let rules = Dictionary(grouping: report.examples, by: \.difference.rule).mapValues(\.count)
        #expect(rules == [.signedFieldDiffers: 3, .reissuedReceipt: 1])
        #expect(report.rules == [.signedFieldDiffers: 3, .reissuedReceipt: 3])
        #expect(report.reasons == ["record 4: no reply", "record 5: appleReplyUnreadable"])
    }

    @Test("The table and the JSON say the same")
    func output() throws {
        var report = ParityReport()
        report.add(try compared(.app, Reply.app.with("latest_receipt", "MIIU")), place: "one")
        let lines = report.table().split(separator: "\n")
        let row = try unwrap(lines.first { $0.hasPrefix("latest_receipt ") })
        #expect(row.split(separator: " ").dropFirst() == ["0", "0", "1", "0"])
        #expect(Set(lines.prefix(8).map(\.count)).count == 1)
        let json = try JSONValue.parse(report.json())
        #expect(json["pairs"]?.integer == 1)
        #expect(json["counts"]?["serverState"]?.integer == 1)
        #expect(json["fields"]?["latest_receipt"]?["serverState"]?.integer == 1)
        #expect(json["differences"]?.array?.first?["difference"]?["rule"]?.string == "reissuedReceipt")
        #expect(json["statuses"]?.array?.first?["apple"]?.integer == 0)
    }
}
