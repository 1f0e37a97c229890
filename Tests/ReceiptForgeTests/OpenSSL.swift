import Foundation
import ReceiptForge
import SharedReceipts
import TestSupport

/// The `openssl` command, an independent check.
enum OpenSSL {
    static let path = ["/usr/bin/openssl", "/usr/local/bin/openssl", "/opt/homebrew/bin/openssl"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    static var isAvailable: Bool { path != nil }

    struct Outcome {
        let status: Int32
        let output: String
    }

    static func run(_ arguments: [String]) throws -> Outcome {
        let outcome = try ChildProcess.runWhileBlocking(path ?? "/usr/bin/false", arguments)
        return Outcome(status: outcome.status, output: outcome.output + outcome.errors)
    }

    /// Whether a CMS message verifies at a moment, with certificates to be trusted; its content if it does.
    static func verify(
        _ container: [UInt8], at instant: ForgedInstant, trusting roots: [[UInt8]]
    ) throws -> (accepted: Bool, content: [UInt8], output: String) {
        try withFiles([container, Array(roots.map(pem).joined().utf8), []]) { files in
            let outcome = try run([
                "cms", "-verify", "-inform", "DER", "-in", files[0], "-CAfile", files[1], "-attime",
                String(instant.milliseconds.quotientAndRemainder(dividingBy: 1_000).quotient), "-purpose", "any",
                "-binary", "-out", files[2],
            ])
            let content = try [UInt8](Data(contentsOf: URL(filePath: files[2])))
            return (outcome.status == 0, content, outcome.output)
        }
    }

    static func pem(_ certificate: [UInt8]) -> String {
        let base64 = Data(certificate).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN CERTIFICATE-----\n\(base64)\n-----END CERTIFICATE-----\n"
    }

    static func withFiles<Result>(_ contents: [[UInt8]], _ body: ([String]) throws -> Result) throws -> Result {
        let folder = try TemporaryFolder()
        let files = try contents.enumerated().map { number, bytes in try folder.write(String(number), bytes) }
        return try withExtendedLifetime(folder) { try body(files) }
    }
}

/// The real receipts beside the package, where they are there.
enum RealReceipts {
    static func all(in folder: String) throws -> [[UInt8]] {
        try SharedReceipts.files(folder).compactMap { file in
            Data(base64Encoded: try Data(contentsOf: file), options: .ignoreUnknownCharacters).map { [UInt8]($0) }
        }
    }
}
