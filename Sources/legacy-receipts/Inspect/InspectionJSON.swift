import AppStoreModels
import LegacyReceipts

/// An inspection as JSON: one object.
enum InspectionJSON {
    static func object(_ members: (inout JSONWriter) throws -> Void) rethrows -> String {
        Printable.json(String(decoding: try JSONWriter.object(members), as: UTF8.self))
    }

    /// Writes the members of an object.
    static func write(_ inspection: ReceiptInspection, to writer: inout JSONWriter) {
        switch inspection.verdict {
        case .success(let evidence): write(evidence, to: &writer)
        case .failure(let error): write(error, to: &writer)
        }
        writer.member("form", inspection.form.rawValue)
        writer.member("bytes", Int64(inspection.byteCount))
        switch inspection.receipt?.payload {
        case .app(let receipt): write(receipt, to: &writer)
        case .transaction(let receipt): write(receipt, to: &writer)
        case nil: break
        }
        if !inspection.attributes.isEmpty { write(inspection.attributes, to: &writer) }
        writer.objects("certificates", inspection.certificates) { writer, certificate in
            writer.member("subject", certificate.subject)
            writer.member("issuer", certificate.issuer)
            writer.member("serialNumber", certificate.serialNumber)
            writer.member("notBefore", certificate.notBefore)
            writer.member("notAfter", certificate.notAfter)
            writer.member("sha256", certificate.fingerprint.description)
            writer.member("isCertificateAuthority", certificate.isCertificateAuthority)
            writer.member("markers", certificate.markers)
        }
        writer.objects("checks", inspection.checks) { InspectedCheck($1).writeMembers(to: &$0) }
    }

    static func write(_ evidence: SignatureEvidence, to writer: inout JSONWriter) {
        writer.member("verdict", "genuine")
        writer.member("anchor", evidence.anchor.rawValue)
        writer.member("digestAlgorithm", evidence.digestAlgorithm.rawValue)
        writer.member("leaf", evidence.leaf.description)
        writer.member("trustAnchor", evidence.trustAnchor.description)
        writer.member("validationTime", evidence.validationTime)
    }

    /// Writes the members of an object.
    static func write(_ error: ReceiptError, to writer: inout JSONWriter) {
        writer.member("verdict", error.verdict.rawValue)
        writer.member("code", error.code.rawValue)
        writer.member("message", error.message)
        switch error.location {
        case .input: break
        case .byte(let offset): writer.member("byte", Int64(offset))
        case .attribute(let type, let purchase):
            writer.member("attribute", type)
            writer.member("purchase", purchase.map { Int64($0) })
        case .key(let key): writer.member("key", key)
        case .certificate(let index): writer.member("certificate", Int64(index))
        }
    }

    private static func write(_ receipt: AppReceipt, to writer: inout JSONWriter) {
        writer.member("kind", "appReceipt")
        writer.member("environment", receipt.environment?.rawValue)
        writer.member("trailingBytes", Int64(receipt.trailingByteCount))
    }

    private static func write(_ receipt: TransactionReceipt, to writer: inout JSONWriter) {
        writer.member("kind", "transactionReceipt")
        writer.member("environment", receipt.environment.rawValue)
        writer.member("environmentContradiction", receipt.hasEnvironmentContradiction)
        write("purchaseInfo", receipt.purchaseInfo, to: &writer)
        writer.object("unsigned") { writer in
            writer.member("environment", receipt.claimedEnvironment)
            writer.member("pod", receipt.pod)
            writer.member("signingStatus", receipt.signingStatus)
            write("other", receipt.otherOuterEntries, to: &writer)
        }
        writer.member("signatureVersion", receipt.signature.map { Int64($0.version) })
    }

    /// As an array of pairs: keys may repeat.
    private static func write(
        _ name: StaticString, _ entries: [TransactionReceipt.Entry], to writer: inout JSONWriter
    ) {
        writer.objects(name, entries) { writer, entry in
            writer.member("key", entry.key)
            writer.member("value", entry.value)
        }
    }

    private static func write(_ attributes: [RawAttribute], to writer: inout JSONWriter) {
        writer.objects("attributes", attributes.filter { $0.type != 17 }) { writer, attribute in
            write(attribute, AttributeNames.app[attribute.type], to: &writer)
        }
        writer.array("purchases", attributes.filter { $0.type == 17 }) { writer, purchase in
            writer.objects(purchase.nestedAttributes()) { writer, attribute in
                write(attribute, AttributeNames.purchase[attribute.type], to: &writer)
            }
        }
    }

    private static func write(_ attribute: RawAttribute, _ name: String?, to writer: inout JSONWriter) {
        writer.member("type", attribute.type)
        writer.member("version", attribute.version)
        writer.member("name", name)
        switch attribute.content {
        case .integer(let number): writer.member("value", number)
        case .text(let text): writer.member("value", text)
        case .bytes: break
        }
        writer.member("hex", Printable.hex(attribute.value))
    }
}
