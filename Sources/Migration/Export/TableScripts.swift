/// Scripts that make tables of the CSV files. Empty fields become NULL.
enum TableScripts {
    static let names = ["sqlite.sql", "postgresql.sql"]

    /// For the shell of SQLite 3.32 and newer, which imports empty fields as empty texts.
    static func sqlite(_ tables: [TableOutline]) -> String {
        var script = "-- In this folder: sqlite3 tables.sqlite < sqlite.sql\n.bail on\nBEGIN;\n"
        for table in tables {
            script += create(table, \.sqlite)
            script += ".import --csv --skip 1 \(table.name).csv \(table.name)\n"
            let values = table.columns.map { column in
                column.kind == .boolean
                    ? "\(column.name) = CASE \(column.name) WHEN 'true' THEN 1 WHEN 'false' THEN 0 END"
                    : "\(column.name) = NULLIF(\(column.name), '')"
            }
            script += "UPDATE \(table.name) SET \(values.joined(separator: ", "));\n"
        }
        return script + "COMMIT;\n"
    }

    /// For psql.
    static func postgreSQL(_ tables: [TableOutline]) -> String {
        var script = "-- In this folder: psql DATABASE -f postgresql.sql\n\\set ON_ERROR_STOP on\nBEGIN;\n"
        for table in tables {
            script += create(table, \.postgreSQL)
            script += "\\copy \(table.name) FROM '\(table.name).csv' WITH (FORMAT csv, HEADER, ENCODING 'UTF8')\n"
        }
        return script + "COMMIT;\n"
    }

    private static func create(_ table: TableOutline, _ type: KeyPath<ColumnKind, String>) -> String {
        let columns = table.columns.map { "    \($0.name) \($0.kind[keyPath: type])" }
        return "CREATE TABLE \(table.name) (\n\(columns.joined(separator: ",\n"))\n);\n"
    }
}
