import AppStoreModels
import AppStoreServer
import LegacyReceipts
import Purchases
import TransactionStore

/// Migrates records one by one: verifies, maps, writes. Holds no state of its own, so that batches can be worked on in
/// any order and give the same output.
struct RecordMigrator: Sendable {
    let verifier: ReceiptVerifier
    let signedData: SignedDataReader
    let mapper: ReceiptMapper
    let options: MigrationOptions
    /// How the records are filed in a store; nil if their results are written as lines.
    let filing: Filing?
    /// The roles that this run gives to columns.
    private let roles: ColumnRoles
    private let lines: RecordLines
    private let quarantine: RecordQuarantine

    /// How records are filed in a store.
    struct Filing: Sendable {
        let users: UserColumns
        let verified: VerifiedReceipts
        /// When the migration began, in milliseconds since 1970-01-01T00:00:00Z.
        let date: Int64
    }

    init(_ options: MigrationOptions, filing: Filing? = nil) throws(MigrationError) {
        self.options = options
        self.filing = filing
        roles = ColumnRoles(
            users: filing?.users ?? UserColumns(user: nil, carried: []), documents: options.documentColumns,
            receipts: options.receiptColumns)
        do {
            verifier = try ReceiptVerifier(trust: options.trust, limits: options.limits)
            signedData = try SignedDataReader(options.trust)
        } catch {
            let message = (error as? ReceiptError)?.message ?? (error as? SignedDataError)?.message ?? "\(error)"
            throw MigrationError(.trust, path: "", message)
        }
        mapper = ReceiptMapper(catalog: options.catalog)
        lines = RecordLines(mapper: mapper, acceptsRecorded: options.acceptsRecorded)
        quarantine = RecordQuarantine(roles: roles, isForStore: filing != nil)
    }

    /// - Parameter receipt: the receipt of the record from ``keyedReceipts(_:)``, if there is one.
    func migrate(_ record: InputRecord, receipt: KeyedReceipt? = nil, into output: inout BatchOutput) {
        output.counts.read(record)
        if filing != nil { roles.countUnreadUser(of: record, in: &output.counts) }
        switch record.payload {
        case .receipt(let stored, _) where filing != nil || RowBeside(record.carried) == nil:
            migrate(receipt: stored, keyed: receipt, of: record, into: &output)
        case .several(let documents): migrate(documents, of: record, into: &output)
        case .receipt, .reply, .transactions, .notification, .jws, .storeKit2:
            migrate(record.payload.documents, of: record, into: &output)
        case .transactionID: quarantine.add(record, .bareTransactionId, .transactionId, into: &output)
        case .unrecognized(let problem): quarantine.add(record, QuarantineReason(problem), .unrecognized, into: &output)
        }
    }

    // MARK: Receipts

    private func container(_ stored: ArraySlice<UInt8>) throws(RefusedReceipt) -> ReceiptContainer {
        do throws(ReceiptError) {
            return try ReceiptContainer(stored: stored, limits: options.limits)
        } catch {
            throw RefusedReceipt(kind: .notAReceipt, error: error)
        }
    }

    private func verify(_ stored: ArraySlice<UInt8>) throws(RefusedReceipt) -> VerifiedContent {
        try verify(try container(stored))
    }

    private func verify(_ container: ReceiptContainer) throws(RefusedReceipt) -> VerifiedContent {
        mapped(try genuine(container), in: container)
    }

    /// Verifies a receipt without mapping it.
    private func genuine(_ container: ReceiptContainer) throws(RefusedReceipt) -> Verified<LegacyReceipt> {
        do throws(ReceiptError) {
            return try verifier.verify(container)
        } catch {
            throw RefusedReceipt(kind: error.verdict == .notAReceipt ? .notAReceipt : container.kind, error: error)
        }
    }

    private func mapped(_ receipt: Verified<LegacyReceipt>, in container: ReceiptContainer) -> VerifiedContent {
        VerifiedContent(
            kind: container.kind, mapped: mapper.map(receipt), sha256: Fingerprint(of: container.bytes).description,
            facts: filing == nil ? nil : FactSet(receipt, bytes: container.bytes), signed: nil)
    }

    /// Migrates a record that is a receipt, as nearly all are.
    private func migrate(
        receipt stored: ArraySlice<UInt8>, keyed: KeyedReceipt?, of record: InputRecord, into output: inout BatchOutput
    ) {
        do throws(RefusedReceipt) {
            if let filing {
                let receipt = if let keyed { keyed } else { try keyedReceipt(stored, filing) }
                return try file(receipt, of: record, filing, into: &output)
            }
            let verified = try verify(stored)
            if let reason = excluded(verified) { return quarantine.add(record, reason, verified.kind, into: &output) }
            lines.write(verified, of: record, into: &output)
            output.counts.migrated(verified.kind, verified.environment)
        } catch {
            quarantine.add(record, QuarantineReason(error.error), error.kind, into: &output)
        }
    }

    /// Stores a receipt, and the row beside it if the receipt does not state its purchase. A receipt that the store already
    /// has is not verified again.
    private func file(
        _ keyed: KeyedReceipt, of record: InputRecord, _ filing: Filing, into output: inout BatchOutput
    ) throws(RefusedReceipt) {
        if let known = filing.verified[keyed.key] {
            if let reason = excluded(known.scope.environment, known.scope.bundleId) {
                return quarantine.add(record, reason, known.kind, into: &output)
            }
            let row = unstatedRow(of: record, in: &output.counts) {
                try? ReceiptDecoder(limits: options.limits).decode(keyed.container).payload
            }
            return file(row, of: record, beside: known, filing, into: &output)
        }
        let receipt = try genuine(keyed.container)
        let kind = keyed.container.kind
        // A store keeps what the receipt states, and concludes the rest when it is read.
        guard let set = FactSet(receipt, bytes: keyed.container.bytes), let kept = set.receipt else {
            // The row may be stored without it.
            if RowBeside(record.carried) != nil { return migrate(record.payload.documents, of: record, into: &output) }
            let reason = excluded(mapped(receipt, in: keyed.container))
            return quarantine.add(record, reason ?? .notFiled, kind, into: &output)
        }
        if let reason = excluded(set.scope.environment, set.scope.bundleId) {
            return quarantine.add(record, reason, kind, into: &output)
        }
        output.additions.facts.append(set)
        let known = VerifiedReceipt(
            key: keyed.key, scope: set.scope, form: kept.form, identities: UserColumns.purchases(set.identities))
        filing.verified.add(known)
        output.additions.receipts.append(known)
        let row = unstatedRow(of: record, in: &output.counts) { receipt.payload }
        file(row, of: record, beside: known, filing, into: &output)
    }

    /// The row beside a receipt; nil if the receipt states its purchase, or if it is not read.
    private func unstatedRow(
        of record: InputRecord, in counts: inout BatchCounts, besideReceipt decoded: () -> LegacyReceipt?
    ) -> RowBeside? {
        guard record.path.isEmpty, let row = RowBeside(record.carried) else { return nil }
        let receipt = decoded()
        guard receipt?.states(row.transactionId) != true else { return nil }
        return isRead(row, besideSubscriptionsOf: receipt?.subscriptionProducts ?? [], &counts) ? row : nil
    }

    /// Whether a row is read that no document beside it states. Counts one that is not.
    /// - Parameter products: those of the subscription periods that the documents state.
    private func isRead(
        _ row: RowBeside, besideSubscriptionsOf products: Set<String>, _ counts: inout BatchCounts
    ) -> Bool {
        if !options.acceptsRecorded {
            counts.note("recordedRowsLeftOut")
        } else if row.mayContinue(subscriptionsOf: products) {
            counts.note("rowNotRead")
        } else {
            return true
        }
        return false
    }

    /// Stores what stands beside a receipt that the store has: the user, and the row.
    private func file(
        _ row: RowBeside?, of record: InputRecord, beside receipt: VerifiedReceipt, _ filing: Filing,
        into output: inout BatchOutput
    ) {
        fileUser(of: record, with: receipt, filing, into: &output)
        output.counts.migrated(receipt.kind, receipt.scope.environment)
        guard let row else { return }
        var read = RecordDocuments()
        let beside = PlaceOfRow(
            carried: [], bundleId: receipt.scope.bundleId, environment: receipt.scope.environment, path: "")
        self.read(row, beside, of: record, into: &read, &output.counts)
        exclude(from: &read)
        file(&read, of: record, filing, into: &output)
        quarantine.addRest(of: record, read, into: &output)
    }

    /// Stores the user that the columns beside a receipt name, unless another record has named the same beside it.
    private func fileUser(
        of record: InputRecord, with receipt: VerifiedReceipt, _ filing: Filing, into output: inout BatchOutput
    ) {
        guard let user = roles.roles(of: record).users.named(record.carried),
            filing.verified.isNew(user, of: receipt.key)
        else { return }
        output.additions.users += user.claims(on: receipt.identities, in: receipt.scope)
    }

    /// A receipt without its transport encoding, and its key in ``VerifiedReceipts``. Both are computed once, because
    /// they take most of the time of a receipt that is already known.
    struct KeyedReceipt {
        let container: ReceiptContainer
        let key: [UInt8]
    }

    private func keyedReceipt(
        _ stored: ArraySlice<UInt8>, _ filing: Filing
    ) throws(RefusedReceipt) -> KeyedReceipt {
        let container = try container(stored)
        return KeyedReceipt(container: container, key: filing.verified.key(of: container.bytes))
    }

    /// The receipts of the records that are receipts, to look them up in the store before they are migrated; nil for other
    /// records.
    func keyedReceipts(_ records: [InputRecord]) -> [KeyedReceipt?] {
        records.map { record in
            guard let filing, case .receipt(let stored, _) = record.payload else { return nil }
            return try? keyedReceipt(stored, filing)
        }
    }

    // MARK: StoreKit 2

    private func verify(jws text: ArraySlice<UInt8>) throws(SignedDataReader.Refused) -> VerifiedContent {
        let (document, kind) = try signedData.read(text)
        let mapped = mapper.map(document)
        // A test notification, for example.
        guard !mapped.transactions.isEmpty || !mapped.renewalInfos.isEmpty || mapped.appTransaction != nil else {
            throw SignedDataReader.Refused(kind: kind, reason: .nothingInside)
        }
        return VerifiedContent(
            kind: kind, mapped: mapped, sha256: Fingerprint(of: text).description, facts: nil, signed: document)
    }

    // MARK: Several documents

    /// Migrates every document of a record. Receipts confirm recorded documents, wherever they are in the record.
    ///
    /// If no document can be migrated, the record is quarantined as a whole; otherwise each document that cannot be
    /// migrated, or is of an excluded app or environment, is quarantined alone. If one is excluded and another states no app,
    /// the whole record is.
    private func migrate(_ documents: [InputDocument], of record: InputRecord, into output: inout BatchOutput) {
        var read = RecordDocuments()
        for document in documents { self.read(document, of: record, into: &read, &output.counts) }
        read.finish(mapper)
        readRowsBeside(of: record, into: &read, &output.counts)
        exclude(from: &read)
        if !options.acceptsRecorded, read.verified.isEmpty {
            read.refuseRecorded()
        }
        guard !read.verified.isEmpty || read.recorded.contains(where: \.holdsAnything) else {
            var refused = read.refused
            if let waiting = read.waiting { refused.append(waiting) }
            refused += read.silent + read.recorded.map { $0.refused(.nothingInside) }
            guard let first = refused.first(where: { $0.document.payload.isReceipt }) ?? refused.first else { return }
            // A receipt that cannot be read has a reason of its own.
            let isKeptOut = read.isCleared || !first.document.payload.isReceipt
            quarantine.add(record, isKeptOut ? read.exclusion ?? first.reason : first.reason, first.kind, into: &output)
            return
        }
        output.counts.note("replyNotRead", count: read.silent.count)
        if let filing {
            file(&read, of: record, filing, into: &output)
            guard !read.verified.isEmpty || !read.recorded.isEmpty else {
                let notFiled = read.refused.first { $0.reason.code == QuarantineReason.notFiled.code }
                let reason = (notFiled ?? read.waiting)?.reason ?? .notFiled
                let kind = (read.refused.first ?? read.waiting)?.kind ?? .unrecognized
                return quarantine.add(record, reason, kind, into: &output)
            }
        } else {
            lines.write(read, of: record, into: &output)
        }
        output.counts.migrated(read.kind, read.environment)
        quarantine.addRest(of: record, read, into: &output)
    }

    /// Stores the documents of a record. Those that cannot be stored are rejected.
    private func file(
        _ read: inout RecordDocuments, of record: InputRecord, _ filing: Filing, into output: inout BatchOutput
    ) {
        let signed = SignedTransactions(read.verified.map(\.content.record), mapper)
        let receipts = read.verified
        read.verified = []
        // A JWS of renewal information does not state its app; the transaction beside it does.
        let signedData = receipts.compactMap(\.content.signed)
        let roles = self.roles.roles(of: record)
        let withSignedData = receipts.filter { $0.content.signed != nil }
        let signedSets = [FactSet](signedData) { place in
            roles.documents.surroundings(record.carried + withSignedData[place].carried).bundleId?.value
        }
        output.additions.facts += signedSets
        let filedSignedData = FiledDocuments(signedSets)
        var claims: Set<UserClaim> = []
        var signedApps: [SignedApp] = []
        for receipt in receipts {
            let sets =
                receipt.content.signed.map { filedSignedData.sets(of: $0) }
                ?? receipt.content.facts.map { [$0] } ?? []
            if sets.isEmpty {
                // A receipt inside a reply is quarantined with the reply, or its purchases are in the reply's rows.
                if let document = receipt.document {
                    read.refused.append(
                        RefusedDocument(document: document, kind: receipt.content.kind, reason: .notFiled))
                } else {
                    output.counts.note("embeddedReceiptNotFiled")
                }
                continue
            }
            if receipt.content.signed == nil { output.additions.facts += sets }
            for set in sets {
                guard let app = set.appTransaction?.payload else { continue }
                let userId = roles.users.userId(record.carried + receipt.carried)
                signedApps.append(SignedApp(scope: set.scope, payload: app, userId: userId))
            }
            for carried in [receipt.carried] + receipt.besideCopies {
                claims.formUnion(roles.users.claims(record.carried + carried, on: sets))
            }
            read.verified.append(receipt)
        }
        let recorded = read.recorded
        read.recorded = []
        for document in recorded {
            output.counts.add(document.mapping.notes)
            guard options.acceptsRecorded else {
                read.keep(document.unverified)
                read.refused += document.allRefused(.recordedNotAccepted)
                continue
            }
            var mapping = document.mapping
            let contradicted = signed.contradictedRows(of: mapping)
            mapping.remove(rows: contradicted)
            if !contradicted.isEmpty {
                read.refused += document.refused(.contradictsSignedReceipt, rows: contradicted)
                if mapping.isWithoutPurchases { mapping.removeAppTransaction() }
            }
            let columns = record.carried + document.document.carried
            let userId = mapping.isWithoutPurchases ? roles.users.userId(columns) : nil
            let sets = [FactSet](recorded: mapping, importedAt: filing.date, userId: userId)
            if mapping.isWithoutPurchases,
                sets.contains(where: { set in signedApps.contains { $0.states(set, of: userId) } })
            {
                read.keep(document.unverified)
                read.recorded.append(document)
                continue
            }
            // Stored now, it would stay another customer when the receipt is verified.
            if mapping.isWithoutPurchases, !sets.isEmpty, let reason = read.reasonToWait {
                read.wait(document.refused(reason))
                continue
            }
            read.keep(document.unverified)
            let filed = sets.reduce(0) { $0 + $1.transactions.count + $1.renewalInfos.count }
            let isAppUnfiled = sets.isEmpty && mapping.appTransaction != nil
            let filedRows = FiledDocuments(document.rows.isEmpty ? [] : sets)
            if !document.rows.isEmpty {
                let unfiled = document.mapping.transactions.indices.filter { row in
                    let id = document.mapping.transactions[row].payload.transactionId
                    return !contradicted.contains(row) && filedRows.sets(ofTransaction: id).isEmpty
                }
                read.refused += document.refused(.notFiled(of: mapping), rows: Set(unfiled))
            } else if filed < mapping.transactions.count + mapping.renewalInfos.count || isAppUnfiled,
                contradicted.isEmpty
            {
                let refused = document.refused(.notFiled(of: mapping))
                if document.isRowBeside { read.wait(refused) } else { read.refused.append(refused) }
            }
            guard !sets.isEmpty else { continue }
            output.additions.facts += sets
            for owned in document.owned {
                claims.formUnion(
                    roles.users.claims(
                        record.carried + owned.document.carried,
                        on: filedRows.sets(ofTransaction: owned.payload.transactionId)))
            }
            if document.owned.isEmpty {
                claims.formUnion(roles.users.claims(columns, on: sets))
            }
            read.recorded.append(document)
        }
        output.additions.users += claims
    }

    private func read(
        _ document: InputDocument, of record: InputRecord, into read: inout RecordDocuments, _ counts: inout BatchCounts
    ) {
        func refuse(_ reason: QuarantineReason, _ kind: RecordKind) {
            read.refused.append(RefusedDocument(document: document, kind: kind, reason: reason))
        }
        func add(_ verified: VerifiedContent) {
            if verified.bundleId == nil { read.hasDocumentWithoutApp = true }
            let receipt = VerifiedDocument(content: verified, carried: document.carried, document: document)
            if let reason = excluded(verified) {
                read.excluded.append(receipt)
                return read.exclude([RefusedDocument(document: document, kind: verified.kind, reason: reason)])
            }
            read.verified.append(receipt)
        }
        switch document.payload {
        case .receipt(let stored, _):
            do throws(RefusedReceipt) {
                add(try verify(stored))
            } catch {
                read.refuseReceipt(UnverifiedReceipt.text(stored, options.limits))
                let reason = QuarantineReason(error.error)
                if filing != nil, UnverifiedReceipt.mayBeVerified(error.error) {
                    read.waitForReceipt(document, reason)
                }
                refuse(reason, error.kind)
            }
        case .reply(let value):
            self.read(value, .verifyReceiptReply, document, of: record, into: &read, &counts)
        case .transactions(let value):
            self.read(value, .latestReceiptInfo, document, of: record, into: &read, &counts)
        case .notification(let value):
            self.read(value, .notificationV1, document, of: record, into: &read, &counts)
        case .jws(let text):
            do throws(SignedDataReader.Refused) {
                add(try verify(jws: text))
            } catch {
                refuse(error.reason, error.kind)
            }
        case .storeKit2(let object, let kind):
            do throws(SignedDataReader.Refused) {
                let recorded = try RecordedStoreKit2(object, kind)
                let beside = roles.surroundings(of: document, in: record, &counts)
                if case .transaction(let payload) = recorded {
                    read.add(payload, beside: beside, document)
                } else {
                    read.recorded.append(
                        RecordedDocument(
                            mapping: mapper.map(recorded, beside: beside), kind: .storeKit2JSON,
                            document: document))
                }
            } catch {
                refuse(error.reason, error.kind)
            }
        case .transactionID: refuse(.bareTransactionId, .transactionId)
        case .several(let documents): for inner in documents { self.read(inner, of: record, into: &read, &counts) }
        case .unrecognized(let problem): refuse(QuarantineReason(problem), .unrecognized)
        }
    }

    /// Reads the rows that the columns beside the documents are, if no document states their purchases. Only after the
    /// documents: without one, the record is quarantined as a whole.
    ///
    /// A receipt decides about a row even if it is not migrated: it may state the purchase, and the row is of the app and the
    /// environment of the newest receipt. So a filter keeps out a row with its receipt, and a row waits for a receipt that other
    /// options may verify. A document that was quarantined alone has no rows: they were read with its record.
    private func readRowsBeside(
        of record: InputRecord, into read: inout RecordDocuments, _ counts: inout BatchCounts
    ) {
        guard record.path.isEmpty, !read.verified.isEmpty || !read.recorded.isEmpty else { return }
        var seen: Set<[UInt8]> = []
        var known: (ids: Set<String>, subscriptions: Set<String>)?
        for beside in read.placesOfRows {
            guard let row = RowBeside(record.carried + beside.carried),
                seen.insert(JSONValue.object(row.object).json).inserted
            else { continue }
            let found = known ?? (ids: read.transactionIds, subscriptions: read.subscriptionProducts)
            known = found
            guard !found.ids.contains(row.transactionId),
                isRead(row, besideSubscriptionsOf: found.subscriptions, &counts)
            else { continue }
            if let reason = read.reasonToWait {
                read.wait(RefusedDocument(document: row.document(beside), kind: .latestReceiptInfo, reason: reason))
            } else {
                self.read(row, beside, of: record, into: &read, &counts)
            }
        }
    }

    /// Reads a row beside a document as a recorded document.
    private func read(
        _ row: RowBeside, _ beside: PlaceOfRow, of record: InputRecord, into read: inout RecordDocuments,
        _ counts: inout BatchCounts
    ) {
        let document = row.document(beside)
        var stated = roles.surroundings(of: document, in: record, &counts)
        stated.complete(from: beside)
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

    private func read(
        _ value: JSONValue, _ kind: RecordKind, _ document: InputDocument, of record: InputRecord,
        into read: inout RecordDocuments, _ counts: inout BatchCounts
    ) {
        let surroundings = roles.surroundings(of: document, in: record, &counts)
        do throws(RecordedReplyError) {
            var mapping = mapper.map(try RecordedReply(value, beside: surroundings))
            for row in mapping.otherStoreRows {
                let row = InputDocument(
                    payload: .transactions(.object(row)), path: document.path, carried: document.carried, text: [])
                read.refused.append(RefusedDocument(document: row, kind: .latestReceiptInfo, reason: .otherStore))
            }
            let receipts = embedded(mapping.embeddedReceipts, of: document, into: &read, &counts)
            if let reason = receipts.verified.lazy.compactMap({ self.excluded($0) }).first {
                read.excluded += receipts.verified.map { VerifiedDocument(content: $0, carried: document.carried) }
                return read.exclude([RefusedDocument(document: document, kind: kind, reason: reason)])
            }
            for receipt in receipts.verified {
                if let asOf = receipt.mapped.asOf { mapping.raise(notBefore: asOf.date) }
                read.verified.append(VerifiedDocument(content: receipt, carried: document.carried))
            }
            read.recorded.append(
                RecordedDocument(mapping: mapping, kind: kind, document: document, unverified: receipts.unverified))
        } catch {
            let refused = RefusedDocument(document: document, kind: kind, reason: QuarantineReason(error))
            // The document is valid, but grants nothing.
            if error.code == .statusNotAccepted || error.code == .nothingInside {
                read.silent.append(refused)
                return
            }
            read.refused.append(refused)
            // What is signed does not depend on the value that cannot be read. What is not is quarantined with the document.
            let receipts = embedded(RecordedReply.embeddedReceipts(in: value), of: document, into: &read, &counts)
            for receipt in receipts.verified where excluded(receipt) == nil {
                read.verified.append(VerifiedDocument(content: receipt, carried: document.carried))
            }
        }
    }

    /// The receipts inside a document: those that were verified, and the others that are receipts. All are counted.
    private func embedded(
        _ receipts: [RecordedReply.EmbeddedReceipt], of document: InputDocument, into read: inout RecordDocuments,
        _ counts: inout BatchCounts
    ) -> (verified: [VerifiedContent], unverified: [UnverifiedReceipt]) {
        var verified: [VerifiedContent] = []
        var unverified: [UnverifiedReceipt] = []
        for receipt in receipts {
            let stored = Array(receipt.text.utf8)[...]
            do throws(RefusedReceipt) {
                verified.append(try verify(stored))
                counts.embedded("genuine")
            } catch {
                counts.embedded(error.error.code.rawValue)
                if filing != nil,
                    let receipt = UnverifiedReceipt(
                        error.error, kind: error.kind, stored: stored, carried: document.carried, limits: options.limits
                    )
                {
                    unverified.append(receipt)
                    if receipt.mayBeVerified { read.waitForReceipt(receipt.reason) }
                }
            }
        }
        return (verified, unverified)
    }

    private func excluded(_ receipt: VerifiedContent) -> QuarantineReason? {
        excluded(receipt.environment, receipt.bundleId)
    }

    /// Moves the recorded documents of excluded apps and environments to the refused ones; the signed ones were when they were
    /// read. If a receipt was verified, what the recorded documents state beside their rows does not count.
    private func exclude(from read: inout RecordDocuments) {
        guard options.environments != nil || options.bundleIds != nil else { return }
        let signed = read.verified.first?.content
        let recorded = read.recorded
        read.recorded = []
        for var document in recorded {
            let mapping = document.mapping
            if document.holdsAnything,
                mapping.statedBundleId == nil
                    || !document.rows.isEmpty && mapping.transactions.contains(where: { $0.payload.bundleId == nil })
            {
                read.hasDocumentWithoutApp = true
            }
            let rows = mapping.transactions.indices.compactMap { place -> (place: Int, reason: QuarantineReason)? in
                let payload = mapping.transactions[place].payload
                let environment = payload.environment ?? signed?.environment ?? mapping.environment
                return excluded(environment, payload.bundleId).map { (place, $0) }
            }
            if !document.rows.isEmpty {
                let byReason = Dictionary(grouping: rows) { $0.reason.message }.sorted { $0.key < $1.key }
                for (_, rows) in byReason {
                    read.exclude(document.refused(rows[0].reason, rows: Set(rows.map(\.place))))
                }
                document.remove(rows: Set(rows.map(\.place)))
                if document.holdsAnything { read.recorded.append(document) }
                continue
            }
            var reason = rows.first?.reason
            if reason == nil, document.holdsAnything, signed == nil || mapping.transactions.isEmpty {
                let environment =
                    mapping.environment ?? mapping.transactions.first?.payload.environment ?? signed?.environment
                reason = excluded(environment, mapping.statedBundleId)
            }
            if let reason {
                if document.isRowBeside {
                    read.exclude(row: document.refused(reason))
                } else {
                    read.exclude([document.refused(reason)])
                }
            } else {
                read.recorded.append(document)
            }
        }
        // A document that states no app can be about a purchase in one that is kept out, and says nothing without it.
        if read.exclusion != nil, read.hasDocumentWithoutApp { read.clear() }
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

extension ReceiptContainer {
    fileprivate var kind: RecordKind {
        switch form {
        case .pkcs7: .appReceipt
        case .propertyList: .transactionReceipt
        }
    }
}

extension VerifiedReceipt {
    fileprivate var kind: RecordKind { form == .app ? .appReceipt : .transactionReceipt }
}

extension LegacyReceipt {
    /// Whether the receipt states a transaction.
    fileprivate func states(_ transactionId: String) -> Bool {
        switch self {
        case .app(let receipt): receipt.inAppPurchases.contains { $0.transactionId == transactionId }
        case .transaction(let receipt): receipt.transactionId == transactionId
        }
    }

    /// The products of the subscription periods that the receipt states.
    fileprivate var subscriptionProducts: Set<String> {
        switch self {
        case .app(let receipt): Set(receipt.inAppPurchases.filter { $0.expiresDate != nil }.map(\.productId))
        case .transaction(let receipt): receipt.expiresDate == nil ? [] : [receipt.productId]
        }
    }
}

private struct RefusedReceipt: Error {
    let kind: RecordKind
    let error: ReceiptError
}

/// The app transaction that a signed document of a record states.
private struct SignedApp {
    let scope: StoreScope
    let payload: AppTransaction
    /// The user whose document it is; nil if no column states it.
    let userId: String?

    /// Whether the unsigned app transaction of a document beside it has the same user and contradicts nothing.
    func states(_ recorded: FactSet, of userId: String?) -> Bool {
        guard let other = recorded.appTransaction?.payload, recorded.scope == scope, userId == self.userId else {
            return false
        }
        func agree<Value: Equatable>(_ signed: Value?, _ recorded: Value?) -> Bool {
            recorded == nil || signed == recorded
        }
        // Receipts state whole seconds.
        func seconds(_ date: Int64?) -> Int64? { date.map { $0 / 1_000 } }
        return agree(payload.originalApplicationVersion, other.originalApplicationVersion)
            && agree(seconds(payload.originalPurchaseDate), seconds(other.originalPurchaseDate))
            && agree(payload.appTransactionId, other.appTransactionId)
    }
}
