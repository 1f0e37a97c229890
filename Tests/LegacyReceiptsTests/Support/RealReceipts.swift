import Foundation
import LegacyReceipts
import SharedReceipts
import Testing

/// Real receipts, which live beside the package and not in it; tests that need them are skipped without them.
enum RealReceipts {
    static var folder: URL? { SharedReceipts.folder }

    static var arePresent: Bool { folder != nil }

    /// What the index says about one file.
    struct Entry: Decodable, Sendable, CustomTestStringConvertible {
        struct Signature: Decodable, Sendable {
            var digest: String?
            var nSigners: Int?
            var verifiedByEmbeddedCert: Int?
        }

        var file: String
        var bytes: Int
        var sha256: String
        var appVersion: String?
        var bundleId: String?
        var creationDate: String?
        var deviceGuidHex: String?
        var inApp1707Values: [String: Int]?
        var inAppCancelled: Int?
        var inAppCount: Int?
        var inAppIntro: Int?
        var inAppPromoOfferId: Int?
        var inAppTrial: Int?
        var inAppWithExpires: Int?
        var originalAppVersion: String?
        var originalPurchaseDate: String?
        var platformGuess: String?
        var purchaseInfo: [String: String]?
        var receiptType: String?
        var sigVersion: Int?
        var signature: Signature?
        var signatureVerifies: [String]?

        var kind: String { String(file.prefix { $0 != "/" }) }
        var testDescription: String { file }
    }

    static let entries: [Entry] = {
        guard let folder, let index = try? Data(contentsOf: folder.appending(path: "index.json")) else { return [] }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return (try? decoder.decode([Entry].self, from: index)) ?? []
    }()

    static func entries(of kinds: String...) -> [Entry] { entries.filter { kinds.contains($0.kind) } }

    /// The file as it is stored: base64 text.
    static func text(_ entry: Entry) throws -> [UInt8] {
        guard let folder else { throw UnexpectedKind() }
        return Array(try Data(contentsOf: folder.appending(path: entry.file)))
    }

    /// The decoded receipts of these kinds; none without the folder.
    static func receipts(of kinds: String...) throws -> [[UInt8]] {
        try entries.filter { kinds.contains($0.kind) }.map { try ReceiptContainer(stored: text($0)).bytes }
    }
}
