import CLibPQ
import Purchases
import TransactionStore

/// The rows of one result, in binary format unless text was requested. An instance does not leave the session that
/// created it.
final class ResultRows {
    private let result: OpaquePointer
    let count: Int

    init(_ result: OpaquePointer) {
        self.result = result
        count = Int(PQntuples(result))
    }

    deinit { PQclear(result) }

    /// The number of rows that an INSERT, UPDATE or DELETE changed.
    var affected: Int {
        guard let text = PQcmdTuples(result) else { return 0 }
        return Int(String(cString: text)) ?? 0
    }

    func isNull(_ row: Int, _ column: Int) -> Bool {
        PQgetisnull(result, Int32(row), Int32(column)) == 1
    }

    var columnCount: Int { Int(PQnfields(result)) }

    func name(_ column: Int) -> String { PQfname(result, Int32(column)).map { String(cString: $0) } ?? "" }

    func isByteArray(_ column: Int) -> Bool { PQftype(result, Int32(column)) == TypeID.bytea }

    /// The bytes of all values.
    var byteCount: Int {
        (0..<count).reduce(0) { total, row in
            (0..<columnCount).reduce(total) { $0 + Int(PQgetlength(result, Int32(row), Int32($1))) }
        }
    }

    private func value(_ row: Int, _ column: Int) throws -> UnsafeRawBufferPointer {
        guard row >= 0, row < count, column >= 0, column < Int(PQnfields(result)), !isNull(row, column),
            let value = PQgetvalue(result, Int32(row), Int32(column))
        else { throw TransactionStoreError(.corrupt, "a stored value is missing") }
        return UnsafeRawBufferPointer(start: value, count: Int(PQgetlength(result, Int32(row), Int32(column))))
    }

    func integer<Value: FixedWidthInteger>(_ row: Int, _ column: Int, as type: Value.Type = Value.self) throws -> Value
    {
        let value = try value(row, column)
        guard value.count == Value.bitWidth / 8 else {
            throw TransactionStoreError(.corrupt, "a stored number has an unexpected width")
        }
        return Value(bigEndian: value.loadUnaligned(as: Value.self))
    }

    /// The bytes of a value, valid only during `body`.
    func withBytes<Value>(
        _ row: Int, _ column: Int, _ body: (UnsafeBufferPointer<UInt8>) throws -> Value
    ) throws -> Value {
        try body(try value(row, column).bindMemory(to: UInt8.self))
    }

    func bytes(_ row: Int, _ column: Int) throws -> [UInt8] { [UInt8](try value(row, column)) }

    func text(_ row: Int, _ column: Int) throws -> String {
        guard let text = String(validating: try value(row, column), as: UTF8.self) else {
            throw TransactionStoreError(.corrupt, "a stored text is not UTF-8")
        }
        return text
    }

    /// The environment and the bundle id in two columns.
    func scope(_ row: Int, _ column: Int) throws -> StoreScope {
        StoreScope(environment: .init(rawValue: try text(row, column)), bundleId: try text(row, column + 1))
    }

    /// The values of all columns: whole numbers and bytes.
    func row(_ row: Int) throws -> ResultRow {
        ResultRow(
            try (0..<columnCount).map { column -> SQLText.Value? in
                if isNull(row, column) { return nil }
                switch PQftype(result, Int32(column)) {
                case TypeID.int8: return .integer(try integer(row, column))
                case TypeID.int4: return .integer(Int64(try integer(row, column, as: Int32.self)))
                case TypeID.int2: return .integer(Int64(try integer(row, column, as: Int16.self)))
                default: return .bytes(try bytes(row, column))
                }
            })
    }

    /// Kind, source and signing date in three columns, and the hash of the document if it has a column.
    func head(_ row: Int, _ column: Int, document: Int? = nil) throws -> CustomerAssembler.Row {
        CustomerAssembler.Row(
            kind: Int64(try integer(row, column, as: Int16.self)),
            source: Int64(try integer(row, column + 1, as: Int16.self)), signedDate: try integer(row, column + 2),
            document: try document.map { try value(row, $0).bindMemory(to: UInt8.self) })
    }

    /// Each row and the index of the value that it is about, whose number from 1 is in the first column.
    func places(among values: Int) throws -> [(row: Int, place: Int)] {
        try (0..<count).compactMap { row -> (row: Int, place: Int)? in
            let place = Int(try integer(row, 0, as: Int32.self)) - 1
            return (0..<values).contains(place) ? (row, place) : nil
        }
    }
}
