import AppStoreModels

/// Writes the tables as files, one for each.
final class FileTables: TableOutput {
    private let format: TableExport.Format
    private var files: [String: OutputFile] = [:]
    /// The parts of a table after its first one, which are put together at the end.
    private var laterParts: [String: [OutputFile]] = [:]
    private var rows: [String: Int] = [:]
    private let folder: OutputFolder
    private var line = JSONWriter(reservingCapacity: 4_096)

    /// Makes the files and writes their headers.
    /// - Throws: ``ExportError``.
    init(_ format: TableExport.Format, in folder: OutputFolder) throws(ExportError) {
        self.format = format
        self.folder = folder
        for table in ExportedTables.outlines {
            let file = try folder.makeFile(format.file(table.name))
            if format == .csv { try file.write(CSVField.row(table.columns.map(\.name))) }
            files[table.name] = file
        }
    }

    func write<Row>(_ rows: [Row], of table: Table<Row>, part: Int) throws {
        guard !rows.isEmpty, let file = try file(table.name, part) else { return }
        self.rows[table.name, default: 0] += rows.count
        for row in rows {
            switch format {
            case .ndjson: try file.write(json(row, table.columns))
            case .csv: try file.write(csv(row, table.columns))
            }
        }
    }

    func flush() {}

    private func file(_ table: String, _ part: Int) throws(ExportError) -> OutputFile? {
        guard part > 0 else { return files[table] }
        var parts = laterParts[table] ?? []
        while parts.count < part { parts.append(try folder.makeSpool("\(table).\(parts.count + 1)")) }
        laterParts[table] = parts
        return parts[part - 1]
    }

    func finish() throws(ExportError) {
        for (table, parts) in laterParts {
            for part in parts { try files[table]?.write(contentsOf: part) }
        }
    }

    var counts: [ExportSummary.Table] {
        ExportedTables.outlines.map { ExportSummary.Table(name: $0.name, rows: rows[$0.name] ?? 0) }
    }

    private func json<Row>(_ row: Row, _ columns: [Column<Row>]) -> [UInt8] {
        line.removeAll()
        line.beginObject()
        for column in columns {
            column.value(row)?.write(to: &line, as: column.name)
        }
        line.endObject()
        line.newline()
        return line.bytes
    }

    private func csv<Row>(_ row: Row, _ columns: [Column<Row>]) -> [UInt8] {
        CSVField.row(
            columns.map { column in
                switch column.value(row) {
                case nil: ""
                case .text(let text)?: text
                case .integer(let number)?: String(number)
                case .boolean(let flag)?: flag ? "true" : "false"
                case .json(let json)?: String(decoding: json, as: UTF8.self)
                }
            })
    }
}
