import AppStoreModels

/// Finds the end of one JSON value by its quotes and brackets alone, across pieces of input.
///
/// It does not validate. A value with unbalanced brackets continues, and the reader then reports the error.
struct JSONValueEnd {
    private enum Kind { case container, string, scalar }

    private let kind: Kind
    private var depth = 0
    private var isInString = false
    private var isEscaped = false

    /// - Parameter first: the value's first byte.
    init(first: UInt8) {
        switch first {
        case UInt8(ascii: "{"), UInt8(ascii: "["): kind = .container
        case UInt8(ascii: "\""): kind = .string
        default: kind = .scalar
        }
    }

    /// Continues at `start`, where the last call stopped. Returns the position after the value, or nil if it is not
    /// complete.
    mutating func scan(_ bytes: Bytes, from start: Int) -> Int? {
        kind == .scalar ? scalarEnd(bytes, from: start) : nestedEnd(bytes, from: start)
    }

    /// Always consumes at least the first byte, so that stray brackets are passed too.
    private mutating func scalarEnd(_ bytes: Bytes, from start: Int) -> Int? {
        var index = start
        while index < bytes.count {
            if depth > 0 {
                switch bytes[index] {
                case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: "{"), UInt8(ascii: "["),
                    0x20, 0x09, 0x0A, 0x0D:
                    return index
                default: break
                }
            }
            depth = 1
            index += 1
        }
        return nil
    }

    private mutating func nestedEnd(_ bytes: Bytes, from start: Int) -> Int? {
        var index = start
        while index < bytes.count {
            if isInString {
                guard let end = stringEnd(bytes, from: index) else { return nil }
                index = end
                if depth == 0 { return index }
            }
            guard index < bytes.count else { return nil }
            switch bytes[index] {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth <= 0 { return index + 1 }
            default: break
            }
            index += 1
        }
        return nil
    }

    /// The position after the closing quote.
    private mutating func stringEnd(_ bytes: Bytes, from start: Int) -> Int? {
        var index = start
        var unused: UInt64 = 0
        while index < bytes.count {
            if isEscaped {
                isEscaped = false
                index += 1
                continue
            }
            index = JSONStringScan.firstSpecial(in: bytes, from: index, highBits: &unused)
            guard index < bytes.count else { return nil }
            if bytes[index] == UInt8(ascii: "\"") {
                isInString = false
                return index + 1
            }
            isEscaped = bytes[index] == UInt8(ascii: "\\")
            index += 1
        }
        return nil
    }
}

/// Finds the end of a member of an object in the same way: a name, a colon and a value. Without a name, it is a value alone.
struct JSONMemberEnd {
    private enum Part { case name, colon, gap, value }

    private var part: Part
    private var end: JSONValueEnd
    private(set) var nameEnd = 0
    /// Where the value begins; nil as long as that is unknown.
    private(set) var valueStart: Int?

    /// - Parameters:
    ///   - first: the first byte.
    ///   - isNamed: whether a name is expected.
    ///   - start: the position of the first byte.
    init(first: UInt8, isNamed: Bool, at start: Int = 0) {
        part = isNamed && first == UInt8(ascii: "\"") ? .name : .value
        end = JSONValueEnd(first: first)
        valueStart = part == .value ? start : nil
    }

    /// Continues at `start`, where the last call stopped. Returns the position after the member, or nil if it is not complete.
    mutating func scan(_ bytes: Bytes, from start: Int) -> Int? {
        var index = start
        if part == .name {
            guard let found = end.scan(bytes, from: index) else { return nil }
            (part, nameEnd, index) = (.colon, found, found)
        }
        while part != .value {
            guard let next = bytes.firstNonWhiteSpace(from: index) else { return nil }
            index = next
            switch bytes[next] {
            case UInt8(ascii: ":") where part == .colon:
                part = .gap
                index += 1
            // No member after all; the reader reports that.
            case _ where part == .colon: return next
            case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"): return next
            case let first: (part, end, valueStart) = (.value, JSONValueEnd(first: first), next)
            }
        }
        return end.scan(bytes, from: index)
    }
}

/// The records in JSON: the elements of a top-level array or of a ``JSONList``, the rows of ``JSONTables``, or the values of a
/// sequence of JSON values. If an object in a sequence is too long for a record, each of its members can be a record.
struct JSONFramer: RecordFramer {
    private enum Phase { case outside, inArray, inList, afterList, done }

    let limit: Int
    /// Whether records are the elements of arrays; otherwise they are consecutive values.
    let entersArrays: Bool
    private let list: JSONList?
    /// The tables that are the elements of the array.
    private var tables: JSONTables?
    private(set) var rowsOfOtherTables = 0
    private var division: ObjectDivision
    private var isDivided: Bool
    private var phase: Phase
    private var number = 0

    /// - Parameters:
    ///   - limit: the maximum length of a record, in bytes.
    ///   - entersArrays: whether records are the elements of arrays.
    ///   - list: the list, if the input begins inside it.
    ///   - tables: the tables, if the input is an export of them.
    ///   - reader: knows the columns that options name.
    init(limit: Int, entersArrays: Bool, list: JSONList? = nil, tables: JSONTables? = nil, reader: RecordReader) {
        self.limit = limit
        self.entersArrays = entersArrays
        self.list = list
        self.tables = tables
        division = ObjectDivision(reader)
        isDivided = list != nil
        phase = list == nil ? .outside : .inList
    }

    /// The problem if no table so far has a named column, so that no row was a record.
    var columnNotFound: InputError? { tables?.columnNotFound }

    mutating func next(from input: InputBuffer, into batch: inout BatchBuilder) throws(InputError) -> Bool {
        while phase != .done {
            guard let byte = try skipSeparators(input) else { return end(input, into: &batch) }
            switch (phase, byte) {
            case (_, UInt8(ascii: "}")) where division.isOpen:
                division.leave()
                input.consume(1)
            case (.outside, UInt8(ascii: "[")) where entersArrays:
                phase = .inArray
                input.consume(1)
            case (.afterList, UInt8(ascii: "}")) where tables != nil:
                phase = .inArray
                input.consume(1)
            case (.inArray, UInt8(ascii: "]")), (.afterList, UInt8(ascii: "}")):
                phase = .outside
                input.consume(1)
            case (.inList, UInt8(ascii: "]")):
                phase = .afterList
                input.consume(1)
            case (.outside, _) where entersArrays || (isDivided && !division.isOpen && byte != UInt8(ascii: "{")):
                // Nothing may follow an array, and only objects may follow a divided object. The rest becomes one record, so
                // that it is not lost.
                phase = .done
                number += 1
                try appendRest(of: input, into: &batch)
                return true
            default:
                if try passTable(input) { continue }
                if try appendValue(first: byte, of: input, into: &batch) { return true }
            }
        }
        return false
    }

    /// Enters the rows of a table, or skips a description of the export. False if the next bytes are a record.
    private mutating func passTable(_ input: InputBuffer) throws(InputError) -> Bool {
        guard tables != nil, phase == .inArray else { return false }
        try input.fill(upTo: JSONTables.nameBytes)
        switch JSONTables.element(input.window, at: 0) {
        case .description(let end)?: input.consume(end)
        case .rows(let start)?:
            phase = .inList
            input.consume(start)
        case nil: return false
        }
        return true
    }

    /// Adds a record for an input that ends inside its array or its object, because some of it may be missing.
    private mutating func end(_ input: InputBuffer, into batch: inout BatchBuilder) -> Bool {
        defer { phase = .done }
        guard isInside else { return false }
        let message =
            division.isOpen || phase == .afterList
            ? "The input ends inside a JSON object: members may be missing after element \(number)."
            : "The input ends inside a JSON array: elements may be missing after element \(number)."
        let problem = InputProblem(.truncatedInput, message)
        batch.append(input.window, number: number + 1, byteOffset: input.offset, problem: problem)
        return true
    }

    /// Whether the next record is in an array or object that is divided.
    private var isInside: Bool {
        phase == .inArray || phase == .inList || phase == .afterList || division.isOpen
    }

    /// Skips white space (and, in an array or object, commas) and returns the next byte; nil at the end.
    private func skipSeparators(_ input: InputBuffer) throws(InputError) -> UInt8? {
        let skipsCommas = isInside
        while true {
            let bytes = input.window
            let start = skipsCommas ? bytes.firstNonSeparator() : bytes.firstNonWhiteSpace()
            input.consume(start ?? bytes.count)
            // The buffer keeps what is consumed until it is filled.
            if let start { return bytes[start] }
            guard try input.fill() else { return nil }
        }
    }

    /// Adds the value as a record. False if it is not a record:
    /// - it is too long, so its members are records,
    /// - it is a member that describes a list,
    /// - it is a row of a table without receipts.
    private mutating func appendValue(
        first: UInt8, of input: InputBuffer, into batch: inout BatchBuilder
    ) throws(InputError) -> Bool {
        let isAfterList = phase == .afterList
        var value = JSONMemberEnd(first: first, isNamed: division.isOpen || isAfterList)
        var scanned = 0
        var oversize: OversizeRecord?
        while true {
            let bytes = input.window
            let found = value.scan(bytes, from: scanned)
            scanned = found ?? bytes.count
            let isComplete = found != nil || input.isAtEnd
            if oversize == nil, scanned > limit, phase == .outside,
                let length = division.enter(value, of: bytes[slice: 0..<limit])
            {
                isDivided = true
                input.consume(length)
                return false
            }
            if oversize != nil || scanned > limit {
                oversize = oversize ?? OversizeRecord(byteOffset: input.offset)
                oversize?.absorb(bytes[slice: 0..<scanned])
                input.consume(scanned)
                scanned = 0
            }
            if isAfterList, oversize == nil, found != nil, list?.isClosing(bytes[slice: 0..<value.nameEnd]) == true {
                input.consume(scanned)
                return false
            }
            if isComplete {
                number += 1
                if oversize == nil, found != nil, phase == .inList,
                    tables?.isRecord(bytes[slice: 0..<scanned]) == false
                {
                    rowsOfOtherTables += 1
                    input.consume(scanned)
                    return false
                }
                if let oversize {
                    batch.append(oversize, number: number, limit: limit)
                } else {
                    // Text that the input cuts off must not be completed.
                    let after = found == nil ? [] : isAfterList ? [UInt8(ascii: "}")] : division.after
                    batch.append(
                        bytes[slice: 0..<scanned], before: isAfterList ? [UInt8(ascii: "{")] : division.before,
                        after: after, number: number,
                        byteOffset: input.offset)
                    input.consume(scanned)
                }
                return true
            }
            _ = try input.fill()
        }
    }

    private func appendRest(of input: InputBuffer, into batch: inout BatchBuilder) throws(InputError) {
        let problem = InputProblem(
            .invalidJSON, "Something follows the end of the JSON \(isDivided ? "object" : "array").")
        try input.consumeRest(into: &batch, number: number, limit: limit, problem: problem)
    }
}
