internal import CryptoExtras

/// A leaf with a valid path to a trusted root, for receipts signed within a period.
final class ValidatedChain: Sendable {
    let key: _RSA.Signing.PublicKey
    let leaf: Fingerprint
    let trustAnchor: Fingerprint
    let anchor: SignatureEvidence.Anchor
    /// The period in which every certificate of the path is valid: milliseconds since 1970-01-01T00:00:00Z.
    let validity: ClosedRange<Int64>
    /// The certificates in DER, from the leaf to the trust anchor. They are copies, so a chain keeps no receipt in
    /// memory.
    let path: [[UInt8]]

    /// The path leads from the leaf to the trust anchor; a pinned leaf is both.
    init(
        key: _RSA.Signing.PublicKey, path: [X509Certificate], trustAnchor: Fingerprint,
        anchor: SignatureEvidence.Anchor, validity: ClosedRange<Int64>
    ) {
        self.key = key
        self.path = path.map { Array($0.der) }
        leaf = path.first?.fingerprint ?? trustAnchor
        self.trustAnchor = trustAnchor
        self.anchor = anchor
        self.validity = validity
    }
}

/// Builds and validates the path of leaf, intermediate and root (Reference.md V7; RFC 5280, 6.1).
///
/// Apple's chains have exactly these three certificates; no other length is accepted. The caller checks the time, so the
/// result for a chain can be cached, see ``ChainCache``.
struct ChainValidator: Sendable {
    let policy: TrustPolicy
    private let additionalRoots: [X509Certificate]
    private let additionalIntermediates: [X509Certificate]

    /// A validator for Apple's pinned roots and leaves, which needs no certificates.
    init() {
        policy = .apple
        additionalRoots = []
        additionalIntermediates = []
    }

    /// - Throws: ``ReceiptError`` `malformedCertificate` if a certificate of the policy cannot be read.
    init(policy: TrustPolicy) throws(ReceiptError) {
        self.policy = policy
        additionalRoots = try X509Certificate.parse(policy.additionalRoots.map { $0[...] })
        additionalIntermediates = try X509Certificate.parse(policy.additionalIntermediates.map { $0[...] })
    }

    // MARK: App receipts

    /// Validates the chain of a receipt's signer among the certificates of the receipt.
    func validate(
        _ signer: SignedDataMessage.SignerInfo, in message: SignedDataMessage, receiptType: ReceiptType?
    ) throws(ReceiptError) -> ValidatedChain {
        let certificates = try message.parsedCertificates()
        let leaf = try Self.leaf(of: signer, in: message, among: certificates)
        if isXcodeSigner(leaf, certificates, receiptType) { return try xcodeChain(leaf, receiptType) }
        let path = try path(from: leaf, among: certificates)
        try Self.checkLeaf(leaf, marker: ObjectIdentifier.receiptSigningMarker)
        try Self.checkIntermediate(path.intermediate, markers: [ObjectIdentifier.worldwideDeveloperRelationsMarker])
        return try chain(leaf, path)
    }

    /// The certificate that the SignerInfo names (RFC 5652, 5.3).
    static func leaf(
        of signer: SignedDataMessage.SignerInfo, in message: SignedDataMessage, among certificates: [X509Certificate]
    ) throws(ReceiptError) -> X509Certificate {
        guard !certificates.isEmpty else { throw ReceiptError(.certificateMissing) }
        let leaf = certificates.first {
            $0.issuer == message.bytes[signer.issuer] && $0.serialNumber == message.bytes[signer.serialNumber]
        }
        guard let leaf else { throw ReceiptError(.signerCertificateNotFound) }
        return leaf
    }

    /// Only checks whether the signatures lead to a trust anchor, for inspection.
    func anchor(
        of leaf: X509Certificate, among certificates: [X509Certificate], receiptType: ReceiptType?
    ) throws(ReceiptError) {
        if isXcodeSigner(leaf, certificates, receiptType) {
            _ = try xcodeChain(leaf, receiptType)
        } else {
            _ = try path(from: leaf, among: certificates)
        }
    }

    /// Xcode signs with one self-issued certificate, and the receipt's type is Xcode.
    func isXcodeSigner(
        _ leaf: X509Certificate, _ certificates: [X509Certificate], _ receiptType: ReceiptType?
    ) -> Bool {
        leaf.fingerprint == policy.xcodeCertificate
            || (receiptType == .xcode && certificates.count == 1 && leaf.issuer == leaf.subject)
    }

    private func xcodeChain(_ leaf: X509Certificate, _ receiptType: ReceiptType?) throws(ReceiptError) -> ValidatedChain
    {
        guard policy.acceptsXcodeReceipts else { throw ReceiptError(.xcodeReceipt, at: .certificate(leaf.index)) }
        // If Xcode's key is accepted, it is valid only for receipts of Xcode.
        guard receiptType == .xcode else {
            throw ReceiptError(.untrustedRoot, at: .certificate(leaf.index), "Xcode signed a receipt of another type")
        }
        return ValidatedChain(
            key: try Self.key(of: leaf), path: [leaf], trustAnchor: leaf.fingerprint, anchor: .xcode,
            validity: leaf.validity)
    }

    // MARK: Transaction receipts

    /// Validates the leaf of a transaction receipt: it is pinned, or issued by one of Apple's intermediates or by an
    /// intermediate from the caller.
    func validate(transactionReceiptLeaf leaf: X509Certificate, version: UInt8) throws(ReceiptError) -> ValidatedChain {
        let fingerprint = leaf.fingerprint
        let isVersion2 = version == 2
        let marker = Self.transactionReceiptMarker(version: version)
        if policy.transactionReceiptLeaves.contains(fingerprint) {
            try Self.checkLeaf(leaf, marker: marker)
            return ValidatedChain(
                key: try Self.key(of: leaf), path: [leaf], trustAnchor: fingerprint, anchor: .pinnedLeaf,
                validity: leaf.validity)
        }
        let markers =
            isVersion2
            ? [ObjectIdentifier.iTunesStoreMarker] : [ObjectIdentifier.worldwideDeveloperRelationsMarker]
        let pinned = try pinnedIntermediate(of: leaf)
        guard pinned != nil || additionalIntermediates.contains(where: { $0.subject == leaf.issuer }) else {
            throw ReceiptError(.untrustedLeaf)
        }
        try Self.checkLeaf(leaf, marker: marker)
        if let pinned {
            try Self.checkIntermediate(pinned, markers: markers)
            // The intermediate replaces the root, which is valid for longer.
            return try chain(leaf, Path(intermediate: pinned, root: pinned, anchor: .apple))
        }
        let path = try path(from: leaf, among: additionalIntermediates)
        try Self.checkIntermediate(path.intermediate, markers: markers)
        return try chain(leaf, path)
    }

    static func transactionReceiptMarker(version: UInt8) -> [UInt8] {
        version == 2 ? ObjectIdentifier.transactionReceiptSigningMarker : ObjectIdentifier.receiptSigningMarker
    }

    /// The pinned intermediate that issued the leaf.
    private func pinnedIntermediate(of leaf: X509Certificate) throws(ReceiptError) -> X509Certificate? {
        let candidates = additionalIntermediates + AppleIntermediates.certificates
        for candidate in candidates where candidate.subject == leaf.issuer {
            guard policy.transactionReceiptIntermediates.contains(candidate.fingerprint) else { continue }
            if leaf.isSigned(by: try Self.key(of: candidate)) { return candidate }
        }
        return nil
    }

    // MARK: The path

    private struct Path {
        let intermediate: X509Certificate
        let root: X509Certificate
        let anchor: SignatureEvidence.Anchor

        /// How long the leaf and this path are valid together, in milliseconds; negative if never.
        func span(with leaf: X509Certificate) -> Int64 {
            min(leaf.validity.upperBound, intermediate.validity.upperBound, root.validity.upperBound)
                - max(leaf.validity.lowerBound, intermediate.validity.lowerBound, root.validity.lowerBound)
        }
    }

    /// Finds an intermediate that issued the leaf, and a trusted root that issued the intermediate. Apple reissued an
    /// intermediate with the same name and key, so there may be several paths. The path that is valid with the leaf
    /// for the longest time wins.
    ///
    /// The work is limited to the square of the number of certificates. If no path is valid, it throws the error of the
    /// path that came closest to a trusted root.
    private func path(from leaf: X509Certificate, among certificates: [X509Certificate]) throws(ReceiptError) -> Path {
        var closest = ReceiptError(.untrustedRoot, at: .certificate(leaf.index), "the leaf's issuer is missing")
        var best: Path?
        for intermediate in certificates where intermediate.subject == leaf.issuer {
            for (root, anchor) in roots(issuing: intermediate, among: certificates) {
                guard intermediate.isSigned(by: try Self.key(of: root)) else {
                    closest = ReceiptError(.certificateSignatureMismatch, at: .certificate(intermediate.index))
                    continue
                }
                guard leaf.isSigned(by: try Self.key(of: intermediate)) else {
                    closest = ReceiptError(.certificateSignatureMismatch, at: .certificate(leaf.index))
                    continue
                }
                let path = Path(intermediate: intermediate, root: root, anchor: anchor)
                if best.map({ path.span(with: leaf) > $0.span(with: leaf) }) ?? true { best = path }
            }
            if closest.code == .untrustedRoot {
                let detail = "no trusted root issued the intermediate"
                closest = ReceiptError(.untrustedRoot, at: .certificate(intermediate.index), detail)
            }
        }
        guard let best else { throw closest }
        return best
    }

    /// The trusted certificates with the name of the intermediate's issuer. An embedded root that is not pinned proves
    /// nothing, because a forged receipt contains its own root (Reference.md V7.5).
    private func roots(
        issuing intermediate: X509Certificate, among certificates: [X509Certificate]
    ) -> [(X509Certificate, SignatureEvidence.Anchor)] {
        let own = additionalRoots.filter { $0.subject == intermediate.issuer }
            .map { ($0, SignatureEvidence.Anchor.additionalRoot) }
        let embedded = certificates.filter {
            $0.subject == intermediate.issuer && policy.roots.contains($0.fingerprint)
        }
        .map { ($0, SignatureEvidence.Anchor.apple) }
        return embedded + own
    }

    private func chain(_ leaf: X509Certificate, _ path: Path) throws(ReceiptError) -> ValidatedChain {
        let lower = max(leaf.validity.lowerBound, path.intermediate.validity.lowerBound, path.root.validity.lowerBound)
        let upper = min(leaf.validity.upperBound, path.intermediate.validity.upperBound, path.root.validity.upperBound)
        guard lower <= upper else {
            throw ReceiptError(
                .certificateExpired, at: .certificate(leaf.index), "the chain was never valid as a whole")
        }
        return ValidatedChain(
            key: try Self.key(of: leaf), path: [leaf, path.intermediate, path.root],
            trustAnchor: path.root.fingerprint, anchor: path.anchor, validity: lower...upper)
    }

    // MARK: The rules of each place

    private static func checkLeaf(_ leaf: X509Certificate, marker: [UInt8]) throws(ReceiptError) {
        try checkMarker(ofLeaf: leaf, marker)
        try checkConstraints(ofLeaf: leaf)
        try checkUsage(ofLeaf: leaf)
    }

    private static func checkIntermediate(
        _ intermediate: X509Certificate, markers: [[UInt8]]
    ) throws(ReceiptError) {
        try checkMarker(ofIntermediate: intermediate, markers)
        try checkConstraints(ofIntermediate: intermediate)
        try checkUsage(ofIntermediate: intermediate)
    }

    static func checkMarker(ofLeaf leaf: X509Certificate, _ marker: [UInt8]) throws(ReceiptError) {
        guard leaf.hasExtension(marker) else { throw ReceiptError(.missingLeafMarker, at: .certificate(leaf.index)) }
    }

    static func checkMarker(
        ofIntermediate intermediate: X509Certificate, _ markers: [[UInt8]]
    ) throws(ReceiptError) {
        guard markers.contains(where: intermediate.hasExtension) else {
            throw ReceiptError(.missingIntermediateMarker, at: .certificate(intermediate.index))
        }
    }

    static func checkConstraints(ofLeaf leaf: X509Certificate) throws(ReceiptError) {
        guard !leaf.extensions.isCertificateAuthority else {
            throw ReceiptError(.basicConstraints, at: .certificate(leaf.index), "the signer is a certificate authority")
        }
    }

    static func checkConstraints(ofIntermediate intermediate: X509Certificate) throws(ReceiptError) {
        guard intermediate.extensions.isCertificateAuthority else {
            throw ReceiptError(
                .basicConstraints, at: .certificate(intermediate.index), "the issuer is not a certificate authority")
        }
    }

    static func checkUsage(ofLeaf leaf: X509Certificate) throws(ReceiptError) {
        try checkUsage(leaf, X509Certificate.KeyUsage.digitalSignature, "digitalSignature")
    }

    static func checkUsage(ofIntermediate intermediate: X509Certificate) throws(ReceiptError) {
        try checkUsage(intermediate, X509Certificate.KeyUsage.keyCertSign, "keyCertSign")
    }

    /// RFC 5280, 4.2.1.3: a key usage extension restricts the key. Without one the key is not restricted.
    private static func checkUsage(
        _ certificate: X509Certificate, _ bit: UInt8, _ name: String
    ) throws(ReceiptError) {
        guard (certificate.extensions.keyUsage ?? bit) & bit != 0 else {
            throw ReceiptError(.keyUsage, at: .certificate(certificate.index), "the key usage does not include \(name)")
        }
        guard !certificate.extensions.hasUnknownCritical else {
            throw ReceiptError(.criticalExtension, at: .certificate(certificate.index))
        }
    }

    static func key(of certificate: X509Certificate) throws(ReceiptError) -> _RSA.Signing.PublicKey {
        guard let key = certificate.publicKey() else {
            throw ReceiptError(.unsupportedSignatureAlgorithm, at: .certificate(certificate.index), "not an RSA key")
        }
        return key
    }
}
