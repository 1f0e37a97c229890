import AppStoreModels
import AppStoreServer
import LegacyReceipts
import Migration

/// The inspection of documents that are no receipts by themselves, as text.
enum DocumentInspectionText {
    static func text(_ documents: [DocumentInspection]) -> String {
        documents.enumerated().flatMap { place, document in
            (place == 0 ? [] : [""])
                + (documents.count == 1
                    ? [] : ["Document \(place + 1) of \(documents.count): \(name(document.path))", ""])
                + lines(document.content)
        }.joined(separator: "\n")
    }

    static func text(_ content: DocumentInspection.Content) -> String { lines(content).joined(separator: "\n") }

    private static func name(_ path: String) -> String { path.isEmpty ? "the input itself" : Printable.text(path) }

    private static func lines(_ content: DocumentInspection.Content) -> [String] {
        switch content {
        case .receipt(let inspection): InspectionText.lines(inspection)
        case .unreadable(let error): [InspectionText.text(error)]
        case .signedData(let inspection): lines(inspection)
        case .recorded(let inspection): lines(inspection)
        }
    }

    // MARK: JWS

    private static func lines(_ inspection: SignedDataInspection) -> [String] {
        var lines = [verdict(inspection), "", "\(name(inspection.kind)), JWS, \(inspection.byteCount) bytes"]
        if let payload = inspection.payload?.payload {
            lines += payload.members.flatMap { member($0.key, $0.value, indent: "  ") }
        } else {
            lines.append("  (the payload cannot be read)")
        }
        lines += ["", "Certificates"] + inspection.certificates.flatMap(certificate)
        lines += ["", "Checks"] + inspection.checks.map { InspectedCheck($0).line(width: 24) }
        for (member, nested) in inspection.nested {
            lines += ["", member] + Self.lines(nested).map { $0.isEmpty ? "" : "  \($0)" }
        }
        return lines
    }

    private static func verdict(_ inspection: SignedDataInspection) -> String {
        switch inspection.verdict {
        case .success(let evidence): InspectionText.genuine(evidence, with: "ECDSA")
        case .failure(let error):
            "\(error.verdict == .notGenuine ? "Not genuine" : "Not a JWS of the App Store") (\(error.code.rawValue)): "
                + Printable.text(error.message)
        }
    }

    private static func name(_ kind: SignedDataKind?) -> String {
        switch kind {
        case .transaction: "Signed transaction"
        case .renewalInfo: "Signed renewal info"
        case .appTransaction: "Signed app transaction"
        case .notification: "Notification, version 2"
        case nil: "Unknown kind"
        }
    }

    private static func certificate(_ certificate: SignedDataInspection.CertificateFacts) -> [String] {
        let validity = certificate.validity.map {
            "\(DateText.iso($0.lowerBound)) to \(DateText.iso($0.upperBound))"
        }
        return [
            "  #\(certificate.index) \(Printable.text(certificate.subject))",
            "     issued by  \(Printable.text(certificate.issuer))",
            "     serial     \(certificate.serialNumber)",
            "     valid      \(validity ?? "never")",
            "     SHA-256    \(certificate.fingerprint)",
        ]
    }

    // MARK: Documents without a signature

    private static func lines(_ inspection: RecordedInspection) -> [String] {
        var lines = ["Not signed: nothing proves that the document is genuine", "", "\(inspection.kind.rawValue)"]
        if let object = inspection.value.object {
            lines += object.members.flatMap { member($0.key, $0.value, indent: "  ") }
        } else {
            lines += (inspection.value.array ?? []).enumerated().flatMap { member("\($0)", $1, indent: "  ") }
        }
        lines += ["", "Checks"] + inspection.checks.map { InspectedCheck($0).line(width: 24) }
        for (key, content) in inspection.receipts {
            lines += ["", Printable.text(key)] + Self.lines(content).map { $0.isEmpty ? "" : "  \($0)" }
        }
        return lines
    }

    // MARK: Values

    /// Longer text is a receipt or a JWS, which has a section of its own.
    private static let longestText = 1_000

    /// One line, or a line for each member of an object. Deeper values are JSON on one line.
    static func member(_ name: String, _ value: JSONValue, indent: String) -> [String] {
        if indent.count == 2, let object = value.object {
            return ["\(indent)\(Printable.text(name))"]
                + object.members.flatMap { member($0.key, $0.value, indent: indent + "  ") }
        }
        return [indent + Printable.text(name).padded(to: 32) + text(value, of: name)]
    }

    private static func text(_ value: JSONValue, of name: String) -> String {
        if let text = value.string {
            if text.isEmpty { return "(empty)" }
            return text.utf8.count > longestText ? "(\(text.utf8.count) bytes)" : Printable.text(text)
        }
        if let number = value.integer {
            return DateText.iso(number, of: name).map { "\(number) (\($0))" } ?? String(number)
        }
        let json = String(decoding: value.json, as: UTF8.self)
        return json.utf8.count > longestText ? "(\(json.utf8.count) bytes of JSON)" : Printable.text(json)
    }
}
