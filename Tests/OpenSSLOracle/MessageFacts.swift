import COpenSSL

/// What OpenSSL reads in a CMS SignedData without verifying anything.
public struct CMSFacts: Sendable, Equatable {
    /// The bytes of the encapsulated content, segments joined; nil when it is detached.
    public var content: [UInt8]?
    /// Dotted object identifier of the encapsulated content's type; id-data is 1.2.840.113549.1.7.1.
    public var contentType: String
    /// One for each SignerInfo, in OpenSSL's order.
    public var signers: [SignerFacts]
    /// The embedded certificates as OpenSSL re-encodes them, in OpenSSL's order.
    public var certificates: [[UInt8]]
    /// How many bytes follow the message.
    public var trailingByteCount: Int
}

/// What one SignerInfo says of itself.
public struct SignerFacts: Sendable, Equatable {
    /// Dotted object identifier of the digest algorithm.
    public var digestAlgorithm: String
    /// Dotted object identifier of the signature algorithm.
    public var signatureAlgorithm: String
    /// Zero when the signature is straight over the content.
    public var signedAttributeCount: Int
    public var signature: [UInt8]
}

/// Reads a CMS SignedData without verifying it; nil when OpenSSL cannot, or when it is another kind of CMS message.
public func messageFacts(_ der: [UInt8]) -> CMSFacts? {
    ERR_clear_error()
    defer { ERR_clear_error() }
    return withSignedData(der) { message, trailing in
        var certificates: [[UInt8]] = []
        forEachCertificate(in: message) { certificates.append(encoding(of: $0)) }
        return CMSFacts(
            content: content(of: message), contentType: dotted(CMS_get0_eContentType(message)),
            signers: signers(of: message), certificates: certificates, trailingByteCount: trailing)
    }
}

/// The content bytes of a CMS SignedData, unverified; nil when OpenSSL cannot read it or when there is no content.
public func canonicalContent(_ der: [UInt8]) -> [UInt8]? {
    ERR_clear_error()
    defer { ERR_clear_error() }
    return withSignedData(der) { message, _ in content(of: message) } ?? nil
}

/// How many SignerInfos a CMS SignedData holds; nil when OpenSSL cannot read it.
public func signerCount(_ der: [UInt8]) -> Int? {
    ERR_clear_error()
    defer { ERR_clear_error() }
    return withSignedData(der) { message, _ in Int(COpenSSL_signer_count(CMS_get0_SignerInfos(message))) }
}

/// How many bytes OpenSSL leaves unread after the message; nil when it cannot read one.
public func trailingByteCount(_ der: [UInt8]) -> Int? {
    ERR_clear_error()
    defer { ERR_clear_error() }
    return withMessage(der) { _, trailing in trailing }
}

private func withSignedData<Result>(_ der: [UInt8], _ body: (OpaquePointer, Int) -> Result) -> Result? {
    withMessage(der) { message, trailing in
        OBJ_obj2nid(CMS_get0_type(message)) == NID_pkcs7_signed ? body(message, trailing) : nil
    } ?? nil
}

private func content(of message: OpaquePointer) -> [UInt8]? {
    guard let bytes = CMS_get0_content(message)?.pointee else { return nil }
    return octetString(bytes)
}

private func signers(of message: OpaquePointer) -> [SignerFacts] {
    let infos = CMS_get0_SignerInfos(message)
    return (0..<COpenSSL_signer_count(infos)).compactMap { index in
        guard let info = COpenSSL_signer_at(infos, index) else { return nil }
        return SignerFacts(
            digestAlgorithm: dotted(COpenSSL_signer_digest_algorithm(info)),
            signatureAlgorithm: dotted(COpenSSL_signer_signature_algorithm(info)),
            signedAttributeCount: max(0, Int(CMS_signed_get_attr_count(info))),
            signature: octetString(CMS_SignerInfo_get0_signature(info)) ?? [])
    }
}

private func octetString(_ string: UnsafePointer<ASN1_STRING>?) -> [UInt8]? {
    guard let string else { return nil }
    return Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string))))
}
