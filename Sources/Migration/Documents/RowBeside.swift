import AppStoreModels
import LegacyReceipts
import Purchases

/// The purchase that the columns beside a document state in the form of a row of `latest_receipt_info`. The columns are the
/// caller's own, so it counts only if no document of the record states the purchase.
struct RowBeside {
    let transactionId: String
    let object: JSONObject
    private let productId: String
    private let hasOriginalId: Bool
    private let hasExpiry: Bool

    private static let id = "transaction_id"

    /// Nil if the columns are no such row, or a purchase of another store.
    /// - Parameter columns: the columns beside the document; those of the containers around it come first.
    init?(_ columns: [CarriedColumn]) {
        guard columns.count > 1,
            let id = columns.last(where: { $0.name == Self.id || $0.name.hasSuffix(".transaction_id") }),
            let transactionId = id.content, Self.isId(transactionId)
        else { return nil }
        let container = id.name.dropLast(Self.id.count)
        var names: Set<String> = []
        var members: [JSONObject.Member] = []
        var product: String?
        for column in columns where column.name.hasPrefix(container) {
            let name = String(column.name.dropFirst(container.count))
            guard let value = column.stated, names.insert(name).inserted else { continue }
            members.append(JSONObject.Member(key: name, value: value))
            if name == "product_id" { product = column.content }
        }
        guard let product, !OtherStore.isNamed(in: JSONObject(members: members)) else { return nil }
        self.transactionId = transactionId
        productId = product
        hasOriginalId = names.contains("original_transaction_id")
        hasExpiry = names.contains { $0.hasPrefix("expires_date") }
        object = JSONObject(members: members.filter { WireVocabulary.row.contains($0.key) })
    }

    /// Whether the purchase may be a period of one of these subscriptions.
    func mayContinue(_ subscriptions: StatedSubscriptions) -> Bool {
        subscriptions.mayContinue(inRowOf: productId, hasOriginalId: hasOriginalId, hasExpiry: hasExpiry)
    }

    private static func isId(_ text: String) -> Bool {
        text.utf8.count <= InputLimits.transactionIDDigits && text.utf8.allSatisfy(\.isDigit)
    }
}

/// A document beside which the columns can be a row.
struct PlaceOfRow {
    /// The columns beside the document alone.
    let carried: [CarriedColumn]
    /// The app and the environment that the document states.
    let bundleId: String?
    let environment: Environment?
    /// The place of the document in the record; nil if it is inside another one.
    let path: String?
}

extension RowBeside {
    /// The row as a document of its own.
    func document(_ beside: PlaceOfRow) -> InputDocument {
        InputDocument(payload: .transactions(.object(object)), path: "", carried: beside.carried, text: [])
    }
}

extension PlaceOfRow {
    /// The app and the environment that the document states.
    var scope: RecordScope {
        RecordScope(
            bundleId: bundleId, environment: environment, name: path.flatMap { $0.isEmpty ? nil : $0 } ?? "receipt")
    }
}

extension CarriedColumn {
    /// The value, if it is one of a row; nil for words in place of null, objects and arrays.
    fileprivate var stated: JSONValue? {
        guard content != nil else { return nil }
        switch value {
        case .text(let text): return .string(text)
        case .json(let json): return try? JSONValue.parse(Array(json.utf8))
        }
    }
}

// Reads the columns beside documents as rows of `latest_receipt_info`, if no document states their purchases.
extension DocumentReader {
    /// Reads the rows beside the documents of a record. Call this after the documents were read: a record without a
    /// document is quarantined as a whole.
    ///
    /// A receipt decides about a row even if it is not migrated. It may state the purchase, and the row gets the app
    /// and the environment of the newest receipt. So a filter excludes a row with its receipt, and a row waits for a
    /// receipt or JWS that other options may verify. A document that was quarantined alone has no rows: they were read
    /// with its record.
    func readRows(of record: InputRecord, into read: inout RecordDocuments, _ counts: inout BatchCounts) {
        guard record.path.isEmpty, !read.verified.isEmpty || !read.recorded.isEmpty else { return }
        var seen: Set<[UInt8]> = []
        var known: (ids: Set<String>, subscriptions: StatedSubscriptions)?
        // Not with the rows: their order would matter.
        let defaults = roles.roles(of: record, beside: read).defaults
        for beside in read.placesOfRows {
            guard let row = RowBeside(record.carried + beside.carried),
                seen.insert(JSONValue.object(row.object).json).inserted
            else { continue }
            let found = known ?? (ids: read.transactionIds, subscriptions: read.subscriptions)
            known = found
            guard !found.ids.contains(row.transactionId),
                isRead(row, beside: found.subscriptions, &counts)
            else { continue }
            if let reason = read.reasonToWait {
                read.wait(RefusedDocument(document: row.document(beside), kind: .latestReceiptInfo, reason: reason))
            } else {
                self.read(row, beside, defaults: defaults, of: record, into: &read, &counts)
            }
        }
    }

    /// The row beside a receipt; nil if the receipt states its purchase, or if the row is not read.
    func unstatedRow(
        of record: InputRecord, in counts: inout BatchCounts, besideReceipt decoded: () -> LegacyReceipt?
    ) -> RowBeside? {
        guard record.path.isEmpty, let row = RowBeside(record.carried) else { return nil }
        let receipt = decoded()
        guard receipt?.states(row.transactionId) != true else { return nil }
        return isRead(row, beside: StatedSubscriptions(receipt), &counts) ? row : nil
    }

    /// Reads a row beside a document as a recorded document.
    /// - Parameters:
    ///   - row: the row.
    ///   - beside: the place of the row in the record.
    ///   - defaults: those that count for it.
    ///   - record: the record with the row.
    ///   - read: gets the document.
    ///   - counts: gets what was not read.
    func read(
        _ row: RowBeside, _ beside: PlaceOfRow, defaults: DocumentDefaults, of record: InputRecord,
        into read: inout RecordDocuments, _ counts: inout BatchCounts
    ) {
        let document = row.document(beside)
        var stated = roles.surroundings(of: document, in: record, &counts)
        stated.complete(from: beside.scope)
        var counting = roles.roles(of: record)
        counting.defaults = defaults
        stated.complete(from: counting.defaults(beside: record.carried + document.carried))
        do throws(RecordedReplyError) {
            let mapping = mapper.map(try RecordedReply(.object(row.object), beside: stated))
            // Columns of the caller's own can have Apple's names.
            guard mapping.transactions.allSatisfy({ $0.payload.hasDecimalIds && $0.payload.purchaseDate != nil })
            else { throw RecordedReplyError(.nothingInside) }
            read.recorded.append(
                RecordedDocument(mapping: mapping, kind: .latestReceiptInfo, document: document, isRowBeside: true))
        } catch {
            counts.note("rowNotRead")
        }
    }

    /// Whether to read a row whose purchase no document states. Counts a row that is not read. A row is not read if it may be a
    /// period of a stated subscription.
    private func isRead(
        _ row: RowBeside, beside subscriptions: StatedSubscriptions, _ counts: inout BatchCounts
    ) -> Bool {
        if !acceptsRecorded {
            counts.note("recordedRowsLeftOut")
        } else if row.mayContinue(subscriptions) {
            counts.note("rowNotRead")
        } else {
            return true
        }
        return false
    }
}

extension LegacyReceipt {
    /// Whether the receipt states a transaction.
    fileprivate func states(_ transactionId: String) -> Bool {
        switch self {
        case .app(let receipt): receipt.inAppPurchases.contains { $0.transactionId == transactionId }
        case .transaction(let receipt): receipt.transactionId == transactionId
        }
    }
}
