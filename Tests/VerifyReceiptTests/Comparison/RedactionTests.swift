import AppStoreModels
import Foundation
import ReplyComparison
import Testing
import VerifyReceipt

@Suite("The recorded values of a difference") struct RedactionTests {
    private func written(_ comparison: ReplyComparison) -> String {
        var writer = JSONWriter()
        for difference in comparison.differences {
            writer.object(difference.write(to:))
            writer.newline()
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test("Receipts, account tokens and device identifiers are named by their digest")
    func digests() throws {
        let secrets = [
            "latest_receipt": "MIISECRETRECEIPT", "latest_receipt_info.0.app_account_token": "token-of-an-account",
        ]
        for (path, secret) in secrets {
            let text = written(try compared(Reply.app.with(path, secret), .app))
            #expect(!text.contains(secret) && text.contains("sha256:"), "\(path)")
        }
        for key in ["unique_identifier", "unique_vendor_identifier"] {
            let text = written(
                try compared(Reply.transaction.with("receipt.\(key)", "device-of-somebody"), .transaction))
            #expect(!text.contains("device-of-somebody") && text.contains("sha256:"), "\(key)")
        }
    }

    @Test("A receipt is named as in logs: the first 12 digits of its SHA-256")
    func name() throws {
        // echo -n abc | sha256sum
        let text = written(try compared(Reply.app.with("latest_receipt", "abc"), .app))
        #expect(text.contains("sha256:ba7816bf8f01\""))
    }

    @Test("A member missing from Reference.md is not quoted, and its name only if it is plain")
    func unknown() throws {
        let text = written(try compared(Reply.app.with("receipt.my_secret", "hush"), .app))
        #expect(!text.contains("hush") && text.contains("receipt.my_secret"))
        for name in ["a b", "<script>", "é", String(repeating: "x", count: 65), "\u{1B}[2J"] {
            #expect(!written(try compared(Reply.app.with("receipt." + name, "hush"), .app)).contains(name))
        }
        let numbers = written(try compared(Reply.app.with("receipt.my_number", 4_111_111_111_111_111), .app))
        #expect(!numbers.contains("4111111111111111"))
    }

    @Test("Values that people need to act are quoted: ids, products, dates")
    func quoted() throws {
        let ours = Reply.app.with("receipt.in_app.0.purchase_date_ms", "1710498031000")
        let text = written(try compared(.app, ours))
        #expect(text.contains("\"transactionId\":\"1000\""))
        #expect(text.contains("\"apple\":\"1710498030000\"") && text.contains("\"ours\":\"1710498031000\""))
    }

    @Test("Texts that are long or not plain are not quoted")
    func longTexts() throws {
        for value in [String(repeating: "a", count: 129), "two\nlines", "ü"] {
            let text = written(try compared(Reply.app.with("receipt.bundle_id", value), .app))
            #expect(!text.contains(value) && text.contains("sha256:"))
        }
    }
}
