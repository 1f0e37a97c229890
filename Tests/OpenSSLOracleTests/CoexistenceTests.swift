import COpenSSL
import Crypto
import CryptoExtras
import Foundation
import OpenSSLOracle
import TestSupport
import Testing

/// OpenSSL and swift-crypto's BoringSSL share a process here: each must call its own functions.
@Suite struct CoexistenceTests {
    @Test func openSSLAndBoringSSLAgreeInOneProcess() throws {
        // swift-crypto takes no key below 2048 bits for signing, so the key is BoringSSL's and OpenSSL verifies.
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let message = Array("both".utf8)
        let signature = try key.signature(for: Insecure.SHA1.hash(data: message), padding: .insecurePKCS1v1_5)
        let certificate = try selfSigned(publicKey: Array(key.publicKey.derRepresentation))
        func holds(_ message: [UInt8]) -> Bool {
            verifyPKCS1(
                signature: Array(signature.rawRepresentation), over: message, digest: .sha1, certificateDER: certificate
            )
        }
        #expect(holds(message))
        #expect(!holds(message + [0]))
        let authority = try TestAuthority()
        let cms = try authority.message(over: message)
        #expect(
            verifyCMS(cms, at: TestAuthority.during, anchorsFromMessage: [authority.root.fingerprint])
                == .genuine(content: message))
        #expect(Array(SHA256.hash(data: certificate)) == certificateFacts(certificate)?.sha256)
    }

    /// A certificate around a foreign key; its own signature is by another key, which verifyPKCS1 does not look at.
    private func selfSigned(publicKey: [UInt8]) throws -> [UInt8] {
        let identity = try Identity(name: "Other", serial: 1, authority: false, issuer: nil)
        let key = try publicKey.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return try unwrap(d2i_PUBKEY(nil, &cursor, CLong(buffer.count)))
        }
        defer { EVP_PKEY_free(key) }
        try require(X509_set_pubkey(identity.certificate, key))
        try require(X509_sign(identity.certificate, identity.key, EVP_sha256()))
        return try identity.der
    }
}
