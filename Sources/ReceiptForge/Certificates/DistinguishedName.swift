/// A subject or issuer, with its attributes in the order of the certificate (RFC 5280, 4.1.2.4).
public struct DistinguishedName: Hashable, Sendable {
    /// One part of a name.
    public struct Attribute: Hashable, Sendable {
        /// The kind of part, for example ``ForgedObjectIdentifier/commonName``.
        public var type: ForgedObjectIdentifier
        /// The value. It is written as UTF-8, also for string types that allow fewer characters.
        public var text: String
        /// The string type: ``ASN1Tag/utf8String``, ``ASN1Tag/printableString`` or ``ASN1Tag/ia5String``.
        public var tag: UInt8

        /// A part of a name, as a UTF8String by default. The characters are not checked.
        public init(_ type: ForgedObjectIdentifier, _ text: String, tag: UInt8 = ASN1Tag.utf8String) {
            self.type = type
            self.text = text
            self.tag = tag
        }
    }

    /// The parts in order. Each one becomes a SET of its own.
    public var attributes: [Attribute]

    /// A name with these parts. Verifiers compare names by their bytes, so the order and the string types matter.
    public init(_ attributes: [Attribute]) { self.attributes = attributes }

    /// The Name in DER.
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
