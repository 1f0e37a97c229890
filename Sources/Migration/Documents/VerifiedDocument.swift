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

    static func isNewer(_ left: VerifiedDocument, _ right: VerifiedDocument) -> Bool {
        left.content.record.isNewer(than: right.content.record)
    }
}

/// The content of a receipt or JWS that was verified and mapped.
struct VerifiedContent {
    let kind: RecordKind
    var mapped: MappedReceipt
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

    var reference: SignedReference { record.reference }

    /// For comparison with the rows and the other documents of the record.
    var record: SignedRecord { SignedRecord(sha256: sha256, receipt: mapped) }
}
