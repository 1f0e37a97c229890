import AppStoreModels
import Foundation
import LegacyReceipts
import ReceiptForge
import TestSupport

/// The folder LegacyFixtures, as it lies in the repository.
enum FixtureStore {
    static let root = PackageFolder.url.appending(path: "LegacyFixtures")
    /// Folders that are no cases.
    static let others: Set = ["trust", "inputs"]

    /// Every case, the forge's and those that people added.
    static let names: [String] = {
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
        return entries.filter { name in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: root.appending(path: name).path, isDirectory: &isFolder)
                && isFolder.boolValue && !others.contains(name) && !name.hasPrefix(".")
        }.sorted()
    }()

    static func bytes(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: root.appending(path: path))) }
}

/// One case.
struct FixtureFolder {
    let name: String
    /// The name of the one file that begins with "receipt.".
    let receiptFile: String
    let receipt: [UInt8]
    let expected: JSONValue

    init(_ name: String) throws {
        self.name = name
        let files = try FileManager.default.contentsOfDirectory(atPath: FixtureStore.root.appending(path: name).path)
        let receipts = files.filter { $0.hasPrefix("receipt.") }
        guard receipts.count == 1 else { throw FixtureProblem("\(name) has \(receipts.count) files receipt.*") }
        receiptFile = receipts[0]
        receipt = try FixtureStore.bytes("\(name)/\(receiptFile)")
        expected = try JSONValue.parse(try FixtureStore.bytes("\(name)/expected.json"))
    }

    /// The lines of one of the folder's files; nil if there is no such file.
    func lines(_ file: String) throws -> [JSONValue]? {
        let path = "\(name)/\(file)"
        guard FileManager.default.fileExists(atPath: FixtureStore.root.appending(path: path).path) else { return nil }
        return try FixtureStore.bytes(path).split(separator: UInt8(ascii: "\n")).map { try JSONValue.parse($0) }
    }
}

struct FixtureProblem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The trust policy for fixtures, from the files in LegacyFixtures/trust.
enum FixtureTrust {
    static func certificate(_ name: String) throws -> [UInt8] { try FixtureStore.bytes("trust/\(name).der") }

    /// As on the command line: the root, and the intermediates of iOS 6 receipts.
    static func withIntermediates(acceptsXcode: Bool = false) throws -> TrustPolicy {
        TrustPolicy(
            roots: [], additionalRoots: [try certificate("root")],
            additionalIntermediates: [
                try certificate("itunes-store-intermediate"), try certificate("developer-relations-intermediate"),
                try certificate("developer-relations-g5-intermediate"),
            ],
            transactionReceiptLeaves: [], transactionReceiptIntermediates: [], acceptsXcodeReceipts: acceptsXcode)
    }

    /// As Apple's are trusted by default: everything by fingerprint, nothing brought along.
    static func byFingerprint() throws -> TrustPolicy {
        TrustPolicy(
            roots: [Fingerprint(of: try certificate("root"))],
            transactionReceiptLeaves: Set(
                try ["ios6-v2-early-leaf", "ios6-v2-leaf", "ios6-v3-leaf", "ios6-v4-leaf"].map {
                    Fingerprint(of: try certificate($0))
                }),
            transactionReceiptIntermediates: [])
    }

    /// The verifiers of the tests, which remember chains, as a server's would.
    static let verifier = Result { try ReceiptVerifier(trust: withIntermediates()) }
    static let xcodeVerifier = Result { try ReceiptVerifier(trust: withIntermediates(acceptsXcode: true)) }
    static let fingerprintVerifier = Result { try ReceiptVerifier(trust: byFingerprint()) }
}

extension JSONValue {
    /// The value on one line with the members of objects by name: two are equal if they say the same.
    var sortedText: String {
        var writer = JSONWriter()
        write(to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// The elements of an array that stands for a set, in an order of ours: a receipt's attributes are in the order of
    /// their encoding, which a list of expectations need not follow.
    var elements: [String] { (array ?? []).map(\.sortedText).sorted() }

    // Only files of this repository are written, and none is deep.
    private func write(to writer: inout JSONWriter) {
        switch self {
        case .null: writer.null()
        case .bool(let flag): writer.boolean(flag)
        case .integer(let number): writer.integer(number)
        case .number(let text): writer.raw(text.utf8)
        case .string(let text): writer.string(text)
        case .array(let values):
            writer.beginArray()
            for value in values { value.write(to: &writer) }
            writer.endArray()
        case .object(let object):
            writer.beginObject()
            for member in object.members.sorted(by: { $0.key < $1.key }) {
                writer.key(member.key)
                member.value.write(to: &writer)
            }
            writer.endObject()
        }
    }
}
