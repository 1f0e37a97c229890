/// A comment in a statement of a SQL dump: `-- …`, `# …` or `/* … */`, also `/*! … */`, whose content MySQL would execute. Its end
/// is searched for across pieces of input.
struct DumpComment {
    /// How many bytes one can have. A longer one is damage, so that a mark without an end costs one row and not all that follow.
    static let maximumBytes = 64 << 10

    let start: Int
    let isBlock: Bool
    /// The position up to which its end was searched for.
    private(set) var searched: Int

    /// Whether one begins at a position. Nil if the bytes end before that shows.
    static func begins(at start: Int, of bytes: Bytes, _ dialect: TableDialect) -> Bool? {
        func byte(_ offset: Int) -> UInt8? { start + offset < bytes.count ? bytes[start + offset] : nil }
        switch bytes[start] {
        // An operator of PostgreSQL.
        case UInt8(ascii: "#"): return dialect.hasBackslashes
        case UInt8(ascii: "/"): return byte(1).map { $0 == UInt8(ascii: "*") }
        case UInt8(ascii: "-"):
            guard let second = byte(1) else { return nil }
            // To MySQL, two minus signs are a comment only before white space.
            guard second == UInt8(ascii: "-"), dialect.hasBackslashes else { return second == UInt8(ascii: "-") }
            return byte(2).map { $0 <= 0x20 }
        default: return false
        }
    }

    /// - Parameters:
    ///   - start: where one begins.
    ///   - bytes: the bytes of the dump.
    ///   - endless: a position before which no `*/` ends, so that no byte is searched again for each comment without an
    ///     end.
    init(at start: Int, of bytes: Bytes, endless: Int) {
        self.start = start
        isBlock = bytes[start] == UInt8(ascii: "/")
        searched = isBlock ? max(start + 2, endless - 1) : start + 1
    }

    /// The position after it; that of its line end, if it has one. Nil if it is too long, or if the bytes end before it; then it
    /// continues at their end.
    mutating func end(in bytes: Bytes) -> Int? {
        let limit = start + Self.maximumBytes
        let bytes = Bytes(rebasing: bytes.prefix(limit))
        guard isBlock else {
            let end = bytes.position(of: 0x0A, from: searched)
            searched = end ?? bytes.count
            return end
        }
        var from = searched
        while let star = bytes.position(of: UInt8(ascii: "*"), from: from) {
            if bytes.begins(with: "*/", at: star) { return star + 2 }
            from = star + 1
        }
        // A star at the end of the bytes so far may begin its end.
        searched = max(searched, bytes.count < limit ? bytes.count - 1 : limit)
        return nil
    }

    /// Whether it has no end within ``maximumBytes``.
    var isTooLong: Bool { searched >= start + Self.maximumBytes }

    /// Where the search for rows after one without an end begins. Those after `/*` seem to be in it.
    var damage: Int { isBlock ? start : searched }
}
