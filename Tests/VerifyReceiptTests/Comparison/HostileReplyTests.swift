import Foundation
import ReplyComparison
import Testing
import VerifyReceipt

@Suite("Hostile replies") struct HostileReplyTests {
    private func error(_ apples: [UInt8], _ ours: [UInt8] = Reply.app.bytes) -> ReplyComparisonError? {
        do {
            _ = try ReplyComparison(apples: apples, ours: ours)
            return nil
        } catch {
            return error as? ReplyComparisonError
        }
    }

    @Test("Only JSON objects can be compared")
    func unreadable() {
        for text in ["", "<html>", "[]", "0", "null", "{", "{\"status\":0", "{\"a\":\"\u{1}\"}"] {
            #expect(error(Array(text.utf8)) == .appleReplyUnreadable, "\(text)")
            #expect(error(Reply.app.bytes, Array(text.utf8)) == .ourReplyUnreadable, "\(text)")
        }
        #expect(error([0xFF, 0xFE]) == .appleReplyUnreadable)
    }

    @Test("Too many values, too many bytes and too deep a nesting are refused before they cost memory")
    func bounds() {
        let values = Array("{\"receipt\":[".utf8) + Array(repeating: UInt8(ascii: ","), count: 1_100_000)
        #expect(error(values) == .appleReplyTooLarge)
        let size = [UInt8](repeating: UInt8(ascii: " "), count: ReplyComparison.maximumReplySize + 1)
        #expect(error(size) == .appleReplyTooLarge)
        #expect(error(Reply.app.bytes, size) == .ourReplyTooLarge)
        #expect(error(Array(repeating: UInt8(ascii: "["), count: 100_000)) == .appleReplyUnreadable)
    }

    @Test("Members of any kind at any place are compared without trapping")
    func everyKind() throws {
        let values: [Any] = [
            NSNull(), true, 0, -1, 1.5, Int64.max, Int64.min, "", "x", [Int](), [0], ["a"], [String: Int](),
            [["transaction_id": 5]], [["transaction_id": [1]]],
        ]
        let paths = [
            "status", "environment", "receipt", "receipt.in_app", "receipt.in_app.0", "receipt.in_app.0.transaction_id",
            "receipt.in_app.0.purchase_date_ms", "receipt.request_date_ms", "latest_receipt_info",
            "latest_receipt_info.0", "latest_receipt_info.0.original_transaction_id", "latest_receipt",
            "pending_renewal_info", "pending_renewal_info.0", "latest_expired_receipt_info",
        ]
        for path in paths {
            for value in values {
                for base in [Reply.app, .transaction] {
                    let changed = base.with(path, value)
                    let one = try compared(changed, base)
                    let other = try compared(base, changed)
                    #expect(one.counts.differing == one.differences.count && other.differencesLeftOut == 0)
                }
            }
        }
    }

    @Test("A hundred thousand entries of the same id are matched in linear work")
    func sameIds() throws {
        let entry = "{\"transaction_id\":\"1\",\"product_id\":\"p\"}"
        let list = Array(repeating: entry, count: 100_000).joined(separator: ",")
        let text = Array("{\"status\":0,\"receipt\":{\"in_app\":[]},\"latest_receipt_info\":[\(list)]}".utf8)
        let comparison = try ReplyComparison(apples: text, ours: text)
        #expect(comparison.isIdentical)
        let ours = Array("{\"status\":0,\"receipt\":{\"in_app\":[]},\"latest_receipt_info\":[]}".utf8)
        let other = try ReplyComparison(apples: text, ours: ours)
        #expect(other.counts.serverState == 100_000)
        #expect(other.differences.count == 200 && other.differencesLeftOut == 99_800)
    }

    @Test("A hundred thousand member names are counted together")
    func manyNames() throws {
        let members = (0..<100_000).map { "\"m\($0)\":0" }.joined(separator: ",")
        let text = Array("{\"status\":0,\"receipt\":{\"in_app\":[]},\(members)}".utf8)
        let ours = Array("{\"status\":0,\"receipt\":{\"in_app\":[]}}".utf8)
        let comparison = try ReplyComparison(apples: text, ours: ours)
        #expect(comparison.counts.serverState == 100_000)
        #expect(comparison.fields.count <= 513)
    }

    @Test("Of a member that is there twice the last one counts")
    func duplicates() throws {
        let twice = Array("{\"status\":21003,\"status\":0,\"environment\":\"Production\"}".utf8)
        let once = Array("{\"status\":0,\"environment\":\"Production\"}".utf8)
        #expect(try ReplyComparison(apples: twice, ours: once).isIdentical)
    }
}
