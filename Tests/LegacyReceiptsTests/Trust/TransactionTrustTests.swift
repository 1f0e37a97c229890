import LegacyReceipts
import ReceiptForge
import Testing

/// Trust in transaction receipts, which embed only their leaf (Reference.md V6 and V7.5).
@Suite("Trust in transaction receipts")
struct TransactionTrustTests {
    private let authority: TestCertificateAuthority

    init() throws { authority = try .shared() }

    static let during2 = ForgedInstant(2013, 5, 6, 7, 8, 9)
    static let during3 = ForgedInstant(2017, 5, 6, 7, 8, 9)

    private func receipt(_ date: ForgedInstant) -> ForgedTransactionReceipt {
        .production(product: "com.example.gold", pod: "30", serial: "0000181531396", at: date)
    }

    private func pinning(_ certificates: ForgedCertificate...) throws -> ReceiptVerifier {
        try ReceiptVerifier(
            trust: TrustPolicy(transactionReceiptLeaves: Set(certificates.map { Fingerprint(of: $0.der) })))
    }

    @Test("Version 2 and 3 verify with their pinned leaf")
    func pinnedLeaf() throws {
        let two = try ForgedTransactionSignature.version2(at: Self.during2).signed(receipt(Self.during2))
        let verified = try pinning(authority.earlyPurchaseReceiptLeaf).verifyTransactionReceipt(two)
        #expect(verified.evidence.anchor == .pinnedLeaf)
        #expect(verified.evidence.digestAlgorithm == .sha1)
        #expect(verified.evidence.validationTime == Self.during2.milliseconds)
        #expect(verified.payload.transactionId == "300000181531396")
        let three = try ForgedTransactionSignature.version3().signed(receipt(Self.during3))
        #expect(throws: Never.self) { try pinning(authority.leaf(.g1)).verifyTransactionReceipt(three) }
    }

    @Test("Version 4 is signed with SHA-256, versions 2 and 3 with SHA-1; neither passes for the other")
    func digestOfTheVersion() throws {
        let verifier = try pinning(authority.earlyPurchaseReceiptLeaf, authority.leaf(.g1), authority.leaf(.g5))
        let four = try ForgedTransactionSignature.version4()
        let verified = try verifier.verifyTransactionReceipt(four.signed(receipt(duringG5)))
        #expect(verified.evidence.digestAlgorithm == .sha256)
        #expect(verified.payload.signature?.version == 4)
        let weak = try four.with { $0.digest = .sha1 }.signed(receipt(duringG5))
        expectRefusal(.signatureMismatch) { try verifier.verifyTransactionReceipt(weak) }
        let relabeled = try four.with {
            $0.digest = .sha1
            $0.signedPrefix = [3]
        }.signed(receipt(duringG5))
        expectRefusal(.signatureMismatch) { try verifier.verifyTransactionReceipt(relabeled) }
        for (older, date) in try [
            (ForgedTransactionSignature.version2(at: Self.during2), Self.during2),
            (ForgedTransactionSignature.version3(), Self.during3),
        ] {
            let strong = try older.with { $0.digest = .sha256 }.signed(receipt(date))
            expectRefusal(.signatureMismatch) { try verifier.verifyTransactionReceipt(strong) }
        }
    }

    @Test("A leaf that is neither pinned nor under a supplied intermediate is refused")
    func unknownLeaf() throws {
        let two = try ForgedTransactionSignature.version2(at: Self.during2).signed(receipt(Self.during2))
        let error = expectRefusal(.untrustedLeaf) { try ReceiptVerifier().verifyTransactionReceipt(two) }
        #expect(error?.verdict == .notGenuine)
        expectRefusal(.untrustedLeaf) { try pinning(authority.purchaseReceiptLeaf).verifyTransactionReceipt(two) }
    }

    @Test("The caller's intermediates make leaves trusted, if they lead to a trusted root")
    func extraIntermediate() throws {
        let two = try ForgedTransactionSignature.version2(at: Self.during2).signed(receipt(Self.during2))
        let three = try ForgedTransactionSignature.version3().signed(receipt(Self.during3))
        let verifier = try testVerifier()
        #expect(try verifier.verifyTransactionReceipt(two).evidence.anchor == .additionalRoot)
        #expect(throws: Never.self) { try verifier.verifyTransactionReceipt(three) }
        // The intermediate alone proves nothing.
        let noRoot = try testVerifier { $0.additionalRoots = [] }
        expectRefusal(.untrustedRoot) { try noRoot.verifyTransactionReceipt(two) }
        // Nor does the other kind's intermediate.
        let other = try testVerifier { $0.additionalIntermediates = [$0.additionalIntermediates[1]] }
        expectRefusal(.untrustedLeaf) { try other.verifyTransactionReceipt(two) }
        #expect(throws: Never.self) { try other.verifyTransactionReceipt(three) }
    }

    @Test("An intermediate pinned by fingerprint is trusted when the caller supplies it, within both validities")
    func pinnedIntermediate() throws {
        let intermediate = authority.iTunesStoreIntermediate
        let verifier = try ReceiptVerifier(
            trust: TrustPolicy(
                additionalIntermediates: [intermediate.der],
                transactionReceiptIntermediates: [Fingerprint(of: intermediate.der)]))
        let two = try ForgedTransactionSignature.version2(at: Self.during2).signed(receipt(Self.during2))
        let verified = try verifier.verifyTransactionReceipt(two)
        #expect(verified.evidence.trustAnchor == Fingerprint(of: intermediate.der))
        // A leaf that outlives its intermediate, or never lived with it.
        for (notBefore, notAfter, date) in [
            (ForgedInstant(2010, 1, 1), ForgedInstant(2030, 1, 1), ForgedInstant(2017, 1, 1)),
            (ForgedInstant(2020, 1, 1), ForgedInstant(2030, 1, 1), ForgedInstant(2021, 1, 1)),
            (ForgedInstant(2020, 1, 1), ForgedInstant(2030, 1, 1), ForgedInstant(2016, 5, 18, 18, 31, 30)),
        ] {
            let leaf = try TestCertificateAuthority.purchaseReceiptDescription(early: true)
                .with { ($0.notBefore, $0.notAfter) = (notBefore, notAfter) }.issued(by: intermediate)
            let late = try ForgedTransactionSignature(certificate: leaf, version: 2).signed(receipt(date))
            #expect(throws: ReceiptError.self) { try verifier.verifyTransactionReceipt(late) }
        }
    }

    @Test("Two intermediates of one name and key: either order serves leaves of both times")
    func reissuedIntermediate() throws {
        let both = [try authority.intermediate(.original).der, try authority.intermediate(.g1).der]
        let three = try ForgedTransactionSignature.version3().signed(receipt(Self.during3))
        for intermediates in [both, both.reversed()] {
            let verifier = try testVerifier { $0.additionalIntermediates = intermediates }
            #expect(throws: Never.self) { try verifier.verifyTransactionReceipt(three) }
        }
    }

    @Test("Version 2 leaves need the marker 6.5.1, version 3 leaves 6.11.1; neither passes for the other")
    func leafMarkers() throws {
        let intermediate = authority.iTunesStoreIntermediate
        func leaf2(_ markers: [ForgedObjectIdentifier]) throws -> ForgedCertificate {
            try TestCertificateAuthority.purchaseReceiptDescription(early: true).with { $0.markers = markers }
                .issued(by: intermediate)
        }
        let verifier = try testVerifier()
        for markers in [[], [ForgedObjectIdentifier.receiptSigningMarker], [.iTunesStoreIntermediateMarker]] {
            let bytes = try ForgedTransactionSignature(certificate: leaf2(markers), version: 2).signed(
                receipt(Self.during2))
            expectRefusal(.missingLeafMarker) { try verifier.verifyTransactionReceipt(bytes) }
        }
        let good = try ForgedTransactionSignature(certificate: leaf2([.purchaseReceiptMarker]), version: 2)
            .signed(receipt(Self.during2))
        #expect(throws: Never.self) { try verifier.verifyTransactionReceipt(good) }
        let leaf3 = try TestCertificateAuthority.leafDescription(.g1).with { $0.markers = [.purchaseReceiptMarker] }
            .issued(by: authority.intermediate(.g1))
        let three = try ForgedTransactionSignature(certificate: leaf3, version: 3).signed(receipt(Self.during3))
        expectRefusal(.missingLeafMarker) { try verifier.verifyTransactionReceipt(three) }
    }

    @Test("The intermediate needs the marker 6.2.2 for version 2 and 6.2.1 for version 3")
    func intermediateMarkers() throws {
        for marker in [nil, ForgedObjectIdentifier.intermediateMarker] {
            let intermediate = try TestCertificateAuthority.iTunesStoreDescription
                .with { $0.markers = marker.map { [$0] } ?? [] }.issued(by: authority.root)
            let leaf = try TestCertificateAuthority.purchaseReceiptDescription(early: true).issued(by: intermediate)
            let bytes = try ForgedTransactionSignature(certificate: leaf, version: 2).signed(receipt(Self.during2))
            let verifier = try testVerifier { $0.additionalIntermediates = [intermediate.der] }
            expectRefusal(.missingIntermediateMarker) { try verifier.verifyTransactionReceipt(bytes) }
        }
        let intermediate = try TestCertificateAuthority.intermediateDescription(.g1)
            .with { $0.markers = [.iTunesStoreIntermediateMarker] }.issued(by: authority.root)
        let leaf = try TestCertificateAuthority.leafDescription(.g1).issued(by: intermediate)
        let bytes = try ForgedTransactionSignature(certificate: leaf, version: 3).signed(receipt(Self.during3))
        let verifier = try testVerifier { $0.additionalIntermediates = [intermediate.der] }
        expectRefusal(.missingIntermediateMarker) { try verifier.verifyTransactionReceipt(bytes) }
    }

    @Test("The version byte is signed")
    func versionByte() throws {
        let verifier = try testVerifier()
        let unsigned = try ForgedTransactionSignature.version2(at: Self.during2).with { $0.signedPrefix = [] }
            .signed(receipt(Self.during2))
        expectRefusal(.signatureMismatch) { try verifier.verifyTransactionReceipt(unsigned) }
        let other = try ForgedTransactionSignature.version2(at: Self.during2).with { $0.signedPrefix = [3] }
            .signed(receipt(Self.during2))
        expectRefusal(.signatureMismatch) { try verifier.verifyTransactionReceipt(other) }
    }

    @Test("Every byte of the purchase information is signed")
    func purchaseInfo() throws {
        let signature = try ForgedTransactionSignature.version2(at: Self.during2)
        let verifier = try pinning(authority.earlyPurchaseReceiptLeaf)
        let length = try decodeTransaction(
            String(decoding: signature.signed(receipt(Self.during2)), as: UTF8.self)
        ).purchaseInfoBytes.count
        #expect(throws: Never.self) { try verifier.verifyTransactionReceipt(signature.signed(receipt(Self.during2))) }
        for index in stride(from: 0, to: length, by: 7) {
            let changed = try signature.with { $0.changePurchaseInfo = { $0[index] ^= 1 } }.signed(
                receipt(Self.during2))
            #expect(throws: ReceiptError.self) { try verifier.verifyTransactionReceipt(changed) }
        }
        // White space changes nothing that is read, and breaks the signature all the same.
        let blank = try signature.with { $0.changePurchaseInfo = { $0.append(0x20) } }.signed(receipt(Self.during2))
        expectRefusal(.signatureMismatch) { try verifier.verifyTransactionReceipt(blank) }
    }

    @Test("The outer list is not signed and its layout does not matter", arguments: PropertyListStyle.allCases)
    func outerLayout(style: PropertyListStyle) throws {
        let signature = try ForgedTransactionSignature.version2(at: Self.during2)
        for inner in PropertyListStyle.allCases {
            let bytes = try signature.with {
                $0.outerStyle = style
                $0.innerStyle = inner
            }.signed(receipt(Self.during2))
            let verified = try pinning(authority.earlyPurchaseReceiptLeaf).verifyTransactionReceipt(bytes)
            #expect(verified.payload.transactionId == "300000181531396")
        }
    }

    @Test("The leaf is checked at the purchase date, both edges")
    func validity() throws {
        // The early leaf: 2009-06-15 22:05:56 to 2014-06-14 22:05:56.
        let verifier = try pinning(authority.earlyPurchaseReceiptLeaf)
        let signature = ForgedTransactionSignature(certificate: authority.earlyPurchaseReceiptLeaf, version: 2)
        let lower = ForgedInstant(2009, 6, 15, 22, 5, 56).milliseconds
        let upper = ForgedInstant(2014, 6, 14, 22, 5, 56).milliseconds
        for (time, code) in [
            (lower - 1, .certificateNotYetValid), (lower, nil), (upper, nil), (upper + 999, nil),
            (upper + 1000, .certificateExpired), (Int64.max / 1_000_000, .certificateExpired),
            (0, .certificateNotYetValid),
        ] as [(Int64, ReceiptError.Code?)] {
            let bytes = try signature.signed(receipt(ForgedInstant(milliseconds: time)))
            if let code {
                expectRefusal(code, "\(time)") { try verifier.verifyTransactionReceipt(bytes) }
            } else {
                #expect(throws: Never.self, "\(time)") { try verifier.verifyTransactionReceipt(bytes) }
            }
        }
    }

    @Test("The original purchase date does not decide")
    func originalPurchaseDate() throws {
        // The early leaf: 2009-06-15 22:05:56 to 2014-06-14 22:05:56.
        let verifier = try pinning(authority.earlyPurchaseReceiptLeaf)
        let signature = ForgedTransactionSignature(certificate: authority.earlyPurchaseReceiptLeaf, version: 2)
        let (before, during, after) = (ForgedInstant(2008, 7, 11), Self.during2, ForgedInstant(2015, 1, 1))
        func signed(_ purchase: ForgedInstant, originally: ForgedInstant) throws -> [UInt8] {
            try signature.signed(receipt(purchase).with { $0.originalPurchaseDate = originally })
        }
        for original in [before, after] {
            let verified = try verifier.verifyTransactionReceipt(signed(during, originally: original))
            #expect(verified.evidence.validationTime == during.milliseconds)
        }
        expectRefusal(.certificateExpired) { try verifier.verifyTransactionReceipt(signed(after, originally: during)) }
        expectRefusal(.certificateNotYetValid) {
            try verifier.verifyTransactionReceipt(signed(before, originally: during))
        }
    }

    @Test("A restored purchase and a period of a subscription may be signed by a leaf that became valid later")
    func signedAfterThePurchase() throws {
        // Version 3 has a leaf from 2015-11-13 to 2023-02-07.
        let leaf = try authority.leaf(.g1)
        let verifier = try pinning(leaf)
        let signature = try ForgedTransactionSignature.version3()
        let (before, after) = (ForgedInstant(2012, 3, 4, 5, 6, 7), ForgedInstant(2023, 3, 4))
        let bought = receipt(before)
        let restored = bought.with { $0.originalTransactionId = "300000099999999" }
        let period = bought.with { $0.expiresDate = before.adding(months: 1) }
        for keeping in [restored, period] {
            let bytes = try signature.signed(keeping)
            let verified = try verifier.verifyTransactionReceipt(bytes)
            #expect(verified.payload.purchaseDate == before.milliseconds)
            #expect(verified.evidence.validationTime == ForgedInstant(2015, 11, 13, 2, 15, 9).milliseconds)
            let checks = try verifier.inspect(ReceiptContainer(stored: bytes)).checks
            #expect(checks.first { $0.name == .validity }?.outcome == .passed)
            let edited = try signature.with { $0.signsInstead = bought }.signed(keeping)
            expectRefusal(.signatureMismatch) { try verifier.verifyTransactionReceipt(edited) }
            let late = try signature.signed(keeping.with { $0.purchaseDate = after })
            expectRefusal(.certificateExpired) { try verifier.verifyTransactionReceipt(late) }
        }
        expectRefusal(.certificateNotYetValid) { try verifier.verifyTransactionReceipt(signature.signed(bought)) }
    }

    @Test("Extreme purchase dates do not trap", arguments: [Int64.max, .min, .max - 999, .min + 1])
    func extremeDates(time: Int64) {
        let text = transactionText(
            inner: innerEntries.map { $0.0 == "purchase-date-ms" ? ($0.0, String(time)) : $0 },
            signature: [2] + [UInt8](repeating: 1, count: 128) + [0, 0, 0, 2, 0x30, 0])
        #expect(throws: ReceiptError.self) { try ReceiptVerifier().verify(stored: Array(text.utf8)) }
        #expect(throws: Never.self) { try decodeTransaction(text) }
    }

    @Test("A pinned leaf still has to have its marker and usage")
    func pinnedLeafRules() throws {
        let leaf = try TestCertificateAuthority.purchaseReceiptDescription(early: true).with { $0.markers = [] }
            .issued(by: authority.iTunesStoreIntermediate)
        let bytes = try ForgedTransactionSignature(certificate: leaf, version: 2).signed(receipt(Self.during2))
        expectRefusal(.missingLeafMarker) { try pinning(leaf).verifyTransactionReceipt(bytes) }
    }

    @Test("An edit of the unsigned environment verifies, and never makes production of sandbox")
    func editedEnvironment() throws {
        let sandbox = ForgedTransactionReceipt.sandbox(product: "p", id: "1000000283499967", at: Self.during2)
        let verifier = try pinning(authority.earlyPurchaseReceiptLeaf)
        let signature = try ForgedTransactionSignature.version2(at: Self.during2)
        for environment in [nil, "Sandbox", "Production"] {
            let bytes = try signature.signed(sandbox.with { $0.environment = environment })
            let verified = try verifier.verifyTransactionReceipt(bytes)
            #expect(verified.payload.environment == .sandbox)
            #expect(verified.payload.hasEnvironmentContradiction == (environment != "Sandbox"))
        }
    }
}
