import COpenSSL
import TestSupport

/// A chain of three certificates and messages signed under it, made with OpenSSL alone, so that OpenSSL's verdict can be tested
/// where no real receipt is at hand. 1024-bit keys and SHA-1 by default: the weakest that it must accept.
struct TestAuthority {
    /// 2020-01-01 to 2030-01-01, all three certificates.
    static let notBefore: Int64 = 1_577_836_800
    static let notAfter: Int64 = 1_893_456_000
    static let during: Int64 = 1_700_000_000

    let root: Identity
    let intermediate: Identity
    let leaf: Identity

    /// - Parameter intermediateIsAuthority: false leaves basic constraints "CA:FALSE" in the intermediate.
    /// - Parameter leafUsage: the leaf's extended key usage, in OpenSSL's words.
    init(intermediateIsAuthority: Bool = true, leafUsage: String? = nil) throws {
        root = try Identity(name: "Test Root", serial: 1, authority: true, issuer: nil)
        intermediate = try Identity(
            name: "Test Intermediate", serial: 2, authority: intermediateIsAuthority, issuer: root)
        leaf = try Identity(
            name: "Test Leaf ü", serial: 0xAB_CDEF, authority: false, issuer: intermediate, usage: leafUsage)
    }

    /// A SignedData over `content` by the leaf, with all three certificates embedded.
    func message(
        over content: [UInt8], signers: Int = 1, signedAttributes: Bool = false, embedding: [Identity]? = nil
    ) throws -> [UInt8] {
        let input = try unwrap(BIO_new_mem_buf(content, CInt(content.count)))
        defer { BIO_free(input) }
        let flags = UInt32(CMS_BINARY | CMS_NOCERTS | (signedAttributes ? 0 : CMS_NOATTR))
        let message = try unwrap(CMS_sign(nil, nil, nil, nil, flags | UInt32(CMS_PARTIAL)))
        defer { CMS_ContentInfo_free(message) }
        for _ in 0..<signers {
            _ = try unwrap(CMS_add1_signer(message, leaf.certificate, leaf.key, EVP_sha1(), flags))
        }
        for identity in embedding ?? [leaf, intermediate, root] {
            try require(CMS_add1_cert(message, identity.certificate))
        }
        try require(CMS_final(message, input, nil, flags))
        return try encoded { i2d_CMS_ContentInfo(message, &$0) }
    }
}

/// A certificate with its private key.
final class Identity {
    let certificate: OpaquePointer
    let key: OpaquePointer

    init(name: String, serial: CLong, authority: Bool, issuer: Identity?, usage: String? = nil) throws {
        key = try Identity.makeKey()
        certificate = try unwrap(X509_new())
        try require(X509_set_version(certificate, 2))
        try require(ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial))
        _ = try unwrap(ASN1_TIME_set(X509_getm_notBefore(certificate), time_t(TestAuthority.notBefore)))
        _ = try unwrap(ASN1_TIME_set(X509_getm_notAfter(certificate), time_t(TestAuthority.notAfter)))
        let subject = X509_get_subject_name(certificate)
        try require(
            X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_FLAG | 0, Array(name.utf8), CInt(name.utf8.count), -1, 0)
        )
        try require(X509_set_issuer_name(certificate, X509_get_subject_name(issuer?.certificate ?? certificate)))
        try require(X509_set_pubkey(certificate, key))
        let constraints = try unwrap(
            X509V3_EXT_conf_nid(nil, nil, NID_basic_constraints, authority ? "critical,CA:TRUE" : "critical,CA:FALSE"))
        defer { X509_EXTENSION_free(constraints) }
        try require(X509_add_ext(certificate, constraints, -1))
        if let usage {
            let extended = try unwrap(X509V3_EXT_conf_nid(nil, nil, NID_ext_key_usage, usage))
            defer { X509_EXTENSION_free(extended) }
            try require(X509_add_ext(certificate, extended, -1))
        }
        try require(X509_sign(certificate, issuer?.key ?? key, EVP_sha1()))
    }

    deinit {
        X509_free(certificate)
        EVP_PKEY_free(key)
    }

    var der: [UInt8] {
        get throws { try encoded { i2d_X509(certificate, &$0) } }
    }

    /// SHA-256 of the certificate.
    var fingerprint: [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        X509_digest(certificate, EVP_sha256(), &digest, nil)
        return digest
    }

    /// PKCS#1 v1.5 over `message`.
    func sign(_ message: [UInt8], digest: OpaquePointer) throws -> [UInt8] {
        let context = try unwrap(EVP_MD_CTX_new())
        defer { EVP_MD_CTX_free(context) }
        try require(EVP_DigestSignInit(context, nil, digest, nil, key))
        var count = 512
        var signature = [UInt8](repeating: 0, count: count)
        try require(EVP_DigestSign(context, &signature, &count, message, message.count))
        return Array(signature.prefix(count))
    }

    private static func makeKey() throws -> OpaquePointer {
        let context = try unwrap(EVP_PKEY_CTX_new_id(NID_rsaEncryption, nil))
        defer { EVP_PKEY_CTX_free(context) }
        try require(EVP_PKEY_keygen_init(context))
        try require(EVP_PKEY_CTX_set_rsa_keygen_bits(context, 1024))
        var key: OpaquePointer?
        try require(EVP_PKEY_keygen(context, &key))
        return try unwrap(key)
    }
}

struct OpenSSLRefused: Error {}

func require(_ result: CInt) throws {
    if result <= 0 { throw OpenSSLRefused() }
}

private func encoded(_ body: (inout UnsafeMutablePointer<UInt8>?) -> CInt) throws -> [UInt8] {
    var buffer: UnsafeMutablePointer<UInt8>?
    let length = body(&buffer)
    try require(length)
    let start = try unwrap(buffer)
    defer { CRYPTO_free(start, nil, 0) }
    return Array(UnsafeBufferPointer(start: start, count: Int(length)))
}
