import Purchases

/// The layout of a table, detected before its first record is read.
struct TableLayout: Sendable, Equatable {
    let delimiter: UInt8
    /// The header's fields; "column 1", "column 2" … when the first row is data already.
    let columns: [String]
    /// The meanings of the column names.
    let meanings: [ColumnNames.Meaning?]

    init(delimiter: UInt8, columns: [String]) {
        self.delimiter = delimiter
        self.columns = columns
        meanings = columns.map { ColumnNames.meaning(of: $0) }
    }
}

/// Finds out a table's delimiter and columns, and whether any of them holds receipts.
struct TableDetector {
    struct Table {
        let layout: TableLayout
        /// Bytes and rows up to the end of the header.
        let headerLength: Int
        let headerRows: Int
    }

    let input: String
    let receiptColumn: String?
    /// Whether the caller or the file name states that it is a table. If so, a failed detection is an error.
    let isCertain: Bool

    /// Nil when the bytes are no table after all.
    ///
    /// - Parameters:
    ///   - head: the first bytes, byte order mark excluded.
    ///   - isWhole: whether these are all bytes there are.
    func detect(_ head: Bytes, isWhole: Bool) throws(InputError) -> Table? {
        let samples = [UInt8(ascii: ","), UInt8(ascii: ";"), 0x09].map { Sample(head, delimiter: $0, isWhole: isWhole) }
        guard let sample = samples.max(by: { $0.score < $1.score }), !sample.rows.isEmpty else {
            if isCertain, head.firstNonWhiteSpace() != nil { throw noHeader() }
            return nil
        }
        // One column is a table only by name; anything else is plain lines.
        if sample.width == 1, !isCertain, !isName(sample.texts(ofRow: 0)[0]) { return nil }
        return try table(sample)
    }

    private func table(_ sample: Sample) throws(InputError) -> Table? {
        let names = sample.texts(ofRow: 0)
        if let receiptColumn {
            guard names.contains(receiptColumn) else {
                guard isCertain || sample.isRegular else { return nil }
                throw columnNotFound(receiptColumn, names)
            }
            return make(sample, names)
        }
        // A receipt in the first row means that there is no header.
        if sample.hasReceipt(inRow: 0) { return make(sample, Self.numbered(names.count), hasHeader: false) }
        if names.contains(where: { ColumnNames.meaning(of: $0)?.isPayload == true }) || sample.hasReceiptBelowHeader {
            return make(sample, names)
        }
        guard isCertain || sample.isRegular else { return nil }
        throw InputError(
            code: .columnUndetectable, input: input,
            message:
                "The receipt column of \(input) cannot be detected; name it with --column. The columns are: \(Self.list(names))."
        )
    }

    private func make(_ sample: Sample, _ names: [String], hasHeader: Bool = true) -> Table {
        Table(
            layout: TableLayout(delimiter: sample.delimiter, columns: names),
            headerLength: hasHeader ? sample.headerLength : 0, headerRows: hasHeader ? sample.headerRows : 0)
    }

    private func isName(_ text: String) -> Bool {
        text == receiptColumn || ColumnNames.meaning(of: text)?.isPayload == true
    }

    private static func numbered(_ count: Int) -> [String] {
        (1...max(1, count)).map { "column \($0)" }
    }

    /// At most forty names, so that a sentence stays one.
    private static func list(_ names: [String]) -> String {
        let shown = names.prefix(40).map { $0.count > 60 ? $0.prefix(60) + "…" : $0[...] }
        return shown.joined(separator: ", ") + (names.count > 40 ? ", …" : "")
    }

    private func noHeader() -> InputError {
        InputError(
            code: .noHeader, input: input,
            message: "The first row of \(input) does not end within \(InputLimits.detectionWindow) bytes.")
    }

    private func columnNotFound(_ name: String, _ names: [String]) -> InputError {
        InputError(
            code: .columnNotFound, input: input,
            message: "\(input) has no column \(name). Its columns are: \(Self.list(names)).")
    }
}

/// The first rows of a table, split by one delimiter.
private struct Sample {
    let head: Bytes
    let delimiter: UInt8
    private(set) var rows: [(row: Range<Int>, fields: [TableField])] = []
    private(set) var headerLength = 0
    private(set) var headerRows = 0

    init(_ head: Bytes, delimiter: UInt8, isWhole: Bool) {
        self.head = head
        self.delimiter = delimiter
        var start = 0
        while start < head.count, rows.count <= InputLimits.detectionRows {
            let rest = head[slice: start..<head.count]
            var end = TableRowEnd(delimiter: delimiter)
            let newline = end.scan(rest, from: 0)
            guard newline != nil || (isWhole && end.state != .quoted) else { break }
            var length = newline ?? rest.count
            if length > 0, rest[length - 1] == 0x0D { length -= 1 }
            let next = start + (newline.map { $0 + 1 } ?? rest.count)
            if rows.isEmpty { (headerLength, headerRows) = (next, headerRows + 1) }
            let row = start..<(start + length)
            if head[slice: row].firstNonWhiteSpace() != nil {
                rows.append((row, TableField.split(head[slice: row], delimiter: delimiter)))
            }
            start = next
        }
    }

    var width: Int { rows.first?.fields.count ?? 0 }
    private var regularRows: Int { rows.count { $0.fields.count == width } }
    /// Three rows of the same width are no accident.
    var isRegular: Bool { width > 1 && rows.count >= 3 && regularRows == rows.count }

    /// Several columns before one, then the delimiter that splits most rows alike, then the one that splits finer.
    var score: (Int, Int, Int) { (width > 1 ? 1 : 0, regularRows, width) }

    func texts(ofRow index: Int) -> [String] {
        let row = head[slice: rows[index].row]
        return rows[index].fields.map { field in
            let value = field.value(in: row)
            return value.withUnsafeBufferPointer { String(decoding: $0[slice: $0.trimmed()], as: UTF8.self) }
        }
    }

    /// Whether some column of a row can be nothing but a receipt.
    func hasReceipt(inRow index: Int) -> Bool {
        let row = head[slice: rows[index].row]
        return rows[index].fields.contains { field in
            field.value(in: row).withUnsafeBufferPointer {
                let text = $0[slice: $0.trimmed()]
                return StoredText.isUnmistakable(text) || isReceiptJSON(text)
            }
        }
    }

    private func isReceiptJSON(_ text: Bytes) -> Bool {
        guard text.first == UInt8(ascii: "{") || text.first == UInt8(ascii: "[") else { return false }
        let recognition = RecordReader(receiptColumn: nil).read(text: Array(text)[...], depth: 1)
        return recognition.isUnmistakable
    }

    /// Whether some row behind the header holds a receipt.
    var hasReceiptBelowHeader: Bool {
        rows.indices.dropFirst().contains { rows[$0].fields.count == width && hasReceipt(inRow: $0) }
    }
}
