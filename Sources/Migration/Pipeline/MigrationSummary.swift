import AppStoreModels

/// The detected kind of a record.
public enum RecordKind: String, Sendable, Hashable, CaseIterable {
    /// A PKCS#7 app receipt.
    case appReceipt
    /// An iOS 6 transaction receipt.
    case transactionReceipt
    /// A recorded verifyReceipt reply.
    case verifyReceiptReply
    /// Rows of `latest_receipt_info` or `in_app`.
    case latestReceiptInfo
    /// An App Store Server Notification, version 1.
    case notificationV1
    /// A transaction that the App Store signed (JWS).
    case signedTransaction
    /// Renewal info that the App Store signed (JWS).
    case signedRenewalInfo
    /// An app transaction that the App Store signed (JWS).
    case signedAppTransaction
    /// An App Store Server Notification, version 2 (JWS).
    case notificationV2
    /// Another JWS.
    case otherJWS
    /// StoreKit 2 JSON without its signature: a transaction, renewal info or app transaction.
    case storeKit2JSON
    /// A transaction id and nothing else.
    case transactionId
    /// Data in the place of a receipt that is not a receipt.
    case notAReceipt
    /// Anything else.
    case unrecognized
}

/// The numbers of a migration. The same inputs and options give the same summary.
public struct MigrationSummary: Sendable, Equatable {
    /// The maximum number of products counted by name, in the order of their first appearance; the others count as
    /// `(other)`.
    public static let maximumProducts = 10_000
    /// The same for types, environments and years. Unsigned documents can state any.
    public static let maximumNames = 1_000
    /// The bytes of such a name; a longer one is truncated.
    static let nameBytes = 256

    /// Records read. Each counts in exactly one of the next two numbers.
    public internal(set) var recordsRead = 0
    /// Some documents of these records may be in the quarantine: ``documentsQuarantined``.
    public internal(set) var migrated = 0
    /// Records of which no document was migrated.
    public internal(set) var quarantined = 0
    /// Documents in `quarantine.ndjson` whose records were migrated with other documents.
    public internal(set) var documentsQuarantined = 0
    /// By the code of the reason.
    public internal(set) var documentsQuarantinedByReason: [String: Int] = [:]
    /// Lines written: one per purchase and record. A purchase in several records counts in each.
    public internal(set) var transactions = 0
    /// Lines with an app transaction. An app transaction in several records counts in each.
    public internal(set) var appTransactions = 0
    /// Lines with renewal information. A subscription in several records counts in each.
    public internal(set) var renewalInfos = 0
    /// Transactions by the kind of their document: `verifiedReceipt`, `verifiedJWS`, `recorded`.
    public internal(set) var transactionsByStanding: [String: Int] = [:]
    /// Recorded transactions that a verified receipt in the same document confirms.
    public internal(set) var confirmedByEmbeddedReceipt = 0
    /// Receipts inside recorded documents: `genuine`, or the code of the error.
    public internal(set) var embeddedReceiptsByOutcome: [String: Int] = [:]
    /// Records by kind.
    public internal(set) var migratedByKind: [String: Int] = [:]
    /// By ``RecordKind``.
    public internal(set) var quarantinedByKind: [String: Int] = [:]
    /// Records by the objects in which clients sent their documents: `unity`, `requestBody`, `flutter`, `cordova`, `expo`,
    /// `reactNativeIAP`, `openIAP` and `capacitor`, or in which the App Store Server API answered with a list,
    /// `appStoreServerAPI`, by the names of members. A record can count for several, and most count for none.
    public internal(set) var wrappers: [String: Int] = [:]
    /// Migrated records by environment; `unknown` if a recorded document has none.
    public internal(set) var migratedByEnvironment: [String: Int] = [:]
    /// Quarantined records by the code of the reason.
    public internal(set) var quarantinedByReason: [String: Int] = [:]
    /// Transactions by product id; `unknown` without one. Up to ``maximumProducts`` are counted by name.
    public internal(set) var transactionsByProduct: [String: Int] = [:]
    /// Transactions by `type`; `unknown` if neither a document nor the catalog states it. Up to ``maximumNames`` are
    /// counted by name.
    public internal(set) var transactionsByType: [String: Int] = [:]
    /// By year (UTC) of the purchase date.
    public internal(set) var transactionsByYear: [String: Int] = [:]
    /// How many transactions lack each modern field, by the field's name.
    public internal(set) var transactionFieldsNotCarried: [String: Int] = [:]
    /// How many app transactions lack each modern field, by the field's name.
    public internal(set) var appTransactionFieldsNotCarried: [String: Int] = [:]
    /// The handling of each column and member of the records: by path, the number of each ``MemberFate`` by raw value. It
    /// contains the first ``maximumMembers`` paths; the others count as `(other)`.
    public internal(set) var members: [String: [String: Int]] = [:]
    /// The number of each note.
    public internal(set) var notes: [String: Int] = [:]
    /// Files and streams read, and their bytes.
    public internal(set) var inputs = 0
    /// Compressed inputs count with their decompressed size.
    public internal(set) var bytesRead = 0
    /// Lines without content. They are not records.
    public internal(set) var blankLines = 0
    /// Rows of SQL dumps and phpMyAdmin exports that are not records: their tables have no column for receipts, and they have no
    /// document.
    public internal(set) var rowsOfOtherTables = 0
    /// Files and streams without a record.
    public internal(set) var emptyInputs = 0

    /// The maximum number of counted paths of columns and members.
    public static let maximumMembers = 1_000

    /// The number of values that seem to contain a document that was not read.
    public var documentsNotRead: Int { count(.looksLikeDocument) }

    /// Whether every record and document was migrated and read.
    public var isClean: Bool { quarantined + documentsQuarantined + documentsNotRead == 0 }

    /// The number of documents that were not read because the caller named another column.
    public var documentsLeftOut: Int { count(.leftOut) }

    /// The number of replies that granted nothing. Another document of the record, or a receipt in the reply, was migrated.
    public var repliesNotRead: Int { notes["replyNotRead"] ?? 0 }

    /// The number of rows next to a document that have no date that can be read, or may be a period of a subscription in
    /// the document.
    public var rowsNotRead: Int { notes["rowNotRead"] ?? 0 }

    /// The number of values that were carried along in base64, because they are not UTF-8.
    public var valuesNotUTF8: Int { count(.carriedAsBase64) }

    /// The number of values that were handled in one way, by column or member.
    public func columns(_ fate: MemberFate) -> [String: Int] { members.compactMapValues { $0[fate.rawValue] } }

    private func count(_ fate: MemberFate) -> Int { columns(fate).values.reduce(0, +) }

    init() {}

    /// Checks that each record was migrated or quarantined.
    ///
    /// - Throws: ``MigrationError/Code-swift.enum/miscounted``.
    func checkTotal() throws(MigrationError) {
        guard recordsRead == migrated + quarantined else {
            throw MigrationError(
                .miscounted, path: "",
                """
                \(recordsRead) records were read, but \(migrated) were migrated and \(quarantined) quarantined. This is a bug: \
                please report it.
                """)
        }
    }

    /// A member of the summary's JSON.
    private enum Member {
        case number(String, any WritableKeyPath<MigrationSummary, Int> & Sendable)
        /// A number computed from the others.
        case derived(String, any KeyPath<MigrationSummary, Int> & Sendable)
        /// - Parameter names: the maximum number of names, where documents state them.
        case group(String, any WritableKeyPath<MigrationSummary, [String: Int]> & Sendable, names: Int? = nil)
        case paths(String)

        var name: String {
            switch self {
            case .number(let name, _), .derived(let name, _), .group(let name, _, names: _), .paths(let name): name
            }
        }
    }

    /// The names of columns that no record has.
    /// - Parameters:
    ///   - receiptColumns: columns with receipts; what is inside them shows that they are there.
    ///   - columns: other columns, also beside documents inside the record.
    public func missing(receiptColumns: [String] = [], _ columns: [String]) -> [String] {
        // Of more paths, only the number is kept.
        guard recordsRead > 0, members["(other)"] == nil else { return [] }
        let receipts = receiptColumns.filter { column in
            !members.keys.contains { MemberPath.isPath($0, of: column) }
        }
        return receipts
            + columns.filter { column in
                !members.keys.contains { $0 == column || $0.hasSuffix("." + column) }
            }
    }

    /// All members in the order of the output.
    private static let layout: [Member] = [
        .number("recordsRead", \.recordsRead),
        .number("migrated", \.migrated),
        .number("quarantined", \.quarantined),
        .number("documentsQuarantined", \.documentsQuarantined),
        .derived("documentsNotRead", \.documentsNotRead),
        .number("transactions", \.transactions),
        .number("appTransactions", \.appTransactions),
        .number("renewalInfos", \.renewalInfos),
        .group("migratedByKind", \.migratedByKind),
        .group("quarantinedByKind", \.quarantinedByKind),
        .group("wrappers", \.wrappers),
        .group("quarantinedByReason", \.quarantinedByReason),
        .group("documentsQuarantinedByReason", \.documentsQuarantinedByReason),
        .paths("members"),
        .group("migratedByEnvironment", \.migratedByEnvironment, names: maximumNames),
        .group("transactionsByStanding", \.transactionsByStanding),
        .number("confirmedByEmbeddedReceipt", \.confirmedByEmbeddedReceipt),
        .group("embeddedReceiptsByOutcome", \.embeddedReceiptsByOutcome),
        .group("transactionsByType", \.transactionsByType, names: maximumNames),
        .group("transactionsByYear", \.transactionsByYear, names: maximumNames),
        .group("transactionsByProduct", \.transactionsByProduct, names: maximumProducts),
        .group("transactionFieldsNotCarried", \.transactionFieldsNotCarried),
        .group("appTransactionFieldsNotCarried", \.appTransactionFieldsNotCarried),
        .group("notes", \.notes),
        .number("inputs", \.inputs),
        .number("bytesRead", \.bytesRead),
        .number("blankLines", \.blankLines),
        .number("rowsOfOtherTables", \.rowsOfOtherTables),
        .number("emptyInputs", \.emptyInputs),
    ]

    /// Takes the numbers that are known when everything was read.
    mutating func finish(_ statistics: InputStatistics) {
        inputs = statistics.inputs
        bytesRead = statistics.bytes
        blankLines = statistics.blankLines
        rowsOfOtherTables = statistics.rowsOfOtherTables
        emptyInputs = statistics.emptyInputs
    }

    mutating func add(_ other: MigrationSummary) {
        for member in Self.layout {
            switch member {
            case .number(_, let path): self[keyPath: path] += other[keyPath: path]
            case .derived: break
            case .group(_, let path, names: let maximum):
                Self.add(other[keyPath: path], to: &self[keyPath: path], names: maximum ?? .max)
            case .paths: addMembers(other.members)
            }
        }
    }

    /// The choice of paths does not depend on the number of jobs.
    private mutating func addMembers(_ other: [String: [String: Int]]) {
        for (path, counts) in other.sorted(by: { $0.key < $1.key }) {
            let isKnown = members[path] != nil || members.count < Self.maximumMembers
            Self.add(counts, to: &members[isKnown ? path : "(other)", default: [:]])
        }
    }

    private static func add(_ counts: [String: Int], to total: inout [String: Int]) {
        for (name, count) in counts { total[name, default: 0] += count }
    }

    /// Batches come in the order of the input, and names are sorted within a batch. So the choice of names does not depend on
    /// the number of jobs.
    private static func add(_ counts: [String: Int], to total: inout [String: Int], names maximum: Int) {
        // The order matters only if the maximum is reached.
        if total.count + counts.count <= maximum, !counts.keys.contains(where: { $0.utf8.count > nameBytes }) {
            return add(counts, to: &total)
        }
        for (name, count) in counts.sorted(by: { $0.key < $1.key }) {
            let name =
                name.utf8.count <= nameBytes
                ? name : String(decoding: name.utf8.prefix(nameBytes), as: UTF8.self) + "…"
            let isKnown = total[name] != nil || total.count < maximum
            total[isKnown ? name : "(other)", default: 0] += count
        }
    }

    // MARK: Output

    /// The summary as JSON, laid out for people, keys in a fixed order, ending with a line feed.
    public func json() -> [UInt8] { json(Self.layout) }

    /// As ``json()``, without the counts of transactions, which a migration into a store does not make.
    func jsonOfRecords(_ more: [(name: String, count: Int)]) -> [UInt8] {
        json(Self.layout.filter { !Self.countsOfTransactions.contains($0.name) }, more)
    }

    private static let countsOfTransactions: Set = [
        "transactions", "appTransactions", "renewalInfos", "transactionsByStanding", "confirmedByEmbeddedReceipt",
        "transactionsByType", "transactionsByYear", "transactionsByProduct", "transactionFieldsNotCarried",
        "appTransactionFieldsNotCarried",
    ]

    private func json(_ members: [Member], _ more: [(name: String, count: Int)] = []) -> [UInt8] {
        let lines = members.map { member in
            switch member {
            case .number(let name, let path): "  \"\(name)\": \(self[keyPath: path])"
            case .derived(let name, let path): "  \"\(name)\": \(self[keyPath: path])"
            case .group(let name, let path, names: _):
                "  \"\(name)\": " + Self.object(self[keyPath: path].mapValues { "\($0)" })
            case .paths(let name):
                "  \"\(name)\": "
                    + Self.object(
                        self.members.mapValues { counts in
                            let fates = counts.sorted { $0.key < $1.key }.map {
                                "\(JSONWriter.quoted($0.key)): \($0.value)"
                            }
                            return "{\(fates.joined(separator: ", "))}"
                        })
            }
        }
        let all = lines + more.map { "  \"\($0.name)\": \($0.count)" }
        return Array("{\n\(all.joined(separator: ",\n"))\n}\n".utf8)
    }

    /// An object with a line for each member, in the order of the names.
    private static func object(_ values: [String: String]) -> String {
        let lines = values.sorted { $0.key < $1.key }.map { "\n    \(JSONWriter.quoted($0.key)): \($0.value)" }
        return "{" + lines.joined(separator: ",") + (lines.isEmpty ? "}" : "\n  }")
    }

    /// Reads what ``json()`` wrote. Members that are missing count as 0.
    init(_ object: JSONObject) {
        func counts(_ value: JSONValue?) -> [String: Int] {
            var counts: [String: Int] = [:]
            for member in value?.object?.members ?? [] {
                counts[member.key] = member.value.integer.flatMap { Int(exactly: $0) }
            }
            return counts
        }
        for member in Self.layout {
            switch member {
            case .number(let name, let path):
                self[keyPath: path] = object[name]?.integer.flatMap { Int(exactly: $0) } ?? 0
            case .derived: break
            case .group(let name, let path, names: _): self[keyPath: path] = counts(object[name])
            case .paths(let name):
                for member in object[name]?.object?.members ?? [] { members[member.key] = counts(member.value) }
            }
        }
    }
}
