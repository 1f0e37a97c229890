/// The content of a certificate in a receipt, for a report. The certificate is not necessarily trusted.
public struct CertificateFacts: Hashable, Sendable {
    /// Its index among the receipt's certificates, from 0.
    public let index: Int
    /// The subject's name, most specific part first, for example `CN=Apple Root CA, OU=Apple Certification Authority`.
    public let subject: String
    /// The issuer's name.
    public let issuer: String
    /// The serial number in upper-case hexadecimal.
    public let serialNumber: String
    /// Valid from: milliseconds since 1970-01-01T00:00:00Z.
    public let notBefore: Int64
    /// Valid until: milliseconds since 1970-01-01T00:00:00Z.
    public let notAfter: Int64
    /// SHA-256 of its DER.
    public let fingerprint: Fingerprint
    /// Whether the certificate is marked as a certificate authority (RFC 5280, 4.2.1.9).
    public let isCertificateAuthority: Bool
    /// The dotted object identifiers of its Apple marker extensions.
    public let markers: [String]

    init(_ certificate: X509Certificate) {
        index = certificate.index
        subject = DistinguishedName.text(certificate.subject)
        issuer = DistinguishedName.text(certificate.issuer)
        let digits = certificate.serialNumber.map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
        serialNumber = String(digits.drop { $0 == "0" })
        notBefore = certificate.validity.lowerBound
        notAfter = certificate.validity.upperBound
        fingerprint = certificate.fingerprint
        isCertificateAuthority = certificate.extensions.isCertificateAuthority
        markers = Self.knownMarkers.filter { certificate.hasExtension($0.contents) }.map(\.dotted)
    }

    private static let knownMarkers: [(dotted: String, contents: [UInt8])] = [
        ("1.2.840.113635.100.6.11.1", ObjectIdentifier.receiptSigningMarker),
        ("1.2.840.113635.100.6.5.1", ObjectIdentifier.transactionReceiptSigningMarker),
        ("1.2.840.113635.100.6.2.1", ObjectIdentifier.worldwideDeveloperRelationsMarker),
        ("1.2.840.113635.100.6.2.2", ObjectIdentifier.iTunesStoreMarker),
    ]
}

/// Rendering of X.501 names (RFC 4514, for the attribute types that certificates of receipts use).
enum DistinguishedName {
    private static let types: [(contents: [UInt8], label: String)] = [
        ([0x55, 0x04, 0x03], "CN"), ([0x55, 0x04, 0x0B], "OU"), ([0x55, 0x04, 0x0A], "O"), ([0x55, 0x04, 0x06], "C"),
        ([0x55, 0x04, 0x07], "L"), ([0x55, 0x04, 0x08], "ST"),
    ]

    /// The name as text. Attribute types without a label are omitted, and an unreadable name is empty.
    static func text(_ name: ArraySlice<UInt8>) -> String {
        let bytes = Array(name)
        let parts = (try? parts(bytes)) ?? []
        return types.flatMap { type in parts.filter { $0.label == type.label } }
            .map { "\($0.label)=\($0.value)" }.joined(separator: ", ")
    }

    private static func parts(_ bytes: [UInt8]) throws(ReceiptError) -> [(label: String, value: String)] {
        let span = bytes.span
        var parts: [(label: String, value: String)] = []
        var top = BERReader(0..<bytes.count, depth: 4)
        var sequence = try top.enter(span, Tag.sequence)
        while sequence.peekTag(span) != nil {
            var set = try sequence.enter(span, Tag.set)
            while set.peekTag(span) != nil {
                var attribute = try set.enter(span, Tag.sequence)
                let type = try attribute.primitive(span, Tag.objectIdentifier)
                let value = try attribute.header(span)
                attribute.offset = value.isIndefinite ? value.contents : value.end
                try set.leave(attribute, span)
                if let label = types.first(where: { span.equals(type, $0.contents) })?.label, !value.isIndefinite {
                    parts.append((label, String(decoding: bytes[value.range], as: UTF8.self)))
                }
            }
            try sequence.leave(set, span)
        }
        return parts
    }
}
