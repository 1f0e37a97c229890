/// Rows in columns, for people.
enum TextTable {
    /// One line for each row. Each column is as wide as its longest cell, and nothing follows the last one.
    static func lines(_ rows: [[String]]) -> [String] {
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], cell.count)
            }
        }
        return rows.map { row in
            let line = zip(row, widths).map { $0.padded(to: $1 + 2) }.joined()
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}
