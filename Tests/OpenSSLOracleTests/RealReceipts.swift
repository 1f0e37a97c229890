import Foundation
import SharedReceipts
import TestSupport

/// Apple's real receipts, which live beside the package, not in it.
enum RealReceipts {
    static let appleRootCA: [UInt8] = [
        0xB0, 0xB1, 0x73, 0x0E, 0xCB, 0xC7, 0xFF, 0x45, 0x05, 0x14, 0x2C, 0x49, 0xF1, 0x29, 0x5E, 0x6E,
        0xDA, 0x6B, 0xCA, 0xED, 0x7E, 0x2C, 0x68, 0xC5, 0xBE, 0x91, 0xB5, 0xA1, 0x10, 0x01, 0xF0, 0x24,
    ]

    struct Entry: Decodable {
        var file: String
        var creationDate: String?

        enum CodingKeys: String, CodingKey {
            case file
            case creationDate = "creation_date"
        }
    }

    static var folder: URL? { SharedReceipts.folder }

    static var arePresent: Bool { folder != nil }

    static func entries(of kind: String) throws -> [Entry] {
        guard let folder else { return [] }
        let index = try Data(contentsOf: folder.appending(path: "index.json"))
        return try JSONDecoder().decode([Entry].self, from: index).filter { $0.file.hasPrefix(kind + "/") }
    }

    /// The decoded bytes of one `.b64` file.
    static func bytes(_ entry: Entry) throws -> [UInt8] {
        let text = try unwrap(folder.map { try Data(contentsOf: $0.appending(path: entry.file)) })
        return Array(try unwrap(Data(base64Encoded: text, options: .ignoreUnknownCharacters)))
    }

    /// Seconds since 1970; "+0100" without a colon occurs in Xcode's dates.
    static func creationTime(_ entry: Entry) throws -> Int64 {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "yyyy-MM-dd'T'HH:mm:ssZZZZZ"
        let text = try unwrap(entry.creationDate)
        if let date = formatter.date(from: text) { return Int64(date.timeIntervalSince1970) }
        formatter.dateFormat = "yyyy-MM-dd'T'HH:mm:ssZ"
        return Int64(try unwrap(formatter.date(from: text)).timeIntervalSince1970)
    }
}

/// The parts of an iOS 6 transaction receipt that the signature concerns (Reference.md V6).
struct TransactionReceipt {
    var signature: [UInt8]
    var signedBytes: [UInt8]
    var certificate: [UInt8]

    init(_ bytes: [UInt8]) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        let blob = try Self.value(of: "signature", in: text)
        let purchase = try Self.value(of: "purchase-info", in: text)
        let version = try unwrap(blob.first)
        let signatureEnd = version == 2 ? 129 : 257
        try require(blob.count > signatureEnd + 4 ? 1 : 0)
        signature = Array(blob[1..<signatureEnd])
        let length = blob[signatureEnd..<(signatureEnd + 4)].reduce(0) { $0 << 8 | Int($1) }
        certificate = Array(blob[(signatureEnd + 4)...])
        try require(certificate.count == length ? 1 : 0)
        signedBytes = [version] + purchase
    }

    private static func value(of key: String, in text: String) throws -> [UInt8] {
        let expression = try Regex("\"?\(key)\"?\\s*=\\s*\"([^\"]*)\"", as: (Substring, Substring).self)
        let match = try unwrap(text.firstMatch(of: expression))
        return Array(try unwrap(Data(base64Encoded: String(match.output.1), options: .ignoreUnknownCharacters)))
    }
}
