/// The SQL that makes a table of a database equal to the rows of an export, and changes only the rows that differ.
struct TableMerge {
    let table: TableOutline
    let dialect: SQLDialect

    /// The temporary table for the rows of the export.
    var staged: String { "staged_\(table.name)" }
    /// The column with the position of a row; no column of a table has this name.
    private static let place = "export_place"

    private var columns: [String] { table.columns.map(\.name) }

    /// The columns of a table as a session describes them.
    func description(of table: TableOutline) -> [String] {
        let key = table.key.isUnique ? table.key.columns : []
        return table.columns.map { column in
            let position = (key.firstIndex(of: column.name) ?? -1) + 1
            return "\(column.name) \(column.kind.type(in: dialect)) \(position)".lowercased()
        }
    }

    /// Adds the columns that an earlier version of the table lacks.
    func addColumns(to earlier: TableOutline) -> [String] {
        table.columns.filter { column in !earlier.columns.contains { $0.name == column.name } }.map {
            "ALTER TABLE \(table.name) ADD COLUMN \($0.name) \($0.kind.type(in: dialect))"
        }
    }

    var createStaged: String {
        let columns = table.columns.map { "\($0.name) \($0.kind.type(in: dialect))" }
        return "CREATE TEMPORARY TABLE \(staged) (\((["\(Self.place) BIGINT"] + columns).joined(separator: ", ")))"
    }

    /// Prepares the temporary table when all rows are in it.
    var prepareStaged: [String] {
        let key = table.key.columns.joined(separator: ", ")
        let index = "CREATE INDEX \(staged)_key ON \(staged) (\(key))"
        let analyze = "ANALYZE \(staged)"
        guard table.key.isUnique else { return [index, analyze] }
        // A customer can occur twice if its documents were erased and stored again during the export. The later rows
        // count.
        let duplicates = """
            DELETE FROM \(staged) WHERE \(Self.place) IN (
                SELECT \(Self.place) FROM (
                    SELECT \(Self.place), row_number() OVER (PARTITION BY \(key) ORDER BY \(Self.place) DESC) AS later
                    FROM \(staged)
                ) AS numbered WHERE later > 1
            )
            """
        return [index, duplicates, analyze]
    }

    /// Whether a row `t` of the table and a row `s` of the export are the same: by the primary key, or in all columns.
    private var isSame: String {
        let key = table.key.columns.map { "s.\($0) = t.\($0)" }
        let others = table.key.isUnique ? [] : columns.map { "NOT (\(differs($0)))" }
        return (key + others).joined(separator: " AND ")
    }

    /// Also true if one of the two values is NULL.
    private func differs(_ column: String) -> String {
        switch dialect {
        case .sqlite: "s.\(column) IS NOT t.\(column)"
        case .postgreSQL: "s.\(column) IS DISTINCT FROM t.\(column)"
        }
    }

    var remove: String {
        "DELETE FROM \(table.name) AS t WHERE NOT EXISTS (SELECT 1 FROM \(staged) AS s WHERE \(isSame))"
    }

    /// Nil if rows have no key: such a row is removed and written.
    var change: String? {
        guard table.key.isUnique else { return nil }
        let others = columns.filter { !table.key.columns.contains($0) }
        return """
            UPDATE \(table.name) AS t SET \(others.map { "\($0) = s.\($0)" }.joined(separator: ", "))
            FROM \(staged) AS s WHERE \(isSame) AND (\(others.map(differs).joined(separator: " OR ")))
            """
    }

    var write: String {
        """
        INSERT INTO \(table.name) (\(columns.joined(separator: ", ")))
        SELECT \(columns.map { "s.\($0)" }.joined(separator: ", ")) FROM \(staged) AS s
        WHERE NOT EXISTS (SELECT 1 FROM \(table.name) AS t WHERE \(isSame)) ORDER BY s.\(Self.place)
        """
    }
}
