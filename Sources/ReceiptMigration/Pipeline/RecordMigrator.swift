import AppStoreModels
import LegacyReceipts

/// What a batch of records became: octets for each output file, and its share of the summary.
struct BatchOutput: Sendable {
    var transactions = JSONWriter(reservingCapacity: 1 << 20)
    var appTransactions = JSONWriter(reservingCapacity: 1 << 16)
    var renewalInfos = JSONWriter()
    var quarantine = JSONWriter()
    var counts = BatchCounts()
}

/// Migrates records one by one: verifies, maps, writes. Holds no state of its own, so that batches can be worked on in
/// any order and give the same output.
struct RecordMigrator: Sendable {
    let verifier: ReceiptVerifier
    let mapper: ReceiptMapper
    let options: MigrationOptions

    init(_ options: MigrationOptions) throws(ReceiptError) {
        self.options = options
        verifier = try ReceiptVerifier(trust: options.trust, limits: options.limits)
        mapper = ReceiptMapper(catalog: options.catalog)
    }

    func migrate(_ batch: InputBatch) -> BatchOutput {
        var output = BatchOutput()
        for record in batch.records() {
            output.counts.recordsRead += 1
            migrate(record, into: &output)
        }
        return output
    }

    private func migrate(_ record: InputRecord, into output: inout BatchOutput) {
        switch record.payload {
        case .receipt(let stored, _): migrate(receipt: stored, of: record, into: &output)
        case .pair(let stored, let reply): migrate(receipt: stored, repliedWith: reply, of: record, into: &output)
        case .reply(let value): migrate(recorded: value, .verifyReceiptReply, of: record, into: &output)
        case .transactions(let value): migrate(recorded: value, .latestReceiptInfo, of: record, into: &output)
        case .notification(let value): migrate(recorded: value, .notificationV1, of: record, into: &output)
        case .jws: quarantine(record, .storeKit2JWS, .storeKit2JWS, into: &output)
        case .transactionID: quarantine(record, .bareTransactionId, .transactionId, into: &output)
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
            if container.form == .pkcs7 { kind = .appReceipt } else { kind = .transactionReceipt }
            let verified = try verifier.verify(container)
            return VerifiedRecord(
                kind: kind, mapped: mapper.map(verified), sha256: Fingerprint(of: container.bytes).description)
        } catch {
            throw RefusedReceipt(kind: error.verdict == .notAReceipt ? .notAReceipt : kind, error: error)
        }
    }

    private func migrate(receipt stored: ArraySlice<UInt8>, of record: InputRecord, into output: inout BatchOutput) {
        do throws(RefusedReceipt) {
            let verified = try verify(stored)
            if let reason = excluded(verified.environment, verified.bundleId) {
                return quarantine(record, reason, verified.kind, into: &output)
            }
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
            write(receipt, of: record, into: &output)
            output.counts.migrated(receipt.kind, receipt.environment)
            return
        }
        let verified = [receipt].compactMap { $0 } + embedded(in: mapping, &output.counts)
        let environment = verified.first?.environment ?? mapping.environment
        let bundleId = verified.first?.bundleId ?? mapping.bundleId
        if let reason = excluded(environment, bundleId) { return quarantine(record, reason, kind, into: &output) }
        if !options.acceptsRecorded, verified.isEmpty {
            return quarantine(record, .recordedNotAccepted, kind, into: &output)
        }
        write(mapping, kind, confirmedBy: verified, of: record, into: &output)
        output.counts.migrated(kind, environment)
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
        if options.acceptsRecorded {
            for transaction in mapping.transactions {
                let confirmation = signed.confirmation(of: transaction)
                let source = OutputSource(record: record, kind: kind, sha256: nil, confirmedBy: confirmation)
                write(transaction, source, into: &output)
            }
            let source = OutputSource(record: record, kind: kind, sha256: nil, confirmedBy: nil)
            for info in mapping.renewalInfos { source.write(info, into: &output) }
            if verified.isEmpty, let app = mapping.appTransaction { source.write(app, into: &output) }
        }
        // What only the receipts inside say; a transaction that several of them have is written once.
        var written = options.acceptsRecorded ? signed.confirmedIds(mapping.transactions) : []
        for receipt in verified { write(receipt, of: record, leavingOut: &written, into: &output) }
        output.counts.add(mapping.notes)
    }

    // MARK: Writing

    /// Writes every purchase of a receipt, also where two have the same id.
    private func write(_ verified: VerifiedRecord, of record: InputRecord, into output: inout BatchOutput) {
        let source = OutputSource(record: record, kind: verified.kind, sha256: verified.sha256, confirmedBy: nil)
        for transaction in verified.mapped.transactions { write(transaction, source, into: &output) }
        writeRest(verified, source, into: &output)
    }

    private func write(
        _ verified: VerifiedRecord, of record: InputRecord, leavingOut written: inout Set<String>,
        into output: inout BatchOutput
    ) {
        let source = OutputSource(record: record, kind: verified.kind, sha256: verified.sha256, confirmedBy: nil)
        for transaction in verified.mapped.transactions {
            if let id = transaction.payload.transactionId, !written.insert(id).inserted { continue }
            write(transaction, source, into: &output)
        }
        writeRest(verified, source, into: &output)
    }

    private func writeRest(_ verified: VerifiedRecord, _ source: OutputSource, into output: inout BatchOutput) {
        for info in verified.mapped.renewalInfos { source.write(info, into: &output) }
        if let app = verified.mapped.appTransaction { source.write(app, into: &output) }
        output.counts.add(verified.mapped.notes)
    }

    private func write(_ transaction: MappedTransaction, _ source: OutputSource, into output: inout BatchOutput) {
        switch options.outputFormat {
        case .ndjson: source.write(transaction, into: &output)
        case .csv: TransactionTable.write(transaction, source, to: &output.transactions.bytes)
        }
        output.counts.add(transaction, isConfirmed: source.confirmedBy != nil)
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

/// The transactions that verified receipts inside one document hold, to hold the document's own rows against.
private struct SignedTransactions {
    private var byId: [String: (MappedTransaction, String)] = [:]

    init(_ verified: [VerifiedRecord]) {
        for receipt in verified {
            for transaction in receipt.mapped.transactions {
                guard let id = transaction.payload.transactionId else { continue }
                if byId[id] == nil { byId[id] = (transaction, receipt.sha256) }
            }
        }
    }

    /// The SHA-256 of the receipt that has the same transaction with the same product, original, purchase and expiry.
    func confirmation(of recorded: MappedTransaction) -> String? {
        guard let id = recorded.payload.transactionId, let (signed, sha256) = byId[id] else { return nil }
        let (left, right) = (recorded.payload, signed.payload)
        let agrees =
            left.productId == right.productId && left.originalTransactionId == right.originalTransactionId
            && Self.sameSecond(left.purchaseDate, right.purchaseDate)
            && Self.sameSecond(left.expiresDate, right.expiresDate)
        return agrees ? sha256 : nil
    }

    func confirmedIds(_ recorded: [MappedTransaction]) -> Set<String> {
        Set(recorded.filter { confirmation(of: $0) != nil }.compactMap(\.payload.transactionId))
    }

    /// Receipts have whole seconds where Apple's own records have milliseconds (verifyreceipt reference, 3.4).
    private static func sameSecond(_ left: Int64?, _ right: Int64?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return left / 1000 == right / 1000
    }
}
