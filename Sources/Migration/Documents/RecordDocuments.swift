import AppStoreModels
import Purchases

/// The recognized documents of one record, sorted by outcome.
struct RecordDocuments {
    /// The receipts and JWS that were verified, including the receipts inside recorded documents.
    var verified: [VerifiedDocument] = []
    /// The unsigned documents.
    var recorded: [RecordedDocument] = []
    /// Valid recorded documents that grant nothing.
    var silent: [RefusedDocument] = []
    /// The documents that are not migrated.
    var refused: [RefusedDocument] = []
    /// The verified documents of excluded apps and environments, which are also in ``refused``, and the verified
    /// receipts inside excluded documents.
    var excluded: [VerifiedDocument] = []
    /// Why the first excluded document was excluded; nil if there is none.
    private(set) var exclusion: QuarantineReason?
    /// Whether a document, refused or not, states no app.
    var hasDocumentWithoutApp = false
    /// Whether ``clear()`` removed the remaining documents.
    private var isCleared = false
    /// The unverified receipts inside stored documents. Those inside other documents are quarantined with their
    /// documents.
    private(set) var unverified: [UnverifiedReceipt] = []
    /// Whether other options may verify a receipt or JWS, also if nothing waits for it.
    var hasUnverified = false
    /// Why the first receipt or JWS that other options may verify was not; nil if there is none.
    private(set) var reasonToWait: QuarantineReason?
    /// The first document that was not migrated and has no meaning without the rest of its record: a row beside
    /// documents, or a reply without purchases. If there is one, the whole record is quarantined.
    private(set) var waiting: RefusedDocument?
    /// The documents among ``refused`` that are receipts or JWS that other options may verify.
    private var unverifiedPlaces: [PlaceOfRow] = []
    /// The texts of the receipts that are already quarantined: as documents, or in ``unverified``.
    private var keptReceipts: Set<[UInt8]> = []
    /// Unsigned StoreKit 2 transactions, until ``finish(_:)`` combines them into one recorded document.
    var storeKit2: [DecodedTransaction] = []

    // MARK: The outcomes of documents

    mutating func refuse(_ document: InputDocument, _ kind: RecordKind, _ reason: QuarantineReason) {
        refused.append(RefusedDocument(document: document, kind: kind, reason: reason))
    }

    /// Refuses documents of an excluded app or environment.
    mutating func exclude(_ documents: [RefusedDocument]) {
        refused += documents
        exclusion = exclusion ?? documents.first?.reason
    }

    /// Excludes an unsigned document, or some of its rows.
    mutating func exclude(_ document: RecordedDocument, _ reason: QuarantineReason, rows: Set<Int>? = nil) {
        refuse(document, reason, rows: rows)
        exclusion = exclusion ?? reason
    }

    /// Refuses an unsigned document, or some of its rows. One that has no meaning without the others waits with its record.
    mutating func refuse(_ document: RecordedDocument, _ reason: QuarantineReason, rows: Set<Int>? = nil) {
        guard !document.needsItsRecord else { return wait(document.refused(reason)) }
        refused += rows.map { document.refused(reason, rows: $0) } ?? document.allRefused(reason)
    }

    /// Quarantines the whole record, because this document has no meaning without the others.
    mutating func wait(_ document: RefusedDocument) { waiting = waiting ?? document }

    /// Makes documents that depend on a receipt or JWS wait, because other options may verify it.
    mutating func waitForSigned(_ reason: QuarantineReason) { reasonToWait = reasonToWait ?? reason }

    /// The same for one that is a document of its own. Rows can be beside it.
    mutating func waitForSigned(_ document: InputDocument, _ reason: QuarantineReason) {
        waitForSigned(reason)
        unverifiedPlaces.append(
            PlaceOfRow(carried: document.carried, bundleId: nil, environment: nil, path: document.path))
    }

    /// Marks a refused receipt as kept. ``keep(_:)`` then skips copies of it inside other documents.
    mutating func refuseReceipt(_ text: [UInt8]) { keptReceipts.insert(text) }

    /// Keeps the unverified receipts inside a stored document, each once.
    mutating func keep(_ receipts: [UnverifiedReceipt]) {
        unverified += receipts.filter { keptReceipts.insert($0.text).inserted }
    }

    /// Refuses all recorded documents, because the record has no verified one.
    mutating func refuseRecorded() {
        for document in recorded { refused += document.allRefused(.recordedNotAccepted) }
        recorded = []
    }

    /// Removes the remaining documents. The record is then quarantined as a whole.
    mutating func clear() {
        isCleared = true
        verified = []
        recorded = []
    }

    /// Combines the unsigned StoreKit 2 transactions, and sorts the verified documents, once all documents are read.
    mutating func finish(_ mapper: ReceiptMapper) {
        combineStoreKit2(mapper)
        removeCopies()
    }

    private mutating func combineStoreKit2(_ mapper: ReceiptMapper) {
        guard let first = storeKit2.first else { return }
        let (mapping, places) = mapper.map(recorded: storeKit2.map { ($0.payload, $0.surroundings) })
        let rows = places.map { (asOf: AsOf(recorded: storeKit2[$0].payload), document: storeKit2[$0].document) }
        recorded.append(
            RecordedDocument(
                mapping: mapping, kind: .storeKit2JSON, document: first.document, rows: rows,
                owned: storeKit2.map { ($0.payload, $0.document) },
                isCompletedBeside: storeKit2.contains(where: \.isCompletedBeside)))
    }

    /// Sorts the verified documents, the newest first, and removes duplicates: records often contain a receipt and Apple's
    /// reply, which repeats it.
    private mutating func removeCopies() {
        guard verified.count > 1 else { return }
        var places: [String: Int] = [:]
        var different: [VerifiedDocument] = []
        for document in verified {
            if let place = places[document.content.sha256] {
                different[place].besideCopies.append(document.carried)
            } else {
                places[document.content.sha256] = different.count
                different.append(document)
            }
        }
        verified = different
        // The order of the documents in the record does not matter.
        verified.sort(by: VerifiedDocument.isNewer)
    }

    // MARK: The reasons for quarantining a whole record

    /// The reason and the kind of a record with nothing to migrate; nil if it has no documents.
    var rejection: (reason: QuarantineReason, kind: RecordKind)? {
        var documents = refused
        if let waiting { documents.append(waiting) }
        documents += silent + recorded.map { $0.refused(.nothingInside) }
        guard let first = documents.first(where: { $0.document.payload.isReceipt }) ?? documents.first else {
            return nil
        }
        // An unreadable receipt keeps its own reason.
        let isExcluded = isCleared || !first.document.payload.isReceipt
        return (isExcluded ? exclusion ?? first.reason : first.reason, first.kind)
    }

    /// The reason and the kind of a record with nothing that a store can keep.
    var filingRejection: (reason: QuarantineReason, kind: RecordKind) {
        let notFiled = refused.first { $0.reason.code == QuarantineReason.notFiled.code }
        return ((notFiled ?? waiting)?.reason ?? .notFiled, (refused.first ?? waiting)?.kind ?? .unrecognized)
    }

    // MARK: What the documents state together

    private var allVerified: [VerifiedDocument] { verified + excluded }

    /// The verified documents, also those that a filter excludes, the newest first.
    var signedNewestFirst: [VerifiedDocument] { allVerified.sorted(by: VerifiedDocument.isNewer) }

    /// The documents beside which a row can be, the signed ones first.
    var placesOfRows: [PlaceOfRow] {
        let signed = signedNewestFirst.map(\.place)
        let unsigned = recorded.flatMap { recorded -> [PlaceOfRow] in
            // Decoded transactions of several apps can be in one record.
            let mapping = recorded.owned.isEmpty ? recorded.mapping : nil
            return recorded.documents.map { document in
                PlaceOfRow(
                    carried: document.carried, bundleId: mapping?.statedBundleId, environment: mapping?.environment,
                    path: document.path)
            }
        }
        return signed + unsigned + unverifiedPlaces
    }

    /// The apps that the documents and the columns beside them state.
    private var statedBundleIds: Set<String> {
        Set(
            allVerified.compactMap(\.content.bundleId)
                + recorded.filter(\.owned.isEmpty).compactMap(\.mapping.statedBundleId)
                + storeKit2.compactMap(\.bundleId))
    }

    /// The environments that they state. If one id is a sandbox id, the other ids may be too, because a reply has one
    /// environment.
    private var statedEnvironments: Set<Environment> {
        Set(
            allVerified.compactMap(\.content.environment)
                + recorded.filter(\.owned.isEmpty).flatMap(\.mapping.statedEnvironments)
                + storeKit2.compactMap(\.environment))
    }

    /// The defaults that no document of the record contradicts. None if a receipt or JWS that was not verified may do so.
    func uncontradicted(_ defaults: DocumentDefaults) -> DocumentDefaults {
        guard !defaults.isEmpty, !hasUnverified else { return DocumentDefaults() }
        let scope = defaults.scope.uncontradicted(by: statedBundleIds, statedEnvironments)
        return DocumentDefaults(bundleId: scope.bundleId?.value, environment: scope.environment?.value)
    }

    /// Whether one of several documents states an app or an environment, or may do so with other options.
    var hasScopeBesideOthers: Bool {
        let count = allVerified.count + recorded.filter(\.owned.isEmpty).count + storeKit2.count
        return hasUnverified || count > 1 && !(statedBundleIds.isEmpty && statedEnvironments.isEmpty)
    }

    /// The transactions that the documents state.
    private var transactions: [MappedTransaction] {
        allVerified.flatMap(\.content.mapped.transactions) + recorded.flatMap(\.mapping.transactions)
    }

    /// The ids of these transactions.
    var transactionIds: Set<String> { Set(transactions.compactMap(\.payload.transactionId)) }

    /// The subscriptions in these transactions.
    var subscriptions: StatedSubscriptions { StatedSubscriptions(transactions.lazy.map(\.payload)) }

    /// The bytes of the columns beside all purchases, renewals, apps and unverified receipts.
    /// - Parameter size: the bytes of the columns beside one of them, by the columns of its document.
    func columnBytes(_ size: ([CarriedColumn]) -> Int) -> Int {
        var total = unverified.reduce(0) { $0 + size($1.carried) }
        for document in verified {
            let mapped = document.content.mapped
            total += (mapped.transactions.count + mapped.renewalInfos.count) * size(document.carried)
        }
        for document in recorded {
            let (mapping, common) = (document.mapping, size(document.document.carried))
            let others = document.unverified.count + (mapping.appTransaction == nil ? 0 : 1)
            total += (mapping.transactions.count + mapping.renewalInfos.count + others) * common
            // StoreKit 2 transactions have columns of their own.
            total += document.rows.reduce(0) { $0 + size($1.document.carried) - common }
        }
        return total
    }

    /// The kind of the recorded document, because it contains the receipts. Decoded JSON does not count: it stands
    /// beside its JWS.
    var kind: RecordKind {
        let main = verified.first { !$0.content.mapped.transactions.isEmpty } ?? verified.first
        let document = recorded.first { $0.kind != .storeKit2JSON && !$0.isRowBeside }
        return document?.kind ?? main?.content.kind ?? recorded.first?.kind ?? .unrecognized
    }

    var environment: Environment? {
        verified.first?.content.environment ?? recorded.lazy.compactMap(\.mapping.environment).first
    }
}

/// An unsigned StoreKit 2 transaction, and the values that other parts of its record state about it.
struct DecodedTransaction {
    let payload: JWSTransactionDecodedPayload
    var surroundings: RecordedSurroundings
    let document: InputDocument
    /// Whether its app or its environment is that of a verified document in the same record.
    var isCompletedBeside = false

    var bundleId: String? { payload.bundleId ?? surroundings.bundleId?.value }

    var environment: Environment? { payload.environmentOfDecoded ?? surroundings.environment?.value }
}

/// A document that is not migrated.
struct RefusedDocument {
    let document: InputDocument
    let kind: RecordKind
    let reason: QuarantineReason
}
