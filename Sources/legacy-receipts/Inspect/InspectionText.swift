import AppStoreModels
import LegacyReceipts

/// An inspection as text.
enum InspectionText {
    static func lines(_ inspection: ReceiptInspection) -> [String] {
        var lines = [verdict(inspection.verdict)]
        if case .success = inspection.verdict { lines += inspection.checks.compactMap(objection) }
        lines.append("")
        lines.append("\(inspection.form.rawValue), \(inspection.byteCount) bytes")
        switch inspection.receipt?.payload {
        case .app(let receipt): lines += app(receipt, inspection.attributes)
        case .transaction(let receipt): lines += transaction(receipt)
        case nil:
            lines.append("  (the contents cannot be read as a receipt)")
            if !inspection.attributes.isEmpty { lines += attributes(inspection.attributes) }
        }
        lines += ["", "Certificates"] + inspection.certificates.flatMap(certificate)
        lines += ["", "Checks"] + inspection.checks.map { InspectedCheck($0).line(width: 22) }
        return lines
    }

    static func text(_ error: ReceiptError) -> String { verdict(.failure(error)) }

    /// A check that failed without causing a rejection of the receipt.
    private static func objection(_ check: ReceiptInspection.Check) -> String? {
        guard case .failed(let error) = check.outcome else { return nil }
        return "  But: \(Printable.text(error.message))"
    }

    private static func verdict(_ verdict: Result<SignatureEvidence, ReceiptError>) -> String {
        switch verdict {
        case .success(let evidence):
            genuine(evidence, with: "RSA")
        case .failure(let error):
            "\(error.verdict == .notGenuine ? "Not genuine" : "Not a receipt") (\(error.code.rawValue)): "
                + Printable.text(error.message)
        }
    }

    /// - Parameters:
    ///   - evidence: what the signature proves.
    ///   - algorithm: of the signature.
    static func genuine(_ evidence: SignatureEvidence, with algorithm: String) -> String {
        "Genuine: \(anchor(evidence.anchor)); \(evidence.digestAlgorithm.rawValue) with \(algorithm); certificates checked for "
            + DateText.iso(evidence.validationTime)
    }

    private static func anchor(_ anchor: SignatureEvidence.Anchor) -> String {
        switch anchor {
        case .apple: "signed under a pinned Apple root"
        case .pinnedLeaf: "signed with a pinned Apple leaf certificate"
        case .additionalRoot: "signed under a root that YOU added, not Apple's"
        case .xcode: "signed by Xcode, which you chose to accept; its key is public"
        }
    }

    // MARK: App receipts

    private static func app(_ receipt: AppReceipt, _ attributes: [RawAttribute]) -> [String] {
        var lines = self.attributes(attributes)
        if let environment = receipt.environment {
            lines.append("  Counts as \(Printable.text(environment.rawValue)).")
        }
        if receipt.trailingByteCount > 0 {
            lines.append(
                "  (\(receipt.trailingByteCount) bytes follow the receipt; they are not signed and were ignored)")
        }
        return lines + purchases(attributes)
    }

    private static func attributes(_ attributes: [RawAttribute]) -> [String] {
        ["", "App receipt"]
            + attributes.filter { $0.type != 17 }.sorted { $0.type < $1.type }
            .map { row($0, AttributeNames.app[$0.type]) }
    }

    private static func purchases(_ attributes: [RawAttribute]) -> [String] {
        let purchases = attributes.filter { $0.type == 17 }
        var lines = ["", "Purchases: \(purchases.count)"]
        for (index, purchase) in purchases.enumerated() {
            lines.append("  #\(index)")
            lines += purchase.nestedAttributes().sorted { $0.type < $1.type }
                .map { "  " + row($0, AttributeNames.purchase[$0.type]) }
        }
        return lines
    }

    private static func row(_ attribute: RawAttribute, _ name: String?) -> String {
        let label = "\(attribute.type)".padded(to: 5) + (name ?? "(unknown)").padded(to: 30)
        return "  \(label)\(attribute.readableValue)"
    }

    // MARK: Transaction receipts

    private static func transaction(_ receipt: TransactionReceipt) -> [String] {
        var lines = ["", "Transaction receipt, signed part"]
        lines += receipt.purchaseInfo.map { "  \(Printable.text($0.key).padded(to: 32))\(Printable.text($0.value))" }
        lines += ["", "Not signed (anyone can edit these)"]
        lines.append("  \("environment".padded(to: 32))\(Printable.text(receipt.claimedEnvironment ?? "(absent)"))")
        lines.append("  \("pod".padded(to: 32))\(Printable.text(receipt.pod ?? "(absent)"))")
        lines.append("  \("signing-status".padded(to: 32))\(Printable.text(receipt.signingStatus ?? "(absent)"))")
        lines += receipt.otherOuterEntries.map {
            "  \(Printable.text($0.key).padded(to: 32))\(Printable.text($0.value))"
        }
        lines.append("  Counts as \(receipt.environment.rawValue).")
        if let signature = receipt.signature { lines.append("  Signature version \(signature.version)") }
        return lines
    }

    private static func certificate(_ certificate: CertificateFacts) -> [String] {
        [
            "  #\(certificate.index) \(Printable.text(certificate.subject))",
            "     issued by  \(Printable.text(certificate.issuer))",
            "     serial     \(certificate.serialNumber)",
            "     valid      \(DateText.iso(certificate.notBefore)) to \(DateText.iso(certificate.notAfter))",
            "     SHA-256    \(certificate.fingerprint)",
            "     markers    \(certificate.markers.isEmpty ? "none" : certificate.markers.joined(separator: ", "))",
        ]
    }
}

extension String {
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}
