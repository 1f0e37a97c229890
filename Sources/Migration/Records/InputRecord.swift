/// The place of a record in the input.
package struct RecordPlace: Sendable, Equatable, CustomStringConvertible {
    /// What is counted up to the record.
    package enum Unit: String, Sendable, CaseIterable {
        /// The record is the whole file.
        case file
        /// The line where it begins; blank lines count.
        case line
        /// The element of a top-level JSON array, the value in a sequence of JSON values, or the member of an object that is too
        /// long for a record.
        case element
        /// The row of a table; the header and blank rows count, as in a spreadsheet.
        case row
    }

    /// The path, beginning with the caller's argument, or "-" for standard input.
    package let input: String
    package let unit: Unit
    /// From 1.
    package let number: Int
    /// Bytes from the start of the input to the record.
    package let byteOffset: Int

    /// The place of a receipt that is in any number of records.
    static let none = RecordPlace(input: "", unit: .file, number: 1, byteOffset: 0)

    package var description: String { unit == .file ? input : "\(input), \(unit) \(number)" }
}

/// A column of the caller's own, such as a user id, that is copied to the output.
package struct CarriedColumn: Sendable, Equatable {
    package enum Value: Sendable, Equatable {
        /// A JSON string or a CSV field, decoded.
        case text(String)
        /// Any other JSON value, unchanged: a number, `true`, `false`, `null`, an array or an object.
        case json(String)
    }

    package let name: String
    package let value: Value

    package init(name: String, value: Value) {
        self.name = name
        self.value = value
    }

    /// The column with the name of its container before its own.
    func inside(_ container: String) -> CarriedColumn { CarriedColumn(name: container + "." + name, value: value) }
}

/// Writes the name of a container before the names of the columns in it. Columns of the same name share the new one, because the
/// same columns can be beside many documents.
struct ColumnsOfContainer {
    private let container: String
    private var names: [String: String] = [:]

    init(_ container: String) {
        self.container = container
    }

    mutating func callAsFunction(_ columns: [CarriedColumn]) -> [CarriedColumn] {
        columns.map { column in
            if let name = names[column.name] { return CarriedColumn(name: name, value: column.value) }
            let inside = column.inside(container)
            names[column.name] = inside.name
            return inside
        }
    }
}

/// One record of an input, recognized without decoding a receipt.
package struct InputRecord: Sendable {
    package let place: RecordPlace
    /// The record exactly as read, without the line end; truncated to ``InputLimits/oversizeExcerpt`` bytes if it is
    /// too large.
    package let original: ArraySlice<UInt8>
    /// The length of the whole record in bytes, even if `original` is truncated.
    package let length: Int
    /// The caller's own columns in the order of the input.
    package let carried: [CarriedColumn]
    package let payload: InputPayload
    /// The handling of each column or member.
    package var members: [MemberPath] = []
    /// The layout of the table, if `original` is a row.
    var table: TableLayout?
    /// The path of `original` in its record, if it was quarantined alone.
    var path = ""
    /// The roles that an earlier run gave to columns, if the record was quarantined.
    var roles: ColumnRoles?
}

extension [CarriedColumn] {
    /// The bytes of the names and values.
    var size: Int {
        reduce(0) { sum, column in
            switch column.value {
            case .text(let text), .json(let text): sum + column.name.utf8.count + text.utf8.count
            }
        }
    }
}
