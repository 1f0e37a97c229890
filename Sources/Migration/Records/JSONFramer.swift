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
                case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "{"), UInt8(ascii: "["), 0x20, 0x09, 0x0A, 0x0D:
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

/// One record per element of a top-level JSON array, or per value of a sequence of JSON values.
struct JSONFramer: RecordFramer {
    private enum Phase { case outside, inArray, done }

    let limit: Int
    /// Whether records are the elements of arrays; otherwise they are consecutive values.
    let entersArrays: Bool
    private var phase = Phase.outside
    private var number = 0

    init(limit: Int, entersArrays: Bool) {
        self.limit = limit
        self.entersArrays = entersArrays
    }

    mutating func next(from input: InputBuffer, into batch: inout BatchBuilder) throws(InputError) -> Bool {
        while phase != .done {
            guard let byte = try skipSeparators(input) else { return end(input, into: &batch) }
            switch (phase, byte) {
            case (.outside, UInt8(ascii: "[")) where entersArrays:
                phase = .inArray
                input.consume(1)
            case (.inArray, UInt8(ascii: "]")):
                phase = .outside
                input.consume(1)
            case (.outside, _) where entersArrays:
                // Nothing may follow the array. The rest becomes one record, so that it is not lost.
                phase = .done
                number += 1
                try appendRest(of: input, into: &batch)
                return true
            default:
                number += 1
                try appendValue(first: byte, of: input, into: &batch)
                return true
            }
        }
        return false
    }

    /// Adds a record for an input that ends inside its array, because elements may be missing.
    private mutating func end(_ input: InputBuffer, into batch: inout BatchBuilder) -> Bool {
        defer { phase = .done }
        guard phase == .inArray else { return false }
        let problem = InputProblem(
            .truncatedInput, "The input ends inside a JSON array: elements may be missing after element \(number).")
        batch.append(input.window, number: number + 1, byteOffset: input.offset, problem: problem)
        return true
    }

    /// Skips white space (and, in an array, commas) and returns the next byte; nil at the end.
    private func skipSeparators(_ input: InputBuffer) throws(InputError) -> UInt8? {
        while true {
            let bytes = input.window
            var index = 0
            while index < bytes.count,
                bytes[index].isWhiteSpace || (phase == .inArray && bytes[index] == UInt8(ascii: ","))
            {
                index += 1
            }
            let found = index < bytes.count ? bytes[index] : nil
            input.consume(index)
            if found != nil { return found }
            guard try input.fill() else { return nil }
        }
    }

    private func appendValue(first: UInt8, of input: InputBuffer, into batch: inout BatchBuilder) throws(InputError) {
        var value = JSONValueEnd(first: first)
        var scanned = 0
        var oversize: OversizeRecord?
        while true {
            let bytes = input.window
            let found = value.scan(bytes, from: scanned)
            scanned = found ?? bytes.count
            let isComplete = found != nil || input.isAtEnd
            if oversize != nil || scanned > limit {
                oversize = oversize ?? OversizeRecord(byteOffset: input.offset)
                oversize?.absorb(bytes[slice: 0..<scanned])
                input.consume(scanned)
                scanned = 0
            }
            if isComplete {
                if let oversize {
                    batch.append(oversize, number: number, limit: limit)
                } else {
                    batch.append(bytes[slice: 0..<scanned], number: number, byteOffset: input.offset)
                    input.consume(scanned)
                }
                return
            }
            _ = try input.fill()
        }
    }

    private func appendRest(of input: InputBuffer, into batch: inout BatchBuilder) throws(InputError) {
        let problem = InputProblem(.invalidJSON, offset: 0, "Something follows the end of the JSON array.")
        try input.fill(upTo: limit + 1)
        if input.count <= limit {
            let rest = input.window
            batch.append(rest, number: number, byteOffset: input.offset, problem: problem)
            input.consume(rest.count)
            return
        }
        var oversize = OversizeRecord(byteOffset: input.offset)
        repeat {
            oversize.absorb(input.window)
            input.consume(input.count)
        } while try input.fill()
        batch.append(oversize, number: number, limit: limit)
    }
}
