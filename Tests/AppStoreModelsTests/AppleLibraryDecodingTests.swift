import AppStoreModels
import Foundation
import TestSupport
import TestTraits
import Testing

/// Apple's Python library reads what we write. It runs when LEGACY_RECEIPTS_PYTHON names a Python interpreter that has the
/// packages of tools/judges/requirements.txt.
@Suite(.computing, .enabled(if: AppleLibraryCheck.python != nil, "LEGACY_RECEIPTS_PYTHON is not set"))
struct AppleLibraryDecodingTests {
    @Test(
        "Apple's library decodes and re-encodes our payloads, full, minimal and empty, and has our enumeration values")
    func agreement() throws {
        var writer = JSONWriter()
        let free = JWSTransactionDecodedPayload {
            $0.transactionId = "1"
            $0.price = 0
        }
        for transaction in [Sample.transaction, free, .init()] {
            writer.line("transaction", transaction)
        }
        let renewing = JWSRenewalInfoDecodedPayload { $0.autoRenewStatus = .on }
        for renewalInfo in [Sample.renewalInfo, renewing, .init()] {
            writer.line("renewalInfo", renewalInfo)
        }
        let tested = AppTransaction { $0.receiptType = .sandbox }
        for appTransaction in [Sample.appTransaction, tested, .init()] {
            writer.line("appTransaction", appTransaction)
        }
        for notification in [Sample.notification, .init()] {
            writer.line("notification", json: try JSONEncoder().encode(notification))
        }
        for enumeration in Enumerations.all {
            writer.beginObject()
            writer.member("enumeration", enumeration.name)
            writer.key("values")
            writer.raw(Array(try enumeration.encoded()))
            writer.endObject()
            writer.newline()
        }
        let (status, output) = try AppleLibraryCheck.run(on: writer.bytes)
        #expect(status == 0, "\(output)")
        let counts =
            "agree: appTransaction 3, enumeration \(Enumerations.all.count), notification 2, renewalInfo 3, transaction 3; disagree: 0"
        #expect(output.contains(counts), "\(output)")
    }

    @Test("Values of an enumeration that Apple may add pass through its library too")
    func unknownValues() throws {
        var writer = JSONWriter()
        let transaction = JWSTransactionDecodedPayload {
            $0.type = ProductType(rawValue: "Rental")
            $0.offerType = OfferType(rawValue: 9)
        }
        writer.line("transaction", transaction)
        let (status, output) = try AppleLibraryCheck.run(on: writer.bytes)
        #expect(status == 0, "\(output)")
    }

    @Test(
        "The check fails and names line and field",
        arguments: [
            (#"{"transaction":{"transactionID":"1"}}"#, "transaction.transactionID"),
            (#"{"transaction":{"quantity":"1"}}"#, "transaction.quantity"),
            (#"{"transaction":{"isUpgraded":1}}"#, "transaction.isUpgraded"),
            (#"{"transaction":{"purchaseDate":1.5}}"#, "transaction.purchaseDate"),
            (#"{"transaction":{"commitmentInfo":{"sku":"x"}}}"#, "transaction.commitmentInfo.sku"),
            (
                #"{"transaction":{"advancedCommerceInfo":{"items":[{"sku":"x"}]}}}"#,
                "transaction.advancedCommerceInfo.items[0].sku"
            ),
            (#"{"transaction":{"currency":null}}"#, "transaction.currency"),
            (#"{"transaction":{"currency":"EUR","currency":"EUR"}}"#, "currency"),
            (#"{"renewalInfo":{"renewalPrice":true}}"#, "renewalInfo.renewalPrice"),
            (#"{"appTransaction":{"requestDate":1}}"#, "appTransaction.requestDate"),
            (#"{"enumeration":"Environment","values":["Production","Sandbox","Xcode"]}"#, "LocalTesting"),
            (#"{"transaction":{}"#, "line 2"),
            (#"{"receipt":{}}"#, "receipt"),
        ])
    func refusal(line: String, field: String) throws {
        let (status, output) = try AppleLibraryCheck.run(on: Array("{\"transaction\":{}}\n\(line)\n".utf8))
        #expect(status == 1, "\(output)")
        #expect(output.contains("line 2: ") && output.contains(field), "\(output)")
        #expect(output.contains("agree: transaction 1; disagree: 1"), "\(output)")
    }

    @Test("A file without lines is not taken for agreement")
    func emptyFile() throws {
        #expect(try AppleLibraryCheck.run(on: []).status == 2)
    }
}

enum AppleLibraryCheck {
    static let python = ProcessInfo.processInfo.environment["LEGACY_RECEIPTS_PYTHON"]

    /// Writes the lines to a temporary file and lets Apple's library read it.
    static func run(on lines: [UInt8]) throws -> (status: Int32, output: String) {
        let script = PackageFolder.path("tools/judges/decode_with_apple_library.py")
        let folder = try TemporaryFolder()
        try folder.write("lines.ndjson", lines)
        let outcome = try ChildProcess.runWhileBlocking(
            try #require(python), [script, folder.file("lines.ndjson")])
        return (outcome.status, outcome.output + outcome.errors)
    }
}

extension JSONWriter {
    fileprivate mutating func line(_ kind: StaticString, _ payload: some JSONModel) {
        beginObject()
        member(kind, payload)
        endObject()
        newline()
    }

    fileprivate mutating func line(_ kind: StaticString, json: Data) {
        beginObject()
        key(kind)
        raw(Array(json))
        endObject()
        newline()
    }
}
