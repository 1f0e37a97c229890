import AppStoreModels

/// Writes the rows of one table.
final class TableWriter<Row> {
    private let table: Table<Row>
    private let format: TableExport.Format
    private let file: OutputFile<ExportError>
    private var line = JSONWriter(reservingCapacity: 4_096)
    private var fields: [UInt8] = []
    private(set) var rows = 0

    /// Writes the header too.
    /// - Throws: ``ExportError``.
    init(_ table: Table<Row>, _ format: TableExport.Format, in folder: OutputFolder<ExportError>) throws(ExportError) {
        self.table = table
        self.format = format
        file = try folder.makeFile(format.file(table.name))
        if format == .csv { try file.write(CSVField.row(table.columns.map { "\($0.name)" })) }
    }

    var name: String { table.name }

    func write(_ rows: [Row]) throws(ExportError) { for row in rows { try write(row, to: file) } }

    /// Writes a row to a spool that is appended later.
    func write(_ row: Row, to file: OutputFile<ExportError>) throws(ExportError) {
        rows += 1
        switch format {
        case .ndjson: try file.write(json(row))
        case .csv: try file.write(csv(row))
        }
    }

    func append(_ spool: OutputFile<ExportError>) throws(ExportError) { try file.write(contentsOf: spool) }

    private func json(_ row: Row) -> [UInt8] {
        line.removeAll()
        line.beginObject()
        for column in table.columns {
            column.value(row)?.write(to: &line, as: column.name)
        }
        line.endObject()
        line.newline()
        return line.bytes
    }

    private func csv(_ row: Row) -> [UInt8] {
        fields.removeAll(keepingCapacity: true)
        for column in table.columns {
            let text =
                switch column.value(row) {
                case nil: ""
                case .text(let text)?: text
                case .integer(let number)?: String(number)
                case .boolean(let flag)?: flag ? "true" : "false"
                case .json(let json)?: String(decoding: json, as: UTF8.self)
                }
            CSVField.append(text, to: &fields)
        }
        // In place of the comma after the last field.
        fields.removeLast()
        return fields + [0x0D, 0x0A]
    }
}
