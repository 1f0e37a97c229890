import AppStoreModels
import LegacyReceipts
import Purchases

/// A verified receipt or JWS of a record, and the columns beside it.
struct VerifiedDocument {
    let content: VerifiedContent
    let carried: [CarriedColumn]
    /// The columns beside copies of the document in the record. They can name other users.
    var besideCopies: [[CarriedColumn]] = []
    /// Nil for a receipt inside a recorded document.
    var document: InputDocument?

    /// The document as one beside which another can be.
    var place: PlaceOfRow {
        PlaceOfRow(
            carried: carried, bundleId: content.bundleId, environment: content.environment, path: document?.path)
    }

    /// A total order.
    static func isNewer(_ left: VerifiedDocument, _ right: VerifiedDocument) -> Bool {
        (left.content.date, left.content.sha256) > (right.content.date, right.content.sha256)
    }
}

/// The content of a receipt or JWS that was verified and mapped.
struct VerifiedContent {
    let kind: RecordKind
    let mapped: MappedReceipt
    let sha256: String
    /// What a store keeps of a receipt. Nil for lines, and for a receipt without an app or an environment to store it in.
    let facts: FactSet?
    /// The verified content, if it is a JWS.
    let signed: SignedDocument?

    var environment: Environment? {
        mapped.appTransaction?.payload.receiptType ?? mapped.transactions.first?.payload.environment
            ?? mapped.renewalInfos.first?.payload.environment
    }

    var bundleId: String? {
        mapped.appTransaction?.payload.bundleId ?? mapped.transactions.first?.payload.bundleId
    }

    /// The date of the receipt, in milliseconds since 1970-01-01T00:00:00Z; the newer of two receipts counts.
    var date: Int64 { mapped.asOf?.date ?? mapped.evidence.validationTime }

    var reference: SignedReference { SignedReference(sha256: sha256, asOf: mapped.asOf) }

    /// For comparison with the rows of the record.
    var record: SignedRecord {
        SignedRecord(reference: reference, receipt: mapped, date: date)
    }
}
