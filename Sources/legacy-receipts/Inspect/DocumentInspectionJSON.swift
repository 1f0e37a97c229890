import AppStoreModels
import AppStoreServer
import Migration

/// The inspection of documents that are no receipts by themselves, as JSON: one object. Several documents are its member
/// `documents`.
enum DocumentInspectionJSON {
    static func text(_ documents: [DocumentInspection]) -> String {
        InspectionJSON.object { writer in
            if documents.count == 1, let document = documents.first { return write(document, to: &writer) }
            writer.objects("documents", documents) { writer, document in
                write(document, to: &writer)
            }
        }
    }

    static func text(_ content: DocumentInspection.Content) -> String {
        InspectionJSON.object { write(content, to: &$0) }
    }

    private static func write(_ document: DocumentInspection, to writer: inout JSONWriter) {
        if !document.path.isEmpty { writer.member("path", document.path) }
        write(document.content, to: &writer)
    }

    private static func write(_ content: DocumentInspection.Content, to writer: inout JSONWriter) {
        switch content {
        case .receipt(let inspection): InspectionJSON.write(inspection, to: &writer)
        case .unreadable(let error): InspectionJSON.write(error, to: &writer)
        case .signedData(let inspection): write(inspection, to: &writer)
        case .recorded(let inspection): write(inspection, to: &writer)
        }
    }

    // MARK: JWS

    private static func write(_ inspection: SignedDataInspection, to writer: inout JSONWriter) {
        switch inspection.verdict {
        case .success(let evidence): InspectionJSON.write(evidence, to: &writer)
        case .failure(let error):
            writer.member("verdict", error.verdict.rawValue)
            writer.member("code", error.code.rawValue)
            writer.member("message", error.message)
            writer.member("member", error.member)
        }
        writer.member("form", "jws")
        writer.member("bytes", Int64(inspection.byteCount))
        writer.member("kind", inspection.kind?.rawValue)
        if let payload = inspection.payload?.payload {
            writer.key("payload")
            writer.value(.object(payload))
        }
        writer.objects("certificates", inspection.certificates) { writer, certificate in
            writer.member("subject", certificate.subject)
            writer.member("issuer", certificate.issuer)
            writer.member("serialNumber", certificate.serialNumber)
            writer.member("notBefore", certificate.validity?.lowerBound)
            writer.member("notAfter", certificate.validity?.upperBound)
            writer.member("sha256", certificate.fingerprint.description)
        }
        writer.objects("checks", inspection.checks) { InspectedCheck($1).writeMembers(to: &$0) }
        guard !inspection.nested.isEmpty else { return }
        writer.objects("nested", inspection.nested) { writer, entry in
            let (member, nested) = entry
            writer.member("path", member)
            write(nested, to: &writer)
        }
    }

    // MARK: Documents without a signature

    private static func write(_ inspection: RecordedInspection, to writer: inout JSONWriter) {
        writer.member("verdict", "notSigned")
        writer.member("kind", inspection.kind.rawValue)
        writer.key("value")
        writer.value(inspection.value)
        writer.objects("checks", inspection.checks) { InspectedCheck($1).writeMembers(to: &$0) }
        writer.objects("receipts", inspection.receipts) { writer, entry in
            let (key, content) = entry
            writer.member("path", key)
            write(content, to: &writer)
        }
    }
}
