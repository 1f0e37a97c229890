/// Bytes in PostgreSQL's binary format: big-endian integers, and each value after its length (PostgreSQL documentation,
/// "COPY", Binary Format).
struct BinaryBuffer: Sendable {
    private(set) var bytes: [UInt8] = []

    init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    var count: Int { bytes.count }

    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    mutating func integer<Value: FixedWidthInteger>(_ value: Value) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func raw(_ value: some Collection<UInt8>) { bytes.append(contentsOf: value) }

    /// A value with its length before it. Lengths fit in 32 bits: `WriteLimits` keeps every value far below 2 GiB.
    mutating func field(_ value: some Collection<UInt8>) {
        integer(Int32(truncatingIfNeeded: value.count))
        raw(value)
    }

    mutating func field(_ text: String) {
        integer(Int32(truncatingIfNeeded: text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    mutating func field<Value: FixedWidthInteger>(_ value: Value) {
        integer(Int32(Value.bitWidth / 8))
        integer(value)
    }

    mutating func null() { integer(Int32(-1)) }

    /// A value that `body` writes, with its length before it.
    mutating func field(_ body: (inout BinaryBuffer) throws -> Void) rethrows {
        let start = bytes.count
        integer(Int32(0))
        try body(&self)
        let length = Int32(truncatingIfNeeded: bytes.count - start - 4).bigEndian
        withUnsafeBytes(of: length) { source in
            for offset in 0..<4 { bytes[start + offset] = source[offset] }
        }
    }

    /// The bytes before the rows of COPY's binary format: signature, flags, no header extension.
    mutating func copyHeader() {
        raw("PGCOPY\n".utf8)
        raw([0xFF, 0x0D, 0x0A, 0x00])
        integer(Int32(0))
        integer(Int32(0))
    }

    /// The header of a one-dimensional array (array_send in PostgreSQL's arrayfuncs.c).
    mutating func arrayHeader(elementType: UInt32, count: Int) {
        integer(Int32(count == 0 ? 0 : 1))
        integer(Int32(0))
        integer(elementType)
        guard count > 0 else { return }
        integer(Int32(truncatingIfNeeded: count))
        integer(Int32(1))
    }
}

/// Object ids of the built-in types that this module uses (PostgreSQL's pg_type.dat). They never change.
enum TypeID {
    static let bytea: UInt32 = 17
    static let int8: UInt32 = 20
    static let int2: UInt32 = 21
    static let int4: UInt32 = 23
}

/// One parameter of a statement, sent in binary and separate from the SQL text.
enum Parameter: Sendable {
    case int4(Int32)
    case int8(Int64)
    case text(String)
    case bytes([UInt8])
    case int2s([Int16])
    case int4s([Int32])
    case int8s([Int64])
    case byteStrings([[UInt8]])
    /// Elements that are already encoded, each with its length before it.
    case encoded(elementType: UInt32, count: Int, elements: [UInt8])

    static func texts(_ values: some Sequence<String>) -> Parameter { .byteStrings(values.map { Array($0.utf8) }) }

    /// Parts of some bytes, as `bytea`.
    static func slices(_ ranges: [Range<Int>], of bytes: [UInt8]) -> Parameter {
        var elements = BinaryBuffer(capacity: ranges.count * 24)
        for range in ranges { elements.field(bytes[range]) }
        return .encoded(elementType: TypeID.bytea, count: ranges.count, elements: elements.bytes)
    }

    func write(to buffer: inout BinaryBuffer) {
        switch self {
        case .int4(let value): buffer.integer(value)
        case .int8(let value): buffer.integer(value)
        case .text(let value): buffer.raw(value.utf8)
        case .bytes(let value): buffer.raw(value)
        case .int2s(let values): Self.write(values, TypeID.int2, to: &buffer)
        case .int4s(let values): Self.write(values, TypeID.int4, to: &buffer)
        case .int8s(let values): Self.write(values, TypeID.int8, to: &buffer)
        case .byteStrings(let values):
            buffer.arrayHeader(elementType: TypeID.bytea, count: values.count)
            for value in values { buffer.field(value) }
        case .encoded(let elementType, let count, let elements):
            buffer.arrayHeader(elementType: elementType, count: count)
            buffer.raw(elements)
        }
    }

    private static func write<Value: FixedWidthInteger>(
        _ values: [Value], _ type: UInt32, to buffer: inout BinaryBuffer
    ) {
        buffer.arrayHeader(elementType: type, count: values.count)
        for value in values { buffer.field(value) }
    }
}
