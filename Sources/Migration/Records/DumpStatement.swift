import AppStoreModels

/// The beginning of a statement of a SQL dump that names columns: CREATE TABLE, `COPY … FROM stdin` or `INSERT … VALUES`.
struct DumpStatement {
    enum Kind { case table, copy, insert }

    /// How many bytes such a beginning can have. MySQL has at most 4,096 columns with names of 64 characters.
    static let maximumBytes = 1 << 20

    let kind: Kind
    /// The table, with its schema if the statement names it.
    let table: String
    /// Nil if an INSERT names none.
    let columns: [String]?
    /// The length up to the rows, or to the end of the definitions.
    let length: Int

    /// Nil if the bytes begin with something else.
    ///
    /// - Parameters:
    ///   - bytes: the rest of the dump.
    ///   - dialect: how its statements quote and escape.
    ///   - cost: the number of bytes that are read is added.
    init?(_ bytes: Bytes, _ dialect: TableDialect, cost: inout Int) {
        var words = Words(bytes: bytes, dialect: dialect)
        defer { cost += words.end }
        if words.take("INSERT") || words.take("REPLACE") {
            // IGNORE, OR REPLACE and the like.
            guard words.take("INTO", afterAtMost: 2), let table = words.table() else { return nil }
            (kind, self.table) = (Kind.insert, table)
            columns = words.names()
            if words.take("OVERRIDING") { guard words.take("VALUE", afterAtMost: 1) else { return nil } }
            guard words.take("VALUES") else { return nil }
        } else if words.take("COPY") {
            guard let table = words.table(), let columns = words.names(), words.take("FROM"), words.take("STDIN"),
                words.next == UInt8(ascii: ";")
            else { return nil }
            (kind, self.table, self.columns) = (Kind.copy, table, columns)
        } else {
            // TEMPORARY, OR REPLACE and the like.
            guard words.take("CREATE"), words.take("TABLE", afterAtMost: 2) else { return nil }
            if words.take("IF") { guard words.take("EXISTS", afterAtMost: 1) else { return nil } }
            guard let table = words.table(), let columns = words.names(areDefined: true) else { return nil }
            (kind, self.table, self.columns) = (Kind.table, table, columns)
        }
        length = words.index
    }

    /// Whether the byte can be the first one of CREATE, COPY, INSERT or REPLACE.
    static func canBegin(with byte: UInt8) -> Bool {
        [UInt8(ascii: "c"), UInt8(ascii: "i"), UInt8(ascii: "r")].contains(byte | 0x20)
    }

    /// Whether the byte begins a name.
    static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "`") || byte == UInt8(ascii: "\"") }

    private struct Words {
        let bytes: Bytes
        let dialect: TableDialect
        var index = 0
        /// The position of the last byte that was read.
        var end = 0

        /// The next byte that is neither white space nor in a comment.
        var next: UInt8? {
            mutating get {
                while true {
                    index = bytes.firstNonWhiteSpace(from: index) ?? bytes.count
                    guard index < bytes.count else { return nil }
                    guard DumpComment.begins(at: index, of: bytes, dialect) == true else { return bytes[index] }
                    var comment = DumpComment(at: index, of: bytes, endless: 0)
                    index = comment.end(in: bytes) ?? bytes.count
                    end = max(end, comment.searched)
                }
            }
        }

        /// - Parameters:
        ///   - word: in capitals.
        ///   - others: how many other words may come before it.
        mutating func take(_ word: String, afterAtMost others: Int = 0) -> Bool {
            let start = index
            for _ in 0...others {
                guard let name = self.name() else { break }
                if name.uppercased() == word { return true }
            }
            index = start
            return false
        }

        mutating func table() -> String? {
            guard var table = self.name() else { return nil }
            while next == UInt8(ascii: ".") {
                index += 1
                guard let part = self.name() else { return nil }
                table += "." + part
            }
            return table
        }

        /// A word, or a name in quotes, in which a quote is doubled.
        private mutating func name() -> String? {
            guard let quote = next else { return nil }
            var name: [UInt8] = []
            guard DumpStatement.isQuote(quote) else {
                while index < bytes.count, Self.isOfWord(bytes[index]) {
                    name.append(bytes[index])
                    index += 1
                }
                return name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
            }
            while let end = bytes.position(of: quote, from: index + 1) {
                name += bytes[(index + 1)..<end]
                index = end + 1
                guard index < bytes.count, bytes[index] == quote else { return String(decoding: name, as: UTF8.self) }
                name.append(quote)
            }
            end = bytes.count
            return nil
        }

        private static func isOfWord(_ byte: UInt8) -> Bool {
            byte.isDigit || (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte == UInt8(ascii: "_")
                || byte == UInt8(ascii: "$") || byte >= 0x80
        }

        /// The names of the columns in parentheses.
        mutating func names(areDefined: Bool = false) -> [String]? {
            guard next == UInt8(ascii: "(") else { return nil }
            var list = InsertRow(dialect, isDefinition: true, at: index)
            var names: [String] = []
            repeat {
                let next = list.next(bytes)
                end = next ?? bytes.count
                index += 1
                let isQuoted = self.next.map(DumpStatement.isQuote) ?? false
                guard next != nil, !list.isBroken, let name = self.name() else { return nil }
                if !areDefined || isQuoted || !isConstraint(name.uppercased()) { names.append(name) }
                index = end
            } while !list.isEnded
            index += 1
            return names
        }

        private func isConstraint(_ word: String) -> Bool {
            ["PRIMARY", "UNIQUE", "CONSTRAINT", "CHECK", "FOREIGN", "EXCLUDE", "LIKE"].contains(word)
                || (dialect.hasBackslashes && ["KEY", "INDEX", "FULLTEXT", "SPATIAL", "PERIOD"].contains(word))
        }
    }
}
