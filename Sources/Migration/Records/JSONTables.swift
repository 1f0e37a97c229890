import AppStoreModels
import Purchases

/// A JSON export of phpMyAdmin: an array of objects. Some describe the export. Each other object has the rows of a table or of
/// the result of a query.
///
/// Each row is a record, as in a SQL dump. The descriptions are not records.
struct JSONTables {
    /// An element of the array that is not a record.
    enum Element {
        /// A description of the export, and the index after it.
        case description(end: Int)
        /// A table, and the index at which its rows begin.
        case rows(start: Int)
    }

    /// The number of bytes at the beginning of an element that must contain its type and the start of its rows.
    static let nameBytes = 4 << 10
    /// The members with which phpMyAdmin describes the export, a database and a table.
    private static let descriptions: Set<String> = ["type", "version", "comment", "name", "database"]

    private let input: String
    private let receiptColumns: [String]
    /// The columns of the first row of a table without a column for receipts.
    private var otherColumns: [String]?
    private var hasReceiptColumn = false

    /// Nil if the input is not such an export.
    /// - Parameters:
    ///   - head: the beginning of the input.
    ///   - input: the name of the input.
    ///   - receiptColumns: the columns that the caller names for receipts.
    init?(exportIn head: Bytes, of input: String, receiptColumns: [String]) {
        self.input = input
        self.receiptColumns = receiptColumns
        guard let bracket = head.firstNonWhiteSpace(), head[bracket] == UInt8(ascii: "[") else { return nil }
        var (index, descriptions) = (bracket + 1, 0)
        while let next = head.firstNonSeparator(from: index) {
            switch Self.element(head, at: next) {
            case .description(let end)?: (index, descriptions) = (end, descriptions + 1)
            case .rows? where descriptions > 0: return
            case .rows?, nil: return nil
            }
        }
        return nil
    }

    /// The element that begins at a position. Nil if it is not of phpMyAdmin, or if the bytes do not contain its beginning.
    static func element(_ bytes: Bytes, at start: Int) -> Element? {
        guard start < bytes.count, bytes[start] == UInt8(ascii: "{") else { return nil }
        var index = start + 1
        var type: String?
        while let next = bytes.firstNonSeparator(from: index) {
            if bytes[next] == UInt8(ascii: "}") {
                return type == "header" || type == "database" ? .description(end: next + 1) : nil
            }
            var member = JSONMemberEnd(first: bytes[next], isNamed: true, at: next)
            let end = member.scan(bytes, from: next)
            guard let value = member.valueStart, value < bytes.count, member.nameEnd > next else { return nil }
            let name = JSONList.name(bytes[slice: next..<member.nameEnd])
            if type == "table" || type == "raw", name == "data", bytes[value] == UInt8(ascii: "[") {
                return .rows(start: value + 1)
            }
            // phpMyAdmin writes no other members, so this may be a document or a user.
            guard let end, let name, Self.descriptions.contains(name) else { return nil }
            if name == "type" { type = JSONList.name(bytes[slice: value..<end]) }
            index = end
        }
        return nil
    }

    /// Whether a row is a record: if its table has a column for receipts, or if it seems to contain a document.
    mutating func isRecord(_ row: Bytes) -> Bool {
        guard let names = JSONMemberScanner.names(in: row) else { return true }
        let isOfReceipts =
            receiptColumns.isEmpty
            ? names.contains { ColumnNames.meaning(of: $0)?.isPayload == true }
            : !names.isDisjoint(with: receiptColumns)
        hasReceiptColumn = hasReceiptColumn || isOfReceipts
        if isOfReceipts { return true }
        if otherColumns == nil { otherColumns = names.sorted() }
        return receiptColumns.isEmpty && DocumentTraces.areLikely(in: row)
    }

    /// The problem if no table so far has a named column, so that no row was a record.
    var columnNotFound: InputError? {
        guard !receiptColumns.isEmpty, !hasReceiptColumn, let otherColumns else { return nil }
        return InputError(
            code: .columnNotFound, input: input,
            message: "\(input) \(TableDetector.missing(receiptColumns, otherColumns)).")
    }
}
