import COpenSSL

/// What OpenSSL reads in a certificate.
public struct CertificateFacts: Sendable, Equatable {
    /// Upper case hexadecimal, an even number of digits, "-" in front of a negative number.
    public var serialNumber: String
    /// Seconds since 1970.
    public var notBefore: Int64
    /// Seconds since 1970.
    public var notAfter: Int64
    /// SHA-256 of the given bytes.
    public var sha256: [UInt8]
    /// One line in the order of the encoding, e.g. "C = US, O = Apple Inc., CN = Apple Root CA".
    public var subject: String
    /// As ``subject``.
    public var issuer: String
    /// Dotted object identifier of the algorithm of the certificate's own signature.
    public var signatureAlgorithm: String
    /// Dotted object identifiers of all extensions, in order.
    public var extensions: [String]
    /// Dotted object identifiers of the extensions marked critical, in order.
    public var criticalExtensions: [String]
    /// Basic constraints say that it is an authority.
    public var isAuthority: Bool
    /// Issuer and subject match and its own key verifies its signature.
    public var isSelfSigned: Bool
    /// Size of the public key in bits, e.g. the modulus of an RSA key.
    public var keyBits: Int
    /// The subject public key is RSA (rsaEncryption).
    public var isRSA: Bool
}

/// Reads a certificate; nil unless the bytes are one certificate, with nothing after it, and dates OpenSSL can read.
public func certificateFacts(_ der: [UInt8]) -> CertificateFacts? {
    ERR_clear_error()
    defer { ERR_clear_error() }
    return withCertificate(der) { certificate in
        guard let notBefore = seconds(X509_get0_notBefore(certificate)),
            let notAfter = seconds(X509_get0_notAfter(certificate))
        else { return nil }
        let extensions = extensionIdentifiers(of: certificate)
        let key = X509_get0_pubkey(certificate)
        return CertificateFacts(
            serialNumber: serialNumber(of: certificate), notBefore: notBefore, notAfter: notAfter,
            sha256: sha256(der), subject: oneLine(X509_get_subject_name(certificate)),
            issuer: oneLine(X509_get_issuer_name(certificate)), signatureAlgorithm: signatureAlgorithm(of: certificate),
            extensions: extensions.map(\.identifier),
            criticalExtensions: extensions.filter(\.isCritical).map(\.identifier),
            isAuthority: X509_check_ca(certificate) == 1,
            isSelfSigned: X509_self_signed(certificate, 1) == 1,
            keyBits: key.map { Int(EVP_PKEY_get_bits($0)) } ?? 0,
            isRSA: key.map { EVP_PKEY_get_base_id($0) == NID_rsaEncryption } ?? false)
    } ?? nil
}

/// Verifies an RSA PKCS#1 v1.5 signature with a certificate's key, e.g. of an iOS 6 transaction receipt
/// (Reference.md V6). Nothing else about the certificate is checked.
///
/// False when the certificate cannot be read, has bytes after it or its key is not RSA.
public func verifyPKCS1(
    signature: [UInt8], over message: [UInt8], digest: PKCS1Digest, certificateDER: [UInt8]
) -> Bool {
    ERR_clear_error()
    defer { ERR_clear_error() }
    return withCertificate(certificateDER) { certificate in
        guard let key = X509_get0_pubkey(certificate), EVP_PKEY_get_base_id(key) == NID_rsaEncryption,
            let context = EVP_MD_CTX_new()
        else { return false }
        defer { EVP_MD_CTX_free(context) }
        let algorithm =
            switch digest {
            case .sha1: EVP_sha1()
            case .sha256: EVP_sha256()
            }
        // The key's context belongs to the digest context; PKCS#1 v1.5 is its default padding.
        guard EVP_DigestVerifyInit(context, nil, algorithm, nil, key) == 1 else { return false }
        return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    } ?? false
}

public enum PKCS1Digest: Sendable, CaseIterable {
    case sha1
    case sha256
}

private func sha256(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, count in
        var length: UInt32 = 0
        let done = EVP_Digest(bytes, bytes.count, buffer.baseAddress, &length, EVP_sha256(), nil)
        count = done == 1 ? Int(length) : 0
    }
}

private func serialNumber(of certificate: OpaquePointer) -> String {
    guard let number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), nil) else { return "" }
    defer { BN_free(number) }
    guard let text = BN_bn2hex(number) else { return "" }
    defer { CRYPTO_free(text, nil, 0) }
    return String(cString: text)
}

/// Counted by OpenSSL itself, so that no calendar of ours is involved.
private func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
    guard let time, let epoch = ASN1_TIME_set(nil, 0) else { return nil }
    defer { ASN1_STRING_free(epoch) }
    var days: CInt = 0
    var rest: CInt = 0
    guard ASN1_TIME_diff(&days, &rest, epoch, time) == 1 else { return nil }
    return Int64(days) * 86_400 + Int64(rest)
}

private func oneLine(_ name: OpaquePointer?) -> String {
    guard let name, let output = BIO_new(BIO_s_mem()) else { return "" }
    defer { BIO_free(output) }
    guard X509_NAME_print_ex(output, name, 0, COpenSSL_name_flags()) >= 0 else { return "" }
    return String(decoding: bytes(in: output), as: UTF8.self)
}

private func signatureAlgorithm(of certificate: OpaquePointer) -> String {
    var algorithm: UnsafePointer<X509_ALGOR>?
    X509_get0_signature(nil, &algorithm, certificate)
    var object: OpaquePointer?
    X509_ALGOR_get0(&object, nil, nil, algorithm)
    return dotted(object)
}

private func extensionIdentifiers(of certificate: OpaquePointer) -> [(identifier: String, isCritical: Bool)] {
    (0..<max(0, X509_get_ext_count(certificate))).compactMap { index in
        guard let item = X509_get_ext(certificate, index) else { return nil }
        return (dotted(X509_EXTENSION_get_object(item)), X509_EXTENSION_get_critical(item) != 0)
    }
}
