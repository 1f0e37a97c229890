import AppStoreModels
import LegacyReceipts

/// Migrates records one by one: verifies, maps, writes. Holds no state of its own, so that batches can be worked on in
/// any order and give the same output.
struct RecordMigrator: Sendable {
    let verifier: ReceiptVerifier
    let mapper: ReceiptMapper
    let options: MigrationOptions
    /// Whether accepted documents are handed on whole.
    let collectsDocuments: Bool

    init(_ options: MigrationOptions, collectsDocuments: Bool = false) throws(ReceiptError) {
        self.options = options
        self.collectsDocuments = collectsDocuments
        verifier = try ReceiptVerifier(trust: options.trust, limits: options.limits)
        mapper = ReceiptMapper(catalog: options.catalog)
    }

    func migrate(_ batch: InputBatch) -> BatchOutput {
        var output = BatchOutput()
        migrate(batch, into: &output)
        return output
    }

    func migrate(_ batch: InputBatch, into output: inout BatchOutput) {
        for index in 0..<batch.count {
            output.counts.recordsRead += 1
            migrate(batch.record(index), into: &output)
        }
    }

    private func migrate(_ record: InputRecord, into output: inout BatchOutput) {
        switch record.payload {
        case .receipt(let stored, _): migrate(receipt: stored, of: record, into: &output)
        case .pair(let stored, let reply): migrate(receipt: stored, repliedWith: reply, of: record, into: &output)
        case .reply(let value): migrate(recorded: value, .verifyReceiptReply, of: record, into: &output)
        case .transactions(let value): migrate(recorded: value, .latestReceiptInfo, of: record, into: &output)
        case .notification(let value): migrate(recorded: value, .notificationV1, of: record, into: &output)
        case .jws: quarantine(record, .storeKit2JWS, .storeKit2JWS, into: &output)
        case .transactionID(let id):
            quarantine(record, .bareTransactionId, .transactionId, into: &output)
            if collectsDocuments { output.documents.append(.transactionId(id)) }
        case .unrecognised(let problem): quarantine(record, QuarantineReason(problem), .unrecognized, into: &output)
        }
    }

    private func quarantine(
        _ record: InputRecord, _ reason: QuarantineReason, _ kind: RecordKind, into output: inout BatchOutput
    ) {
        record.writeQuarantine(reason, kind: kind, to: &output.quarantine)
        output.counts.quarantined(kind, reason)
    }

    // MARK: Receipts

    private func verify(_ stored: ArraySlice<UInt8>) throws(RefusedReceipt) -> VerifiedRecord {
        var kind = RecordKind.notAReceipt
        do throws(ReceiptError) {
            let container = try ReceiptContainer(stored: stored, limits: options.limits)
            let mapped: MappedReceipt
            var document: MigratedDocument?
            switch container.form {
            case .pkcs7:
                kind = .appReceipt
                let receipt = try verifier.verifyAppReceipt(container.bytes)
                mapped = mapper.map(receipt)
                if collectsDocuments { document = .appReceipt(receipt, octets: container.bytes) }
            case .propertyList:
                kind = .transactionReceipt
                let receipt = try verifier.verifyTransactionReceipt(container.bytes)
                mapped = mapper.map(receipt)
                if collectsDocuments { document = .transactionReceipt(receipt, octets: container.bytes) }
            }
            return VerifiedRecord(
                kind: kind, mapped: mapped, sha256: Fingerprint(of: container.bytes).description, document: document)
        } catch {
            throw RefusedReceipt(kind: error.verdict == .notAReceipt ? .notAReceipt : kind, error: error)
        }
    }

    private func migrate(receipt stored: ArraySlice<UInt8>, of record: InputRecord, into output: inout BatchOutput) {
        do throws(RefusedReceipt) {
            let verified = try verify(stored)
            if let reason = excluded(verified) { return quarantine(record, reason, verified.kind, into: &output) }
            output.add(verified.document)
            write(verified, of: record, into: &output)
            output.counts.migrated(verified.kind, verified.environment)
        } catch {
            quarantine(record, QuarantineReason(error.error), error.kind, into: &output)
        }
    }

    /// A receipt with the reply to it: both are migrated, and the receipt confirms what the reply says.
    private func migrate(
        receipt stored: ArraySlice<UInt8>, repliedWith value: JSONValue, of record: InputRecord,
        into output: inout BatchOutput
    ) {
        do throws(RefusedReceipt) {
            let verified = try verify(stored)
            migrate(recorded: value, .verifyReceiptReply, beside: verified, of: record, into: &output)
        } catch {
            quarantine(record, QuarantineReason(error.error), error.kind, into: &output)
        }
    }

    // MARK: Recorded documents

    private func migrate(
        recorded value: JSONValue, _ kind: RecordKind, beside receipt: VerifiedRecord? = nil, of record: InputRecord,
        into output: inout BatchOutput
    ) {
        let mapping: RecordedMapping
        do throws(RecordedReplyError) {
            mapping = mapper.map(try RecordedReply(value))
        } catch {
            guard let receipt else { return quarantine(record, QuarantineReason(error), kind, into: &output) }
            // The reply says nothing that can be used; the receipt beside it still counts.
            if let reason = excluded(receipt.environment, receipt.bundleId) {
                return quarantine(record, reason, receipt.kind, into: &output)
            }
            output.add(receipt.document)
            write(receipt, of: record, into: &output)
            output.counts.migrated(receipt.kind, receipt.environment)
            return
        }
        let verified = ([receipt].compactMap { $0 } + embedded(in: mapping, &output.counts))
            .sorted { $0.mapped.evidence.validationTime > $1.mapped.evidence.validationTime }
        if let reason = excluded(mapping, verified) { return quarantine(record, reason, kind, into: &output) }
        if !options.acceptsRecorded, verified.isEmpty {
            return quarantine(record, .recordedNotAccepted, kind, into: &output)
        }
        for receipt in verified { output.add(receipt.document) }
        if options.acceptsRecorded, collectsDocuments { output.add(.recorded(mapping)) }
        write(mapping, kind, confirmedBy: verified, of: record, into: &output)
        output.counts.migrated(kind, verified.first?.environment ?? mapping.environment)
    }

    /// The receipts inside a document that are genuine; of the others only the reason is counted, since documents are
    /// often kept with a placeholder in their place.
    private func embedded(in mapping: RecordedMapping, _ counts: inout BatchCounts) -> [VerifiedRecord] {
        var verified: [VerifiedRecord] = []
        for receipt in mapping.embeddedReceipts {
            do throws(RefusedReceipt) {
                verified.append(try verify(Array(receipt.text.utf8)[...]))
                counts.embedded("genuine")
            } catch {
                counts.embedded(error.error.code.rawValue)
            }
        }
        return verified
    }

    private func write(
        _ mapping: RecordedMapping, _ kind: RecordKind, confirmedBy verified: [VerifiedRecord], of record: InputRecord,
        into output: inout BatchOutput
    ) {
        let signed = SignedTransactions(verified)
        var written: Set<PurchaseIdentity> = []
        if options.acceptsRecorded {
            written = write(mapping.transactions, kind, confirmedBy: signed, of: record, into: &output)
            let source = OutputSource(record: record, kind: kind, sha256: nil, confirmedBy: nil)
            for info in mapping.renewalInfos { source.write(info, into: &output) }
            if verified.isEmpty, let app = mapping.appTransaction { source.write(app, into: &output) }
        } else {
            output.counts.note("recordedRowsLeftOut", count: mapping.transactions.count + mapping.renewalInfos.count)
        }
        // What only the receipts inside say. The newest comes first, and what it says of a purchase stands.
        var apps: Set<String> = []
        for receipt in verified {
            let isFirstOfApp = receipt.bundleId.map { apps.insert($0).inserted } ?? true
            write(receipt, of: record, leavingOut: &written, withApp: isFirstOfApp, into: &output)
        }
        output.counts.add(mapping.notes)
    }

    /// Writes a document's own rows, each with what verified receipts beside it say about it. Returns the purchases that
    /// need no line of their own any more; one that a row contradicts gets one.
    private func write(
        _ rows: [MappedTransaction], _ kind: RecordKind, confirmedBy signed: SignedTransactions, of record: InputRecord,
        into output: inout BatchOutput
    ) -> Set<PurchaseIdentity> {
        var confirmed: Set<PurchaseIdentity> = []
        for row in rows {
            var (row, confirmation) = (row, String?.none)
            switch signed.confirmation(of: row) {
            case .none: break
            case .confirmed(let merged, let sha256):
                row = merged
                confirmation = sha256
                if let identity = PurchaseIdentity(row.payload) { confirmed.insert(identity) }
            case .contradicted: row.notes.append(.contradictsSignedReceipt)
            }
            let source = OutputSource(record: record, kind: kind, sha256: nil, confirmedBy: confirmation)
            write(row, source, into: &output)
        }
        return confirmed
    }

    // MARK: Writing

    /// Writes every purchase of a receipt, also where two have the same id.
    private func write(_ verified: VerifiedRecord, of record: InputRecord, into output: inout BatchOutput) {
        let source = OutputSource(record: record, kind: verified.kind, sha256: verified.sha256, confirmedBy: nil)
        let transactions = verified.mapped.transactions.span
        for index in transactions.indices { write(transactions[index], source, into: &output) }
        writeRest(verified, source, withApp: true, into: &output)
    }

    private func write(
        _ verified: VerifiedRecord, of record: InputRecord, leavingOut written: inout Set<PurchaseIdentity>,
        withApp: Bool, into output: inout BatchOutput
    ) {
        let source = OutputSource(record: record, kind: verified.kind, sha256: verified.sha256, confirmedBy: nil)
        var own: Set<PurchaseIdentity> = []
        for transaction in verified.mapped.transactions {
            if let identity = PurchaseIdentity(transaction.payload) {
                guard !written.contains(identity) else { continue }
                own.insert(identity)
            }
            write(transaction, source, into: &output)
        }
        written.formUnion(own)
        writeRest(verified, source, withApp: withApp, into: &output)
    }

    private func writeRest(
        _ verified: VerifiedRecord, _ source: OutputSource, withApp: Bool, into output: inout BatchOutput
    ) {
        for info in verified.mapped.renewalInfos { source.write(info, into: &output) }
        if withApp, let app = verified.mapped.appTransaction { source.write(app, into: &output) }
        output.counts.add(verified.mapped.notes)
    }

    private func write(
        _ transaction: borrowing MappedTransaction, _ source: OutputSource, into output: inout BatchOutput
    ) {
        switch options.outputFormat {
        case .ndjson: source.write(transaction, into: &output)
        case .csv: TransactionTable.write(transaction, source, to: &output.transactions)
        }
        output.counts.add(transaction, isConfirmed: source.isConfirmed)
    }

    private func excluded(_ receipt: VerifiedRecord) -> QuarantineReason? {
        excluded(receipt.environment, receipt.bundleId)
    }

    /// A document is kept out as a whole if any receipt or row of it is: its parts are of one customer, and half a record
    /// is nowhere to be found again. Where a receipt was verified, the document's own claims count for nothing.
    private func excluded(_ mapping: RecordedMapping, _ verified: [VerifiedRecord]) -> QuarantineReason? {
        for receipt in verified {
            if let reason = excluded(receipt) { return reason }
        }
        for row in mapping.transactions {
            let environment = row.payload.environment ?? verified.first?.environment ?? mapping.environment
            if let reason = excluded(environment, row.payload.bundleId) { return reason }
        }
        guard verified.isEmpty else { return nil }
        return excluded(mapping.environment ?? mapping.transactions.first?.payload.environment, mapping.bundleId)
    }

    private func excluded(_ environment: Environment?, _ bundleId: String?) -> QuarantineReason? {
        if let environments = options.environments {
            guard let environment, environments.contains(environment) else {
                return .otherEnvironment(environment?.rawValue)
            }
        }
        if let bundleIds = options.bundleIds, let bundleId, !bundleIds.contains(bundleId) {
            return .otherBundleId(bundleId)
        }
        return nil
    }
}

/// A receipt that was verified and mapped.
struct VerifiedRecord {
    let kind: RecordKind
    let mapped: MappedReceipt
    let sha256: String
    let document: MigratedDocument?

    var environment: Environment? {
        mapped.appTransaction?.payload.receiptType ?? mapped.transactions.first?.payload.environment
    }

    var bundleId: String? {
        mapped.appTransaction?.payload.bundleId ?? mapped.transactions.first?.payload.bundleId
    }
}

private struct RefusedReceipt: Error {
    let kind: RecordKind
    let error: ReceiptError
}

extension RecordedMapping {
    fileprivate var bundleId: String? {
        appTransaction?.payload.bundleId ?? transactions.lazy.compactMap(\.payload.bundleId).first
    }
}
