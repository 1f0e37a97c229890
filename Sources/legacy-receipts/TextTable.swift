/// Rows in columns, for people.
enum TextTable {
    /// One line for each row. Each column is as wide as its longest cell, and nothing follows the last one.
    static func lines(_ rows: [[String]]) -> [String] {
        let widths = widths(rows)
        return rows.map { row in
            let line = zip(row, widths).map { $0.padded(to: $1 + 2) }.joined()
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }

    /// One line for each row: its label, and its numbers aligned to the right.
    static func numbers(_ rows: [[String]]) -> [String] {
        let widths = widths(rows)
        return rows.map { row in
            var line = ""
            for (cell, width) in zip(row, widths) {
                let padding = String(repeating: " ", count: width - cell.count)
                line += line.isEmpty ? cell + padding : "  " + padding + cell
            }
            return line
        }
    }

    private static func widths(_ rows: [[String]]) -> [Int] {
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], cell.count)
            }
        }
        return widths
    }
}
