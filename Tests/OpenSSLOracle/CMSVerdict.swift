import COpenSSL

/// What OpenSSL thinks of a CMS message.
public enum CMSVerdict: Sendable, Equatable {
    /// Every signer's signature and every signer's chain hold. `content` is the signed content: the bytes of the
    /// encapsulated OCTET STRING, its segments joined.
    case genuine(content: [UInt8])
    /// A CMS message which OpenSSL refuses; `reason` holds OpenSSL's own sentences.
    case notGenuine(reason: String)
    /// OpenSSL cannot decode the bytes as a ContentInfo, or the caller's own roots as certificates.
    case unparsable(reason: String)

    public var isGenuine: Bool {
        if case .genuine = self { true } else { false }
    }
}

/// Verifies a CMS SignedData with OpenSSL's `CMS_verify`, independently of the code under test.
///
/// The requirements of OpenSSL: at least one signer, each signer's signature over the content (or over the signed
/// attributes, whose message-digest and content-type must then match), and for each signer a chain of certificates
/// valid at the given time that ends in a self-signed anchor. What it leaves to others: Apple's marker extensions,
/// extended key usage (purpose any), revocation, the strength of digests and keys (security level 0, since old
/// receipts are SHA-1 under RSA-2048 and older ones RSA-1024), DER strictness, and bytes after the message
/// (``trailingByteCount(_:)`` counts these).
///
/// - Parameters:
///   - der: the message, DER or BER.
///   - secondsSince1970: the time at which all certificates must be valid. OpenSSL takes notBefore itself as valid
///     and notAfter itself as expired.
///   - roots: trust anchors as DER certificates; they need not be in the message.
///   - fingerprints: SHA-256 of certificates which are trust anchors when the message embeds them. The fingerprint is
///     taken of the certificate as OpenSSL re-encodes it.
public func verifyCMS(
    _ der: [UInt8], at secondsSince1970: Int64, trusting roots: [[UInt8]] = [],
    anchorsFromMessage fingerprints: [[UInt8]] = []
) -> CMSVerdict {
    ERR_clear_error()
    defer { ERR_clear_error() }
    return withMessage(der) { message, _ in
        verify(message, at: secondsSince1970, roots: roots, fingerprints: fingerprints)
    } ?? .unparsable(reason: takeErrors())
}

private func verify(
    _ message: OpaquePointer, at time: Int64, roots: [[UInt8]], fingerprints: [[UInt8]]
) -> CMSVerdict {
    guard let store = X509_STORE_new(), let output = BIO_new(BIO_s_mem()) else {
        return .unparsable(reason: takeErrors())
    }
    defer {
        X509_STORE_free(store)
        BIO_free(output)
    }
    configure(store, at: time)
    for (index, root) in roots.enumerated() {
        // The store takes its own reference.
        guard withCertificate(root, { X509_STORE_add_cert(store, $0) }) == 1 else {
            return .unparsable(reason: "trusted root \(index) is not a certificate")
        }
    }
    if !fingerprints.isEmpty {
        forEachCertificate(in: message) { certificate in
            if fingerprints.contains(sha256(of: certificate)) { _ = X509_STORE_add_cert(store, certificate) }
        }
    }
    ERR_clear_error()
    guard CMS_verify(message, nil, store, nil, output, UInt32(CMS_BINARY)) == 1 else {
        return .notGenuine(reason: takeErrors())
    }
    return .genuine(content: bytes(in: output))
}

private func configure(_ store: OpaquePointer, at time: Int64) {
    let parameters = X509_STORE_get0_param(store)
    X509_VERIFY_PARAM_set_time(parameters, time_t(time))
    X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_ANY)
    X509_VERIFY_PARAM_set_auth_level(parameters, 0)
    // An anchor must be self-signed: an embedded intermediate whose fingerprint is listed must not end the path.
    X509_VERIFY_PARAM_clear_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN))
}
