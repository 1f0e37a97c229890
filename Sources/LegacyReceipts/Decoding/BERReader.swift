/// ASN.1 identifier bytes that occur in receipts and certificates (X.690, 8.1.2).
enum Tag {
    static let boolean: UInt8 = 0x01
    static let integer: UInt8 = 0x02
    static let bitString: UInt8 = 0x03
    static let octetString: UInt8 = 0x04
    static let constructedOctetString: UInt8 = 0x24
    static let null: UInt8 = 0x05
    static let objectIdentifier: UInt8 = 0x06
    static let utf8String: UInt8 = 0x0C
    static let ia5String: UInt8 = 0x16
    static let utcTime: UInt8 = 0x17
    static let generalizedTime: UInt8 = 0x18
    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31
    static let context0: UInt8 = 0xA0
    static let context1: UInt8 = 0xA1
    static let context3: UInt8 = 0xA3
}

/// A position in BER-encoded bytes, and the end of the current element.
///
/// Elements are read in sequence, and constructed elements are entered and left without recursion. Each call receives
/// the bytes, so a reader consists of a few integers and never copies them.
struct BERReader {
    /// The next byte to be read.
    var offset: Int
    /// The end of the bytes that this reader may read.
    let end: Int
    /// Whether the element ends with end-of-contents bytes instead of at ``end`` (X.690, 8.1.3.6).
    let isIndefinite: Bool
    /// How many more levels may be entered.
    let depthLeft: Int

    init(_ range: Range<Int>, depth: Int) {
        offset = range.lowerBound
        end = range.upperBound
        isIndefinite = false
        depthLeft = depth
    }

    private init(offset: Int, end: Int, isIndefinite: Bool, depthLeft: Int) {
        self.offset = offset
        self.end = end
        self.isIndefinite = isIndefinite
        self.depthLeft = depthLeft
    }

    /// The identifier and length of an element: where its contents begin, and where they end if the length is definite.
    struct Header {
        let tag: UInt8
        let start: Int
        let contents: Int
        /// -1 for the indefinite form.
        let end: Int

        var isIndefinite: Bool { end < 0 }
        var range: Range<Int> { contents..<end }

        /// Whether the length has the form that DER requires: definite, in as few bytes as possible (X.690, 10.1).
        var hasDERLength: Bool {
            guard !isIndefinite else { return false }
            let length = end - contents
            let count = length < 0x80 ? 1 : 1 + (Int.bitWidth - length.leadingZeroBitCount + 7) / 8
            return contents - start == 1 + count
        }
    }

    /// Whether the element has no further contents.
    @inline(__always)
    func isAtEnd(_ bytes: Span<UInt8>) -> Bool {
        if !isIndefinite { return offset >= end }
        return offset + 1 < end && bytes[offset] == 0 && bytes[offset + 1] == 0
    }

    /// The next identifier byte without consuming it; nil at the end.
    @inline(__always)
    func peekTag(_ bytes: Span<UInt8>) -> UInt8? {
        offset < end && !isAtEnd(bytes) ? bytes[offset] : nil
    }

    /// Reads the identifier and length bytes. ``offset`` is then at the contents.
    @inline(__always)
    mutating func header(_ bytes: Span<UInt8>) throws(ReceiptError) -> Header {
        let start = offset
        guard end - start >= 2 else { throw ReceiptError(.truncated, at: .byte(start), "expected an element") }
        let tag = bytes[start]
        let first = bytes[start + 1]
        if first < 0x80 {
            let contents = start + 2
            let length = Int(first)
            guard end - contents >= length else { throw Self.pastEnd(start) }
            offset = contents
            guard tag & 0x1F != 0x1F else { throw Self.highTag(start) }
            return Header(tag: tag, start: start, contents: contents, end: contents + length)
        }
        return try longHeader(bytes, tag: tag, start: start)
    }

    private mutating func longHeader(_ bytes: Span<UInt8>, tag: UInt8, start: Int) throws(ReceiptError) -> Header {
        guard tag & 0x1F != 0x1F else { throw Self.highTag(start) }
        let count = Int(bytes[start + 1] & 0x7F)
        if count == 0 {
            guard tag & 0x20 != 0 else {
                throw ReceiptError(.malformedEncoding, at: .byte(start), "a primitive element of indefinite length")
            }
            offset = start + 2
            return Header(tag: tag, start: start, contents: start + 2, end: -1)
        }
        // Four length bytes are far beyond the size limit. Leading zeros are valid in BER (X.690, 8.1.3.5).
        guard count <= 8, end - (start + 2) >= count else {
            throw ReceiptError(.malformedEncoding, at: .byte(start), "a length of \(count) bytes")
        }
        var length = 0
        for index in start + 2..<start + 2 + count {
            guard length < 1 << 40 else { throw Self.pastEnd(start) }
            length = length << 8 | Int(bytes[index])
        }
        let contents = start + 2 + count
        guard end - contents >= length else { throw Self.pastEnd(start) }
        offset = contents
        return Header(tag: tag, start: start, contents: contents, end: contents + length)
    }

    /// Reads the header of an element that must have this tag.
    @inline(__always)
    mutating func header(_ bytes: Span<UInt8>, expecting tag: UInt8) throws(ReceiptError) -> Header {
        let start = offset
        let header = try header(bytes)
        guard header.tag == tag else { throw Self.unexpected(header.tag, expected: tag, at: start) }
        return header
    }

    /// Reads a primitive element with this tag and moves past it.
    @inline(__always)
    mutating func primitive(_ bytes: Span<UInt8>, _ tag: UInt8) throws(ReceiptError) -> Range<Int> {
        let header = try header(bytes, expecting: tag)
        // None of the callers' tags has the constructed bit, so the length is definite here.
        offset = header.end
        return header.range
    }

    /// Enters the next element, which must be constructed and have this tag.
    @inline(__always)
    mutating func enter(_ bytes: Span<UInt8>, _ tag: UInt8) throws(ReceiptError) -> BERReader {
        let header = try header(bytes, expecting: tag)
        return try enter(header)
    }

    /// Enters the constructed element whose header was just read.
    @inline(__always)
    func enter(_ header: Header) throws(ReceiptError) -> BERReader {
        guard depthLeft > 0 else { throw ReceiptError(.nestedTooDeeply, at: .byte(header.start)) }
        return BERReader(
            offset: header.contents, end: header.isIndefinite ? end : header.end, isIndefinite: header.isIndefinite,
            depthLeft: depthLeft - 1)
    }

    /// Leaves an element that was entered from here. It must have been read to its end.
    @inline(__always)
    mutating func leave(_ inner: BERReader, _ bytes: Span<UInt8>) throws(ReceiptError) {
        guard inner.isAtEnd(bytes) else { throw Self.notAtEnd(inner) }
        offset = inner.isIndefinite ? inner.offset + 2 : inner.end
    }

    /// Skips the next element of any type, in linear time and without recursion.
    mutating func skip(_ bytes: Span<UInt8>) throws(ReceiptError) {
        let outer = try header(bytes)
        guard outer.isIndefinite else {
            offset = outer.end
            return
        }
        var open = 1
        while open > 0 {
            if end - offset >= 2, bytes[offset] == 0, bytes[offset + 1] == 0 {
                offset += 2
                open -= 1
                continue
            }
            let element = try header(bytes)
            if element.isIndefinite {
                open += 1
                guard open <= depthLeft else { throw ReceiptError(.nestedTooDeeply, at: .byte(element.start)) }
            } else {
                offset = element.end
            }
        }
    }

    static func unexpected(_ found: UInt8, expected: UInt8, at offset: Int) -> ReceiptError {
        ReceiptError(
            .malformedEncoding, at: .byte(offset),
            "expected tag 0x\(String(expected, radix: 16)), found 0x\(String(found, radix: 16))")
    }

    private static func notAtEnd(_ inner: BERReader) -> ReceiptError {
        let isPast = inner.offset >= inner.end
        return ReceiptError(
            isPast ? .truncated : .malformedEncoding, at: .byte(inner.offset),
            isPast ? "end-of-contents bytes are missing" : "unexpected further contents")
    }

    private static func pastEnd(_ offset: Int) -> ReceiptError {
        ReceiptError(.truncated, at: .byte(offset), "the element is longer than the rest of its container")
    }

    private static func highTag(_ offset: Int) -> ReceiptError {
        ReceiptError(.malformedEncoding, at: .byte(offset), "a tag number above 30")
    }
}

/// The contents of an OCTET STRING: their range, or a joined copy of their segments.
enum OctetString {
    case contiguous(Range<Int>)
    case joined([UInt8])

    /// The contents, of a string that was read from `storage`.
    func bytes(in storage: [UInt8]) -> SignedDataMessage.Bytes {
        switch self {
        case .contiguous(let range): SignedDataMessage.Bytes(storage: storage, range: range)
        case .joined(let joined): SignedDataMessage.Bytes(storage: joined, range: 0..<joined.count)
        }
    }
}

extension BERReader {
    /// Reads an OCTET STRING, primitive or segmented (X.690, 8.7.3), and moves past it. Segments may be segmented
    /// themselves; levels are counted instead of recursing.
    @inline(__always)
    mutating func octetString(_ bytes: Span<UInt8>) throws(ReceiptError) -> OctetString {
        let first = try header(bytes)
        guard first.tag == Tag.octetString else { return .joined(try segments(bytes, of: first)) }
        offset = first.end
        return .contiguous(first.range)
    }

    private mutating func segments(_ bytes: Span<UInt8>, of first: Header) throws(ReceiptError) -> [UInt8] {
        guard first.tag == Tag.constructedOctetString else {
            throw Self.unexpected(first.tag, expected: Tag.octetString, at: first.start)
        }
        var joined: [UInt8] = []
        var levels = [try enter(first)]
        while var level = levels.popLast() {
            if level.isAtEnd(bytes) {
                if levels.isEmpty {
                    try leave(level, bytes)
                } else {
                    try levels[levels.count - 1].leave(level, bytes)
                }
                continue
            }
            let segment = try level.header(bytes)
            if segment.tag == Tag.octetString {
                for index in segment.range { joined.append(bytes[index]) }
                level.offset = segment.end
                levels.append(level)
            } else if segment.tag == Tag.constructedOctetString {
                let inner = try level.enter(segment)
                levels.append(level)
                levels.append(inner)
            } else {
                throw Self.unexpected(segment.tag, expected: Tag.octetString, at: segment.start)
            }
        }
        return joined
    }
}

/// Reads an INTEGER's contents as a 64-bit number; nil if it is empty or does not fit.
@inline(__always)
func signedInteger(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int64? {
    var range = range
    // A leading zero byte keeps a number positive. More than one is not DER, but the number is the same.
    while range.count > 8, bytes[range.lowerBound] == 0 {
        range = range.lowerBound + 1..<range.upperBound
        if range.count == 8, bytes[range.lowerBound] & 0x80 != 0 { return nil }
    }
    guard !range.isEmpty, range.count <= 8 else { return nil }
    var value: Int64 = bytes[range.lowerBound] & 0x80 != 0 ? -1 : 0
    for index in range { value = value << 8 | Int64(bytes[index]) }
    return value
}
