internal import Purchases

/// The SQL with which an engine decides which of two rows with the same key is kept: the greater row value.
package struct RowOrder: Sendable {
    /// The expressions, the first one first. `%` stands for the name of the row.
    private let values: [String]

    /// The order of a table that contains no facts.
    /// - Parameter columns: the columns, the first one first.
    package init(columns: [String]) { values = columns.map { "%.\($0)" } }

    /// The order of facts, as `FactRow.Criterion` lists it.
    /// - Parameters:
    ///   - revokes: the expression for `FactRow.revokes` of a row with a name; nil for a table whose rows never revoke.
    ///   - hasLegacy: whether the table has the column `legacy`.
    package init(revokes: ((String) -> String)? = nil, hasLegacy: Bool = true) {
        values = FactRow.Criterion.allCases.compactMap { criterion -> String? in
            switch criterion {
            case .signedDate: "%.signed_date"
            case .revokes: revokes?("%")
            case .payload: "%.payload"
            case .legacy: hasLegacy ? "%.legacy" : nil
            case .source: "%.source"
            case .document: "%.document"
            }
        }
    }

    /// The value of a row.
    /// - Parameter name: the table, or what the statement calls the row.
    package func value(of name: String) -> String {
        "(" + values.joined(separator: ", ").replacing("%", with: name) + ")"
    }
}
