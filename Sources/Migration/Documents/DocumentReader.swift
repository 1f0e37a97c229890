import AppStoreModels
import AppStoreServer
import LegacyReceipts
import Purchases

/// Reads the documents of a record: verifies the signed ones, maps all of them, and sorts them by outcome.
struct DocumentReader: Sendable {
    let receiptReader: ReceiptReader
    private let signedDataReader: SignedDataReader
    let filter: RecordFilter
    let mapper: ReceiptMapper
    /// The roles that this run gives to columns.
    let roles: ColumnRoles
    let acceptsRecorded: Bool
    /// Whether receipts that were not verified are kept for a retry.
    private let keepsUnverified: Bool

    /// - Throws: `ReceiptError` or `SignedDataError` for a certificate that cannot be read.
    init(_ options: MigrationOptions, roles: ColumnRoles, isForStore: Bool) throws {
        mapper = ReceiptMapper(catalog: options.catalog)
        receiptReader = try ReceiptReader(options, mapper, isForStore: isForStore)
        signedDataReader = try SignedDataReader(options.signedDataTrust ?? SignedDataTrust(options.trust))
        filter = RecordFilter(options)
        self.roles = roles
        acceptsRecorded = options.acceptsRecorded
        keepsUnverified = isForStore
    }

    func read(
        _ documents: [InputDocument], of record: InputRecord, _ counts: inout BatchCounts
    ) -> RecordDocuments {
        var read = RecordDocuments()
        for document in documents { self.read(document, of: record, into: &read, &counts) }
        complete(&read, of: record)
        read.finish(mapper)
        keepTogether(&read)
        readRows(of: record, into: &read, &counts)
        filter.exclude(from: &read)
        if !acceptsRecorded, read.verified.isEmpty { read.refuseRecorded() }
        return read
    }

    private func read(
        _ document: InputDocument, of record: InputRecord, into read: inout RecordDocuments, _ counts: inout BatchCounts
    ) {
        switch document.payload {
        case .receipt(let stored): readReceipt(stored, document, into: &read)
        case .jws(let text): readJWS(text, document, into: &read)
        case .reply(let value):
            readRecorded(value, .verifyReceiptReply, document, of: record, into: &read, &counts)
        case .transactions(let value):
            readRecorded(value, .latestReceiptInfo, document, of: record, into: &read, &counts)
        case .notification(let value):
            readRecorded(value, .notificationV1, document, of: record, into: &read, &counts)
        case .storeKit2(let object, let kind):
            readStoreKit2(object, kind, document, of: record, into: &read, &counts)
        case .several(let documents): for inner in documents { self.read(inner, of: record, into: &read, &counts) }
        case .transactionID: read.refuse(document, .transactionId, .bareTransactionId)
        case .unrecognized(let problem): read.refuse(document, .unrecognized, QuarantineReason(problem))
        }
    }

    // MARK: Signed documents

    private func readReceipt(
        _ stored: ArraySlice<UInt8>, _ document: InputDocument, into read: inout RecordDocuments
    ) {
        do throws(ReceiptReader.Refused) {
            add(try receiptReader.read(stored), document, into: &read)
        } catch {
            read.refuseReceipt(UnverifiedReceipt.text(stored, receiptReader.limits))
            if UnverifiedReceipt.mayBeVerified(error.error) {
                read.hasUnverified = true
                if keepsUnverified { read.waitForSigned(document, error.reason) }
            }
            read.refuse(document, error.kind, error.reason)
        }
    }

    private func readJWS(_ text: ArraySlice<UInt8>, _ document: InputDocument, into read: inout RecordDocuments) {
        do throws(SignedDataReader.Refused) {
            add(try verify(jws: text), document, into: &read)
        } catch {
            if error.mayBeVerified {
                read.hasUnverified = true
                if keepsUnverified { read.waitForSigned(document, error.reason) }
            }
            read.refuse(document, error.kind, error.reason)
        }
    }

    private func verify(jws text: ArraySlice<UInt8>) throws(SignedDataReader.Refused) -> VerifiedContent {
        let (document, kind) = try signedDataReader.read(text)
        let mapped = mapper.map(document)
        // A test notification, for example.
        guard !mapped.transactions.isEmpty || !mapped.renewalInfos.isEmpty || mapped.appTransaction != nil else {
            throw SignedDataReader.Refused(kind: kind, reason: .nothingInside)
        }
        return VerifiedContent(
            kind: kind, mapped: mapped, sha256: Fingerprint(of: text).description, facts: nil, signed: document)
    }

    private func add(_ content: VerifiedContent, _ document: InputDocument, into read: inout RecordDocuments) {
        if content.bundleId == nil { read.hasDocumentWithoutApp = true }
        let verified = VerifiedDocument(content: content, carried: document.carried, document: document)
        if let reason = filter.exclusion(of: content) {
            read.excluded.append(verified)
            return read.exclude([RefusedDocument(document: document, kind: content.kind, reason: reason)])
        }
        read.verified.append(verified)
    }

    // MARK: Unsigned documents

    private func readStoreKit2(
        _ object: JSONObject, _ kind: StoreKit2Kind, _ document: InputDocument, of record: InputRecord,
        into read: inout RecordDocuments, _ counts: inout BatchCounts
    ) {
        do throws(SignedDataReader.Refused) {
            let recorded = try RecordedStoreKit2(object, kind)
            let beside = roles.surroundings(of: document, in: record, &counts)
            if case .transaction(let payload) = recorded {
                read.storeKit2.append(
                    DecodedTransaction(payload: payload, surroundings: beside, document: document))
            } else {
                read.recorded.append(
                    RecordedDocument(
                        mapping: mapper.map(recorded, beside: beside), kind: .storeKit2JSON, document: document))
            }
        } catch {
            read.refuse(document, error.kind, error.reason)
        }
    }

    private func readRecorded(
        _ value: JSONValue, _ kind: RecordKind, _ document: InputDocument, of record: InputRecord,
        into read: inout RecordDocuments, _ counts: inout BatchCounts
    ) {
        let surroundings = roles.surroundings(of: document, in: record, &counts)
        do throws(RecordedReplyError) {
            let mapping = mapper.map(try RecordedReply(value, beside: surroundings))
            add(mapping, kind, document, into: &read, &counts)
        } catch {
            let refused = RefusedDocument(document: document, kind: kind, reason: QuarantineReason(error))
            // A silent document is valid, but grants nothing.
            let isSilent = error.code == .statusNotAccepted || error.code == .nothingInside
            if isSilent { read.silent.append(refused) } else { read.refused.append(refused) }
            // Neither an unreadable value nor a status affects the signed receipts inside. All unsigned data is quarantined
            // with an unreadable document.
            let receipts = embedded(RecordedReply.embeddedReceipts(in: value), of: document, into: &read, &counts)
            if isSilent { read.keep(receipts.unverified) }
            for receipt in receipts.verified {
                let verified = VerifiedDocument(content: receipt, carried: document.carried)
                if filter.exclusion(of: receipt) == nil {
                    read.verified.append(verified)
                } else {
                    read.excluded.append(verified)
                }
            }
            if isSilent, let reason = receipts.verified.lazy.compactMap({ filter.exclusion(of: $0) }).first {
                read.exclude([RefusedDocument(document: document, kind: kind, reason: reason)])
            }
        }
    }

    private func add(
        _ mapping: RecordedMapping, _ kind: RecordKind, _ document: InputDocument,
        into read: inout RecordDocuments, _ counts: inout BatchCounts
    ) {
        var mapping = mapping
        for row in mapping.otherStoreRows {
            let row = InputDocument(
                payload: .transactions(.object(row)), path: document.path, carried: document.carried, text: [])
            read.refuse(row, .latestReceiptInfo, .otherStore)
        }
        let receipts = embedded(mapping.embeddedReceipts, of: document, into: &read, &counts)
        let verified = receipts.verified.map { VerifiedDocument(content: $0, carried: document.carried) }
        if let reason = receipts.verified.lazy.compactMap({ filter.exclusion(of: $0) }).first {
            read.excluded += verified
            return read.exclude([RefusedDocument(document: document, kind: kind, reason: reason)])
        }
        for receipt in receipts.verified {
            if let asOf = receipt.mapped.asOf { mapping.raise(notBefore: asOf.date) }
        }
        read.verified += verified
        read.recorded.append(
            RecordedDocument(mapping: mapping, kind: kind, document: document, unverified: receipts.unverified))
    }

    /// The receipts inside a document, verified and unverified. Counts all of them, and placeholders too.
    private func embedded(
        _ receipts: [RecordedReply.EmbeddedReceipt], of document: InputDocument, into read: inout RecordDocuments,
        _ counts: inout BatchCounts
    ) -> (verified: [VerifiedContent], unverified: [UnverifiedReceipt]) {
        var verified: [VerifiedContent] = []
        var unverified: [UnverifiedReceipt] = []
        for receipt in receipts {
            let stored = Array(receipt.text.utf8)[...]
            do throws(ReceiptReader.Refused) {
                verified.append(try receiptReader.read(stored))
                counts.embedded("genuine")
            } catch {
                counts.embedded(error.error.code.rawValue)
                if UnverifiedReceipt.mayBeVerified(error.error) { read.hasUnverified = true }
                if keepsUnverified,
                    let receipt = UnverifiedReceipt(
                        error.error, kind: error.kind, stored: stored, carried: document.carried,
                        limits: receiptReader.limits)
                {
                    unverified.append(receipt)
                    if receipt.mayBeVerified { read.waitForSigned(receipt.reason) }
                }
            }
        }
        return (verified, unverified)
    }
}
