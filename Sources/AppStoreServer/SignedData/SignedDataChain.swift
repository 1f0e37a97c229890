internal import Crypto

/// A leaf with a valid path to a trusted root, for payloads signed within a period.
final class SignedDataChain: Sendable {
    let key: P256.Signing.PublicKey
    let anchor: SignatureEvidence.Anchor
    /// Leaf, intermediate and trusted root in DER; for Xcode only the leaf.
    let certificates: [[UInt8]]
    /// The period in which every certificate of the path is valid: milliseconds since 1970-01-01T00:00:00Z, both ends
    /// included.
    let validity: ClosedRange<Int64>
    let leaf: Fingerprint
    let trustAnchor: Fingerprint

    init(
        key: P256.Signing.PublicKey, anchor: SignatureEvidence.Anchor, certificates: [[UInt8]],
        validity: ClosedRange<Int64>
    ) {
        self.key = key
        self.anchor = anchor
        self.certificates = certificates
        self.validity = validity
        leaf = Fingerprint(of: certificates.first ?? [])
        trustAnchor = Fingerprint(of: certificates.last ?? [])
    }

    /// Checks the validity dates of the certificates.
    /// - Throws: ``SignedDataError``.
    func check(at time: Int64) throws {
        if time < validity.lowerBound {
            throw SignedDataError(
                .certificateNotYetValid, "signed at \(time) ms since 1970, valid from \(validity.lowerBound)")
        }
        if time > validity.upperBound {
            throw SignedDataError(
                .certificateExpired, "signed at \(time) ms since 1970, valid until \(validity.upperBound)")
        }
    }

    /// Whether this is an ES256 signature of the bytes by the leaf.
    func isValid(signature: [UInt8], over bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        // r and s, 32 bytes each (RFC 7518, 3.4).
        guard signature.count == 64, let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
        else { return false }
        var hash = SHA256()
        hash.update(bufferPointer: UnsafeRawBufferPointer(bytes))
        return key.isValidSignature(signature, for: hash.finalize())
    }

    /// - Parameters:
    ///   - time: the time at which the chain was validated.
    ///   - bytes: what the leaf signed.
    func evidence(at time: Int64, over bytes: UnsafeBufferPointer<UInt8>) -> SignatureEvidence {
        SignatureEvidence(
            anchor: anchor, leaf: leaf, trustAnchor: trustAnchor, digestAlgorithm: .sha256, validationTime: time,
            signingInput: Fingerprint(of: bytes))
    }
}
