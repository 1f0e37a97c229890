import ArgumentParser
import Encodings
import Foundation
import LegacyReceipts

/// Trust anchors in addition to Apple's.
struct TrustOptions: ParsableArguments {
    @Option(
        name: .customLong("trust-root"),
        file: "Also trust this root certificate (DER or PEM), for test receipts. Repeatable.")
    var roots: [String] = []

    @Option(
        name: .customLong("intermediate"),
        file: "An intermediate certificate (DER or PEM) for iOS 6 receipts with an unknown leaf. Repeatable.")
    var intermediates: [String] = []

    @Flag(
        name: .customLong("accept-xcode"),
        help:
            "Accept receipts of Xcode's StoreKit testing. Every developer can make one, so use this for test data only."
    )
    var acceptsXcode = false

    /// - Throws: ``CommandFailure`` that names the file that is no certificate.
    func policy() throws -> TrustPolicy {
        TrustPolicy(
            additionalRoots: try roots.flatMap(Self.certificates),
            additionalIntermediates: try intermediates.flatMap(Self.certificates),
            acceptsXcodeReceipts: acceptsXcode)
    }

    /// The certificate of a DER file, or all those of a PEM file.
    /// - Throws: ``CommandFailure`` that names the file that is no certificate.
    static func certificates(_ path: String) throws -> [[UInt8]] {
        let bytes = try InputFile.read(path)
        do {
            let certificates = try PEM.certificates(bytes) ?? [bytes]
            for certificate in certificates {
                _ = try ReceiptVerifier(trust: TrustPolicy(additionalRoots: [certificate]))
            }
            return certificates
        } catch {
            throw CommandFailure("Cannot use \(path): it is not an X.509 certificate in DER or PEM.")
        }
    }
}

/// The textual encoding of certificates (RFC 7468).
enum PEM {
    /// Every certificate of a PEM text; nil if the bytes are not PEM.
    static func certificates(_ bytes: [UInt8]) throws(CommandFailure) -> [[UInt8]]? {
        var rest = String(decoding: bytes, as: UTF8.self)[...]
        var certificates: [[UInt8]] = []
        while let begin = rest.range(of: "-----BEGIN CERTIFICATE-----") {
            rest = rest[begin.upperBound...]
            guard let end = rest.range(of: "-----END CERTIFICATE-----") else { break }
            let base64 = Array(rest[..<end.lowerBound].utf8)
            guard let certificate = try? Base64.decodeLeniently(base64.span) else {
                throw CommandFailure("A certificate in PEM is not base64.")
            }
            certificates.append(certificate)
            rest = rest[end.upperBound...]
        }
        return certificates.isEmpty ? nil : certificates
    }
}
