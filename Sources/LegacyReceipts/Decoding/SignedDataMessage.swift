/// The parts of a PKCS#7 / CMS SignedData message (RFC 5652, 5; Reference.md V5.1) in DER or BER. Nothing is verified.
struct SignedDataMessage {
    /// Bytes of the message, or a joined copy of segments.
    struct Bytes {
        let storage: [UInt8]
        let range: Range<Int>

        var slice: ArraySlice<UInt8> { storage[range] }
    }

    /// The whole message as it was given.
    let bytes: [UInt8]
    /// The contents of eContent, which are the signed bytes.
    let content: Bytes
    /// Each embedded certificate including tag and length, as ranges of ``bytes``.
    let certificates: [Range<Int>]
    /// The signer; nil if the signers are not valid for a receipt. The content can be inspected in both cases.
    private let signerInfo: SignerInfo?
    private let signerRefusal: ReceiptError?
    /// Bytes after the end of the ContentInfo.
    let trailingByteCount: Int

    /// The signer (RFC 5652, 5.3).
    struct SignerInfo {
        /// The issuer's Name including tag and length, and the contents of the serial number, as ranges of the message.
        let issuer: Range<Int>
        let serialNumber: Range<Int>
        let digestAlgorithm: DigestAlgorithm
        let signedAttributes: SignedAttributes?
        let signature: Bytes
    }

    /// Signed attributes. If present, they contain the digest of the content, and the signature covers them instead
    /// of the content.
    struct SignedAttributes {
        /// The bytes as signed: with the SET tag instead of [0] (RFC 5652, 5.4).
        let encodedForSignature: [UInt8]
        let messageDigest: [UInt8]
    }

    init(_ bytes: [UInt8], limits: DecodingLimits) throws(ReceiptError) {
        let span = bytes.span
        var top = BERReader(0..<bytes.count, depth: limits.maximumDepth)
        var contentInfo = try top.enter(span, Tag.sequence)
        let contentType = try contentInfo.primitive(span, Tag.objectIdentifier)
        guard span.equals(contentType, ObjectIdentifier.signedData) else {
            throw ReceiptError(.notSignedData, at: .byte(contentType.lowerBound), "another content type")
        }
        var explicit = try contentInfo.enter(span, Tag.context0)
        var signedData = try explicit.enter(span, Tag.sequence)
        _ = try signedData.primitive(span, Tag.integer)
        guard signedData.peekTag(span) == Tag.set else {
            throw ReceiptError(.malformedEncoding, at: .byte(signedData.offset), "digestAlgorithms is not a SET")
        }
        try signedData.skip(span)

        content = try Self.encapsulatedContent(&signedData, bytes)
        var certificates: [Range<Int>] = []
        if signedData.peekTag(span) == Tag.context0 {
            certificates = try Self.certificates(&signedData, span, limits)
        }
        if signedData.peekTag(span) == Tag.context1 { try signedData.skip(span) }
        self.certificates = certificates
        let signerStart = signedData
        var signerInfo: SignerInfo?
        var signerRefusal: ReceiptError?
        do throws(ReceiptError) {
            signerInfo = try Self.signer(&signedData, bytes)
        } catch {
            guard error.verdict == .notGenuine else { throw error }
            signerRefusal = error
            signedData = signerStart
            try signedData.skip(span)
        }
        self.signerInfo = signerInfo
        self.signerRefusal = signerRefusal

        try explicit.leave(signedData, span)
        try contentInfo.leave(explicit, span)
        try top.leave(contentInfo, span)
        trailingByteCount = bytes.count - top.offset
        self.bytes = bytes
    }

    /// The only signer.
    ///
    /// - Throws: ``ReceiptError``: why the signers are not valid for a receipt.
    func signer() throws(ReceiptError) -> SignerInfo {
        guard let signerInfo else { throw signerRefusal ?? ReceiptError(.signerCount) }
        return signerInfo
    }

    private static func encapsulatedContent(
        _ signedData: inout BERReader, _ bytes: [UInt8]
    ) throws(ReceiptError) -> Bytes {
        let span = bytes.span
        let start = signedData.offset
        var encapsulated = try signedData.enter(span, Tag.sequence)
        let type = try encapsulated.primitive(span, Tag.objectIdentifier)
        guard span.equals(type, ObjectIdentifier.data) else {
            throw ReceiptError(.contentNotReceipt, at: .byte(type.lowerBound), "the content type is not id-data")
        }
        guard encapsulated.peekTag(span) != nil else { throw ReceiptError(.contentMissing, at: .byte(start)) }
        var explicit = try encapsulated.enter(span, Tag.context0)
        let content = try explicit.octetString(span).bytes(in: bytes)
        try encapsulated.leave(explicit, span)
        try signedData.leave(encapsulated, span)
        return content
    }

    private static func certificates(
        _ signedData: inout BERReader, _ span: Span<UInt8>, _ limits: DecodingLimits
    ) throws(ReceiptError) -> [Range<Int>] {
        var certificates: [Range<Int>] = []
        certificates.reserveCapacity(3)
        var set = try signedData.enter(span, Tag.context0)
        while let tag = set.peekTag(span) {
            let start = set.offset
            guard tag == Tag.sequence else {
                // The obsolete and attribute certificates of RFC 5652, 10.2.2.
                try set.skip(span)
                continue
            }
            guard certificates.count < limits.maximumCertificates else {
                throw ReceiptError(.tooManyCertificates, at: .byte(start), "the limit is \(limits.maximumCertificates)")
            }
            let header = try set.header(span)
            guard !header.isIndefinite else {
                // X.509 certificates are DER (RFC 5280, 4.1), even in a BER message.
                throw ReceiptError(.malformedCertificate, at: .byte(start), "indefinite length")
            }
            set.offset = header.end
            certificates.append(start..<header.end)
        }
        try signedData.leave(set, span)
        return certificates
    }

    private static func signer(_ signedData: inout BERReader, _ bytes: [UInt8]) throws(ReceiptError) -> SignerInfo {
        let span = bytes.span
        var set = try signedData.enter(span, Tag.set)
        guard set.peekTag(span) != nil else { throw ReceiptError(.signerCount, at: .byte(set.offset), "it has none") }
        let signer = try signerInfo(&set, bytes)
        guard set.peekTag(span) == nil else {
            throw ReceiptError(.signerCount, at: .byte(set.offset), "it has more than \(DecodingLimits.maximumSigners)")
        }
        try signedData.leave(set, span)
        return signer
    }

    private static func signerInfo(_ set: inout BERReader, _ bytes: [UInt8]) throws(ReceiptError) -> SignerInfo {
        let span = bytes.span
        var info = try set.enter(span, Tag.sequence)
        _ = try info.primitive(span, Tag.integer)
        guard info.peekTag(span) == Tag.sequence else {
            throw ReceiptError(.unsupportedSignerIdentifier, at: .byte(info.offset))
        }
        var identifier = try info.enter(span, Tag.sequence)
        let issuerStart = identifier.offset
        try identifier.skip(span)
        let issuer = issuerStart..<identifier.offset
        let serialNumber = try identifier.primitive(span, Tag.integer)
        try info.leave(identifier, span)

        let digestAlgorithm = try digestAlgorithm(&info, span)
        var signedAttributes: SignedAttributes?
        if info.peekTag(span) == Tag.context0 { signedAttributes = try Self.signedAttributes(&info, bytes) }
        try signatureAlgorithm(&info, span, digestAlgorithm)
        let signature = try info.octetString(span).bytes(in: bytes)
        if info.peekTag(span) == Tag.context1 { try info.skip(span) }
        try set.leave(info, span)
        return SignerInfo(
            issuer: issuer, serialNumber: serialNumber, digestAlgorithm: digestAlgorithm,
            signedAttributes: signedAttributes, signature: signature)
    }

    private static func digestAlgorithm(
        _ info: inout BERReader, _ span: Span<UInt8>
    ) throws(ReceiptError) -> DigestAlgorithm {
        let start = info.offset
        let identifier = try algorithmIdentifier(&info, span)
        if span.equals(identifier, ObjectIdentifier.sha1) { return .sha1 }
        if span.equals(identifier, ObjectIdentifier.sha256) { return .sha256 }
        throw ReceiptError(.unsupportedDigestAlgorithm, at: .byte(start))
    }

    private static func signatureAlgorithm(
        _ info: inout BERReader, _ span: Span<UInt8>, _ digest: DigestAlgorithm
    ) throws(ReceiptError) {
        let start = info.offset
        let identifier = try algorithmIdentifier(&info, span)
        let combined = digest == .sha1 ? ObjectIdentifier.sha1WithRSA : ObjectIdentifier.sha256WithRSA
        guard span.equals(identifier, ObjectIdentifier.rsaEncryption) || span.equals(identifier, combined) else {
            throw ReceiptError(.unsupportedSignatureAlgorithm, at: .byte(start))
        }
    }

    /// Reads an AlgorithmIdentifier and returns its OID. The parameters of all supported algorithms are NULL or absent.
    private static func algorithmIdentifier(
        _ reader: inout BERReader, _ span: Span<UInt8>
    ) throws(ReceiptError) -> Range<Int> {
        var algorithm = try reader.enter(span, Tag.sequence)
        let identifier = try algorithm.primitive(span, Tag.objectIdentifier)
        if algorithm.peekTag(span) != nil { try algorithm.skip(span) }
        try reader.leave(algorithm, span)
        return identifier
    }

    private static func signedAttributes(
        _ info: inout BERReader, _ bytes: [UInt8]
    ) throws(ReceiptError) -> SignedAttributes {
        let span = bytes.span
        let start = info.offset
        let header = try info.header(span)
        guard !header.isIndefinite else {
            // RFC 5652, 5.3: SignedAttributes are DER.
            throw ReceiptError(.malformedEncoding, at: .byte(start), "signed attributes of indefinite length")
        }
        var attributes = try info.enter(header)
        var contentTypes: [Range<Int>] = []
        var messageDigests: [Range<Int>] = []
        while attributes.peekTag(span) != nil {
            var attribute = try attributes.enter(span, Tag.sequence)
            let identifier = try attribute.primitive(span, Tag.objectIdentifier)
            if span.equals(identifier, ObjectIdentifier.contentType) {
                contentTypes.append(try singleValue(&attribute, span, Tag.objectIdentifier))
            } else if span.equals(identifier, ObjectIdentifier.messageDigest) {
                messageDigests.append(try singleValue(&attribute, span, Tag.octetString))
            } else {
                try attribute.skip(span)
            }
            try attributes.leave(attribute, span)
        }
        try info.leave(attributes, span)
        // RFC 5652, 11.1 and 11.2: if there are signed attributes, both must occur exactly once.
        guard contentTypes.count == 1, span.equals(contentTypes[0], ObjectIdentifier.data) else {
            throw ReceiptError(
                .signedAttributesMismatch, at: .byte(start), "content-type must occur once and be id-data")
        }
        guard messageDigests.count == 1 else {
            throw ReceiptError(.signedAttributesMismatch, at: .byte(start), "message-digest must occur once")
        }
        var encoded = Array(bytes[start..<header.end])
        encoded[0] = Tag.set
        return SignedAttributes(encodedForSignature: encoded, messageDigest: Array(bytes[messageDigests[0]]))
    }

    /// The values of an attribute are a SET. These attributes have exactly one value.
    private static func singleValue(
        _ attribute: inout BERReader, _ span: Span<UInt8>, _ tag: UInt8
    ) throws(ReceiptError) -> Range<Int> {
        var values = try attribute.enter(span, Tag.set)
        let value = try values.primitive(span, tag)
        try attribute.leave(values, span)
        return value
    }
}
