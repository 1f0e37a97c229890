import AppStoreModels
import LegacyReceipts
import Purchases

/// Reads the columns beside documents as rows of `latest_receipt_info`, if no document states their purchases.
struct RowBesideReader: Sendable {
    let mapper: ReceiptMapper
    /// The roles that this run gives to columns.
    let roles: ColumnRoles
    let acceptsRecorded: Bool

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
