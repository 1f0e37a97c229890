import Testing
import Foundation
import LegacyReceipts

/// Real receipts, which live beside the package and not in it; tests that need them are skipped without them.
enum RealReceipts {
    static let folder: URL? = {
        var place = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        while place.path != "/" {
            if FileManager.default.fileExists(atPath: place.appending(path: "Package.swift").path) {
                let receipts = place.deletingLastPathComponent().appending(path: "shared/receipts")
                let index = receipts.appending(path: "index.json").path
                return FileManager.default.fileExists(atPath: index) ? receipts : nil
            }
            place.deleteLastPathComponent()
        }
        return nil
    }()

    static var arePresent: Bool { folder != nil }

    /// What the index says about one file.
    struct Entry: Decodable, Sendable, CustomTestStringConvertible {
        struct Signature: Decodable, Sendable {
            var digest: String?
            var n_signers: Int?
            var siglen: Int?
            var verified_by_embedded_cert: Int?
            var signedAttrs: [String]?
        }

        var file: String
        var bytes: Int
        var sha256: String
        var app_version: String?
        var bundle_id: String?
        var creation_date: String?
        var device_guid_hex: String?
        var in_app_1707_values: [String: Int]?
        var in_app_cancelled: Int?
        var in_app_count: Int?
        var in_app_intro: Int?
        var in_app_promo_offer_id: Int?
        var in_app_trial: Int?
        var in_app_with_expires: Int?
        var original_app_version: String?
        var original_purchase_date: String?
        var platform_guess: String?
        var purchase_info: [String: String]?
        var receipt_type: String?
        var sig_version: Int?
        var signature: Signature?
        var signature_verifies: [String]?

        var kind: String { String(file.prefix { $0 != "/" }) }
        var testDescription: String { file }
    }

    static let entries: [Entry] = {
        guard let folder, let index = try? Data(contentsOf: folder.appending(path: "index.json")) else { return [] }
        return (try? JSONDecoder().decode([Entry].self, from: index)) ?? []
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
