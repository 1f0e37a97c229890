public import AppStoreModels
public import LegacyReceipts

/// Which kind of document states a mapped value.
public enum RecordStanding: String, Hashable, Sendable {
    /// A receipt whose signature was checked.
    case verifiedReceipt
    /// A JWS of the App Store whose signature was checked.
    case verifiedJWS
    /// A recorded reply, notification, row or decoded StoreKit 2 JSON. It has no signature, so it is only as
    /// trustworthy as the place where it was stored.
    case recorded
}

/// One purchase in modern terms, with the provenance of every field.
public struct MappedTransaction: Sendable, Equatable {
    /// The transaction. Values that no document, rule or catalog gives are absent.
    public package(set) var payload: JWSTransactionDecodedPayload {
        @inlinable _read { yield shared.payload }
        _modify { yield &shared.payload }
    }
    /// Where each field comes from.
    public package(set) var provenance: FieldProvenance<TransactionField>
    /// Facts that the fields cannot express.
    public package(set) var notes: [MappingNote] = []
    /// The start of the term of a non-renewing subscription, in milliseconds since 1970-01-01T00:00:00Z. It differs from
    /// the purchase date when purchases extend one another; `expiresDate` is the end. The modern model has no such field.
    public package(set) var termStart: Int64?
    /// Which kind of document states the transaction.
    public let standing: RecordStanding
    @usableFromInline var shared = SharedTransaction.empty

    package init(standing: RecordStanding, reservingFields count: Int = 0) {
        provenance = FieldProvenance(reservingCapacity: count)
        self.standing = standing
    }

    /// Whether the product is a free (Newsstand) subscription, which never expires.
    public var isFreeSubscription: Bool { notes.contains(.freeSubscription) }

    mutating func note(_ note: MappingNote) { notes.add(note) }
}

/// The download or purchase of the app in modern terms (Reference.md V9.4).
///
/// `originalPlatform` is always absent: attribute 25 states the platform that the receipt was made for, not the one on
/// which the customer first obtained the app. `appAppleId` and `versionExternalIdentifier` are absent if the record
/// states 0, as in the sandbox.
public struct MappedAppTransaction: Sendable, Equatable {
    /// The app transaction. Values that no document gives are absent.
    public package(set) var payload = AppTransaction()
    /// Data of the record in addition to the modern fields. A store keeps it; the lines of `migrate --stream` do not have it.
    public package(set) var legacy = LegacyAppTransactionFields()
    /// Where each field of ``payload`` comes from.
    public package(set) var provenance = FieldProvenance<AppTransactionField>(reservingCapacity: 10)
    /// Facts that the fields cannot express, each once.
    public package(set) var notes: [MappingNote] = []
    /// Which kind of document states the app transaction.
    public let standing: RecordStanding

    package init(standing: RecordStanding) {
        self.standing = standing
    }
}

/// The statement of a document about the next renewal of a subscription (Reference.md V9.3).
public struct MappedRenewalInfo: Sendable, Equatable {
    /// The renewal information. Values that no document gives are absent.
    public package(set) var payload = JWSRenewalInfoDecodedPayload()
    /// Where each field of ``payload`` comes from.
    public package(set) var provenance = FieldProvenance<RenewalInfoField>(reservingCapacity: 10)
    /// Facts that the fields cannot express, each once.
    public package(set) var notes: [MappingNote] = []
    /// Which kind of document states the renewal information. Receipts contain none.
    public let standing: RecordStanding

    package init(standing: RecordStanding = .recorded) {
        self.standing = standing
    }
}

/// A verified receipt, or signed StoreKit 2 data, in modern terms. Only ``ReceiptMapper`` creates one, and only from a
/// `Verified` payload. Code that grants access can require this type.
public struct MappedReceipt: Sendable {
    /// One transaction per purchase of the receipt, in the order of the receipt.
    public package(set) var transactions: [MappedTransaction]
    /// The statements from which the transactions were resolved.
    let stated: Stated
    /// The app itself; absent for a transaction receipt (iOS 6), which does not state when the app was obtained.
    public package(set) var appTransaction: MappedAppTransaction?
    /// Empty for a receipt, which states nothing about the next renewal (Reference.md V3.6).
    public package(set) var renewalInfos: [MappedRenewalInfo]
    /// Notes about the receipt as a whole.
    public let notes: [MappingNote]
    /// How the receipt was verified.
    public let evidence: SignatureEvidence
    /// When the receipt was signed; nil if it states no date at all.
    public let asOf: AsOf?

    enum Stated: Sendable {
        /// Only the other documents of a record need the statements of a receipt again, so they are not kept.
        case receipt(LegacyReceipt)
        case purchase(PurchaseStatement?)
    }

    /// The statements of the receipt, one element per transaction, in the same order.
    package var statements: [PurchaseStatement] {
        switch stated {
        case .receipt(.app(let receipt)): receipt.statements
        case .receipt(.transaction(let receipt)): [receipt.statement]
        case .purchase(let statement): statement.map { [$0] } ?? []
        }
    }
}
