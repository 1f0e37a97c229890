internal import Encodings

/// The canonical form of a verified receipt: the signed content, the signature and its certificate chain, without other bytes.
///
/// A receipt can contain unsigned bytes: after its end, in unsigned attributes, revocation lists, further certificates,
/// algorithm parameters and long forms of lengths. Any sender can add megabytes of them to a genuine receipt. The canonical
/// form is the same for all variants of a receipt, so the store, the cache and the replies use it. Apple issues receipts in
/// this form.
extension Verified<LegacyReceipt> {
    /// The canonical form of the bytes of this receipt. Returns the same bytes if they are already canonical.
    ///
    /// Linear in the size of the receipt. The result verifies like the original and has the same payload.
    /// - Parameter bytes: the receipt without transport encoding.
    package func canonicalBytes(of bytes: [UInt8]) -> [UInt8] {
        switch payload {
        case .app: CanonicalReceipt.signedData(bytes, path: evidence.path) ?? bytes
        case .transaction(let receipt): CanonicalReceipt.propertyList(receipt, original: bytes) ?? bytes
        }
    }
}

private enum CanonicalReceipt {
    // MARK: App receipts

    /// DER of a SignedData of version 1 with one digest algorithm, the content, the embedded certificates of the path
    /// from the leaf up, and one signer without unsigned attributes (RFC 5652, 5; Reference.md V5.1).
    ///
    /// - Returns: nil if the bytes are not a signed message of one signer.
    static func signedData(_ bytes: [UInt8], path: [[UInt8]]) -> [UInt8]? {
        // The bytes were already verified within the limits of the caller.
        var limits = DecodingLimits.standard
        limits.maximumCertificates = .max
        limits.maximumDepth = .max
        guard !path.isEmpty, let message = try? SignedDataMessage(bytes, limits: limits),
            let signer = try? message.signer()
        else { return nil }
        let embedded = path.filter { certificate in
            message.certificates.contains { bytes[$0].hasSameBytes(as: certificate[...]) }
        }
        let digest = signer.digestAlgorithm == .sha1 ? ObjectIdentifier.sha1 : ObjectIdentifier.sha256
        let digestAlgorithm = algorithm(digest)
        let version = element(Tag.integer, [[1]])

        var signedAttributes: [UInt8] = []
        if let attributes = signer.signedAttributes {
            signedAttributes = attributes.encodedForSignature
            signedAttributes[0] = Tag.context0
        }
        let signerInfo = element(
            Tag.sequence,
            [
                version[...],
                element(
                    Tag.sequence, [bytes[signer.issuer], element(Tag.integer, [bytes[signer.serialNumber]])[...]])[...],
                digestAlgorithm[...], signedAttributes[...], algorithm(ObjectIdentifier.rsaEncryption)[...],
                element(Tag.octetString, [signer.signature.slice])[...],
            ])
        let content = element(Tag.context0, [element(Tag.octetString, [message.content.slice])[...]])
        let contentInfo = element(
            Tag.sequence, [element(Tag.objectIdentifier, [ObjectIdentifier.data[...]])[...], content[...]])
        let signedData = element(
            Tag.sequence,
            [
                version[...], element(Tag.set, [digestAlgorithm[...]])[...], contentInfo[...],
                element(Tag.context0, embedded.map { $0[...] })[...],
                element(Tag.set, [signerInfo[...]])[...],
            ])
        let canonical = element(
            Tag.sequence,
            [
                element(Tag.objectIdentifier, [ObjectIdentifier.signedData[...]])[...],
                element(Tag.context0, [signedData[...]])[...],
            ])
        return canonical[...].hasSameBytes(as: bytes[...]) ? bytes : canonical
    }

    /// An AlgorithmIdentifier whose parameters are NULL, as in Apple's receipts.
    private static func algorithm(_ identifier: [UInt8]) -> [UInt8] {
        element(Tag.sequence, [element(Tag.objectIdentifier, [identifier[...]])[...], [Tag.null, 0]])
    }

    /// A DER element.
    private static func element(_ tag: UInt8, _ parts: [ArraySlice<UInt8>]) -> [UInt8] {
        let count = parts.reduce(0) { $0 + $1.count }
        var result: [UInt8] = []
        result.reserveCapacity(count + 6)
        result.append(tag)
        if count < 0x80 {
            result.append(UInt8(count))
        } else {
            let length = (0..<8).reversed().map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }.drop { $0 == 0 }
            result.append(0x80 | UInt8(length.count))
            result += length
        }
        for part in parts { result += part }
        return result
    }

    // MARK: Transaction receipts

    /// The property list with the keys and the layout that Apple writes (Reference.md V6). Unsigned keys are kept only
    /// if they agree with the signed purchase.
    ///
    /// - Returns: nil without a signature.
    static func propertyList(_ receipt: TransactionReceipt, original: [UInt8]) -> [UInt8]? {
        guard let signature = receipt.signature else { return nil }
        let length = UInt32(truncatingIfNeeded: signature.certificate.count).bigEndian
        var blob = [signature.version] + signature.signature
        blob += withUnsafeBytes(of: length) { Array($0) }
        blob += signature.certificate
        var text = "{\n"
        func add(_ key: String, _ value: String) { text += "\t\"\(key)\" = \"\(value)\";\n" }
        add("signature", Base64.encode(blob))
        add("purchase-info", Base64.encode(receipt.purchaseInfoBytes))
        if !receipt.claimsProduction { add("environment", "Sandbox") }
        // The pod is the signed transaction id without its last 13 digits.
        if let pod = receipt.pod, !pod.isEmpty, receipt.transactionId.dropLast(13) == pod { add("pod", pod) }
        if receipt.signingStatus == "0" { add("signing-status", "0") }
        text += "}"
        let canonical = Array(text.utf8)
        return canonical == original ? original : canonical
    }
}
