internal import CryptoExtras

/// The content of one receipt and the result of each check, for support tools. ``verdict`` is the result of
/// ``ReceiptVerifier``; use it for decisions.
public struct ReceiptInspection: Sendable {
    /// One check and its outcome.
    public struct Check: Sendable, Hashable {
        /// A check, in the order of execution.
        public enum Name: String, Sendable, Hashable, CaseIterable {
            /// The container and its content can be read as a receipt.
            case content
            /// There is exactly one signer, and the receipt contains the certificate of the signer, the leaf.
            case signerCertificate
            /// The signatures of the certificates lead from the leaf to a trusted root. The leaf of a transaction
            /// receipt can also be pinned, or be signed by a pinned intermediate (Reference.md V7.5).
            case trustedRoot
            /// The leaf has the extension that marks Apple's certificates for receipts (Reference.md V7.4).
            case leafMarker
            /// The intermediate has the extension that marks Apple's intermediates (Reference.md V7.4). Skipped if the
            /// receipt contains no intermediate, as transaction receipts do not.
            case intermediateMarker
            /// The leaf is not a certificate authority, and the intermediate is one (RFC 5280, 4.2.1.9).
            case basicConstraints
            /// The key usage allows the leaf to sign data, and the intermediate to sign certificates (RFC 5280,
            /// 4.2.1.3). No certificate has an unknown critical extension.
            case keyUsage
            /// The leaf and the intermediate were valid when the receipt was signed: at attribute 12 of an app receipt,
            /// at the purchase date of a transaction receipt (Reference.md V6 and V7.4).
            case validity
            /// The signature matches the content.
            case signature
            /// The unsigned environment of a transaction receipt fits its signed transaction id (Reference.md V7.5).
            /// Not for app receipts.
            case environment
            /// The device hash of an app receipt is that of the given device (Reference.md V7.4). Not for transaction
            /// receipts.
            case device
        }

        /// The result of one check.
        public enum Outcome: Sendable, Hashable {
            /// The receipt satisfies the check.
            case passed
            /// The receipt does not satisfy the check, for this reason.
            case failed(ReceiptError)
            /// The check was skipped: an earlier check failed, or there was no value to compare with.
            case skipped(String)
        }

        /// What was checked.
        public let name: Name
        /// The result. A failed check does not stop the later ones that can still be made.
        public let outcome: Outcome
    }

    /// The form of the container.
    public let form: ReceiptContainer.Form
    /// The size of the container in bytes.
    public let byteCount: Int
    /// The decoded receipt, unverified; nil if it cannot be decoded.
    public let receipt: Unverified<LegacyReceipt>?
    /// The app-level attributes in the order of the content; empty for transaction receipts.
    public let attributes: [RawAttribute]
    /// The receipt's certificates.
    public let certificates: [CertificateFacts]
    /// The checks in the order of execution. Checks that do not apply to the receipt, or that an earlier failure
    /// prevents, may be left out.
    public let checks: [Check]
    /// Why the receipt is trusted, or why it is rejected.
    public let verdict: Result<SignatureEvidence, ReceiptError>
}

extension ReceiptVerifier {
    /// Inspects a receipt with every check, and continues where verification would stop.
    ///
    /// - Parameters:
    ///   - container: the receipt without transport encoding.
    ///   - device: if given, the device hash of an app receipt is checked too.
    public func inspect(_ container: ReceiptContainer, device: DeviceIdentifier? = nil) -> ReceiptInspection {
        var inspector = Inspector(verifier: self, container: container)
        switch container.form {
        case .pkcs7: inspector.inspectAppReceipt(device)
        case .propertyList: inspector.inspectTransactionReceipt()
        }
        return inspector.inspection(verdict: verdict(container, device))
    }

    private func verdict(
        _ container: ReceiptContainer, _ device: DeviceIdentifier?
    ) -> Result<SignatureEvidence, ReceiptError> {
        Result { () throws(ReceiptError) in
            let verified = try verify(container)
            if let device, case .app(let receipt) = verified.payload { try receipt.checkDevice(device) }
            return verified.evidence
        }
    }
}

/// Makes the checks one by one.
private struct Inspector {
    let verifier: ReceiptVerifier
    let container: ReceiptContainer
    var receipt: LegacyReceipt?
    var attributes: [RawAttribute] = []
    var certificates: [X509Certificate] = []
    var outcomes: [ReceiptInspection.Check.Name: ReceiptInspection.Check.Outcome] = [:]

    func inspection(verdict: Result<SignatureEvidence, ReceiptError>) -> ReceiptInspection {
        ReceiptInspection(
            form: container.form, byteCount: container.bytes.count, receipt: receipt.map { Unverified(payload: $0) },
            attributes: attributes, certificates: certificates.map { CertificateFacts($0) },
            checks: ReceiptInspection.Check.Name.allCases.compactMap { name in
                outcomes[name].map { ReceiptInspection.Check(name: name, outcome: $0) }
            }, verdict: verdict)
    }

    private mutating func check<Value>(
        _ name: ReceiptInspection.Check.Name, _ body: () throws(ReceiptError) -> Value
    ) -> Value? {
        do throws(ReceiptError) {
            let value = try body()
            outcomes[name] = .passed
            return value
        } catch {
            outcomes[name] = .failed(error)
            return nil
        }
    }

    private mutating func skip(_ names: [ReceiptInspection.Check.Name], _ reason: String) {
        for name in names where outcomes[name] == nil { outcomes[name] = .skipped(reason) }
    }

    // MARK: App receipts

    mutating func inspectAppReceipt(_ device: DeviceIdentifier?) {
        let (limits, bytes) = (verifier.limits, container.bytes)
        let message: SignedDataMessage
        do throws(ReceiptError) {
            message = try SignedDataMessage(bytes, limits: limits)
        } catch {
            outcomes[.content] = .failed(error)
            skip([.signerCertificate, .trustedRoot, .validity, .signature], "the message cannot be read")
            return
        }
        attributes = AppReceiptDecoder.rawAttributes(message.content, limits: limits)
        let decoder = ReceiptDecoder(limits: limits)
        let decoded = check(.content) { () throws(ReceiptError) in try decoder.appReceipt(message) }
        receipt = decoded.map { .app($0) }
        certificates = (try? message.parsedCertificates()) ?? []
        inspectSigner(message, decoded)
        guard let decoded else { return skip([.device], "the content cannot be read") }
        if let device {
            _ = check(.device) { () throws(ReceiptError) in try decoded.checkDevice(device) }
        } else {
            outcomes[.device] = .skipped("no device identifier was given")
        }
    }

    private mutating func inspectSigner(_ message: SignedDataMessage, _ decoded: AppReceipt?) {
        let certificates = certificates
        let found = check(.signerCertificate) { () throws(ReceiptError) in
            let signer = try message.signer()
            _ = try message.parsedCertificates()
            return (signer, try ChainValidator.leaf(of: signer, in: message, among: certificates))
        }
        guard let (signer, leaf) = found else {
            return skip([.trustedRoot, .leafMarker, .validity, .signature], "the signer's certificate is not known")
        }
        let validator = verifier.validator
        let receiptType = decoded?.receiptType
        _ = check(.trustedRoot) { () throws(ReceiptError) in
            try validator.anchor(of: leaf, among: certificates, receiptType: receiptType)
        }
        let intermediate = certificates.first { $0.subject == leaf.issuer && $0.index != leaf.index }
        if validator.isXcodeSigner(leaf, certificates, receiptType) {
            skip(
                [.leafMarker, .intermediateMarker, .basicConstraints, .keyUsage],
                "it is a rule for certificates of the App Store")
        } else {
            inspectRules(leaf, intermediate, marker: ObjectIdentifier.receiptSigningMarker)
        }
        inspectValidity([leaf, intermediate].compactMap { $0 }, at: decoded?.receiptCreationDate)
        _ = check(.signature) { () throws(ReceiptError) in
            try ReceiptVerifier.checkSignature(of: message, signer, try ChainValidator.key(of: leaf))
        }
    }

    // MARK: Rules on certificates

    private mutating func inspectRules(
        _ leaf: X509Certificate, _ intermediate: X509Certificate?, marker: [UInt8]
    ) {
        _ = check(.leafMarker) { () throws(ReceiptError) in try ChainValidator.checkMarker(ofLeaf: leaf, marker) }
        _ = check(.basicConstraints) { () throws(ReceiptError) in
            try ChainValidator.checkConstraints(ofLeaf: leaf)
            if let intermediate { try ChainValidator.checkConstraints(ofIntermediate: intermediate) }
        }
        _ = check(.keyUsage) { () throws(ReceiptError) in
            try ChainValidator.checkUsage(ofLeaf: leaf)
            if let intermediate { try ChainValidator.checkUsage(ofIntermediate: intermediate) }
        }
        if let intermediate {
            _ = check(.intermediateMarker) { () throws(ReceiptError) in
                try ChainValidator.checkMarker(
                    ofIntermediate: intermediate, [ObjectIdentifier.worldwideDeveloperRelationsMarker])
            }
        } else {
            outcomes[.intermediateMarker] = .skipped("the receipt contains no intermediate")
        }
    }

    private mutating func inspectValidity(_ chain: [X509Certificate], at time: Int64?) {
        guard let time else { return skip([.validity], "the receipt has no date for which to check the certificates") }
        _ = check(.validity) { () throws(ReceiptError) in
            for certificate in chain { try ReceiptVerifier.check(certificate.validity, at: time) }
        }
    }

    // MARK: Transaction receipts

    mutating func inspectTransactionReceipt() {
        let (limits, bytes) = (verifier.limits, container.bytes)
        let read = check(.content) { () throws(ReceiptError) in
            try TransactionReceiptDecoder.read(bytes, limits: limits)
        }
        guard let (decoded, signature) = read else {
            return skip([.signerCertificate, .trustedRoot, .validity, .signature], "the receipt cannot be read")
        }
        receipt = .transaction(decoded)
        _ = check(.environment) { () throws(ReceiptError) in
            guard !decoded.hasEnvironmentContradiction else {
                throw ReceiptError(.environmentContradiction, at: .key("environment"), "it counts as sandbox")
            }
        }
        let found = check(.signerCertificate) { () throws(ReceiptError) in
            let blob = try signature.get()
            return (blob, try X509Certificate.parse(blob.certificate, index: 0))
        }
        guard let (blob, leaf) = found else {
            return skip([.trustedRoot, .validity, .signature], "the signature blob cannot be read")
        }
        certificates = [leaf]
        let validator = verifier.validator
        _ = check(.trustedRoot) { () throws(ReceiptError) in
            try validator.validate(transactionReceiptLeaf: leaf, version: blob.version)
        }
        inspectRules(leaf, nil, marker: ChainValidator.transactionReceiptMarker(version: blob.version))
        inspectValidity(
            [leaf],
            at: decoded.purchaseDate.map { ReceiptVerifier.validationTime(of: decoded, from: $0, leaf.validity) })
        _ = check(.signature) { () throws(ReceiptError) in
            try ReceiptVerifier.checkSignature(blob, of: decoded, try ChainValidator.key(of: leaf))
        }
    }
}
