import AppStoreModels
import PostgreSQLTransactionStore

/// The dates of a table in PostgreSQL.
///
/// A date out of the range of `timestamptz` becomes `infinity` or `-infinity`, and its milliseconds become a member of the
/// column ``more``. A table without that column has only dates that follow from the dates of tables with it.
struct PostgreSQLDates {
    /// The column for the dates out of range.
    private static let more = "more"
    /// Its member: an object with the milliseconds by column.
    private static let member = "datesOutOfRange"

    private let table: TableOutline
    private let dates: [(place: Int, name: String)]
    private let morePlace: Int?

    init(_ table: TableOutline) {
        self.table = table
        dates = table.columns.enumerated().filter { $0.element.kind == .date }.map { ($0.offset, $0.element.name) }
        morePlace = table.columns.firstIndex { $0.name == Self.more }
    }

    /// The values of a row, with its dates out of range also in ``more``.
    func keepingAll(_ values: [ColumnValue?]) -> [ColumnValue?] {
        guard let morePlace, dates.contains(where: { Self.isOutOfRange(values[$0.place]) }) else { return values }
        var writer = JSONWriter()
        writer.key(Self.member)
        writer.object { writer in
            for (place, name) in dates where Self.isOutOfRange(values[place]) {
                values[place]?.write(to: &writer, as: name)
            }
        }
        var object = [UInt8(ascii: "{")]
        if case .json(let others)? = values[morePlace], others.count > 2 {
            object = Array(others.dropLast()) + [UInt8(ascii: ",")]
        }
        var kept = values
        kept[morePlace] = .json(object + writer.finish() + [UInt8(ascii: "}")])
        return kept
    }

    private static func isOutOfRange(_ value: ColumnValue?) -> Bool {
        if case .integer(let date)? = value { !PostgreSQLTimestamp.range.contains(date) } else { false }
    }

    /// The statements that convert a table whose dates are numbers of milliseconds. Its rows are then those that
    /// ``keepingAll(_:)`` returns. Empty for a table without dates.
    var conversion: String {
        guard !dates.isEmpty else { return "" }
        let changes = dates.map { date in
            "    ALTER COLUMN \(date.name) TYPE \(PostgreSQLTimestamp.type)\n"
                + "        USING \(PostgreSQLTimestamp.sql(milliseconds: date.name))"
        }
        return keepAll + "ALTER TABLE \(table.name)\n\(changes.joined(separator: ",\n"));\n"
    }

    private var keepAll: String {
        guard morePlace != nil else { return "" }
        let range = PostgreSQLTimestamp.range
        let conditions = dates.map { "\($0.name) NOT BETWEEN \(range.lowerBound) AND \(range.upperBound)" }
        let members = zip(dates, conditions).map { date, condition in
            "    '\(date.name)', CASE WHEN \(condition) THEN \(date.name) END"
        }
        return """
            UPDATE \(table.name) SET \(Self.more) = coalesce(\(Self.more), '{}') || jsonb_build_object(
                '\(Self.member)', jsonb_strip_nulls(jsonb_build_object(
            \(members.joined(separator: ",\n"))
            ))) WHERE \(conditions.joined(separator: " OR "));

            """
    }

    /// The query for the views that use the dates. PostgreSQL changes no type of a column that a view uses.
    var views: String {
        let names = dates.map { "'\($0.name.lowercased())'" }.joined(separator: ", ")
        return """
            SELECT DISTINCT r.ev_class::regclass::text
            FROM pg_depend AS d JOIN pg_rewrite AS r ON r.oid = d.objid
            JOIN pg_attribute AS a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
            WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass
                AND d.refobjid = to_regclass('\(table.name)') AND a.attname IN (\(names))
            ORDER BY 1
            """
    }
}
