import AppStoreServer
import Foundation
import SharedReceipts
import Testing

/// Transactions that Apple signed, one compact JWS to a file, where there are any: in the folder that
/// LEGACY_RECEIPTS_SIGNED_DATA names, or in `../shared/receipts/signed-data` beside the package.
enum RealSignedData {
    static let transactions: [String] = {
        guard let folder else { return [] }
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        return files.filter { $0.pathExtension == "jws" }.sorted { $0.path < $1.path }.compactMap { file in
            (try? String(contentsOf: file, encoding: .utf8))?.trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }()

    private static let folder: URL? = {
        if let named = ProcessInfo.processInfo.environment["LEGACY_RECEIPTS_SIGNED_DATA"] {
            return URL(filePath: named)
        }
        return SharedReceipts.folder?.appending(path: "signed-data")
    }()
}

@Suite("Real signed data", .enabled(if: !RealSignedData.transactions.isEmpty, "there is none"))
struct RealSignedDataTests {
    @Test("Apple's own transactions are verified with nothing but the pinned roots")
    func verified() async throws {
        let verifier = try SignedDataVerifier()
        for jws in RealSignedData.transactions {
            let verified = try await verifier.verifiedTransaction(jws, expecting: SignedDataExpectation(), now: 0)
            #expect(verified.evidence.anchor == .apple)
            #expect(verified.payload.transactionId != nil && verified.payload.signedDate != nil)
            // The same transaction is of no use elsewhere.
            let other = SignedDataExpectation(bundleId: "com.example.other")
            #expect(try await Signed.refusal(of: jws, by: verifier, expecting: other)?.code == .bundleIdMismatch)
            // Not a bit of it may change.
            var parts = try JWSParts(jws)
            parts.signatureBytes[10] ^= 1
            #expect(try await Signed.refusal(of: parts.text, by: verifier)?.code == .signatureMismatch)
            // Nor do Apple's certificates pass where Apple is not trusted.
            #expect(try await Signed.refusal(of: jws)?.code == .untrustedRoot)
        }
    }
}
