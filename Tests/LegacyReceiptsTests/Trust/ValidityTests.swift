import LegacyReceipts
import ReceiptForge
import Testing

/// Certificates are checked at attribute 12, or at the purchase date (Reference.md V7.4; RFC 5280, 4.1.2.5).
@Suite("Validity")
struct ValidityTests {
    private let authority: TestCertificateAuthority

    init() throws { authority = try .shared() }

    /// Verifies a receipt created at an instant written with milliseconds.
    private func verify(
        at instant: ForgedInstant, leaf: (ForgedInstant, ForgedInstant), intermediate: (ForgedInstant, ForgedInstant)
    ) throws -> Verified<AppReceipt> {
        let issuer = try TestCertificateAuthority.intermediateDescription(.g5)
            .with { ($0.notBefore, $0.notAfter) = intermediate }.issued(by: authority.root)
        let signer = try TestCertificateAuthority.leafDescription(.g5).with { ($0.notBefore, $0.notAfter) = leaf }
            .issued(by: issuer)
        let receipt = plainReceipt().with { $0.creationDate = .milliseconds(instant) }
        let message = ForgedSignedData(
            content: receipt.content, chain: [signer, issuer, authority.root], digest: .sha256)
        return try testVerifier().verifyAppReceipt(message.encoded())
    }

    private let from = ForgedInstant(2022, 1, 1)
    private let until = ForgedInstant(2024, 6, 30, 12, 0, 0)
    private let long = (ForgedInstant(2020, 1, 1), ForgedInstant(2030, 1, 1))

    /// Milliseconds from an edge, and whether the receipt is accepted there.
    static let lower: [(Int64, Bool)] = [(-1000, false), (-1, false), (0, true), (1, true), (1000, true)]
    // notAfter is included, and is a whole second (RFC 5280, 4.1.2.5).
    static let upper: [(Int64, Bool)] = [
        (-1000, true), (0, true), (1, true), (999, true), (1000, false), (5000, false),
    ]

    @Test("notBefore of the leaf or the intermediate, to the millisecond", arguments: lower)
    func notBefore(offset: Int64, accepted: Bool) throws {
        let instant = ForgedInstant(milliseconds: from.milliseconds + offset)
        for (leaf, intermediate) in [((from, until), long), (long, (from, until))] {
            if accepted {
                #expect(throws: Never.self) { try verify(at: instant, leaf: leaf, intermediate: intermediate) }
            } else {
                expectRefusal(.certificateNotYetValid) {
                    try verify(at: instant, leaf: leaf, intermediate: intermediate)
                }
            }
        }
    }

    @Test("notAfter of the leaf or the intermediate, its whole second included", arguments: upper)
    func notAfter(offset: Int64, accepted: Bool) throws {
        let instant = ForgedInstant(milliseconds: until.milliseconds + offset)
        for (leaf, intermediate) in [((from, until), long), (long, (from, until))] {
            if accepted {
                #expect(throws: Never.self) { try verify(at: instant, leaf: leaf, intermediate: intermediate) }
            } else {
                expectRefusal(.certificateExpired) { try verify(at: instant, leaf: leaf, intermediate: intermediate) }
            }
        }
    }

    @Test("The root's validity counts too")
    func root() throws {
        let short = try TestCertificateAuthority.rootDescription
            .with { ($0.notBefore, $0.notAfter) = (ForgedInstant(2006, 1, 1), ForgedInstant(2023, 1, 1)) }.issued(
                by: nil)
        let chain = [try authority.leaf(.g5), try authority.intermediate(.g5), short]
        let policy = TrustPolicy(roots: [Fingerprint(of: short.der)])
        #expect(throws: Never.self) {
            try ReceiptVerifier(trust: policy).verifyAppReceipt(
                signedReceipt(chain: chain, created: ForgedInstant(2022, 12, 31)))
        }
        expectRefusal(.certificateExpired) {
            try ReceiptVerifier(trust: policy).verifyAppReceipt(
                signedReceipt(chain: chain, created: ForgedInstant(2023, 1, 2)))
        }
    }

    @Test("The root's first moment counts too")
    func youngRoot() throws {
        let young = try TestCertificateAuthority.rootDescription.with { $0.notBefore = ForgedInstant(2023, 1, 1) }
            .issued(by: nil)
        let chain = [try authority.leaf(.g5), try authority.intermediate(.g5), young]
        let verifier = try ReceiptVerifier(trust: TrustPolicy(roots: [Fingerprint(of: young.der)]))
        #expect(throws: Never.self) {
            try verifier.verifyAppReceipt(signedReceipt(chain: chain, created: ForgedInstant(2023, 1, 2)))
        }
        expectRefusal(.certificateNotYetValid) {
            try verifier.verifyAppReceipt(signedReceipt(chain: chain, created: ForgedInstant(2022, 12, 31)))
        }
    }

    @Test("Certificates that were never valid together are refused")
    func disjoint() {
        for instant in [ForgedInstant(2021, 6, 1), ForgedInstant(2023, 6, 1)] {
            let error = #expect(throws: ReceiptError.self) {
                try verify(
                    at: instant, leaf: (ForgedInstant(2023, 1, 1), ForgedInstant(2024, 1, 1)),
                    intermediate: (ForgedInstant(2021, 1, 1), ForgedInstant(2022, 1, 1)))
            }
            #expect(error?.verdict == .notGenuine)
        }
    }

    @Test("Attribute 12 counts, not attribute 8 and not today")
    func attribute12() throws {
        let receipt = plainReceipt().with { $0.keptCreationDate = .seconds(ForgedInstant(2010, 1, 1)) }
        let bytes = try ForgedSignedData(content: receipt.content, chain: authority.chain(.g5), digest: .sha256)
            .encoded()
        #expect(throws: Never.self) { try testVerifier().verifyAppReceipt(bytes) }
        let late = plainReceipt(created: ForgedInstant(2031, 1, 1))
            .with { $0.keptCreationDate = .seconds(duringG5) }
        let refused = try ForgedSignedData(content: late.content, chain: authority.chain(.g5), digest: .sha256)
            .encoded()
        expectRefusal(.certificateExpired) { try testVerifier().verifyAppReceipt(refused) }
    }

    @Test("An offset in attribute 12 is taken account of")
    func offset() throws {
        // 2022-01-01T00:30:00+0100 is half an hour before the leaf's first moment.
        let receipt = plainReceipt().with {
            $0.creationDate = .offset(ForgedInstant(2021, 12, 31, 23, 30), minutes: 60)
        }
        let leaf = try TestCertificateAuthority.leafDescription(.g5).with { $0.notBefore = from }
            .issued(by: authority.intermediate(.g5))
        let message = ForgedSignedData(
            content: receipt.content, chain: [leaf, try authority.intermediate(.g5), authority.root], digest: .sha256)
        expectRefusal(.certificateNotYetValid) { try testVerifier().verifyAppReceipt(message.encoded()) }
    }

    @Test("Dates from 2050 on are GeneralizedTime, those before 2000 UTCTime")
    func centuries() throws {
        let wide = (ForgedInstant(1975, 1, 1), ForgedInstant(2075, 1, 1))
        #expect(throws: Never.self) { try verify(at: duringG5, leaf: wide, intermediate: wide) }
    }
}
