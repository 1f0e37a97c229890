import Crypto
import LegacyReceipts
import ReceiptForge
import Testing

/// SignerInfos that are put together by hand, each with a signature that holds: what is refused is the form.
@Suite("Handmade signers")
struct HandmadeSignerTests {
    private let chain: [ForgedCertificate]
    private let content = plainReceipt().content

    init() throws { chain = try TestCertificateAuthority.shared().chain(.g5) }

    /// The leaf's signature over any bytes: the last ones of a message that signs these instead of its content.
    private func signature(over bytes: [UInt8]) throws -> [UInt8] {
        Array(try signedReceipt(chain: chain) { $0.signers[0].signsInstead = bytes }.suffix(256))
    }

    private static let algorithm = DERWriter.sequence(DERWriter.objectIdentifier(.sha256), DERWriter.null)
    private static let rsa = DERWriter.sequence(DERWriter.objectIdentifier(.rsaEncryption), DERWriter.null)

    private func message(_ signer: [UInt8]) -> [UInt8] {
        DERWriter.sequence(
            DERWriter.objectIdentifier(.signedData),
            DERWriter.explicit(
                0,
                DERWriter.sequence(
                    DERWriter.integer(1), DERWriter.setOf([Self.algorithm]),
                    DERWriter.sequence(
                        DERWriter.objectIdentifier(.data), DERWriter.explicit(0, DERWriter.octetString(content))),
                    DERWriter.value(0xA0, chain.flatMap(\.der)), DERWriter.setOf([signer]))))
    }

    private var identifier: [UInt8] {
        DERWriter.sequence(chain[0].issuer, DERWriter.unsignedInteger(chain[0].serial))
    }

    /// A message whose signature is over these attributes.
    private func message(attributes: [[UInt8]]) throws -> [UInt8] {
        let signed = DERWriter.set(inOrderGiven: attributes)
        return message(
            DERWriter.sequence(
                DERWriter.integer(1), identifier, Self.algorithm, [0xA0] + signed.dropFirst(), Self.rsa,
                DERWriter.octetString(try signature(over: signed))))
    }

    private func attribute(_ type: ForgedObjectIdentifier, _ values: [UInt8]...) -> [UInt8] {
        DERWriter.sequence(DERWriter.objectIdentifier(type), DERWriter.set(inOrderGiven: values))
    }

    private var contentType: [UInt8] { attribute(.contentType, DERWriter.objectIdentifier(.data)) }
    private var digest: [UInt8] { DERWriter.octetString(Array(SHA256.hash(data: content))) }
    private var wrongDigest: [UInt8] { DERWriter.octetString(Array(SHA256.hash(data: [1]))) }
    private var messageDigest: [UInt8] { attribute(.messageDigest, digest) }

    @Test("The plain handmade message verifies, with signed attributes and without")
    func plain() throws {
        #expect(throws: Never.self) {
            try testVerifier().verifyAppReceipt(message(attributes: [contentType, messageDigest]))
        }
        let direct = message(
            DERWriter.sequence(
                DERWriter.integer(1), identifier, Self.algorithm, Self.rsa,
                DERWriter.octetString(try signature(over: content))))
        #expect(throws: Never.self) { try testVerifier().verifyAppReceipt(direct) }
    }

    @Test("Content-type and message-digest stand once, with one value (RFC 5652, 11.1 and 11.2)")
    func once() throws {
        let wrong = attribute(.messageDigest, wrongDigest)
        for attributes in [
            [contentType, contentType, messageDigest], [contentType, messageDigest, messageDigest],
            [contentType, wrong, messageDigest], [contentType, messageDigest, wrong],
            [contentType, attribute(.contentType, DERWriter.objectIdentifier(.signedData)), messageDigest],
        ] {
            expectRefusal(.signedAttributesMismatch) {
                try testVerifier().verifyAppReceipt(message(attributes: attributes))
            }
        }
        for attributes in [
            [contentType, attribute(.messageDigest, digest, wrongDigest)],
            [contentType, attribute(.messageDigest, wrongDigest, digest)], [contentType, attribute(.messageDigest)],
            [attribute(.contentType), messageDigest],
        ] {
            #expect(throws: ReceiptError.self) {
                try testVerifier().verifyAppReceipt(message(attributes: attributes))
            }
        }
    }

    @Test("An empty set of signed attributes authenticates nothing")
    func empty() throws {
        expectRefusal(.signedAttributesMismatch) { try testVerifier().verifyAppReceipt(message(attributes: [])) }
    }

    @Test("Unknown attributes are part of the signed data and change nothing")
    func unknownAttribute() throws {
        let unknown = attribute(ForgedObjectIdentifier(1, 3, 6, 1, 4, 1, 32473, 9), DERWriter.null)
        #expect(throws: Never.self) {
            try testVerifier().verifyAppReceipt(message(attributes: [contentType, messageDigest, unknown]))
        }
    }

    @Test("Unsigned attributes are ignored")
    func unsignedAttributes() throws {
        let unsigned = DERWriter.value(
            0xA1, attribute(ForgedObjectIdentifier(1, 3, 6, 1, 4, 1, 32473, 9), DERWriter.null))
        let bytes = message(
            DERWriter.sequence(
                DERWriter.integer(1), identifier, Self.algorithm, Self.rsa,
                DERWriter.octetString(try signature(over: content)), unsigned))
        #expect(throws: Never.self) { try testVerifier().verifyAppReceipt(bytes) }
    }

    @Test("A signer named by its key identifier is not supported, and the error states it")
    func keyIdentifier() throws {
        let bytes = message(
            DERWriter.sequence(
                DERWriter.integer(3), DERWriter.value(0x80, [UInt8](repeating: 1, count: 20)), Self.algorithm, Self.rsa,
                DERWriter.octetString(try signature(over: content))))
        let error = expectRefusal(.unsupportedSignerIdentifier) { try testVerifier().verifyAppReceipt(bytes) }
        #expect(error?.verdict == .notGenuine)
    }

    @Test("A signature of another length than the key's is refused")
    func signatureLength() throws {
        let good = try signature(over: content)
        for wrong in [[], Array(good.dropLast()), good + [0], [0] + good, [UInt8](repeating: 0, count: 256)] {
            let bytes = message(
                DERWriter.sequence(
                    DERWriter.integer(1), identifier, Self.algorithm, Self.rsa, DERWriter.octetString(wrong)))
            expectRefusal(.signatureMismatch) { try testVerifier().verifyAppReceipt(bytes) }
        }
    }
}
