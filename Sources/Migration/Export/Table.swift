import AppStoreModels
import PostgreSQLTransactionStore

/// The type of a column.
package enum ColumnKind: String, Sendable {
    case text, integer, boolean
    /// Milliseconds since 1970-01-01T00:00:00Z; in PostgreSQL a `timestamptz`.
    case date
    /// A JSON object or array.
    case json

    /// The type in a database.
    func type(in dialect: SQLDialect) -> String {
        switch dialect {
        // SQLite has no booleans: 0 and 1.
        case .sqlite:
            switch self {
            case .text, .json: "TEXT"
            case .integer, .boolean, .date: "INTEGER"
            }
        case .postgreSQL:
            switch self {
            case .text: "TEXT"
            case .integer: "BIGINT"
            case .date: PostgreSQLTimestamp.type
            case .boolean: "BOOLEAN"
            case .json: "JSONB"
            }
        }
    }
}

/// The value of a column in one row.
package enum ColumnValue: Sendable {
    case text(String)
    case integer(Int64)
    case boolean(Bool)
    /// Valid JSON.
    case json([UInt8])

    /// Writes the value as a member of an object.
    func write(to writer: inout JSONWriter, as name: String) {
        writer.key(name)
        switch self {
        case .text(let text): writer.string(text)
        case .integer(let number): writer.integer(number)
        case .boolean(let flag): writer.boolean(flag)
        case .json(let json): writer.raw(json)
        }
    }
}

/// A column: its name, type and value. The CSV header, the NDJSON members and the SQL scripts all use it, and a test compares it
/// with Documentation/Export.md, which says what it means.
struct Column<Row>: Sendable {
    let name: String
    let kind: ColumnKind
    /// Nil if the row has no value.
    let value: @Sendable (Row) -> ColumnValue?

    var outline: TableOutline.Column { TableOutline.Column(name: name, kind: kind) }

    static func text(_ name: String, _ value: @escaping @Sendable (Row) -> String?) -> Column {
        Column(name: name, kind: .text) { value($0).map { .text($0) } }
    }

    /// One of Apple's text values.
    static func text<Value: OpenEnum>(
        _ name: String, _ value: @escaping @Sendable (Row) -> Value?
    ) -> Column where Value.RawValue == String {
        Column(name: name, kind: .text) { value($0).map { .text($0.rawValue) } }
    }

    static func integer<Value: BinaryInteger & Sendable>(
        _ name: String, _ value: @escaping @Sendable (Row) -> Value?
    ) -> Column {
        Column(name: name, kind: .integer) { value($0).map { .integer(Int64($0)) } }
    }

    /// One of Apple's numbers.
    static func integer<Value: OpenEnum>(
        _ name: String, _ value: @escaping @Sendable (Row) -> Value?
    ) -> Column where Value.RawValue == Int32 {
        Column(name: name, kind: .integer) { value($0).map { .integer(Int64($0.rawValue)) } }
    }

    static func boolean(_ name: String, _ value: @escaping @Sendable (Row) -> Bool?) -> Column {
        Column(name: name, kind: .boolean) { value($0).map { .boolean($0) } }
    }

    static func date(_ name: String, _ value: @escaping @Sendable (Row) -> Int64?) -> Column {
        Column(name: name, kind: .date) { value($0).map { .integer($0) } }
    }

    static func json(_ name: String, _ value: @escaping @Sendable (Row) -> [UInt8]?) -> Column {
        Column(name: name, kind: .json) { value($0).map { .json($0) } }
    }

    /// A JSON array of strings; absent if empty.
    static func texts(_ name: String, _ value: @escaping @Sendable (Row) -> [String]) -> Column {
        json(name) { row in
            let texts = value(row)
            return texts.isEmpty ? nil : JSONValue.array(texts.map(JSONValue.string)).json
        }
    }
}

/// The columns that identify a row in the next export. Their values are never absent, and short enough for an index.
package struct TableKey: Sendable {
    package let columns: [String]
    /// Whether each row has different values in the columns. If not, no columns distinguish the rows.
    package let isUnique: Bool

    static func primary(_ columns: [String]) -> TableKey { TableKey(columns: columns, isUnique: true) }
    static func shared(_ column: String) -> TableKey { TableKey(columns: [column], isUnique: false) }
    /// The table is not written to databases.
    static let none = TableKey(columns: [], isUnique: false)
}

/// A row of a table.
struct TableRow {
    /// A value for each column of the table; nil if the row has none.
    let values: [ColumnValue?]
    /// In a file, all rows of a part come before the rows of the next part.
    var part = 0
}

/// A table, and its rows about a customer.
struct Table: Sendable {
    let outline: TableOutline
    let rows: @Sendable (ExportedCustomer) -> [TableRow]
}

/// A table without its rows.
package struct TableOutline: Sendable {
    package struct Column: Sendable {
        package let name: String
        package let kind: ColumnKind
    }

    /// The name of the table, and of its file without the extension.
    package let name: String
    package let key: TableKey
    package let columns: [Column]
    /// The columns that earlier versions did not write into databases.
    let added: Set<String>

    /// The table as earlier versions wrote it.
    var withoutAdded: TableOutline {
        TableOutline(name: name, key: key, columns: columns.filter { !added.contains($0.name) }, added: [])
    }

    /// The table with dates as numbers of milliseconds: as in the files, and as earlier versions wrote it into PostgreSQL.
    var withNumericDates: TableOutline {
        TableOutline(
            name: name, key: key,
            columns: columns.map { Column(name: $0.name, kind: $0.kind == .date ? .integer : $0.kind) }, added: added)
    }
}

extension Payload {
    /// The members without a column, and those that this package does not know, as a JSON object; nil if there are
    /// none.
    func membersWithoutColumn(_ fields: FieldSet<Field>) -> [UInt8]? {
        var copy = self
        guard copy.presentFields() & ~fields.bits != 0 || !unknownMembers.isEmpty else { return nil }
        var visitor = MembersWithoutColumn(columns: fields.bits)
        copy.visit(&visitor)
        var writer = JSONWriter()
        copy.write(to: &writer)
        return writer.finish()
    }
}

/// Some fields of a payload.
struct FieldSet<Field: PayloadField>: Sendable {
    fileprivate let bits: UInt64

    /// The fields with these names.
    init(named names: some Sequence<String>) {
        let names = Set(names)
        bits = Field.allCases.reduce(0) { names.contains("\($1.name)") ? $0 | $1.bit : $0 }
    }
}

/// Removes the members that have columns.
private struct MembersWithoutColumn: PayloadVisitor {
    let columns: UInt64

    mutating func member<Value: PayloadValue>(
        _ name: StaticString, _ field: some PayloadField, _ value: inout Value?
    ) {
        if columns & field.bit != 0 { value = nil }
    }
}
