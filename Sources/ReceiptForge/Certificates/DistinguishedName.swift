/// A subject or issuer, with its attributes in the order of the certificate (RFC 5280, 4.1.2.4).
public struct DistinguishedName: Hashable, Sendable {
    public struct Attribute: Hashable, Sendable {
        public var type: ForgedObjectIdentifier
        public var text: String
        /// The string type: ``ASN1Tag/utf8String``, ``ASN1Tag/printableString`` or ``ASN1Tag/ia5String``.
        public var tag: UInt8

        public init(_ type: ForgedObjectIdentifier, _ text: String, tag: UInt8 = ASN1Tag.utf8String) {
            self.type = type
            self.text = text
            self.tag = tag
        }
    }

    public var attributes: [Attribute]

    public init(_ attributes: [Attribute]) { self.attributes = attributes }

    public var der: [UInt8] {
        DERWriter.sequence(
            of: attributes.map {
                DERWriter.setOf([
                    DERWriter.sequence(
                        DERWriter.objectIdentifier($0.type), DERWriter.value($0.tag, Array($0.text.utf8)))
                ])
            })
    }

    /// Country first, as in Apple's root and older intermediates.
    static func countryFirst(
        organization: String, unit: String, commonName: String, tag: UInt8 = ASN1Tag.utf8String
    ) -> Self {
        Self([
            .init(.countryName, "US", tag: ASN1Tag.printableString), .init(.organizationName, organization, tag: tag),
            .init(.organizationalUnitName, unit, tag: tag), .init(.commonName, commonName, tag: tag),
        ])
    }

    /// Common name first, as in Apple's leaves and newer intermediates.
    static func commonNameFirst(_ commonName: String, unit: String, organization: String) -> Self {
        Self([
            .init(.commonName, commonName), .init(.organizationalUnitName, unit),
            .init(.organizationName, organization), .init(.countryName, "US", tag: ASN1Tag.printableString),
        ])
    }

    /// The name of a test authority that is not trusted.
    static func foreign(_ commonName: String) -> Self {
        .commonNameFirst(commonName, unit: "Foreign Test Certification Authority", organization: "Foreign Test Inc.")
    }
}
