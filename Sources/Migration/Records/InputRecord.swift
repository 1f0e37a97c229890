/// The place of a record in the input.
package struct RecordPlace: Sendable, Equatable, CustomStringConvertible {
    /// All counts begin at 1.
    package enum Position: Sendable, Equatable {
        /// The record is the whole file.
        case file
        /// The line where it begins; blank lines count.
        case line(Int)
        /// The element of a top-level JSON array, the value in a sequence of JSON values, or the member of an object that is too
        /// long for a record.
        case element(Int)
        /// The row of a table; the header and blank rows count, as in a spreadsheet.
        case row(Int)
    }

    /// The path, beginning with the caller's argument, or "-" for standard input.
    package let input: String
    package let position: Position
    /// Bytes from the start of the input to the record.
    package let byteOffset: Int

    package init(input: String, position: Position, byteOffset: Int) {
        self.input = input
        self.position = position
        self.byteOffset = byteOffset
    }

    /// The place of a receipt that is in any number of records.
    static let none = RecordPlace(input: "", position: .file, byteOffset: 0)

    package var description: String {
        switch position {
        case .file: input
        case .line(let number): "\(input), line \(number)"
        case .element(let number): "\(input), element \(number)"
        case .row(let number): "\(input), row \(number)"
        }
    }
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
    package let members: [MemberPath]
    /// The layout of the table, if `original` is a row.
    let table: TableLayout?
    /// The path of `original` in its record, if it was quarantined alone.
    let path: String
    /// The roles that an earlier run gave to columns, if the record was quarantined.
    let roles: ColumnRoles?
}
