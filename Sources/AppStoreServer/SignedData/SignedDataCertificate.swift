#if canImport(X509)
    internal import Crypto
    internal import Foundation
    internal import SwiftASN1
    internal import X509

    /// A certificate of a chain, with the rules for each position in the chain (RFC 5280, 6.1; Reference.md S4).
    struct SignedDataCertificate: Sendable {
        let der: [UInt8]
        let location: SignedDataError.Location
        let certificate: Certificate

        /// - Throws: ``SignedDataError`` `malformedCertificate`.
        init(_ der: [UInt8], at location: SignedDataError.Location) throws {
            // Apple's certificates take 1 kB.
            guard der.count <= 16 * 1024, let certificate = try? Certificate(derEncoded: der),
                Self.hasSignatureOfWholeOctets(der)
            else {
                throw SignedDataError(.malformedCertificate, at: location)
            }
            self.der = der
            self.location = location
            self.certificate = certificate
        }

        /// Whether all bits of the signature count. Nothing signs the number of unused bits, so without this check one certificate
        /// would have several encodings (X.690, 8.6.2.2).
        private static func hasSignatureOfWholeOctets(_ der: [UInt8]) -> Bool {
            guard let certificate = try? DER.parse(der), case .constructed(let parts) = certificate.content,
                let last = Array(parts).last, let signature = try? ASN1BitString(derEncoded: last)
            else { return false }
            return signature.paddingBits == 0
        }

        /// Milliseconds since 1970, until the end of the last second (RFC 5280, 4.1.2.5); nil if the end is before the
        /// start.
        var validity: ClosedRange<Int64>? {
            let lower = Self.milliseconds(certificate.notValidBefore)
            let upper = Self.milliseconds(certificate.notValidAfter) + 999
            return lower <= upper ? lower...upper : nil
        }

        /// The years of a certificate have four digits, so the result fits.
        private static func milliseconds(_ date: Date) -> Int64 { Int64(date.timeIntervalSince1970) * 1000 }

        func isNamed(asIssuerOf other: SignedDataCertificate) -> Bool {
            certificate.subject == other.certificate.issuer
        }

        /// Whether this certificate's key signed the other certificate, with SHA-256 or stronger.
        func signed(_ other: SignedDataCertificate) throws -> Bool {
            let algorithm = other.certificate.signatureAlgorithm
            guard Self.algorithms.contains(algorithm) else {
                throw other.error(.unsupportedCertificateAlgorithm, "its signature algorithm is not supported")
            }
            return certificate.publicKey.isValidSignature(other.certificate.signature, for: other.certificate)
        }

        private static let algorithms: Set<Certificate.SignatureAlgorithm> = [
            .ecdsaWithSHA256, .ecdsaWithSHA384, .ecdsaWithSHA512, .sha256WithRSAEncryption, .sha384WithRSAEncryption,
            .sha512WithRSAEncryption,
        ]

        /// The key, which must be a P-256 key for ES256 (RFC 7518, 3.4).
        func es256Key() throws -> P256.Signing.PublicKey {
            guard let key = P256.Signing.PublicKey(certificate.publicKey) else {
                throw error(.unsupportedCertificateAlgorithm, "its key is not a P-256 key")
            }
            return key
        }

        func error(_ code: SignedDataError.Code, _ detail: String = "") -> SignedDataError {
            SignedDataError(code, at: location, detail)
        }

        /// Checks the rules for the leaf: marker 6.11.1, not an authority, a key for signatures.
        func checkAsLeaf() throws {
            try checkAsSigner()
            guard has(Self.receiptSigningMarker) else { throw error(.missingLeafMarker) }
        }

        /// The rules for a leaf, and for Xcode's single certificate.
        func checkAsSigner() throws {
            if case .isCertificateAuthority? = try constraints() {
                throw error(.basicConstraints, "the signer is a certificate authority")
            }
            guard try usage()?.digitalSignature ?? true else {
                throw error(.keyUsage, "digitalSignature is not among the key's uses")
            }
            try checkCriticalExtensions()
        }

        /// Checks the rules for the intermediate: marker 6.2.1, an authority.
        func checkAsIntermediate() throws {
            try checkAsAuthority(intermediatesBelow: 0)
            guard has(Self.intermediateMarker) else { throw error(.missingIntermediateMarker) }
        }

        /// Checks the rules for issuers: RFC 5280, 4.2.1.9 and 4.2.1.3.
        func checkAsAuthority(intermediatesBelow: Int) throws {
            guard case .isCertificateAuthority(let length)? = try constraints() else {
                throw error(.basicConstraints, "the issuer is not a certificate authority")
            }
            guard length ?? intermediatesBelow >= intermediatesBelow else {
                throw error(.basicConstraints, "the path length allows no intermediate")
            }
            guard try usage()?.keyCertSign ?? true else {
                throw error(.keyUsage, "keyCertSign is not among the key's uses")
            }
            try checkCriticalExtensions()
        }

        private func has(_ identifier: ASN1ObjectIdentifier) -> Bool { certificate.extensions[oid: identifier] != nil }

        private func constraints() throws -> BasicConstraints? {
            do { return try certificate.extensions.basicConstraints } catch {
                throw self.error(.malformedCertificate, "basic constraints")
            }
        }

        private func usage() throws -> KeyUsage? {
            do { return try certificate.extensions.keyUsage } catch {
                throw self.error(.malformedCertificate, "key usage")
            }
        }

        /// RFC 5280, 4.2: unknown critical extensions must be rejected.
        private func checkCriticalExtensions() throws {
            // The error does not name the extension, because the certificate is not verified yet.
            for entry in certificate.extensions where entry.critical && !Self.understood.contains(entry.oid) {
                throw error(.criticalExtension, "")
            }
        }

        // Only the presence of a marker matters (Reference.md S4).
        private static let intermediateMarker: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 2, 1]
        private static let receiptSigningMarker: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 11, 1]
        private static let basicConstraints: ASN1ObjectIdentifier = [2, 5, 29, 19]
        private static let keyUsage: ASN1ObjectIdentifier = [2, 5, 29, 15]
        private static let certificatePolicies: ASN1ObjectIdentifier = [2, 5, 29, 32]

        /// Extensions that are checked here, or that do not affect a chain for which all policies are accepted.
        private static let understood: Set<ASN1ObjectIdentifier> = [
            basicConstraints, keyUsage, certificatePolicies, intermediateMarker, receiptSigningMarker,
        ]
    }
#endif
