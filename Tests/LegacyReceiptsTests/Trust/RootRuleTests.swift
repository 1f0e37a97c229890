import LegacyReceipts
import ReceiptForge
import Testing

/// Trust ends in a pinned fingerprint, not in a name (Reference.md V7.4 and V7.5).
@Suite("Roots")
struct RootRuleTests {
    private let authority: TestCertificateAuthority
    private let receipt: [UInt8]

    init() throws {
        authority = try .shared()
        receipt = try plainReceipt().signedData(.g5).encoded()
    }

    @Test("Apple's pinned roots are those of Reference.md V7.1")
    func pinned() {
        let expected = [
            "B0B1730ECBC7FF4505142C49F1295E6EDA6BCAED7E2C68C5BE91B5A11001F024",
            "C2B9B042DD57830E7D117DAC55AC8AE19407D38E41D88F3215BC3A890444A050",
            "63343ABFB89A6A03EBB57E9B3F5FA7BE7C4F5C756F3017B3A8C488C3653E9179",
        ].compactMap { Fingerprint(hex: $0) }
        #expect(expected.count == 3)
        #expect(TrustPolicy.apple.roots == Set(expected))
        #expect(TrustPolicy.apple.additionalRoots.isEmpty)
        #expect(!TrustPolicy.apple.acceptsXcodeReceipts)
    }

    @Test("The pinned leaves of transaction receipts are those of Reference.md V7.5")
    func pinnedLeaves() {
        let expected = [
            "15832e01b45a6cfdc0b0e9d5e49442a5108d1a103be93e8c90aff472ed5c147c",
            "c6e622c30086a42d67d55143211bba9f7a768e0a5fc1a4408f4d5cfb067b4e8a",
            "fcfdfce9ac64e0fc3568ccff5d0c700c7be3ed4103dfd8b50f08408358fe937c",
        ].compactMap { Fingerprint(hex: $0) }
        #expect(TrustPolicy.apple.transactionReceiptLeaves == Set(expected))
        let intermediates = [
            "447ad65484610f20fdc33804c8597a1e208fbe4ef9c5653485cc7d3df730c016",
            "ce057691d730f89ca25e916f7335f4c8a15713dcd273a658c024023f8eb809c2",
            "53fd008278e5a595fe1e908ae9c5e5675f26243264a5a6438c023e3ce2870760",
            "0f570d7502373a2102e2106faaa8fa4844944a07ee676198484f4d6ce15bea47",
            "29901badea37c9f300ce9869956beeb001d7e71bffb2e2d9533e132a4e87e6bd",
        ].compactMap { Fingerprint(hex: $0) }
        #expect(TrustPolicy.apple.transactionReceiptIntermediates == Set(intermediates))
        // The package contains all of them except the iTunes Store CA, whose two leaves are pinned.
        #expect(AppleIntermediates.fingerprints == Set(intermediates.dropFirst()))
    }

    @Test("A forged receipt that brings its own root is refused by the default verifier")
    func ownRootEmbedded() {
        let error = expectRefusal(.untrustedRoot) { try ReceiptVerifier().verifyAppReceipt(receipt) }
        #expect(error?.verdict == .notGenuine)
    }

    @Test("The embedded root is an anchor when its fingerprint is pinned")
    func pinnedByFingerprint() throws {
        let policy = TrustPolicy(roots: [Fingerprint(of: authority.root.der)])
        let verified = try ReceiptVerifier(trust: policy).verifyAppReceipt(receipt)
        #expect(verified.evidence.anchor == .apple)
        #expect(verified.evidence.trustAnchor == Fingerprint(of: authority.root.der))
        // The fingerprint alone is not enough when the certificate is not there.
        let without = try plainReceipt().signedData(.g5).with { $0.certificates.removeLast() }.encoded()
        expectRefusal(.untrustedRoot) { try ReceiptVerifier(trust: policy).verifyAppReceipt(without) }
        // The certificate itself is.
        #expect(throws: Never.self) { try testVerifier().verifyAppReceipt(without) }
    }

    @Test("A root of the same name and key with another fingerprint is not the pinned one")
    func sameNameOtherRoot() throws {
        let twin = try TestCertificateAuthority.rootDescription.with { $0.serial = [0x03] }.issued(by: nil)
        #expect(twin.subject == authority.root.subject)
        let chain = [try authority.leaf(.g5), try authority.intermediate(.g5), twin]
        let policy = TrustPolicy(roots: [Fingerprint(of: authority.root.der)])
        expectRefusal(.untrustedRoot) {
            try ReceiptVerifier(trust: policy).verifyAppReceipt(signedReceipt(chain: chain))
        }
    }

    @Test("A root of the same name with another key does not verify the intermediate, pinned or not")
    func sameNameOtherKey() throws {
        let foreign = try TestCertificateAuthority.rootDescription.with { $0.key = .foreignRootCA }.issued(by: nil)
        let intermediate = try TestCertificateAuthority.intermediateDescription(.g5).issued(by: foreign)
        let leaf = try TestCertificateAuthority.leafDescription(.g5).issued(by: intermediate)
        let policy = TrustPolicy(roots: [Fingerprint(of: authority.root.der)])
        let verifier = try ReceiptVerifier(trust: policy)
        expectRefusal(.untrustedRoot) {
            try verifier.verifyAppReceipt(signedReceipt(chain: [leaf, intermediate, foreign]))
        }
        // With the genuine root embedded beside it.
        expectRefusal(.certificateSignatureMismatch) {
            try verifier.verifyAppReceipt(signedReceipt(chain: [leaf, intermediate, foreign, authority.root]))
        }
    }

    @Test("A leaf that a foreign intermediate of the same name issued is refused, the genuine one embedded or not")
    func sameNameOtherIntermediate() throws {
        let foreign = try TestCertificateAuthority.intermediateDescription(.g5).with { $0.key = .foreignIntermediate }
            .issued(by: nil)
        let leaf = try TestCertificateAuthority.leafDescription(.g5).issued(by: foreign)
        let genuine = try authority.intermediate(.g5)
        for chain in [
            [leaf, foreign, authority.root], [leaf, genuine, authority.root], [leaf, genuine, foreign, authority.root],
        ] {
            let error = #expect(throws: ReceiptError.self) {
                try testVerifier().verifyAppReceipt(signedReceipt(chain: chain))
            }
            #expect(error?.verdict == .notGenuine)
        }
    }

    @Test("A pinned intermediate or leaf is no root: the path must end in a trusted self-named root of three")
    func shortPaths() throws {
        let intermediate = try authority.intermediate(.g5)
        let policy = TrustPolicy(roots: [
            Fingerprint(of: intermediate.der), Fingerprint(of: try authority.leaf(.g5).der),
        ])
        #expect(throws: ReceiptError.self) { try ReceiptVerifier(trust: policy).verifyAppReceipt(receipt) }
        // A leaf right under the root.
        let direct = try TestCertificateAuthority.leafDescription(.g5).with { $0.markers.append(.intermediateMarker) }
            .issued(by: authority.root)
        #expect(throws: ReceiptError.self) {
            try testVerifier().verifyAppReceipt(signedReceipt(chain: [direct, authority.root]))
        }
        // Four certificates: leaf, intermediate, intermediate, root.
        let second = try TestCertificateAuthority.intermediateDescription(.g5)
            .with { $0.subject = DistinguishedName([.init(.commonName, "Test second")]) }.issued(by: intermediate)
        let deep = try TestCertificateAuthority.leafDescription(.g5).issued(by: second)
        #expect(throws: ReceiptError.self) {
            try testVerifier().verifyAppReceipt(signedReceipt(chain: [deep, second, intermediate, authority.root]))
        }
    }

    @Test("The order of the certificates and copies of them do not matter")
    func order() throws {
        let chain = try authority.chain(.g5)
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0], [0, 0, 1, 1, 2, 2]] {
            let bytes = try signedReceipt(chain: chain) { $0.certificates = order.map { chain[$0].der } }
            #expect(throws: Never.self, "\(order)") { try testVerifier().verifyAppReceipt(bytes) }
        }
    }

    @Test("Of several intermediates with one name and key, one that was valid at the time is enough")
    func reissuedIntermediate() throws {
        // As Apple's WWDR of 2008 to 2016 and its successor "G1" of 2013 to 2023 share name and key.
        let created = ForgedInstant(2019, 5, 6)
        let certificates = [
            try authority.leaf(.g1), try authority.intermediate(.original), try authority.intermediate(.g1),
            authority.root,
        ]
        for order in [[0, 1, 2, 3], [0, 2, 1, 3]] {
            let chain = order.map { certificates[$0] }
            #expect(throws: Never.self, "\(order)") {
                try testVerifier().verifyAppReceipt(signedReceipt(chain: chain, created: created, digest: .sha1))
            }
        }
    }

    @Test("A policy with a certificate that cannot be read is refused")
    func malformedPolicy() {
        expectRefusal(.malformedCertificate) { try ReceiptVerifier(trust: TrustPolicy(additionalRoots: [[1, 2, 3]])) }
        expectRefusal(.malformedCertificate) {
            try ReceiptVerifier(trust: TrustPolicy(additionalIntermediates: [[0x30, 0]]))
        }
    }
}
