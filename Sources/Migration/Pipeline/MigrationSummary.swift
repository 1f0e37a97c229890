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
    /// A JWS that is none of those.
    case otherJWS
    /// StoreKit 2 JSON without its signature: a transaction, renewal info or app transaction.
    case storeKit2JSON
    /// A transaction id and nothing else.
    case transactionId
    /// Something that was given as a receipt and is none.
    case notAReceipt
    /// Anything else.
    case unrecognized
}

/// The numbers of a migration. The same inputs and options give the same summary.
public struct MigrationSummary: Sendable, Equatable {
    /// Distinct products are counted up to this many, by first appearance; the rest goes under `(other)`.
    public static let maximumProducts = 10_000

    /// Records read; each ended in exactly one of the two numbers after it.
    public internal(set) var recordsRead = 0
    public internal(set) var migrated = 0
    public internal(set) var quarantined = 0
    /// Documents in `quarantine.ndjson` whose records were migrated with other documents, and the same by the code of the
    /// reason.
    public internal(set) var documentsQuarantined = 0
    public internal(set) var documentsQuarantinedByReason: [String: Int] = [:]
    /// Written lines: one per purchase and record. A purchase in several records counts in each.
    public internal(set) var transactions = 0
    public internal(set) var appTransactions = 0
    public internal(set) var renewalInfos = 0
    /// Transactions by what they rest on: `verifiedReceipt`, `verifiedJWS`, `recorded`, and of the recorded ones those which a verified
    /// receipt inside the same document confirms.
    public internal(set) var transactionsByStanding: [String: Int] = [:]
    public internal(set) var confirmedByEmbeddedReceipt = 0
    /// Receipts inside recorded documents: `genuine`, or the code of the reason why not.
    public internal(set) var embeddedReceiptsByOutcome: [String: Int] = [:]
    /// Records by kind.
    public internal(set) var migratedByKind: [String: Int] = [:]
    public internal(set) var quarantinedByKind: [String: Int] = [:]
    /// Migrated records by environment; `unknown` if a recorded document has none.
    public internal(set) var migratedByEnvironment: [String: Int] = [:]
    /// Quarantined records by the code of the reason.
    public internal(set) var quarantinedByReason: [String: Int] = [:]
    public internal(set) var transactionsByProduct: [String: Int] = [:]
    public internal(set) var transactionsByType: [String: Int] = [:]
    /// By year (UTC) of the purchase date.
    public internal(set) var transactionsByYear: [String: Int] = [:]
    /// How many transactions lack each modern field, by the field's name.
    public internal(set) var transactionFieldsNotCarried: [String: Int] = [:]
    public internal(set) var appTransactionFieldsNotCarried: [String: Int] = [:]
    /// The handling of each column and member of the records: by path, the number of each ``MemberFate`` by raw value. It
    /// contains the first ``maximumMembers`` paths; the others count as `(other)`.
    public internal(set) var members: [String: [String: Int]] = [:]
    /// How often each note was made.
    public internal(set) var notes: [String: Int] = [:]
    /// Files and streams read, and their bytes.
    public internal(set) var inputs = 0
    public internal(set) var bytesRead = 0
    public internal(set) var blankLines = 0
    /// Files and streams with no record in them.
    public internal(set) var emptyInputs = 0

    /// Paths of columns and members are counted up to this many.
    public static let maximumMembers = 1_000

    /// How many values look as if a document were in them that was not read.
    public var documentsNotRead: Int {
        members.values.reduce(0) { $0 + ($1[MemberFate.looksLikeDocument.rawValue] ?? 0) }
    }

    init() {}

    mutating func add(_ other: MigrationSummary) {
        recordsRead += other.recordsRead
        migrated += other.migrated
        quarantined += other.quarantined
        transactions += other.transactions
        appTransactions += other.appTransactions
        renewalInfos += other.renewalInfos
        confirmedByEmbeddedReceipt += other.confirmedByEmbeddedReceipt
        Self.add(other.transactionsByStanding, to: &transactionsByStanding)
        Self.add(other.embeddedReceiptsByOutcome, to: &embeddedReceiptsByOutcome)
        Self.add(other.migratedByKind, to: &migratedByKind)
        Self.add(other.quarantinedByKind, to: &quarantinedByKind)
        Self.add(other.migratedByEnvironment, to: &migratedByEnvironment)
        Self.add(other.quarantinedByReason, to: &quarantinedByReason)
        Self.add(other.transactionsByType, to: &transactionsByType)
        Self.add(other.transactionsByYear, to: &transactionsByYear)
        Self.add(other.transactionFieldsNotCarried, to: &transactionFieldsNotCarried)
        Self.add(other.appTransactionFieldsNotCarried, to: &appTransactionFieldsNotCarried)
        Self.add(other.notes, to: &notes)
        documentsQuarantined += other.documentsQuarantined
        Self.add(other.documentsQuarantinedByReason, to: &documentsQuarantinedByReason)
        addMembers(other.members)
        addProducts(other.transactionsByProduct)
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

    /// Batches come in the order of the input and names are sorted within one, so that which products are counted by name
    /// does not hang on the number of jobs.
    private mutating func addProducts(_ counts: [String: Int]) {
        // The order matters only where the bound is reached.
        if transactionsByProduct.count + counts.count <= Self.maximumProducts {
            return Self.add(counts, to: &transactionsByProduct)
        }
        for (name, count) in counts.sorted(by: { $0.key < $1.key }) {
            let isKnown = transactionsByProduct[name] != nil || transactionsByProduct.count < Self.maximumProducts
            transactionsByProduct[isKnown ? name : "(other)", default: 0] += count
        }
    }

    // MARK: Output

    /// The summary as JSON, laid out for people, keys in a fixed order, ending with a line feed.
    public func json() -> [UInt8] {
        var text = "{\n"
        func line(_ name: String, _ value: Int) { text += "  \"\(name)\": \(value),\n" }
        func group(_ name: String, _ counts: [String: Int], isLast: Bool = false) {
            text += "  \"\(name)\": {"
            let lines = counts.sorted { $0.key < $1.key }.map { "\n    \(Self.quoted($0.key)): \($0.value)" }
            text += lines.joined(separator: ",") + (lines.isEmpty ? "}" : "\n  }") + (isLast ? "\n" : ",\n")
        }
        line("recordsRead", recordsRead)
        line("migrated", migrated)
        line("quarantined", quarantined)
        line("documentsQuarantined", documentsQuarantined)
        line("documentsNotRead", documentsNotRead)
        line("transactions", transactions)
        line("appTransactions", appTransactions)
        line("renewalInfos", renewalInfos)
        group("migratedByKind", migratedByKind)
        group("quarantinedByKind", quarantinedByKind)
        group("quarantinedByReason", quarantinedByReason)
        group("documentsQuarantinedByReason", documentsQuarantinedByReason)
        text += "  \"members\": {"
        let paths = members.sorted { $0.key < $1.key }.map { path, counts in
            let fates = counts.sorted { $0.key < $1.key }.map { "\(Self.quoted($0.key)): \($0.value)" }
            return "\n    \(Self.quoted(path)): {\(fates.joined(separator: ", "))}"
        }
        text += paths.joined(separator: ",") + (paths.isEmpty ? "},\n" : "\n  },\n")
        group("migratedByEnvironment", migratedByEnvironment)
        group("transactionsByStanding", transactionsByStanding)
        line("confirmedByEmbeddedReceipt", confirmedByEmbeddedReceipt)
        group("embeddedReceiptsByOutcome", embeddedReceiptsByOutcome)
        group("transactionsByType", transactionsByType)
        group("transactionsByYear", transactionsByYear)
        group("transactionsByProduct", transactionsByProduct)
        group("transactionFieldsNotCarried", transactionFieldsNotCarried)
        group("appTransactionFieldsNotCarried", appTransactionFieldsNotCarried)
        group("notes", notes)
        line("inputs", inputs)
        line("bytesRead", bytesRead)
        line("blankLines", blankLines)
        text += "  \"emptyInputs\": \(emptyInputs)\n}\n"
        return Array(text.utf8)
    }

    private static func quoted(_ text: String) -> String {
        var writer = JSONWriter()
        writer.string(text)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
