import AppStoreModels

/// Writes the tables as files, one for each.
final class FileTables: TableOutput {
    private let format: TableExport.Format
    private var files: [String: OutputFile] = [:]
    /// The parts of a table after its first one, which are put together at the end.
    private var laterParts: [String: [OutputFile]] = [:]
    private var rows: [String: Int] = [:]
    private let folder: OutputFolder

    /// Makes the files and writes their headers.
    /// - Throws: ``MigrationError``.
    init(_ format: TableExport.Format, in folder: OutputFolder) throws(MigrationError) {
        self.format = format
        self.folder = folder
        for table in ExportedTables.outlines {
            let file = try folder.makeFile(format.file(table.name))
            if format == .csv { try file.write(CSVField.row(table.columns.map(\.name))) }
            files[table.name] = file
        }
    }

    var noRows: FileRows { FileRows(format) }

    func write(_ rows: FileRows) throws {
        for (place, part) in rows.parts {
            self.rows[place.table, default: 0] += part.count
            try file(place.table, place.part)?.write(part.bytes)
        }
    }

    func flush() {}

    private func file(_ table: String, _ part: Int) throws(MigrationError) -> OutputFile? {
        guard part > 0 else { return files[table] }
        var parts = laterParts[table] ?? []
        while parts.count < part { parts.append(try folder.makeSpool("\(table).\(parts.count + 1)")) }
        laterParts[table] = parts
        return parts[part - 1]
    }

    func finish() throws(MigrationError) {
        for (table, parts) in laterParts {
            for part in parts { try files[table]?.write(contentsOf: part) }
        }
    }

    var counts: [ExportSummary.Table] {
        ExportedTables.outlines.map { ExportSummary.Table(name: $0.name, rows: rows[$0.name] ?? 0) }
    }
}

/// The bytes of rows for files.
struct FileRows: TableRows {
    struct Place: Hashable {
        let table: String
        let part: Int
    }

    struct Part {
        var bytes: [UInt8] = []
        var count = 0
    }

    private(set) var parts: [Place: Part] = [:]
    private let format: TableExport.Format
    private var line = JSONWriter(reservingCapacity: 4_096)

    init(_ format: TableExport.Format) { self.format = format }

    mutating func add(_ rows: [TableRow], of table: TableOutline) {
        for (number, rows) in Dictionary(grouping: rows, by: \.part) {
            let place = Place(table: table.name, part: number)
            var part = parts.removeValue(forKey: place) ?? Part()
            part.count += rows.count
            for row in rows {
                switch format {
                case .ndjson: addJSON(row, table.columns, to: &part.bytes)
                case .csv: part.bytes += Self.csv(row)
                }
            }
            parts[place] = part
        }
    }

    private mutating func addJSON(_ row: TableRow, _ columns: [TableOutline.Column], to bytes: inout [UInt8]) {
        line.removeAll()
        line.beginObject()
        for (column, value) in zip(columns, row.values) { value?.write(to: &line, as: column.name) }
        line.endObject()
        line.newline()
        line.withBytes { bytes.append(contentsOf: $0) }
    }

    private static func csv(_ row: TableRow) -> [UInt8] {
        CSVField.row(
            row.values.map { value in
                switch value {
                case nil: ""
                case .text(let text)?: text
                case .integer(let number)?: String(number)
                case .boolean(let flag)?: flag ? "true" : "false"
                case .json(let json)?: String(decoding: json, as: UTF8.self)
                }
            })
    }
}
