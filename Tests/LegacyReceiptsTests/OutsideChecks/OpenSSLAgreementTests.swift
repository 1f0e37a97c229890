import Foundation
import LegacyReceipts
import OpenSSLOracle
import ReceiptForge
import TestSupport
import TestTraits
import Testing

/// OpenSSL's `CMS_verify` at the creation date and our verdict agree, or the difference is a rule of the table below.
@Suite("Agreement with OpenSSL", .computing)
struct OpenSSLAgreementTests {
    /// Why we may refuse what OpenSSL accepts. Each row is a rule of receipts that CMS does not have.
    static let rulesOfOurs: [ReceiptError.Code: String] = [
        .missingLeafMarker: "Apple's marker of leaves (Reference.md V7.4)",
        .missingIntermediateMarker: "Apple's marker of intermediates (Reference.md V7.4)",
        .untrustedRoot: "exactly leaf, intermediate, pinned root; no longer and no shorter path",
        .xcodeReceipt: "Xcode's certificate is no anchor by default",
        .signerCount: "exactly one signer, where CMS takes any number of good ones",
        .signerCertificateNotFound: "issuer compared byte by byte, where OpenSSL compares names canonically",
        .unsupportedSignerIdentifier: "issuer and serial number only",
        .unsupportedDigestAlgorithm: "SHA-1 and SHA-256 only",
        .unsupportedSignatureAlgorithm: "RSA only, with the digest that is named",
        .signedAttributesMismatch: "content-type id-data and message-digest exactly once",
        .certificateSignatureMismatch: "SHA-1 and SHA-256 in certificates only",
        .keyUsage: "digitalSignature for leaves, keyCertSign for intermediates, whatever the purpose",
        .basicConstraints: "the leaf is no authority",
        .criticalExtension: "critical extensions that OpenSSL knows and receipts have no use for",
        .malformedCertificate: "every embedded certificate must be readable DER of ours, also those not on the path",
        .tooManyCertificates: "limit",
        // These are refusals to read, where OpenSSL does not look: the content is not a receipt.
        .contentNotReceipt: "content is not a set of receipt attributes",
        .malformedAttribute: "an essential attribute of another form",
        .missingAttribute: "an essential attribute is missing",
        .tooManyAttributes: "limit", .nestedTooDeeply: "limit", .tooLarge: "limit",
        .malformedEncoding: "BER that OpenSSL takes more loosely",
        .certificateExpired: "exactly notAfter is valid by RFC 5280 and expired for OpenSSL; or its time was not asked",
    ]

    /// Rules of OpenSSL that make it refuse what we accept, by a word of its own reason.
    static let rulesOfOpenSSL: [(word: String, why: String)] = [
        (
            "no matching digest",
            "digestAlgorithms must list the signer's digest; it is not signed, and nothing hangs on it"
        ),
        ("certificate has expired", "the last second of notAfter is valid by RFC 5280, 4.1.2.5, expired for OpenSSL"),
        ("certificate signature failure", "of two copies of a certificate OpenSSL uses one, and we try both"),
        ("unable to get", "OpenSSL follows key identifiers and path lengths that are advisory (RFC 5280, 4.2.1.1)"),
        ("unsupported", "an unsupported version number or attribute that is not signed"),
    ]

    struct Verdicts {
        let bytes: [UInt8]
        let ours: Result<Verified<AppReceipt>, ReceiptError>
        let theirs: CMSVerdict
    }

    /// Both verdicts on an app receipt; nil when there is no creation date to ask OpenSSL about.
    static func verdicts(
        _ bytes: [UInt8], _ verifier: ReceiptVerifier, roots: [[UInt8]], fingerprints: [[UInt8]]
    ) -> Verdicts? {
        var ours: Result<Verified<AppReceipt>, ReceiptError>
        var time: Int64?
        do throws(ReceiptError) {
            let verified = try verifier.verifyAppReceipt(bytes)
            ours = .success(verified)
            time = verified.evidence.validationTime
        } catch {
            ours = .failure(error)
            if case .app(let receipt)? = try? ReceiptDecoder().decode(stored: bytes).payload {
                time = receipt.receiptCreationDate
            }
        }
        let seconds = floorDivide(time ?? 1_700_000_000_000)
        let theirs = verifyCMS(bytes, at: seconds, trusting: roots, anchorsFromMessage: fingerprints)
        return Verdicts(bytes: bytes, ours: ours, theirs: theirs)
    }

    private static func floorDivide(_ milliseconds: Int64) -> Int64 {
        milliseconds >= 0 ? milliseconds / 1000 : (milliseconds - 999) / 1000
    }

    /// Why the two verdicts may differ, or nil if they must not; "" when they agree.
    ///
    /// - Parameters:
    ///   - verdicts: both verdicts.
    ///   - genuine: the content of the receipts that the bytes were made from.
    static func explanation(_ verdicts: Verdicts, genuine: Set<SignedContent>? = nil) -> String? {
        switch (verdicts.ours, verdicts.theirs) {
        case (.success, .genuine(let content)):
            // Both accept: then they must have read the same content.
            return canonicalContent(verdicts.bytes) == content ? "" : nil
        case (.failure, .notGenuine), (.failure, .unparsable): return ""
        case (.failure(let error), .genuine): return rulesOfOurs[error.code]
        case (.success(let verified), .unparsable(let reason)), (.success(let verified), .notGenuine(let reason)):
            guard let genuine else { return rulesOfOpenSSL.first { reason.contains($0.word) }?.why }
            // Whatever was changed was not signed.
            guard genuine.contains(SignedContent(.app(verified.payload))) else { return nil }
            if case .unparsable = verdicts.theirs {
                return
                    "OpenSSL also decodes what is neither signed nor used: certificates off the path, digestAlgorithms"
            }
            return rulesOfOpenSSL.first { reason.contains($0.word) }?.why
        }
    }

    private func expectAgreement(
        _ verdicts: Verdicts, genuine: Set<SignedContent>? = nil, _ comment: @autoclosure () -> String
    ) {
        guard Self.explanation(verdicts, genuine: genuine) == nil else { return }
        let ours = (try? verdicts.ours.get()) == nil ? "refused" : "accepted"
        var reason = ""
        if case .failure(let error) = verdicts.ours { reason = "\(error.code) \(error.message)" }
        var theirs = "accepted"
        switch verdicts.theirs {
        case .genuine: break
        case .notGenuine(let reason), .unparsable(let reason): theirs = "refused: \(reason)"
        }
        Issue.record("we \(ours) \(reason); OpenSSL \(theirs); \(comment())")
    }

    @Test(
        "Real receipts", .enabled(if: RealReceipts.arePresent),
        arguments: RealReceipts.entries(of: "production", "sandbox", "xcode", "mac-2010"))
    func real(entry: RealReceipts.Entry) throws {
        let bytes = try ReceiptContainer(stored: RealReceipts.text(entry)).bytes
        let fingerprints = try AppleRoots.fingerprints()
        let verdicts = try #require(Self.verdicts(bytes, ReceiptVerifier(), roots: [], fingerprints: fingerprints))
        expectAgreement(verdicts, entry.file)
        // The Mac receipt of 2010 leads to Apple's root too; only the markers show that it is from another authority.
        #expect(verdicts.theirs.isGenuine == (entry.kind != "xcode"))
        #expect(((try? verdicts.ours.get()) != nil) == (entry.kind == "production" || entry.kind == "sandbox"))
    }

    @Test("Forged receipts", arguments: (try? ForgedCases.all().filter { $0.openSSLAccepts != nil }.map(\.name)) ?? [])
    func forged(name: String) throws {
        let forged = try #require(try ForgedCases.all().first { $0.name == name })
        let bytes = try #require(forged.container)
        let root = try TestCertificateAuthority.rootDER
        let verdicts = try #require(
            Self.verdicts(bytes, ForgedCases.verifier(), roots: [root], fingerprints: []))
        expectAgreement(verdicts, "\(name): \(forged.shows)")
        #expect(verdicts.theirs.isGenuine == forged.openSSLAccepts, "\(forged.shows)")
    }

    static let mutations = librariesAreOptimized ? 20_000 : 3_000

    @Test("Mutations of forged receipts")
    func mutatedForged() async throws {
        let inputs = try ForgedCases.small.filter { $0.openSSLAccepts != nil }.compactMap(\.container)
            .filter { $0.count < 20_000 }
        let root = try TestCertificateAuthority.rootDER
        await expectAgreement(inputs, try ForgedCases.verifier(), roots: [root], fingerprints: [])
    }

    @Test("Mutations of real receipts", .enabled(if: RealReceipts.arePresent))
    func mutatedReal() async throws {
        let inputs = try RealReceipts.receipts(of: "production", "sandbox").filter { $0.count < 20_000 }
        await expectAgreement(inputs, ReceiptVerifier(), roots: [], fingerprints: try AppleRoots.fingerprints())
    }

    private func expectAgreement(
        _ inputs: [[UInt8]], _ verifier: ReceiptVerifier, roots: [[UInt8]], fingerprints: [[UInt8]]
    ) async {
        let seed = MutationTests.seed
        print("OpenSSL: \(Self.mutations) mutations of \(inputs.count) receipts, LEGACY_RECEIPTS_SEED=\(seed)")
        await withTaskGroup(of: [String: Int].self) { group in
            for task in 0..<2 {
                group.addTask {
                    var mutator = Mutator(seed: seed &+ UInt64(task) &* 77, donors: inputs)
                    let genuine = Set(
                        inputs.compactMap { try? verifier.verify(stored: $0) }.map { SignedContent($0.payload) })
                    var counts: [String: Int] = [:]
                    for round in 0..<Self.mutations / 2 {
                        let mutated = mutator.mutate(inputs[round % inputs.count])
                        guard let verdicts = Self.verdicts(mutated, verifier, roots: roots, fingerprints: fingerprints)
                        else { continue }
                        counts[Self.explanation(verdicts, genuine: genuine) ?? "unexplained", default: 0] += 1
                        self.expectAgreement(verdicts, genuine: genuine, Data(mutated).base64EncodedString())
                    }
                    return counts
                }
            }
            var total: [String: Int] = [:]
            for await counts in group { total.merge(counts) { $0 + $1 } }
            for (rule, count) in total.sorted(by: { $0.value > $1.value }) {
                print("  \(count) \(rule.isEmpty ? "agree" : rule)")
            }
        }
    }

    @Test(
        "Transaction receipts: OpenSSL's RSA agrees with ours", .enabled(if: RealReceipts.arePresent),
        arguments: RealReceipts.entries(of: "ios6"))
    func transactions(entry: RealReceipts.Entry) throws {
        let receipt = try decodeTransaction(
            String(decoding: ReceiptContainer(stored: RealReceipts.text(entry)).bytes, as: UTF8.self))
        let blob = try #require(receipt.signature)
        func verify(_ message: [UInt8]) -> Bool {
            verifyPKCS1(
                signature: Array(blob.signature), over: message, digest: .sha1, certificateDER: Array(blob.certificate))
        }
        #expect(verify([blob.version] + receipt.purchaseInfoBytes))
        #expect(!verify(receipt.purchaseInfoBytes))
    }
}

enum AppleRoots {
    /// The pinned roots as bytes, for OpenSSL.
    static func fingerprints() throws -> [[UInt8]] {
        TrustPolicy.appleRoots.map { fingerprint in
            let digits = Array(fingerprint.description)
            return stride(from: 0, to: 64, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
        }
    }
}
