import Foundation
import ReplyComparison
import TestSupport
import Testing
import VerifyReceipt

@Suite("Coverage table") struct CoverageTests {
    private static let markers = (begin: "<!-- coverage -->", end: "<!-- /coverage -->")

    @Test("Documentation/Replies.md contains the table that legacy-receipts compare --coverage prints")
    func document() throws {
        let text = try String(
            contentsOf: PackageFolder.url.appending(path: "Documentation/Replies.md"), encoding: .utf8)
        let begin = try unwrap(text.range(of: Self.markers.begin), Self.markers.begin)
        let end = try unwrap(text.range(of: Self.markers.end, range: begin.upperBound..<text.endIndex), "end")
        let block = text[begin.upperBound..<end.lowerBound].trimmingCharacters(in: .newlines) + "\n"
        #expect(block == CoverageTable.markdown())
    }

    @Test("Every status of the endpoint and every member of a reply has a line of four cells")
    func complete() {
        let table = CoverageTable.markdown()
        for row in StatusTable.rows where row.status.lowerBound != 0 {
            #expect(table.contains("| \(row.status.lowerBound)"), "\(row.condition)")
            #expect(table.contains(row.meaning), "\(row.condition)")
        }
        for rules in [FieldRules.appReceipt, .inApp, .latestInfo, .renewal, .transactionReceipt] {
            for rule in rules.rules where rule.origin != .addition {
                #expect(table.contains(rule.title), "\(rule.name)")
            }
        }
        for line in table.split(separator: "\n") { #expect(line.count { $0 == "|" } == 5, "\(line)") }
    }

    @Test("Every key that our replies write is known to the rules")
    func known() async throws {
        let purchase = month(0).with { $0.promotionalOfferId = "spring" }
        let receipt = try appReceipt([purchase, nonConsumable])
        let reply = try await testEndpoint { $0.presumedMembers = .all }.ask(body(receipt))
        #expect(reply.status == 0)
        for key in reply.keys { #expect(FieldRules.top.knows(key), "\(key)") }
        for key in reply.receipt?.keys ?? [] { #expect(FieldRules.appReceipt.knows(key), "receipt.\(key)") }
        for entry in reply.inApp { for key in entry.keys { #expect(FieldRules.inApp.knows(key), "in_app.\(key)") } }
        for entry in reply.latest ?? [] {
            for key in entry.keys { #expect(FieldRules.latestInfo.knows(key), "latest_receipt_info.\(key)") }
        }
    }
}

extension FieldRules {
    fileprivate func knows(_ key: String) -> Bool { rules.contains { $0.keys.contains(key) } }
}
