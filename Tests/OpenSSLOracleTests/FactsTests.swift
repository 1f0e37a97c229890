import COpenSSL
import OpenSSLOracle
import TestSupport
import Testing

@Suite struct FactsTests {
    let authority: TestAuthority
    let content = Array("content".utf8)

    init() throws { authority = try TestAuthority() }

    @Test func factsOfAMessageAreReadWithoutVerification() throws {
        let message = try authority.message(over: content, signers: 2)
        let facts = try #require(messageFacts(message + [1, 2, 3]))
        #expect(facts.content == content)
        #expect(facts.contentType == "1.2.840.113549.1.7.1")
        #expect(facts.trailingByteCount == 3)
        #expect(facts.signers.count == 2)
        #expect(facts.signers.allSatisfy { $0.digestAlgorithm == "1.3.14.3.2.26" && $0.signature.count == 128 })
        #expect(facts.signers.allSatisfy { $0.signedAttributeCount == 0 })
        #expect(facts.signers.first?.signatureAlgorithm == "1.2.840.113549.1.1.1")
        let embedded = try [authority.leaf, authority.intermediate, authority.root].map { try $0.der }
        #expect(Set(facts.certificates) == Set(embedded))
        #expect(canonicalContent(message) == content)
        #expect(signerCount(message) == 2)
        #expect(trailingByteCount(message) == 0)
    }

    @Test func signedAttributesAreCounted() throws {
        let message = try authority.message(over: content, signedAttributes: true)
        // content-type, signing-time and message-digest at least; S/MIME capabilities by OpenSSL's custom.
        #expect(try #require(messageFacts(message)?.signers.first).signedAttributeCount >= 3)
    }

    @Test func segmentsOfABERContentAreJoined() throws {
        let message = signerlessMessage(over: content)
        #expect(canonicalContent(message) == content)
        #expect(signerCount(message) == 0)
    }

    @Test func factsOfACertificate() throws {
        let der = try authority.leaf.der
        let facts = try #require(certificateFacts(der))
        #expect(facts.serialNumber == "ABCDEF")
        #expect(facts.notBefore == TestAuthority.notBefore && facts.notAfter == TestAuthority.notAfter)
        #expect(facts.sha256 == authority.leaf.fingerprint)
        #expect(facts.subject == "CN = Test Leaf ü" && facts.issuer == "CN = Test Intermediate")
        #expect(facts.signatureAlgorithm == "1.2.840.113549.1.1.5")
        #expect(facts.extensions == ["2.5.29.19"] && facts.criticalExtensions == ["2.5.29.19"])
        #expect(!facts.isAuthority && !facts.isSelfSigned)
        #expect(facts.isRSA && facts.keyBits == 1024)
        let root = try #require(certificateFacts(try authority.root.der))
        #expect(root.isAuthority && root.isSelfSigned)
        #expect(certificateFacts(der + [0]) == nil)
        #expect(certificateFacts(der.dropLast()) == nil)
        #expect(certificateFacts([]) == nil)
    }

    @Test func pkcs1SignatureIsValidForItsMessageDigestAndKeyOnly() throws {
        let certificate = try authority.leaf.der
        for (digest, algorithm) in [(PKCS1Digest.sha1, EVP_sha1()), (.sha256, EVP_sha256())] {
            let signature = try authority.leaf.sign(content, digest: try unwrap(algorithm))
            func holds(_ message: [UInt8], _ digest: PKCS1Digest, _ certificate: [UInt8]) -> Bool {
                verifyPKCS1(signature: signature, over: message, digest: digest, certificateDER: certificate)
            }
            #expect(holds(content, digest, certificate))
            #expect(!holds(content + [0], digest, certificate))
            #expect(!holds(content, digest == .sha1 ? .sha256 : .sha1, certificate))
            #expect(!holds(content, digest, try authority.root.der))
            #expect(!holds(content, digest, certificate + [0]))
            #expect(!holds(content, digest, []))
            for changed in [signature.dropLast(), signature + [0], signature.map { $0 ^ 1 }, []] as [[UInt8]] {
                #expect(!verifyPKCS1(signature: changed, over: content, digest: digest, certificateDER: certificate))
            }
        }
    }
}

/// A BER SignedData without signers or certificates; its content comes in two segments, every length that can be is
/// indefinite. For less than 128 bytes of content.
func signerlessMessage(over content: [UInt8]) -> [UInt8] {
    let cut = content.count / 2
    let first = [0x04, UInt8(cut)] + content.prefix(cut)
    let second = [0x04, UInt8(content.count - cut)] + content.dropFirst(cut)
    let segmented = [0x24, 0x80] + first + second + [0, 0]
    let identifier: [UInt8] = [0x06, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07]
    let encapsulated = [0x30, 0x80] + identifier + [0x01, 0xA0, 0x80] + segmented + [0, 0, 0, 0]
    let signedData = [0x30, 0x80, 0x02, 1, 1, 0x31, 0] + encapsulated + [0x31, 0, 0, 0]
    return [0x30, 0x80] + identifier + [0x02, 0xA0, 0x80] + signedData + [0, 0, 0, 0]
}
