import LegacyReceipts
import ReceiptForge
import Testing

/// The SignerInfo and what it signs (RFC 5652, 5.3 to 5.6; Reference.md V5.1).
@Suite("Signer")
struct SignerTests {
    private let authority: TestCertificateAuthority
    private let verifier: ReceiptVerifier

    init() throws {
        authority = try .shared()
        verifier = try testVerifier()
    }

    private func verify(_ change: (inout ForgedSignedData) -> Void) throws -> Verified<AppReceipt> {
        try verifier.verifyAppReceipt(signedReceipt(chain: authority.chain(.g5), change))
    }

    @Test("Issuer and serial number must be those of a certificate in the receipt")
    func identifier() throws {
        expectRefusal(.signerCertificateNotFound) { try verify { $0.signers[0].serial = [1, 2, 3] } }
        expectRefusal(.signerCertificateNotFound) { try verify { $0.signers[0].issuer = authority.root.subject } }
        expectRefusal(.signerCertificateNotFound) {
            try verify { $0.certificates = [$0.certificates[1], $0.certificates[2]] }
        }
        // Another certificate of the receipt is named: its own rules refuse it.
        expectRefusal(.missingLeafMarker) {
            try verify { message in
                message.signers[0].issuer = authority.root.subject
                message.signers[0].serial = (try? authority.intermediate(.g5).serial) ?? []
            }
        }
    }

    @Test("A receipt without certificates, or with one that cannot be read, is not genuine")
    func certificates() {
        expectRefusal(.certificateMissing) { try verify { $0.certificates = [] } }
        expectRefusal(.malformedCertificate) { try verify { $0.certificates.append([0x30, 0]) } }
        expectRefusal(.malformedCertificate) {
            try verify { $0.certificates[1] = DERWriter.sequence($0.certificates[1]) }
        }
    }

    @Test("Exactly one signer: none, or two though both good, is refused; the content can be looked at")
    func signerCount() throws {
        let none = expectRefusal(.signerCount) { try verify { $0.signers = [] } }
        #expect(none?.verdict == .notGenuine)
        expectRefusal(.signerCount) { try verify { $0.signers.append($0.signers[0]) } }
        let two = try signedReceipt(chain: authority.chain(.g5)) { $0.signers.append($0.signers[0]) }
        #expect(try decode(two).bundleId == "com.example.orchard")
        // A bad signer before or after a good one.
        for index in 0...1 {
            expectRefusal(.signerCount) {
                try verify {
                    $0.signers.append($0.signers[0])
                    $0.signers[index].brokenSignature = true
                }
            }
        }
    }

    @Test("A flipped bit of the signature, or a signature over something else, is refused")
    func signature() throws {
        expectRefusal(.signatureMismatch) { try verify { $0.signers[0].brokenSignature = true } }
        expectRefusal(.signatureMismatch) { try verify { $0.signers[0].signsInstead = plainReceipt().content + [0] } }
        expectRefusal(.signatureMismatch) { try verify { $0.signers[0].signsInstead = [] } }
        expectRefusal(.signatureMismatch) { try verify { $0.signers[0].key = .foreignLeaf } }
    }

    @Test("Another receipt's content under this receipt's signature is refused")
    func swappedPayload() throws {
        let other = plainReceipt().with { $0.bundleId = "com.example.other" }.content
        expectRefusal(.signatureMismatch) {
            try verify {
                $0.signers[0].signsInstead = $0.content
                $0.content = other
            }
        }
    }

    @Test("Signed attributes are used: the signature covers them, and they contain the digest of the content")
    func signedAttributes() throws {
        func verify(_ attributes: ForgedSignedAttributes, _ change: (inout ForgedSigner) -> Void = { _ in }) throws {
            _ = try self.verify { message in
                message.signers[0].signedAttributes = attributes
                change(&message.signers[0])
            }
        }
        #expect(throws: Never.self) { try verify(ForgedSignedAttributes()) }
        #expect(throws: Never.self) { try verify(ForgedSignedAttributes(signingTime: ForgedInstant(1999, 1, 1))) }
        expectRefusal(.digestMismatch) { try verify(ForgedSignedAttributes(messageDigest: .wrong)) }
        expectRefusal(.signedAttributesMismatch) { try verify(ForgedSignedAttributes(messageDigest: .missing)) }
        expectRefusal(.signedAttributesMismatch) { try verify(ForgedSignedAttributes(contentType: nil)) }
        expectRefusal(.signedAttributesMismatch) { try verify(ForgedSignedAttributes(contentType: .signedData)) }
        expectRefusal(.signatureMismatch) { try verify(ForgedSignedAttributes()) { $0.brokenSignature = true } }
        // The attributes are right for a content that is not this one.
        expectRefusal(.digestMismatch) { try verify(ForgedSignedAttributes()) { $0.signsInstead = [1, 2, 3] } }
    }

    @Test("Signed attributes with SHA-1")
    func signedAttributesSHA1() throws {
        let bytes = try signedReceipt(chain: authority.chain(.g5), digest: .sha1) {
            $0.signers[0].signedAttributes = ForgedSignedAttributes()
        }
        #expect(try verifier.verifyAppReceipt(bytes).evidence.digestAlgorithm == .sha1)
    }

    @Test("The signature over the content is not taken for one over signed attributes")
    func confusedContent() throws {
        // RFC 5652 leaves this trap: the content is what signed attributes look like as a SET.
        let attributes = DERWriter.setOf([
            DERWriter.sequence(
                DERWriter.objectIdentifier(.contentType), DERWriter.setOf([DERWriter.objectIdentifier(.data)]))
        ])
        expectRefusal(.contentNotReceipt) { try verify { $0.content = attributes } }
    }

    @Test("BER: the joined segments are what is signed", arguments: [1, 16, 1000])
    func segments(length: Int) throws {
        #expect(throws: Never.self) { try verify { $0.encoding = .ber(segmentLength: length) } }
        #expect(throws: Never.self) { try verify { $0.encoding = .berNestedSegments(segmentLength: length) } }
    }

    @Test("Doubly wrapped content is signed with its wrapping")
    func doublyWrapped() throws {
        let verified = try verify { $0.wrapsContentTwice = true }
        #expect(verified.payload.bundleId == "com.example.orchard")
        expectRefusal(.signatureMismatch) {
            try verify {
                $0.signers[0].signsInstead = $0.content
                $0.wrapsContentTwice = true
            }
        }
    }

    @Test("Trailing bytes change nothing but their count")
    func trailing() throws {
        let bytes = try signedReceipt(chain: authority.chain(.g5)) + [0, 0, 0]
        let verified = try verifier.verifyAppReceipt(bytes)
        #expect(verified.payload.trailingByteCount == 3)
    }
}
