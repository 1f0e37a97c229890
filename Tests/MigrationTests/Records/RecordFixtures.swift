import Foundation
import Migration
import SharedReceipts
import TestSupport

/// Made-up receipts: enough of the outside for the input side, nothing inside.
enum Made {
    /// Base64 of a DER ContentInfo of `size` content bytes, different for each seed.
    static func receipt(_ seed: Int = 1, size: Int = 700) -> String {
        base64(der(seed, size: size))
    }

    static func der(_ seed: Int = 1, size: Int = 700) -> [UInt8] {
        let oid: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
        return [0x30, 0x82, UInt8(size >> 8), UInt8(size & 0xFF)] + oid + noise(seed, count: size - oid.count)
    }

    /// The indefinite-length form, as Xcode writes it.
    static func berReceipt(_ seed: Int = 1, size: Int = 600) -> String {
        let oid: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
        return base64([0x30, 0x80] + oid + noise(seed, count: size) + [0, 0, 0, 0, 0, 0])
    }

    static let propertyList = "{\n\t\"signature\" = \"AiOw\";\n\t\"purchase-info\" = \"ewoJ\";\n\t\"pod\" = \"100\";\n}"
    static var plistReceipt: String { base64(Array((propertyList + String(repeating: "\n", count: 90) + "}").utf8)) }

    static func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    static func wrapped(_ text: String, at width: Int, lineEnd: String = "\n") -> String {
        var (lines, rest) = ([String](), Substring(text))
        while !rest.isEmpty {
            lines.append(String(rest.prefix(width)))
            rest = rest.dropFirst(width)
        }
        return lines.joined(separator: lineEnd)
    }

    static let jws = "eyJhbGciOiJFUzI1NiJ9.eyJ0cmFuc2FjdGlvbklkIjoiMSJ9.c2lnbmF0dXJl-_"
    static let row = #"{"product_id":"p","transaction_id":"1000000000000001","quantity":"1"}"#
    static var reply: String { #"{"status":0,"environment":"Sandbox","receipt":{"bundle_id":"b","in_app":[]}}"# }

    private static func noise(_ seed: Int, count: Int) -> [UInt8] {
        var generator = SeededGenerator(seed: UInt64(truncatingIfNeeded: seed))
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) | 1 }
    }
}

/// Everything that is read from `text`, and the errors on the way.
struct Reading {
    var records: [InputRecord] = []
    var errors: [InputError] = []
    var statistics = InputStatistics()

    init(_ arguments: [InputArgument], options: InputOptions = InputOptions(), chunkSize: Int = InputLimits.chunkSize) {
        let source = RecordSource(arguments, options: options, chunkSize: chunkSize)
        while true {
            do throws(InputError) {
                guard let batch = try source.nextBatch() else { break }
                records += batch.records()
            } catch { errors.append(error) }
        }
        statistics = source.statistics
    }

    init(
        _ text: String, name: String = "input", options: InputOptions = InputOptions(),
        chunkSize: Int = InputLimits.chunkSize
    ) {
        self.init([.bytes(Array(text.utf8), name: name)], options: options, chunkSize: chunkSize)
    }

    var places: [String] { records.map { $0.place.description } }
    var originals: [String] { records.map { String(decoding: $0.original, as: UTF8.self) } }
    var kinds: [String] { records.map { $0.payload.kind } }
    var receipts: [String] { records.map { $0.payload.receiptText ?? "-" } }
}

extension InputPayload {
    /// A short word per kind; for problems, the code.
    var kind: String {
        switch self {
        case .receipt: "receipt"
        case .reply: "reply"
        case .several(let documents): pair == nil ? documents.map(\.payload.kind).joined(separator: "+") : "pair"
        case .transactions: "transactions"
        case .notification: "notification"
        case .jws: "jws"
        case .storeKit2(_, let kind): "storeKit2 \(kind)"
        case .transactionID(let id): "id \(id)"
        case .unrecognized(let problem): problem.code.rawValue
        }
    }

    var receiptText: String? {
        switch self {
        case .receipt(let bytes), .jws(let bytes): String(decoding: bytes, as: UTF8.self)
        case .several: pair.map { String(decoding: $0.receipt, as: UTF8.self) }
        default: nil
        }
    }
}

extension InputRecord {
    func carried(_ name: String) -> CarriedColumn.Value? { carried.last { $0.name == name }?.value }
}

/// The folder of real receipts beside the repository, if it is there.
enum RealRecordFiles {
    static var folder: String? { SharedReceipts.folder?.path }
}

extension TemporaryFolder {
    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: file(name), withDestinationPath: target)
    }
}
