import LegacyReceipts
import ReceiptForge
import Testing

/// The rules for each place of the chain (Reference.md V7.4): each passes in the plain case and fails when
/// just that rule is broken.
@Suite("Rules of the chain")
struct ChainRuleTests {
    private let authority: TestCertificateAuthority
    private let verifier: ReceiptVerifier

    init() throws {
        authority = try .shared()
        verifier = try testVerifier()
    }

    private func verify(
        leaf changeLeaf: (inout CertificateDescription) -> Void = { _ in },
        intermediate changeIntermediate: (inout CertificateDescription) -> Void = { _ in },
        created: ForgedInstant = duringG5
    ) throws -> Verified<AppReceipt> {
        let intermediate = try TestCertificateAuthority.intermediateDescription(.g5).with(changeIntermediate)
            .issued(by: authority.root)
        let leaf = try TestCertificateAuthority.leafDescription(.g5).with(changeLeaf).issued(by: intermediate)
        return try verifier.verifyAppReceipt(
            signedReceipt(chain: [leaf, intermediate, authority.root], created: created))
    }

    @Test("A plain receipt of each generation verifies", arguments: TestCertificateAuthority.Generation.allCases)
    func plain(generation: TestCertificateAuthority.Generation) throws {
        let dates: [TestCertificateAuthority.Generation: ForgedInstant] = [
            .original: ForgedInstant(2014, 5, 6), .g1: ForgedInstant(2019, 5, 6), .g5: ForgedInstant(2024, 5, 6),
        ]
        let created = try #require(dates[generation])
        let verified = try verifier.verifyAppReceipt(plainReceipt(created: created).signedData(generation).encoded())
        #expect(verified.payload.bundleId == "com.example.orchard")
        #expect(verified.evidence.anchor == .additionalRoot)
        #expect(verified.evidence.digestAlgorithm == (generation == .g5 ? .sha256 : .sha1))
        #expect(verified.evidence.validationTime == created.milliseconds)
        #expect(verified.evidence.leaf == Fingerprint(of: try authority.leaf(generation).der))
        #expect(verified.evidence.trustAnchor == Fingerprint(of: authority.root.der))
    }

    @Test("The leaf needs the marker 6.11.1")
    func leafMarker() throws {
        #expect(throws: Never.self) { try verify() }
        let error = expectRefusal(.missingLeafMarker) { try verify(leaf: { $0.markers = [] }) }
        #expect(error?.verdict == .notGenuine)
        #expect(error?.location == .certificate(0))
        // Neither of the other markers is as good.
        for marker in [
            ForgedObjectIdentifier.purchaseReceiptMarker, .intermediateMarker, .iTunesStoreIntermediateMarker,
        ] {
            expectRefusal(.missingLeafMarker) { try verify(leaf: { $0.markers = [marker] }) }
        }
    }

    @Test("The intermediate needs the marker 6.2.1")
    func intermediateMarker() throws {
        let error = expectRefusal(.missingIntermediateMarker) { try verify(intermediate: { $0.markers = [] }) }
        #expect(error?.location == .certificate(1))
        for marker in [ForgedObjectIdentifier.iTunesStoreIntermediateMarker, .receiptSigningMarker] {
            expectRefusal(.missingIntermediateMarker) { try verify(intermediate: { $0.markers = [marker] }) }
        }
    }

    @Test("Basic constraints: the leaf is no authority, the intermediate is one")
    func basicConstraints() throws {
        expectRefusal(.basicConstraints) {
            try verify(leaf: { $0.basicConstraints = .certificateAuthority(pathLength: nil) })
        }
        #expect(throws: Never.self) { try verify(leaf: { $0.basicConstraints = .absent }) }
        expectRefusal(.basicConstraints) { try verify(intermediate: { $0.basicConstraints = .endEntity }) }
        expectRefusal(.basicConstraints) { try verify(intermediate: { $0.basicConstraints = .absent }) }
        for length in [nil, 0, 1] as [Int64?] {
            #expect(throws: Never.self) {
                try verify(intermediate: { $0.basicConstraints = .certificateAuthority(pathLength: length) })
            }
        }
    }

    @Test("Key usage: digitalSignature for the leaf, keyCertSign for the intermediate; without the extension no limit")
    func keyUsage() throws {
        expectRefusal(.keyUsage) { try verify(leaf: { $0.keyUsage = .keyEncipherment }) }
        expectRefusal(.keyUsage) { try verify(leaf: { $0.keyUsage = [.keyCertSign, .crlSign] }) }
        expectRefusal(.keyUsage) { try verify(leaf: { $0.keyUsage = [] }) }
        expectRefusal(.keyUsage) { try verify(intermediate: { $0.keyUsage = [.digitalSignature, .crlSign] }) }
        #expect(throws: Never.self) { try verify(leaf: { $0.keyUsage = nil }) }
        #expect(throws: Never.self) { try verify(leaf: { $0.keyUsage = [.digitalSignature, .keyEncipherment] }) }
        #expect(throws: Never.self) { try verify(intermediate: { $0.keyUsage = nil }) }
    }

    @Test("An unknown critical extension is rejected in leaf and intermediate")
    func criticalExtension() throws {
        let leaf = expectRefusal(.criticalExtension) { try verify(leaf: { $0.unknownCriticalExtension = true }) }
        #expect(leaf?.location == .certificate(0))
        let other = expectRefusal(.criticalExtension) {
            try verify(intermediate: { $0.unknownCriticalExtension = true })
        }
        #expect(other?.location == .certificate(1))
    }

    @Test("A broken signature of leaf or intermediate is refused")
    func brokenSignatures() throws {
        let leaf = expectRefusal(.certificateSignatureMismatch) { try verify(leaf: { $0.brokenSignature = true }) }
        #expect(leaf?.location == .certificate(0))
        let other = expectRefusal(.certificateSignatureMismatch) {
            try verify(intermediate: { $0.brokenSignature = true })
        }
        #expect(other?.location == .certificate(1))
    }

    @Test("The digest of the leaf's own signature does not decide the digest of the content (7.3, 7.4)")
    func digestIsTheSigners() throws {
        let leaf = try TestCertificateAuthority.leafDescription(.g5).issued(by: authority.intermediate(.g5))
        let chain = [leaf, try authority.intermediate(.g5), authority.root]
        let sha1 = try verifier.verifyAppReceipt(signedReceipt(chain: chain, digest: .sha1))
        #expect(sha1.evidence.digestAlgorithm == .sha1)
        let sha256 = try verifier.verifyAppReceipt(signedReceipt(chain: chain, digest: .sha256))
        #expect(sha256.evidence.digestAlgorithm == .sha256)
        // A leaf that is itself signed with SHA-1, used with SHA-256.
        let old = try TestCertificateAuthority.leafDescription(.g5).with { $0.digest = .sha1 }
            .issued(by: authority.intermediate(.g5))
        #expect(throws: Never.self) {
            try verifier.verifyAppReceipt(
                signedReceipt(chain: [old, authority.intermediate(.g5), authority.root], digest: .sha256))
        }
    }

    @Test("Digests and certificate algorithms other than SHA-1 and SHA-256 are refused")
    func otherDigests() throws {
        let chain = try authority.chain(.g5)
        expectRefusal(.unsupportedDigestAlgorithm) {
            try verifier.verifyAppReceipt(signedReceipt(chain: chain, digest: .sha512))
        }
        expectRefusal(.certificateSignatureMismatch) { try verify(leaf: { $0.digest = .sha512 }) }
    }

    @Test("The digest that is named must be the one that was used")
    func wrongDigest() throws {
        for (used, named) in [(ForgedDigest.sha256, ForgedObjectIdentifier.sha1), (.sha1, .sha256)] {
            expectRefusal(.signatureMismatch) {
                try verifier.verifyAppReceipt(
                    signedReceipt(chain: authority.chain(.g5), digest: used) { $0.signers[0].claimedDigest = named })
            }
        }
    }

    @Test("The signature algorithm is rsaEncryption, or RSA with the digest that is named")
    func signatureAlgorithm() throws {
        func verify(_ algorithm: ForgedObjectIdentifier) throws -> Verified<AppReceipt> {
            try verifier.verifyAppReceipt(
                signedReceipt(chain: authority.chain(.g5)) { $0.signers[0].signatureAlgorithm = algorithm })
        }
        #expect(throws: Never.self) { try verify(.rsaEncryption) }
        #expect(throws: Never.self) { try verify(.sha256WithRSA) }
        expectRefusal(.unsupportedSignatureAlgorithm) { try verify(.sha1WithRSA) }
        expectRefusal(.unsupportedSignatureAlgorithm) { try verify(.data) }
    }
}
