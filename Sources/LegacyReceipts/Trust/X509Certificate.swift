internal import Crypto
internal import CryptoExtras
internal import Foundation

/// The parts of an X.509 certificate that chain validation needs (RFC 5280, 4.1). DER only.
///
/// A class, because a structure would be large. In release builds, Swift 6.3 confuses error and result in functions
/// that throw a concrete error type and pass optionals of large structures.
final class X509Certificate: Sendable {
    /// The certificate in DER.
    let der: ArraySlice<UInt8>
    /// Its index among the receipt's certificates, for error messages.
    let index: Int
    /// The bytes that its issuer signed.
    let tbsCertificate: ArraySlice<UInt8>
    let serialNumber: ArraySlice<UInt8>
    /// Names including tag and length. They are compared byte by byte, which matches how Apple issues certificates.
    let issuer: ArraySlice<UInt8>
    let subject: ArraySlice<UInt8>
    /// Milliseconds since 1970-01-01T00:00:00Z, both ends included (RFC 5280, 4.1.2.5).
    let validity: ClosedRange<Int64>
    /// SubjectPublicKeyInfo, DER.
    let subjectPublicKeyInfo: ArraySlice<UInt8>
    let signatureAlgorithm: DigestAlgorithm?
    let signature: ArraySlice<UInt8>
    let extensions: Extensions

    struct Extensions: Sendable {
        var isCertificateAuthority = false
        /// The first byte of the bits (RFC 5280, 4.2.1.3); nil without the extension.
        var keyUsage: UInt8?
        var identifiers: [ArraySlice<UInt8>] = []
        var hasUnknownCritical = false
    }

    enum KeyUsage {
        static let digitalSignature: UInt8 = 0x80
        static let keyCertSign: UInt8 = 0x04
    }

    private init(
        der: ArraySlice<UInt8>, index: Int, tbsCertificate: ArraySlice<UInt8>, serialNumber: ArraySlice<UInt8>,
        issuer: ArraySlice<UInt8>, subject: ArraySlice<UInt8>, validity: ClosedRange<Int64>,
        subjectPublicKeyInfo: ArraySlice<UInt8>, signatureAlgorithm: DigestAlgorithm?, signature: ArraySlice<UInt8>,
        extensions: Extensions
    ) {
        self.der = der
        self.index = index
        self.tbsCertificate = tbsCertificate
        self.serialNumber = serialNumber
        self.issuer = issuer
        self.subject = subject
        self.validity = validity
        self.subjectPublicKeyInfo = subjectPublicKeyInfo
        self.signatureAlgorithm = signatureAlgorithm
        self.signature = signature
        self.extensions = extensions
    }

    var fingerprint: Fingerprint { Fingerprint(of: der) }

    func hasExtension(_ identifier: [UInt8]) -> Bool {
        extensions.identifiers.contains { $0.elementsEqual(identifier) }
    }

    /// The RSA key of at least 1024 bits (transaction receipts of version 2 have such leaves); nil for other keys.
    func publicKey() -> _RSA.Signing.PublicKey? {
        try? _RSA.Signing.PublicKey(unsafeDERRepresentation: subjectPublicKeyInfo)
    }

    /// Whether `key` created this certificate's signature.
    func isSigned(by key: _RSA.Signing.PublicKey) -> Bool {
        guard let signatureAlgorithm else { return false }
        return key.isValid(signature: signature, over: tbsCertificate, signatureAlgorithm)
    }
}

extension _RSA.Signing.PublicKey {
    /// Checks a PKCS#1 v1.5 signature (RFC 8017, 8.2.2).
    func isValid(signature: ArraySlice<UInt8>, over message: ArraySlice<UInt8>, _ digest: DigestAlgorithm) -> Bool {
        let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
        switch digest {
        case .sha1:
            return isValidSignature(
                signature, for: Insecure.SHA1.hash(data: message), padding: .insecurePKCS1v1_5)
        case .sha256:
            return isValidSignature(signature, for: SHA256.hash(data: message), padding: .insecurePKCS1v1_5)
        }
    }
}

// MARK: - Reading

extension X509Certificate {
    /// Reads the certificate that fills `der` exactly.
    ///
    /// - Throws: ``ReceiptError`` with code `malformedCertificate`.
    static func parse(_ der: ArraySlice<UInt8>, index: Int) throws(ReceiptError) -> X509Certificate {
        do throws(ReceiptError) {
            return try read(Array(der), index)
        } catch {
            throw ReceiptError(.malformedCertificate, at: .certificate(index), error.message)
        }
    }

    /// Reads certificates, and numbers them in this order.
    static func parse(_ certificates: [ArraySlice<UInt8>]) throws(ReceiptError) -> [X509Certificate] {
        var parsed: [X509Certificate] = []
        for (index, der) in certificates.enumerated() { parsed.append(try parse(der, index: index)) }
        return parsed
    }

    private static func read(_ bytes: [UInt8], _ index: Int) throws(ReceiptError) -> X509Certificate {
        let span = bytes.span
        var top = BERReader(0..<bytes.count, depth: DecodingLimits.defaultMaximumDepth)
        let outer = try top.header(span, expecting: Tag.sequence)
        var certificate = try top.enter(outer)
        let tbsStart = certificate.offset
        var tbs = try certificate.enter(span, Tag.sequence)
        var version: Int64 = 0
        if tbs.peekTag(span) == Tag.context0 {
            var explicit = try tbs.enter(span, Tag.context0)
            version = signedInteger(span, try explicit.primitive(span, Tag.integer)) ?? -1
            try tbs.leave(explicit, span)
        }
        let serialNumber = try tbs.primitive(span, Tag.integer)
        let innerAlgorithm = try element(&tbs, span, Tag.sequence)
        let issuer = try element(&tbs, span, Tag.sequence)
        var validity = try tbs.enter(span, Tag.sequence)
        let notBefore = try time(&validity, span)
        let notAfter = try time(&validity, span)
        try tbs.leave(validity, span)
        let subject = try element(&tbs, span, Tag.sequence)
        let subjectPublicKeyInfo = try element(&tbs, span, Tag.sequence)
        var extensions = Extensions()
        while let tag = tbs.peekTag(span) {
            if tag == Tag.context3, version == 2 {
                extensions = try readExtensions(&tbs, span, bytes)
            } else {
                try tbs.skip(span)
            }
        }
        try certificate.leave(tbs, span)
        let tbsRange = tbsStart..<certificate.offset
        let outerAlgorithm = try element(&certificate, span, Tag.sequence)
        let bits = try certificate.header(span, expecting: Tag.bitString)
        let signature = bits.range
        certificate.offset = bits.end
        try top.leave(certificate, span)

        guard top.offset == bytes.count else { throw ReceiptError(.malformedEncoding, at: .byte(top.offset)) }
        // These lengths are not part of the issuer's signature. Without this check, one receipt could have many
        // canonical forms.
        for header in [outer, bits] where !header.hasDERLength {
            throw ReceiptError(.malformedEncoding, at: .byte(header.start), "a length that is not DER")
        }
        guard !signature.isEmpty, span[signature.lowerBound] == 0 else {
            throw ReceiptError(.malformedEncoding, at: .byte(signature.lowerBound), "signature bits")
        }
        // RFC 5280, 4.1.1.2: the signed and the outer algorithm must be equal.
        guard bytes[innerAlgorithm] == bytes[outerAlgorithm] else {
            throw ReceiptError(.malformedEncoding, at: .byte(outerAlgorithm.lowerBound), "two signature algorithms")
        }
        guard notBefore <= notAfter else {
            throw ReceiptError(.malformedEncoding, at: .byte(tbsStart), "notAfter is before notBefore")
        }
        return X509Certificate(
            der: bytes[...], index: index, tbsCertificate: bytes[tbsRange], serialNumber: bytes[serialNumber],
            issuer: bytes[issuer], subject: bytes[subject], validity: notBefore...notAfter,
            subjectPublicKeyInfo: bytes[subjectPublicKeyInfo],
            signatureAlgorithm: try algorithm(outerAlgorithm, span),
            signature: bytes[signature.lowerBound + 1..<signature.upperBound], extensions: extensions)
    }

    /// The range of the next element, which must have this tag and a definite length, as in DER.
    private static func element(
        _ reader: inout BERReader, _ span: Span<UInt8>, _ tag: UInt8
    ) throws(ReceiptError) -> Range<Int> {
        let header = try reader.header(span, expecting: tag)
        guard !header.isIndefinite else {
            throw ReceiptError(.malformedEncoding, at: .byte(header.start), "indefinite length in a certificate")
        }
        reader.offset = header.end
        return header.start..<header.end
    }

    private static func time(_ reader: inout BERReader, _ span: Span<UInt8>) throws(ReceiptError) -> Int64 {
        let header = try reader.header(span)
        guard header.tag == Tag.utcTime || header.tag == Tag.generalizedTime,
            let time = ReceiptDate.certificate(
                span, header.range, generalized: header.tag == Tag.generalizedTime)
        else { throw ReceiptError(.malformedEncoding, at: .byte(header.start), "a validity date") }
        reader.offset = header.end
        return time
    }

    /// RSA with SHA-1 or SHA-256; nil for algorithms that Apple does not use for receipt certificates.
    private static func algorithm(
        _ range: Range<Int>, _ span: Span<UInt8>
    ) throws(ReceiptError) -> DigestAlgorithm? {
        var outer = BERReader(range, depth: 2)
        var sequence = try outer.enter(span, Tag.sequence)
        let identifier = try sequence.primitive(span, Tag.objectIdentifier)
        if span.equals(identifier, ObjectIdentifier.sha1WithRSA) { return .sha1 }
        if span.equals(identifier, ObjectIdentifier.sha256WithRSA) { return .sha256 }
        return nil
    }

    private static func readExtensions(
        _ tbs: inout BERReader, _ span: Span<UInt8>, _ bytes: [UInt8]
    ) throws(ReceiptError) -> Extensions {
        var result = Extensions()
        var explicit = try tbs.enter(span, Tag.context3)
        var list = try explicit.enter(span, Tag.sequence)
        while list.peekTag(span) != nil {
            var item = try list.enter(span, Tag.sequence)
            let identifier = try item.primitive(span, Tag.objectIdentifier)
            var isCritical = false
            if item.peekTag(span) == Tag.boolean {
                let value = try item.primitive(span, Tag.boolean)
                isCritical = value.count == 1 && span[value.lowerBound] != 0
            }
            let value = try item.primitive(span, Tag.octetString)
            try list.leave(item, span)
            // RFC 5280, 4.2: no extension may occur twice.
            guard !result.identifiers.contains(bytes[identifier]),
                result.identifiers.count < DecodingLimits.maximumCertificateExtensions
            else { throw ReceiptError(.malformedEncoding, at: .byte(identifier.lowerBound), "extensions") }
            result.identifiers.append(bytes[identifier])
            try result.read(identifier, value, isCritical, span)
        }
        try explicit.leave(list, span)
        try tbs.leave(explicit, span)
        return result
    }
}

extension X509Certificate.Extensions {
    fileprivate mutating func read(
        _ identifier: Range<Int>, _ value: Range<Int>, _ isCritical: Bool, _ span: Span<UInt8>
    ) throws(ReceiptError) {
        var reader = BERReader(value, depth: 2)
        if span.equals(identifier, ObjectIdentifier.basicConstraints) {
            var sequence = try reader.enter(span, Tag.sequence)
            if sequence.peekTag(span) == Tag.boolean {
                let flag = try sequence.primitive(span, Tag.boolean)
                isCertificateAuthority = flag.count == 1 && span[flag.lowerBound] != 0
            }
            if sequence.peekTag(span) == Tag.integer {
                // Only the form matters: every length allows the signer, the one certificate below the issuer.
                guard let length = signedInteger(span, try sequence.primitive(span, Tag.integer)), length >= 0 else {
                    throw ReceiptError(.malformedEncoding, at: .byte(value.lowerBound), "path length")
                }
            }
            try reader.leave(sequence, span)
        } else if span.equals(identifier, ObjectIdentifier.keyUsage) {
            let bits = try reader.primitive(span, Tag.bitString)
            keyUsage = bits.count >= 2 ? span[bits.lowerBound + 1] : 0
        } else if isCritical, !Self.isUnderstood(identifier, span) {
            hasUnknownCritical = true
        }
    }

    /// Extensions that may be critical: markers, and extensions that do not affect a receipt's chain.
    private static func isUnderstood(_ identifier: Range<Int>, _ span: Span<UInt8>) -> Bool {
        [
            ObjectIdentifier.certificatePolicies, ObjectIdentifier.receiptSigningMarker,
            ObjectIdentifier.transactionReceiptSigningMarker, ObjectIdentifier.worldwideDeveloperRelationsMarker,
            ObjectIdentifier.iTunesStoreMarker,
        ].contains { span.equals(identifier, $0) }
    }
}
