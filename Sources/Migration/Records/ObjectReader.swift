import AppStoreModels
import Encodings
import LegacyReceipts
import Purchases

/// The columns of one record, or of an object that a record wraps: the members of a JSON object, or the fields of a
/// table's row.
///
/// A class, so that the readers of one record share it. Each copy of a structure would count references of all its members.
final class ObjectReader {
    struct Column {
        enum Form {
            case json(hasEscapes: Bool)
            case field(TableField)
        }

        let name: String
        let meaning: ColumnNames.Meaning?
        let kind: JSONKind
        /// The whole value: a JSON string with its quotes, or the unchanged field of a row.
        let value: Range<Int>
        let form: Form
    }

    let reader: RecordReader
    /// The text that `bytes` points to.
    let text: ArraySlice<UInt8>
    let bytes: Bytes
    let depth: Int
    /// In the order of the text. Of members with the same name, only the last one; of fields of a row, all.
    let columns: [Column]
    /// Members that a later one with the same name replaces. They are not read.
    let replaced: [Column]
    let isTable: Bool

    /// Scans and validates the whole object.
    init(reader: RecordReader, text: ArraySlice<UInt8>, bytes: Bytes, depth: Int) throws(JSONReadingError) {
        self.reader = reader
        self.text = text
        self.bytes = bytes
        self.depth = depth
        var columns: [Column] = []
        columns.reserveCapacity(8)
        var scanner = try JSONMemberScanner(bytes)
        while let member = try scanner.next() {
            guard let key = member.key else { continue }
            let name = scanner.text(key)
            columns.append(
                Column(
                    name: name, meaning: ColumnNames.meaning(of: name), kind: member.kind, value: member.value,
                    form: .json(hasEscapes: member.hasEscapes)))
        }
        let isReplaced = Self.areReplaced(columns)
        self.columns =
            isReplaced.isEmpty ? columns : columns.indices.filter { !isReplaced.contains($0) }.map { columns[$0] }
        replaced = isReplaced.sorted().map { columns[$0] }
        isTable = false
    }

    /// - Parameters:
    ///   - reader: the reader of the record.
    ///   - row: the bytes of the row.
    ///   - bytes: the bytes that the fields refer to.
    ///   - fields: as many as the table has columns.
    ///   - table: the columns.
    init(reader: RecordReader, row: ArraySlice<UInt8>, bytes: Bytes, fields: [TableField], of table: TableLayout) {
        self.reader = reader
        text = row
        self.bytes = bytes
        depth = 0
        var columns: [Column] = []
        columns.reserveCapacity(fields.count)
        for (index, field) in fields.enumerated() {
            columns.append(
                Column(
                    name: table.columns[index], meaning: table.meanings[index],
                    kind: field.isNull(in: bytes) ? .null : .string, value: field.range, form: .field(field)))
        }
        self.columns = columns
        replaced = []
        isTable = true
    }

    /// The indices of the columns that a later one with the same name replaces.
    private static func areReplaced(_ columns: [Column]) -> Set<Int> {
        if columns.count > 16 {
            var last: [String: Int] = [:]
            last.reserveCapacity(columns.count)
            for (index, column) in columns.enumerated() { last[column.name] = index }
            guard last.count < columns.count else { return [] }
            return Set(columns.indices.filter { last[columns[$0].name] != $0 })
        }
        var replaced: Set<Int> = []
        for index in columns.indices {
            for later in columns.indices.dropFirst(index + 1) where columns[later].name == columns[index].name {
                replaced.insert(index)
                break
            }
        }
        return replaced
    }

    /// - Parameter name: one of Apple's or Unity's names, which are ASCII.
    func column(_ name: String) -> Column? {
        // Each record is asked for many names. Nearly all differ in their length already, which costs less than to compare them.
        columns.first { $0.name.utf8.count == name.utf8.count && $0.name == name }
    }

    /// The kind of a column. A text that contains a JSON object or array counts as that, because databases and tables store JSON
    /// as text.
    func kind(_ name: String) -> JSONKind? {
        guard let column = column(name) else { return nil }
        guard column.kind == .string, WireVocabulary.containers.contains(name) else { return column.kind }
        switch content(of: column).first(where: { !$0.isWhiteSpace }) {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        default: return .string
        }
    }

    // MARK: Forms

    var isNotification: Bool {
        if let type = column("notification_type"), type.kind == .string, !content(of: type).isEmpty { return true }
        return kind("unified_receipt") == .object
    }

    /// Reference.md V2 to V4. A `status` alone is not specific, so all other keys must be Apple's too.
    var isReply: Bool {
        for key in ["latest_receipt_info", "latest_expired_receipt_info", "pending_renewal_info"] {
            if let kind = kind(key), kind == .object || kind == .array { return true }
        }
        if let receipt = column("receipt") {
            switch receipt.kind {
            case .object: return isReceiptObject(receipt)
            case .array: return firstElementIsObject(receipt)
            case .string where isTable && kind("receipt") == .object: break
            case .string: return false
            case .null, .bool, .number: break
            }
        }
        return isStatus && (columns.allSatisfy { WireVocabulary.reply.contains($0.name) } || isRefusal)
    }

    /// Whether it is the reply to a request that verifyReceipt refused, with members of the caller beside Apple's. No other
    /// status has such a number (Reference.md V2). A record itself may have it too, as a column of the caller's own.
    private var isRefusal: Bool {
        guard depth > 0, !isTable, !isRow, storeKit2Kind == nil, let status = column("status"), status.kind == .number
        else { return false }
        let number = Int(String(decoding: content(of: status), as: UTF8.self))
        return number.map { 21_000...21_199 ~= $0 } ?? false
    }

    private var isStatus: Bool {
        guard let status = column("status") else { return false }
        if status.kind == .number { return true }
        return isTable && StoredText.isTransactionID(content(of: status))
    }

    private func isReceiptObject(_ column: Column) -> Bool {
        guard let names = JSONMemberScanner.names(in: bytes[slice: column.value]) else { return false }
        // A notification has `bid` too, and is stored under any name.
        return names.isDisjoint(with: WireVocabulary.notificationMarks)
            && !names.isDisjoint(with: WireVocabulary.receiptMarks)
    }

    private func firstElementIsObject(_ column: Column) -> Bool {
        let slice = bytes[slice: column.value]
        return slice.firstNonWhiteSpace(from: 1).map { slice[$0] == UInt8(ascii: "{") } ?? false
    }

    /// A row of `latest_receipt_info` or an iOS 6 receipt object.
    var isRow: Bool {
        guard let product = column("product_id"), let id = column("transaction_id") else { return false }
        if isTable { return !content(of: product).isEmpty && !content(of: id).isEmpty }
        return product.kind == .string && (id.kind == .string || id.kind == .number)
    }

    /// Whether a column may contain a document or traces of one. Does not read it.
    var mayContainDocument: Bool {
        columns.contains { mayContainPayload($0) || DocumentTraces.arePresent(in: content(of: $0)) }
            || replaced.contains { DocumentTraces.arePresent(in: content(of: $0)) }
    }

    /// Whether a row has columns that may state its user, its app and so on.
    var hasRoles: Bool { columns.contains { !WireVocabulary.row.contains($0.name) && reader.mayHaveRole($0.name) } }

    /// The beginnings of hexadecimal, of a text of PHP and of one of Python.
    private static let mayHaveEscapes: [StaticString] = ["3", "s:", "b\"", "b\\\""]

    /// Checks the first bytes, and for the beginning of JSON in the others, so that an ordinary column costs little.
    func mayContainPayload(_ column: Column) -> Bool {
        switch column.kind {
        case .object, .array: return true
        case .string:
            let content = content(of: column)
            guard content.count >= 16, let start = content.firstNonWhiteSpace() else { return false }
            let text = content[slice: start..<content.count]
            // A table can contain a receipt's own bytes, possibly with escapes. No text begins like this.
            if isTable, content[0] == 0x30, content[1] >= 0x80 {
                return stringBytes(column).withUnsafeBufferPointer { StoredText.beginsSignedMessage($0) }
            }
            switch text[0] {
            case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "<"), UInt8(ascii: "-"), UInt8(ascii: "\\"),
                UInt8(ascii: "\""), UInt8(ascii: "&"):
                return true
            // Hexadecimal with line breaks, or a text of PHP or Python with quotes, which are escapes in JSON and in tables.
            case _ where Self.mayHaveEscapes.contains(where: { text.begins(with: $0) }) && isEscaped(column):
                return stringBytes(column).withUnsafeBufferPointer {
                    StoredText.isUnmistakable($0[slice: $0.trimmed()]) || StoredText.mayContainObject($0)
                }
            default: return StoredText.isUnmistakable(text) || StoredText.mayContainObject(text)
            }
        case .null, .bool, .number: return false
        }
    }

    /// Whether the object is the `receipt` of a reply alone. It is read as a reply without anything else.
    var isBareReceiptObject: Bool {
        kind("in_app") == .array && (column("bundle_id") != nil || column("receipt_type") != nil)
    }

    /// The kind of StoreKit 2 JSON; nil for other objects. Rows of a table have no numbers, so they are never of a
    /// kind.
    var storeKit2Kind: StoreKit2Kind? {
        guard !isTable else { return nil }
        return StoreKit2Kind { column($0)?.kind }
    }

    /// The store of a purchase, as the columns state it.
    var otherStoreMembers: OtherStoreMembers {
        var members = OtherStoreMembers()
        for column in columns {
            switch column.kind {
            case .string: members.add(column.name, column.meaning, text: content(of: column))
            case .number: members.addNumber(column.name)
            case .object: members.addObject(column.name)
            case .null, .bool, .array: break
            }
        }
        return members
    }

    /// Whether each column is the value of a key that is a column itself.
    var hasKeysAsColumn: Bool { !isTable && reader.readsKeys }

    /// Whether a column states another store than Apple's.
    var isOfOtherStore: Bool { otherStoreMembers.nameOtherStore }

    // MARK: Values

    /// The recognized value of a column.
    func value(of column: Column) -> Recognition {
        switch column.kind {
        case .string: reader.inside(column.name).read(text: stringBytes(column), depth: depth + 1)
        case .object, .array: reader.inside(column.name).read(text: slice(column.value), depth: depth + 1)
        case .number where StoredText.isTransactionID(bytes[slice: column.value]):
            Recognition(.transactionID(String(decoding: bytes[slice: column.value], as: UTF8.self)))
        case .null: Recognition(.unrecognized(InputProblem(.empty, "The column is null.")))
        case .number, .bool: Recognition(.unrecognized(InputProblem(.unknownForm, "The column contains no receipt.")))
        }
    }

    /// A string or field without its quotes, with its escapes; any other value unchanged.
    func content(of column: Column) -> Bytes {
        switch column.form {
        case .field where column.kind == .null: bytes[slice: column.value.upperBound..<column.value.upperBound]
        case .field(let field): bytes[slice: field.content(in: bytes)]
        case .json where column.kind == .string:
            bytes[slice: (column.value.lowerBound + 1)..<(column.value.upperBound - 1)]
        case .json: bytes[slice: column.value]
        }
    }

    /// The string's bytes: a part of the record, or a copy if it has escapes.
    func stringBytes(_ column: Column) -> ArraySlice<UInt8> {
        switch column.form {
        case .json(let hasEscapes):
            let content = (column.value.lowerBound + 1)..<(column.value.upperBound - 1)
            return hasEscapes ? JSONStringScan.unescaped(bytes[slice: content])[...] : slice(content)
        case .field(let field):
            if let plain = field.plainValue(in: bytes) { return slice(plain) }
            return field.value(in: bytes)[...]
        }
    }

    /// Whether the string differs from the bytes of the record.
    private func isEscaped(_ column: Column) -> Bool {
        switch column.form {
        case .json(let hasEscapes): hasEscapes
        case .field(let field): field.plainValue(in: bytes) == nil
        }
    }

    /// The text of the value as a record of its own.
    func text(of column: Column) -> ArraySlice<UInt8> {
        column.kind == .string ? stringBytes(column) : slice(column.value)
    }

    private func slice(_ range: Range<Int>) -> ArraySlice<UInt8> {
        text[(text.startIndex + range.lowerBound)..<(text.startIndex + range.upperBound)]
    }

    /// The wanted columns as a JSON object. Text under one of Apple's names for objects and arrays is parsed as JSON. Empty
    /// fields of a row, and words in place of null, are omitted.
    ///
    /// - Parameter isWanted: whether to include the column at an index.
    func parsed(_ isWanted: (Int) -> Bool) throws(JSONReadingError) -> JSONValue {
        if !isTable, columns.indices.allSatisfy({ isWanted($0) && !isContainerText(columns[$0]) }) {
            return try JSONValue.parse(bytes)
        }
        var members: [JSONObject.Member] = []
        members.reserveCapacity(columns.count)
        for (index, column) in columns.enumerated() where isWanted(index) {
            if isContainerText(column), let value = json(in: column) {
                members.append(JSONObject.Member(key: column.name, value: value))
            } else if isTable {
                guard let text = String(validating: stringBytes(column), as: UTF8.self), !text.isEmpty,
                    !StoredText.nullWords.contains(text)
                else { continue }
                members.append(JSONObject.Member(key: column.name, value: .string(text)))
            } else {
                let value = try JSONValue.parse(bytes[slice: column.value])
                members.append(JSONObject.Member(key: column.name, value: value))
            }
        }
        return .object(JSONObject(members: members))
    }

    private func isContainerText(_ column: Column) -> Bool {
        column.kind == .string && WireVocabulary.containers.contains(column.name) && kind(column.name) != .string
    }

    /// Nil if the text is not JSON after all; it then stays a text.
    private func json(in column: Column) -> JSONValue? {
        try? JSONValue.parse(stringBytes(column))
    }

    /// The column for the output; nil if a field is not UTF-8.
    func carried(_ column: Column) -> CarriedColumn? {
        if isTable, column.kind == .null { return CarriedColumn(name: column.name, value: .json("null")) }
        if column.kind != .string {
            return CarriedColumn(
                name: column.name, value: .json(String(decoding: bytes[slice: column.value], as: UTF8.self)))
        }
        let text = stringBytes(column)
        // JSON was validated as a whole.
        guard isTable else {
            return CarriedColumn(name: column.name, value: .text(String(decoding: text, as: UTF8.self)))
        }
        return String(validating: text, as: UTF8.self).map { CarriedColumn(name: column.name, value: .text($0)) }
    }

    /// The column for the output if it is not UTF-8. The encoding is unknown, and a user id must stay distinct.
    func carriedAsBase64(_ column: Column) -> CarriedColumn {
        CarriedColumn(name: column.name, value: .text("base64:" + Base64.encode(stringBytes(column))))
    }
}

extension JSONMemberScanner {
    /// The names of the members of an object, or none of an array; nil if the text is not JSON.
    static func names(in text: Bytes) -> Set<String>? {
        do throws(JSONReadingError) {
            var scanner = try JSONMemberScanner(text)
            var names: Set<String> = []
            while let member = try scanner.next() {
                if let key = member.key { names.insert(scanner.text(key)) }
            }
            return names
        } catch {
            return nil
        }
    }
}
