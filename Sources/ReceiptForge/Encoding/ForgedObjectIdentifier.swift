/// An ASN.1 object identifier, such as 1.2.840.113635.100.6.11.1.
public struct ForgedObjectIdentifier: Hashable, Sendable, CustomStringConvertible {
    /// The numbers of the dotted form.
    public let components: [UInt64]

    /// - Parameter components: at least two; the first 0, 1 or 2 (X.660).
    public init(_ components: UInt64...) { self.components = components }

    private init(_ prefix: ForgedObjectIdentifier, _ components: [UInt64]) {
        self.components = prefix.components + components
    }

    /// The identifier with further components at the end.
    public func appending(_ components: UInt64...) -> ForgedObjectIdentifier { Self(self, components) }

    public var description: String { components.map(String.init).joined(separator: ".") }

    /// The contents bytes: the first two components in one, then seven bits to the byte (X.690, 8.19).
    var contents: [UInt8] {
        guard components.count >= 2 else { return [] }
        let numbers = [components[0] * 40 + components[1]] + components.dropFirst(2)
        return numbers.flatMap { number in
            var bytes = [UInt8(truncatingIfNeeded: number & 0x7F)]
            var rest = number >> 7
            while rest > 0 {
                bytes.insert(0x80 | UInt8(truncatingIfNeeded: rest & 0x7F), at: 0)
                rest >>= 7
            }
            return bytes
        }
    }
}

extension ForgedObjectIdentifier {
    // PKCS#7 and its attributes (RFC 5652, RFC 2985)
    /// 1.2.840.113549.1.7.1, id-data: unstructured bytes, the content type of receipts.
    public static let data = Self(1, 2, 840, 113549, 1, 7, 1)
    /// 1.2.840.113549.1.7.2, id-signedData: the content type of the message around them.
    public static let signedData = Self(1, 2, 840, 113549, 1, 7, 2)
    /// 1.2.840.113549.1.9.1, emailAddress: a part of names.
    public static let emailAddress = Self(1, 2, 840, 113549, 1, 9, 1)
    /// 1.2.840.113549.1.9.3, contentType: a signed attribute.
    public static let contentType = Self(1, 2, 840, 113549, 1, 9, 3)
    /// 1.2.840.113549.1.9.4, messageDigest: a signed attribute.
    public static let messageDigest = Self(1, 2, 840, 113549, 1, 9, 4)
    /// 1.2.840.113549.1.9.5, signingTime: a signed attribute.
    public static let signingTime = Self(1, 2, 840, 113549, 1, 9, 5)

    // Algorithms (RFC 8017, RFC 8018, RFC 5758)
    /// 1.2.840.113549.1.1.1, rsaEncryption: RSA keys, and the signature algorithm that receipts state.
    public static let rsaEncryption = Self(1, 2, 840, 113549, 1, 1, 1)
    /// 1.2.840.113549.1.1.5, sha1WithRSAEncryption.
    public static let sha1WithRSA = Self(1, 2, 840, 113549, 1, 1, 5)
    /// 1.2.840.113549.1.1.11, sha256WithRSAEncryption.
    public static let sha256WithRSA = Self(1, 2, 840, 113549, 1, 1, 11)
    /// 1.2.840.113549.1.1.12, sha384WithRSAEncryption.
    public static let sha384WithRSA = Self(1, 2, 840, 113549, 1, 1, 12)
    /// 1.2.840.113549.1.1.13, sha512WithRSAEncryption.
    public static let sha512WithRSA = Self(1, 2, 840, 113549, 1, 1, 13)
    /// 1.2.840.10045.4.1, ecdsa-with-SHA1.
    public static let ecdsaWithSHA1 = Self(1, 2, 840, 10045, 4, 1)
    /// 1.2.840.10045.4.3.2, ecdsa-with-SHA256.
    public static let ecdsaWithSHA256 = Self(1, 2, 840, 10045, 4, 3, 2)
    /// 1.2.840.10045.4.3.3, ecdsa-with-SHA384.
    public static let ecdsaWithSHA384 = Self(1, 2, 840, 10045, 4, 3, 3)
    /// 1.2.840.10045.4.3.4, ecdsa-with-SHA512.
    public static let ecdsaWithSHA512 = Self(1, 2, 840, 10045, 4, 3, 4)
    /// 1.2.840.113549.2.5, id-md5. Verifiers must reject it.
    public static let md5 = Self(1, 2, 840, 113549, 2, 5)
    /// 1.3.14.3.2.26, id-sha1: the digest of receipts of the older generations.
    public static let sha1 = Self(1, 3, 14, 3, 2, 26)
    /// 2.16.840.1.101.3.4.2.1, id-sha256: the digest of receipts of generation G5.
    public static let sha256 = Self(2, 16, 840, 1, 101, 3, 4, 2, 1)
    /// 2.16.840.1.101.3.4.2.2, id-sha384.
    public static let sha384 = Self(2, 16, 840, 1, 101, 3, 4, 2, 2)
    /// 2.16.840.1.101.3.4.2.3, id-sha512.
    public static let sha512 = Self(2, 16, 840, 1, 101, 3, 4, 2, 3)

    // Names (RFC 4519)
    /// 2.5.4.3, CN.
    public static let commonName = Self(2, 5, 4, 3)
    /// 2.5.4.6, C: two letters.
    public static let countryName = Self(2, 5, 4, 6)
    /// 2.5.4.10, O.
    public static let organizationName = Self(2, 5, 4, 10)
    /// 2.5.4.11, OU.
    public static let organizationalUnitName = Self(2, 5, 4, 11)

    // Certificate extensions (RFC 5280, 4.2)
    /// 2.5.29.14: identifies the key of the certificate.
    public static let subjectKeyIdentifier = Self(2, 5, 29, 14)
    /// 2.5.29.15: the operations that the key may be used for.
    public static let keyUsage = Self(2, 5, 29, 15)
    /// 2.5.29.19: whether the certificate is an authority.
    public static let basicConstraints = Self(2, 5, 29, 19)
    /// 2.5.29.31: where the revocation list is.
    public static let crlDistributionPoints = Self(2, 5, 29, 31)
    /// 2.5.29.32: the policies under which the certificate was issued.
    public static let certificatePolicies = Self(2, 5, 29, 32)
    /// 2.5.29.35: identifies the issuer's key.
    public static let authorityKeyIdentifier = Self(2, 5, 29, 35)
    /// 2.5.29.37: the purposes of the key.
    public static let extendedKeyUsage = Self(2, 5, 29, 37)
    /// 1.3.6.1.5.5.7.1.1: where services of the issuer are, such as OCSP.
    public static let authorityInformationAccess = Self(1, 3, 6, 1, 5, 5, 7, 1, 1)
    /// 1.3.6.1.5.5.7.48.1: names an OCSP responder in ``authorityInformationAccess``.
    public static let ocsp = Self(1, 3, 6, 1, 5, 5, 7, 48, 1)
    /// 1.3.6.1.5.5.7.2.1: a URL of the statement, in ``certificatePolicies``.
    public static let certificationPracticeStatement = Self(1, 3, 6, 1, 5, 5, 7, 2, 1)
    /// 1.3.6.1.5.5.7.2.2: a text for users, in ``certificatePolicies``.
    public static let userNotice = Self(1, 3, 6, 1, 5, 5, 7, 2, 2)
    /// 1.3.6.1.5.5.7.3.3: a purpose in ``extendedKeyUsage``.
    public static let codeSigning = Self(1, 3, 6, 1, 5, 5, 7, 3, 3)
    /// 1.3.6.1.5.5.7.3.4: a purpose in ``extendedKeyUsage``.
    public static let emailProtection = Self(1, 3, 6, 1, 5, 5, 7, 3, 4)
    /// 1.3.6.1.5.5.7.3.9: a purpose in ``extendedKeyUsage``, for certificates that sign OCSP answers.
    public static let ocspSigning = Self(1, 3, 6, 1, 5, 5, 7, 3, 9)

    /// The arc of Apple's certificate extensions and policies (Reference.md V7.2 and V7.3).
    public static let apple = Self(1, 2, 840, 113635, 100)
    /// Marks an intermediate that issues receipt signing certificates: 6.2.1.
    public static let intermediateMarker = apple.appending(6, 2, 1)
    /// Marks the iTunes Store intermediate of iOS 6 receipts: 6.2.2.
    public static let iTunesStoreIntermediateMarker = apple.appending(6, 2, 2)
    /// Marks a leaf that signs receipts: 6.11.1.
    public static let receiptSigningMarker = apple.appending(6, 11, 1)
    /// Marks a leaf that signs iOS 6 receipts of version 2: 6.5.1.
    public static let purchaseReceiptMarker = apple.appending(6, 5, 1)
    /// Marks a developer's own certificate: 6.1.2.
    public static let developerMarker = apple.appending(6, 1, 2)
    /// The policy of receipt signing certificates: 5.6.1.
    public static let receiptSigningPolicy = apple.appending(5, 6, 1)
    /// The policy of the root: 5.1.
    public static let rootPolicy = apple.appending(5, 1)
}
