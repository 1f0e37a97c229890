internal import AppStoreModels
internal import Purchases
public import TransactionStore

/// The transaction ids in the quarantined records of a store, with purchases that only the App Store Server API has:
/// bare ids, and ids in unsigned documents that were not stored.
///
/// A bare id that the App Store knows leaves the quarantine: the caller stores the purchase, and ``Page/step`` adds the user that
/// the record names. One that it does not know stays with the reason `unknownTransactionId`. Other documents stay as they are.
public struct BareTransactionIds: Sendable {
    private let reader: RecordReader
    private let users: UserColumns

    /// - Parameters:
    ///   - receiptColumns: the columns or members with the id; empty to find it by its content, as a migration does.
    ///   - userColumn: the column or member with the caller's id of the user; nil to find it by its name.
    ///   - carriedColumns: columns or members that are kept beside the user.
    public init(receiptColumns: [String] = [], userColumn: String? = nil, carriedColumns: Set<String> = []) {
        users = UserColumns(user: userColumn, carried: carriedColumns)
        reader = RecordReader(
            receiptColumns: receiptColumns,
            namedColumns: [userColumn].compactMap(\.self) + carriedColumns.sorted())
    }

    fileprivate struct Line: Sendable {
        let key: [UInt8]
        let isBare: Bool
        /// Whether the App Store did not know the id before.
        let isUnknown: Bool
        let record: InputRecord
        let ids: [String]
    }

    /// Some records, in the order of the quarantine.
    public struct Page: Sendable {
        /// The ids, each once. Can be empty even if more pages follow.
        public let ids: [String]
        /// The key to continue after.
        public let end: [UInt8]
        /// The results so far: the original transaction id of the purchase, which the store has, or nil if the App Store does not
        /// know the id. Ids without a result stay open.
        public var answers: [String: ScopedIdentity?] = [:]

        fileprivate let lines: [Line]
        fileprivate let users: UserColumns

        /// The changes to the store that follow from the answers.
        public var step: MigrationStep {
            var step = MigrationStep()
            for line in lines {
                for id in line.ids {
                    guard let purchase = answers[id] ?? nil, purchase.identity.isMeaningful else { continue }
                    step.users += users(of: line.record)
                        .claims(line.record.carried, on: [(purchase.scope, [purchase.identity])])
                }
                guard line.isBare, let id = line.ids.first, let answer = answers[id],
                    !(line.isUnknown && answer == nil)
                else { continue }
                step.released.append(line.key)
                if answer == nil { step.quarantined.append(unknown(line.record)) }
            }
            return step
        }

        private func users(of record: InputRecord) -> UserColumns {
            ColumnRoles(users: users, documents: DocumentColumns(), receipts: []).roles(of: record).users
        }

        private func unknown(_ record: InputRecord) -> QuarantinedRecord {
            var writer = JSONWriter()
            record.writeQuarantine(.unknownTransactionId, kind: .transactionId, roles: record.roles, to: &writer)
            var line = writer.finish()
            if line.last == UInt8(ascii: "\n") { line.removeLast() }
            return QuarantinedRecord(line: line)
        }
    }

    /// The next records; nil at the end.
    /// - Parameters:
    ///   - store: the store, which is only read.
    ///   - key: ``Page/end`` of the previous page; nil for the beginning.
    /// - Throws: `TransactionStoreError`.
    public func page(of store: any MigrationStore, after key: [UInt8]?) async throws -> Page? {
        let records = try await store.quarantine(after: key, limit: 1_000)
        guard let end = records.last?.key else { return nil }
        let lines = records.compactMap(line)
        var known: Set<String> = []
        let ids = lines.flatMap(\.ids).filter { known.insert($0).inserted }
        return Page(ids: ids, end: end, lines: lines, users: users)
    }

    /// The quarantine reasons of records with an id to look up. Records that the caller excluded by app or environment
    /// are not among them.
    private static let reasons: [QuarantineReason] = [
        .bareTransactionId, .unknownTransactionId, .recordedNotAccepted, .notFiled,
        QuarantineReason(RecordedReplyError(.badDate)),
    ]
    private static let beginnings = reasons.map { Array("{\"reason\":\"\($0.code)\"".utf8) }

    private func line(_ quarantined: QuarantinedRecord) -> Line? {
        // Most lines of a large quarantine have other reasons, and are not parsed.
        guard let reason = Self.beginnings.firstIndex(where: { quarantined.line.starts(with: $0) }),
            let line = QuarantineLine(quarantined.line[...])
        else { return nil }
        let record = line.record(reader)
        let ids = record.payload.documents.flatMap(\.payload.transactionIds)
        guard !ids.isEmpty else { return nil }
        return Line(
            key: quarantined.key, isBare: reason <= 1 && ids.count == 1, isUnknown: reason == 1, record: record,
            ids: ids)
    }
}

extension InputPayload {
    /// Ids to look up in the App Store, although nothing else of the document can be used.
    fileprivate var transactionIds: [String] {
        let rows: [JSONObject]
        switch self {
        case .transactionID(let id): return [id]
        case .storeKit2(let object, _):
            return [object["originalTransactionId"]?.string ?? object["transactionId"]?.string ?? ""].filter(Self.isId)
        case .transactions(.object(let row)): rows = [row]
        case .transactions(.array(let values)): rows = values.compactMap(\.object)
        default: rows = []
        }
        return rows.filter { !OtherStore.isNamed(in: $0) }.map { row in
            row["original_transaction_id"]?.string ?? row["transaction_id"]?.string ?? ""
        }.filter(Self.isId)
    }

    private static func isId(_ text: String) -> Bool {
        Array(text.utf8).withUnsafeBufferPointer(StoredText.isTransactionID)
    }
}
