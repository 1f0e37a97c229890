import ArgumentParser
import Foundation
import LegacyReceipts

/// Whose signatures are believed beyond Apple's. Every one of these is an explicit choice.
struct TrustOptions: ParsableArguments {
    @Option(
        name: .customLong("trust-root"),
        help: ArgumentHelp(
            "Also trust this root certificate (DER or PEM), for test receipts. Repeatable.", valueName: "file"),
        completion: .file())
    var roots: [String] = []

    @Option(
        name: .customLong("intermediate"),
        help: ArgumentHelp(
            "An intermediate certificate (DER or PEM) for iOS 6 receipts whose leaf is not a known one. Repeatable.",
            valueName: "file"), completion: .file())
    var intermediates: [String] = []

    @Flag(
        name: .customLong("accept-xcode"),
        help: "Accept receipts of Xcode's StoreKit testing. Anybody can make one: for test data only.")
    var acceptsXcode = false

    func policy() throws -> TrustPolicy {
        TrustPolicy(
            additionalRoots: try roots.map(Self.certificate),
            additionalIntermediates: try intermediates.map(Self.certificate),
            acceptsXcodeReceipts: acceptsXcode)
    }

    private static func certificate(_ path: String) throws -> [UInt8] {
        let bytes = try InputFile.read(path)
        let text = String(decoding: bytes, as: UTF8.self)
        guard let begin = text.range(of: "-----BEGIN CERTIFICATE-----"),
            let end = text.range(of: "-----END CERTIFICATE-----"), begin.upperBound <= end.lowerBound
        else { return bytes }
        let base64 = Array(text[begin.upperBound..<end.lowerBound].utf8)
        do throws(ReceiptError) {
            return try Base64.decodeLeniently(base64.span)
        } catch {
            throw ValidationError("The certificate \(path) cannot be read: \(error.message)")
        }
    }
}

/// Reading of whole small files.
enum InputFile {
    /// - Parameter path: a path, or `-` for standard input.
    static func read(_ path: String) throws -> [UInt8] {
        do {
            if path == "-" { return [UInt8](try FileHandle.standardInput.readToEnd() ?? Data()) }
            return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            throw ValidationError("The file \(path) cannot be read: \(reason(error)).")
        }
    }

    private static func reason(_ error: any Error) -> String {
        let error = error as NSError
        let underlying = error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
        if underlying.domain == NSPOSIXErrorDomain { return String(cString: strerror(Int32(underlying.code))) }
        return error.localizedDescription
    }
}
