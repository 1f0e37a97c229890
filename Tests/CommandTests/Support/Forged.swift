import Foundation
import ReceiptForge
import TestSupport
import Testing

/// Forged receipts, and the certificates to trust them by.
enum Forged {
    private static let cases: [String: ForgedCase] = {
        let all = (try? ForgedCase.all(largePurchaseCount: 0)) ?? []
        return Dictionary(all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }()

    static func named(_ name: String) throws -> ForgedCase {
        try #require(cases[name], "no forged case is named \(name)")
    }

    /// Twelve different genuine receipts of two purchases each, in DER.
    static let bulk: [[UInt8]] = (try? forgeReceipts(count: 12)) ?? []

    /// Receipts of 40 customers of one app, in DER. Each customer has three, the oldest first: two periods of a subscription;
    /// the refund of the first one; a third one, which is refunded too.
    static let histories: [[[UInt8]]] = (try? (0..<40).map(history)) ?? []

    @inline(never)
    private static func history(_ customer: Int64) throws -> [[UInt8]] {
        try (0..<3).map { try receipt(of: customer, version: $0) }
    }

    @inline(never)
    private static func receipt(of customer: Int64, version: Int64) throws -> [UInt8] {
        let created = ForgedInstant(2023, 9, 1).adding(minutes: customer)
        let receipt = ForgedAppReceipt.bulk(customer, purchases: 3).with {
            $0.bundleId = "com.example.bulk"
            $0.creationDate = .seconds(created.adding(days: version))
            if version > 0 { $0.purchases[0].cancellationDate = .seconds(created.adding(hours: 12)) }
            if version > 1 {
                $0.purchases[2].cancellationDate = .seconds(created.adding(hours: 36))
            } else {
                $0.purchases.removeLast()
            }
        }
        return try receipt.signedData(.g5).encoded()
    }

    /// A receipt in base64 for each record of a migration. The receipts of a customer are at many places, and the newer ones
    /// mostly come later, at other places for each customer.
    static func historyRecords(_ count: Int) -> [String] {
        let texts = histories.map { $0.map(base64) }
        return (0..<count).map { texts[$0 % texts.count][historyVersion(at: $0)] }
    }

    /// Which receipt of its customer a record has, from 0.
    private static func historyVersion(at record: Int) -> Int {
        min(2, (record + 13 * (record % histories.count)) / 500)
    }

    /// The members `user` and `receipt` of records, as NDJSON.
    static func ndjson(_ receipts: [String]) -> [UInt8] {
        var lines = ""
        for (index, receipt) in receipts.enumerated() {
            lines += "{\"user\":\"u\(index)\",\"receipt\":\"\(receipt)\"}\n"
        }
        return Array(lines.utf8)
    }

    static func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    /// NDJSON with the members `user` and `receipt`; the same receipts again and again.
    static func ndjson(_ count: Int) -> [UInt8] {
        let texts = bulk.map(base64)
        return ndjson((0..<count).map { texts[$0 % texts.count] })
    }

    static func pem(_ der: [UInt8]) -> [UInt8] {
        let text = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return Array("-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n".utf8)
    }
}

extension Folder {
    /// A folder that holds `root.der`.
    static func withRoot() throws -> Folder {
        let folder = try Folder()
        try folder.write("root.der", TestCertificateAuthority.rootDER)
        return folder
    }

    /// Runs `inspect` on a forged case with its root trusted.
    func inspect(_ name: String, _ options: String...) async throws -> Outcome {
        let receipt = try write("receipt", Forged.named(name).bytes)
        return try await Command.run(["inspect", receipt, "--trust-root", file("root.der")] + options)
    }

    /// Runs `migrate --stream` in this folder, and writes what it prints into files of another folder: `transactions.ndjson`
    /// and so on, and `summary.json`.
    ///
    /// - Parameters:
    ///   - arguments: the arguments after `--stream`.
    ///   - output: the name of the other folder.
    ///   - isTrusted: whether the test root is trusted.
    ///   - input: standard input; nil for none.
    func stream(
        _ arguments: String..., to output: String, isTrusted: Bool = true, input: [UInt8]? = nil
    ) async throws -> Outcome {
        let folder = url.appending(path: output)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let options = ["migrate", "--stream", "--summary", "\(output)/summary.json"]
        let trust = isTrusted ? ["--trust-root", "root.der"] : []
        let outcome = try await Command.run(options + trust + arguments, input: input, in: self)
        if outcome.status < 2 { try StreamedLines.write(Array(outcome.output.utf8), to: folder) }
        return outcome
    }

    /// Runs `migrate` in this folder with the test root trusted, and without progress, which hangs on the machine's load.
    func migrate(_ arguments: String..., input: [UInt8]? = nil) async throws -> Outcome {
        try await Command.run(["migrate", "--quiet", "--trust-root", "root.der"] + arguments, input: input, in: self)
    }
}
