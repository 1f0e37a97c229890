import AppStoreModels
import Purchases
import ReceiptForge
import ReplyComparison
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt

/// An old receipt whose subscription was renewed since, and Apple's reply to it, which has the new receipt inside.
@Suite("Comparison with learning") struct LearningRunTests {
    private static let days = [5, 6, 7].map { created.adding(days: $0).milliseconds }

    private func oldReceipt() throws -> [UInt8] { try appReceipt([month(0)], at: created.adding(days: -50)) }

    /// What Apple answers to the old receipt.
    private func pair(
        at date: Int64, password: String? = nil, learned: [ForgedPurchase] = [month(0), month(1), month(2)]
    ) async throws -> RecordedPair {
        let apple = try testEndpoint(store: MemoryStore())
        _ = try await apple.ask(body(appReceipt(learned)), now: date)
        let reply = try await apple.ask(body(oldReceipt()), now: date)
        #expect(reply.status == 0)
        return RecordedPair(
            request: try body(oldReceipt(), password: password), reply: reply.json, place: "day \(date)")
    }

    private func report(
        _ pairs: [RecordedPair], _ learning: LatestReceiptLearning,
        _ change: (inout EndpointConfiguration) -> Void = { _ in }
    ) async throws -> ParityReport {
        let endpoint = try testEndpoint(store: MemoryStore(), change)
        let run = ParityRun(endpoint: endpoint, learning: learning, now: requestDate)
        var report = ParityReport(learning: learning)
        for pair in pairs { report.add(try await run.compare(pair), place: pair.place) }
        return report
    }

    @Test("Without learning, the renewal is granted by Apple only") func none() async throws {
        let report = try await report([pair(at: Self.days[0])], .none)
        #expect(report.entitlement.pairsGrantedByAppleOnly == 1 && report.entitlement.pairsGrantedByOursOnly == 0)
        #expect(report.counts.mismatch == 0 && report.pairsWithoutFault == 0 && !report.hasParity)
        let example = try unwrap(report.entitlement.examples.first)
        #expect(example.receiptName?.count == 12 && example.difference.productId == monthly)
        #expect(example.difference.originalTransactionId == "530001234567000" && example.difference.reason == .expired)
        #expect(!report.table().contains("upper bound"))
    }

    @Test("Learned from the same reply nothing differs, and the report says that this is an upper bound")
    func sameReply() async throws {
        let report = try await report([pair(at: Self.days[0])], .sameReply)
        #expect(report.hasParity && report.pairsWithoutFault == 1)
        #expect(report.table().contains("\nupper bound: the store already had the receipt inside each reply."))
        #expect(try JSONValue.parse(report.json())["isUpperBound"]?.bool == true)
    }

    @Test("Learned from earlier pairs, only the first one differs") func earlierPairs() async throws {
        let pairs = [try await pair(at: Self.days[0]), try await pair(at: Self.days[1])]
        let report = try await report(pairs, .earlierPairs)
        #expect(report.entitlement.pairsDiffering == 1)
        #expect(report.entitlement.examples.map(\.place) == [pairs[0].place])
        #expect(report.pairsOutOfOrder == 0)
        #expect(report.table().contains("learned from earlier pairs only"))
        #expect(!report.table().contains("upper bound"))
        let json = try JSONValue.parse(report.json())
        #expect(json["isUpperBound"]?.bool == false && json["learned"]?.string == "earlierPairs")
    }

    @Test("Pairs out of order have seen later replies, and are counted") func order() async throws {
        let pairs = [
            try await pair(at: Self.days[1]), try await pair(at: Self.days[0]), try await pair(at: Self.days[2]),
        ]
        let report = try await report(pairs, .earlierPairs)
        #expect(report.pairsOutOfOrder == 1)
        #expect(report.table().contains("upper bound for 1 of the pairs"))
        #expect(try JSONValue.parse(report.json())["isUpperBound"]?.bool == true)
    }

    @Test("The receipt inside of a reply is learned where a secret is configured, too") func password() async throws {
        let pair = try await pair(at: Self.days[0], password: "s3cret")
        for (secret, isSame) in [("s3cret", true), ("another", false)] {
            let report = try await report([pair], .sameReply) { $0.accountSecrets = [SharedSecret(secret)] }
            #expect(report.hasParity == isSame)
        }
    }
}

@Suite("Entitlement in the report") struct EntitlementReportTests {
    private static let context = ComparisonContext(now: Granting.moment)

    private func report(_ pairs: [(Reply, Reply)], maximumExamples: Int = 100) throws -> ParityReport {
        var report = ParityReport(maximumExamples: maximumExamples)
        for (index, pair) in pairs.enumerated() {
            report.add(try compared(pair.0, pair.1, Self.context), place: "record \(index)")
        }
        return report
    }

    @Test(
        "No case of the review is without fault, or has parity",
        arguments: EntitlementCase.all + EntitlementCase.statuses)
    func misleading(test: EntitlementCase) throws {
        let report = try report([(Granting.active, Granting.active), (test.apples, test.ours)])
        #expect(report.pairsWithoutFault == 1 && report.entitlement.pairsDiffering == 1 && !report.hasParity)
    }

    @Test("Temporary failures are counted as such, and alone they measure nothing") func temporary() throws {
        let failure = (Granting.status(21009), Granting.active)
        let alone = try report([failure])
        #expect(alone.pairsWithoutFault == 0 && alone.entitlement.obstacles == [.temporaryFailure: 1])
        #expect(!alone.hasParity)
        let both = try report([failure, (Granting.active, Granting.active)])
        #expect(both.pairsWithoutFault == 1 && both.entitlement.pairsCompared == 1 && both.hasParity)
        #expect(both.table().contains("entitlement not comparable, a temporary failure at Apple: 1"))
    }

    @Test("Pairs that cannot be compared, and mismatches, count against parity") func parity() throws {
        var report = try report([(Granting.active, Granting.active)])
        #expect(report.hasParity)
        report.addSkipped(place: "record 1", reason: "no reply")
        #expect(report.hasParity)
        report.addFailed(place: "record 2", error: .appleReplyUnreadable)
        #expect(!report.hasParity)
        let wrong = Granting.active.with("receipt.bundle_id", "com.example.other")
        #expect(try !self.report([(Granting.active, wrong)]).hasParity)
        #expect(!ParityReport().hasParity)
    }

    @Test("Table and JSON list both directions, with receipt, product, direction and reason") func output() throws {
        let both = Granting.listing([Granting.owned("3000")])
        let report = try report([
            (Granting.expired, Granting.active), (both, Granting.active), (Granting.expired, Granting.expired),
        ])
        let lines = report.table().split(separator: "\n")
        #expect(lines.contains("entitlement: 2 pairs grant differently"))
        #expect(lines.contains("  granted by ours only: 2 (access without payment)"))
        #expect(lines.contains("  granted by Apple only: 1 (a customer loses access)"))
        #expect(
            report.entitlement.examples.first?.summary
                == "record 0: monthly of 1000: granted by ours only, in Apple's reply the newest period is over (expired)"
        )
        let json = try unwrap(try JSONValue.parse(report.json())["entitlement"])
        #expect(json["pairsCompared"]?.integer == 3 && json["pairsDiffering"]?.integer == 2)
        #expect(json["pairsGrantedByOursOnly"]?.integer == 2 && json["pairsGrantedByAppleOnly"]?.integer == 1)
        #expect(json["notComparable"]?["temporaryFailure"]?.integer == 0)
        let example = try unwrap(json["examples"]?.array?.last)
        #expect(example["place"]?.string == "record 1" && example["product"]?.string == "tree")
        #expect(example["grantedBy"]?.string == "apple" && example["reason"]?.string == "notListed")
        #expect(example["originalTransactionId"]?.string == "3000" && example["status"]?.integer == 0)
    }

    @Test("Examples are bounded, the counts are not") func bounded() throws {
        let report = try report(Array(repeating: (Granting.expired, Granting.active), count: 9), maximumExamples: 4)
        #expect(report.entitlement.examples.count == 4 && report.entitlement.pairsDiffering == 9)
        #expect(try report.json().count > 0 && self.report([], maximumExamples: -1).entitlement.examples.isEmpty)
    }
}
