/// The SQL of a database.
enum SQLDialect {
    case sqlite, postgreSQL
}

/// Scripts that load the CSV files into tables. Empty fields become NULL.
enum TableScripts {
    static let names = ["sqlite.sql", "postgresql.sql"]

    /// For the shell of SQLite 3.32 and newer, which imports empty fields as empty strings.
    static func sqlite(_ tables: [TableOutline]) -> String {
        var script = "-- In this folder: sqlite3 tables.sqlite < sqlite.sql\n.bail on\nBEGIN;\n"
        for table in tables {
            script += create(table, .sqlite)
            script += ".import --csv --skip 1 \(table.name).csv \(table.name)\n"
            // A column of the primary key is never NULL.
            let key = table.key.isUnique ? table.key.columns : []
            let values = table.columns.filter { !key.contains($0.name) }.map { column in
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
            // COPY converts no values, and the files have milliseconds.
            script += create(table.withNumericDates, .postgreSQL)
            script += "\\copy \(table.name) FROM '\(table.name).csv' WITH (FORMAT csv, HEADER, ENCODING 'UTF8')\n"
            script += PostgreSQLDates(table).conversion
        }
        return script + "COMMIT;\n"
    }

    /// The statements that create a table with its primary key, or with an index.
    static func create(_ table: TableOutline, _ dialect: SQLDialect) -> String {
        let key = table.key.columns.joined(separator: ", ")
        var lines = table.columns.map { column in
            let isRequired = table.key.isUnique && table.key.columns.contains(column.name)
            return "\(column.name) \(column.kind.type(in: dialect))" + (isRequired ? " NOT NULL" : "")
        }
        if table.key.isUnique { lines.append("PRIMARY KEY (\(key))") }
        let body = lines.map { "    \($0)" }.joined(separator: ",\n")
        let index =
            table.key.isUnique ? "" : "CREATE INDEX \(table.name)_by_\(key) ON \(table.name) (\(key));\n"
        return "CREATE TABLE \(table.name) (\n\(body)\n);\n" + index
    }
}
