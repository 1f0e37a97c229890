import Foundation
import LegacyReceipts
import Testing
import VerifyReceipt

/// The request's body (Reference.md V1.2 to V1.4, C3).
@Suite struct RequestTests {
    private func status(_ body: String, lenient: Bool = false) async throws -> Int {
        try await testEndpoint { $0.base64 = lenient ? .lenient : .strict }.ask(Array(body.utf8)).status
    }

    private func text() throws -> String { base64(try appReceipt([month(0)])) }

    @Test(arguments: [
        "", " ", "{", "[]", "null", "\"receipt\"", "receipt-data=MIIT", "{\"receipt-data\":\"MII\"", "{\"a\":1}}",
        "{'receipt-data':1}", "{\"receipt-data\":\"\\ud800\"}", "\u{FEFF}{\"receipt-data\":\"\"}",
        String(repeating: "[", count: 100_000), "{\"a\":" + String(repeating: "{\"a\":", count: 5_000),
    ])
    func aBodyThatIsNoJSONObjectIs21002(_ text: String) async throws {
        #expect(try await status(text) == 21002)
    }

    @Test func bytesThatAreNotUTF8Are21002() async throws {
        let endpoint = try testEndpoint()
        #expect(try await endpoint.ask([0x7B, 0xFF, 0xFE, 0x7D]).status == 21002)
        #expect(
            try await endpoint.ask(Array(#"{"receipt-data":""#.utf8) + [0xC3, 0x28] + Array("\"}".utf8)).status == 21002
        )
    }

    @Test(arguments: ["{}", #"{"receipt-data":null}"#, #"{"Receipt-Data":"MIIT"}"#])
    func noReceiptDataIs21002(_ text: String) async throws {
        #expect(try await status(text) == 21002)
    }

    @Test(arguments: ["1", "true", "[\"MIIT\"]", "{\"a\":\"MIIT\"}"])
    func receiptDataOfAnotherTypeIs21002(_ value: String) async throws {
        #expect(try await status(#"{"receipt-data":\#(value)}"#) == 21002)
    }

    @Test func a21002ContainsOnlyTheStatus() async throws {
        let reply = try await testEndpoint().ask(body(text: base64(Array("foobar".utf8))))
        #expect(String(decoding: reply.reply.body, as: UTF8.self) == #"{"status":21002}"#)
    }

    @Test func unknownKeysAreIgnored() async throws {
        let more = #", "user":{"receipt-data":"x","id":[1,2,{"a":null}]}, "é":"\u00e9""#
        #expect(try await status(#"{"x":1,"receipt-data":"\#(try text())"\#(more)}"#) == 0)
    }

    @Test func ofARepeatedKeyTheLastCounts() async throws {
        let good = try text()
        #expect(try await status(#"{"receipt-data":"no","receipt-data":"\#(good)"}"#) == 0)
        #expect(try await status(#"{"receipt-data":"\#(good)","receipt-data":"no"}"#) == 21002)
        #expect(try await status(#"{"receipt-data":"\#(good)","receipt-data":null}"#) == 21002)
    }

    @Test func escapesInKeysAndValuesAreUndone() async throws {
        let slashes = try text().replacing("/", with: "\\/")
        #expect(try await status(#"{"receipt-data":"\#(slashes)"}"#) == 0)
        let escaped = try text().replacing("A", with: "\\u0041").replacing("+", with: "\\u002B")
        #expect(try await status(#"{"receipt\u002ddata":"\#(escaped)"}"#) == 0)
    }

    @Test func aReceiptWithEscapesComesBackWithout() async throws {
        let text = try text()
        let reply = try await testEndpoint().ask(body(text: text.replacing("/", with: "\\/")))
        #expect(reply.json["latest_receipt"]?.string == text)
    }

    /// White space, the URL-safe alphabet, missing padding: 21002, unless the option is on.
    @Test func strictBase64RefusesTextThatLenientBase64Repairs() async throws {
        var bytes = try appReceipt([month(0)])
        // So that there is padding to lose; bytes after the end of the PKCS#7 structure are ignored.
        while bytes.count % 3 != 1 { bytes.append(0) }
        let text = base64(bytes)
        #expect(try await status(#"{"receipt-data":"\#(text)"}"#) == 0)
        let lines = stride(from: 0, to: text.count, by: 76).map { text.dropFirst($0).prefix(76) }
        let damages = [
            lines.joined(separator: "\\r\\n"), text + "\\n", " " + text, text.replacing("=", with: ""),
            text.replacing("+", with: "-").replacing("/", with: "_"), text.replacing("+", with: " "),
        ]
        for damage in damages {
            #expect(try await status(#"{"receipt-data":"\#(damage)"}"#) == 21002)
            #expect(try await status(#"{"receipt-data":"\#(damage)"}"#, lenient: true) == 0)
        }
    }

    @Test func aMendedReceiptIsEncodedAnew() async throws {
        let bytes = try appReceipt([month(0)])
        let reply = try await testEndpoint { $0.base64 = .lenient }.ask(body(text: " " + base64(bytes) + "\\n"))
        #expect(reply.json["latest_receipt"]?.string == base64(bytes))
    }

    @Test func bytesAfterTheStructureAreIgnored() async throws {
        #expect(try await testEndpoint().ask(body(try appReceipt() + [0, 0, 0])).status == 0)
    }

    @Test func aReceiptAboveTheLimitIs21002() async throws {
        let bytes = try appReceipt()
        let endpoint = try testEndpoint { $0.limits.maximumSize = bytes.count - 1 }
        #expect(try await endpoint.ask(body(bytes)).status == 21002)
        #expect(try await testEndpoint { $0.limits.maximumSize = bytes.count }.ask(body(bytes)).status == 0)
    }

    @Test(arguments: ["true", "\"true\""])
    func oldTransactionsAreExcludedByABooleanOrItsName(_ value: String) async throws {
        let bytes = try appReceipt([month(0), month(1)])
        let reply = try await testEndpoint().ask(body(bytes, #","exclude-old-transactions":\#(value)"#))
        #expect(reply.latest?.count == 1)
    }

    @Test(arguments: ["false", "\"false\"", "null", "1", "\"TRUE\"", "{}"])
    func everythingElseExcludesNothing(_ value: String) async throws {
        let bytes = try appReceipt([month(0), month(1)])
        let reply = try await testEndpoint().ask(body(bytes, #","exclude-old-transactions":\#(value)"#))
        #expect(reply.latest?.count == 2)
    }
}
