import TransactionStore

/// A table of facts, and the statements that write to it.
struct Table: Sendable {
    enum Column: Sendable {
        case int8(String)
        case int4(String)
        case int2(String)
        case bytea(String)

        var name: String {
            switch self {
            case .int8(let name), .int4(let name), .int2(let name), .bytea(let name): name
            }
        }

        fileprivate var type: (name: String, id: UInt32) {
            switch self {
            case .int8: ("int8", TypeID.int8)
            case .int4: ("int4", TypeID.int4)
            case .int2: ("int2", TypeID.int2)
            case .bytea: ("bytea", TypeID.bytea)
            }
        }
    }

    let name: String
    let columns: [Column]
    /// `COPY … FROM STDIN` in binary format.
    let copy: String
    /// Inserts rows given as one array per column. An existing row stays, unless the table has an order by which the given
    /// row is kept; then the given row replaces it. Rows that stay are neither written nor locked.
    let insert: Statement

    /// - Parameters:
    ///   - name: the name in SQL.
    ///   - columns: the columns, in the order of COPY.
    ///   - key: the columns that identify a row.
    ///   - order: decides which of two rows is kept; nil if rows never change.
    ///   - returning: the columns to return for each inserted or replaced row.
    init(_ name: String, _ columns: [Column], key: [String], order: RowOrder? = nil, returning: [String] = []) {
        self.name = name
        self.columns = columns
        let names = columns.map(\.name)
        let list = names.joined(separator: ", ")
        copy = "COPY \(name) (\(list)) FROM STDIN (FORMAT binary)"

        let arrays = columns.enumerated().map { "$\($0 + 1)::\($1.type.name)[]" }.joined(separator: ", ")
        var sql = "INSERT INTO \(name) AS known (\(list)) SELECT \(names.map { "given.\($0)" }.joined(separator: ", "))"
        sql += " FROM unnest(\(arrays)) AS given (\(list))"
        sql += " WHERE NOT EXISTS (SELECT FROM \(name) AS old WHERE "
        sql += key.map { "old.\($0) = given.\($0)" }.joined(separator: " AND ")
        if let order { sql += " AND \(order.value(of: "old")) >= \(order.value(of: "given"))" }
        sql += ") ON CONFLICT (\(key.joined(separator: ", "))) "
        if let order {
            let changing = names.filter { !key.contains($0) }
            sql += "DO UPDATE SET " + changing.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
            sql += " WHERE \(order.value(of: "known")) < \(order.value(of: "excluded"))"
        } else {
            sql += "DO NOTHING"
        }
        if !returning.isEmpty { sql += " RETURNING " + returning.map { "known.\($0)" }.joined(separator: ", ") }
        insert = Statement(sql)
    }

    static let identities = Table(
        "identities", [.int8("id"), .int8("customer"), .int4("scope"), .int2("kind"), .bytea("value")],
        key: ["scope", "kind", "value"])

    static let transactions = Table(
        "transactions",
        [
            .int8("purchase"), .int8("signed_date"), .int2("kind"), .int2("source"), .bytea("transaction_id"),
            .bytea("payload"), .bytea("legacy"), .bytea("document"),
        ],
        key: ["purchase", "transaction_id", "kind"],
        order: RowOrder(revokes: revokes), returning: ["purchase", "kind", "transaction_id"])

    /// `FactRow.revokes` of a row of transactions.
    ///
    /// Objects in the payload can have a `revocationDate` of their own, such as the items of `advancedCommerceInfo`, so the text
    /// alone proves nothing. Only if the payload contains the text is the pattern tried, because nearly no payload does.
    static func revokes(_ row: String) -> String {
        """
        (position('"cancellationDate":'::bytea IN \(row).legacy) > 0
            OR position('"revocationDate":'::bytea IN \(row).payload) > 0
                AND encode(\(row).payload, 'escape') COLLATE "C" ~ $pattern$\(revokedPayload)$pattern$)
        """
    }

    /// Matches a payload whose own member `revocationDate` is set, in the format `escape` of `encode`.
    ///
    /// The table of the payload's members writes no array and no object before this member. So all members before it are strings,
    /// numbers and Booleans. A cast to JSON would fail for U+0000, and in databases whose encoding lacks a character.
    ///
    /// The format doubles each backslash, and writes each byte that is not ASCII as a backslash with three digits.
    private static let revokedPayload: String = {
        let string = #""(?:[^"\\]|\\\\(?:\\\\|[^\\])|\\[0-3])*""#
        return #"^\{(?:\#(string):(?:\#(string)|[^][{",]+),)*"revocationDate":"#
    }()

    static let renewalInfos = Table(
        "renewal_infos",
        [
            .int8("purchase"), .int8("signed_date"), .int2("kind"), .int2("source"), .bytea("payload"),
            .bytea("document"),
        ],
        key: ["purchase", "kind"], order: RowOrder(hasLegacy: false),
        returning: ["purchase", "kind"])

    static let appTransactions = Table(
        "app_transactions",
        [
            .int8("customer"), .int8("signed_date"), .int2("kind"), .int2("source"), .bytea("payload"),
            .bytea("legacy"), .bytea("document"),
        ],
        key: ["customer", "kind"], order: RowOrder(), returning: ["customer", "kind"])

    static let receipts = Table(
        "receipts", [.int8("customer"), .int8("signed_date"), .int2("form"), .bytea("octets")],
        key: ["customer", "form"], order: RowOrder(columns: ["signed_date", "octets"]), returning: ["customer", "form"])

    static let notifications = Table(
        "notifications",
        [
            .bytea("notification_uuid"), .int4("scope"), .int8("signed_date"), .bytea("type"), .bytea("subtype"),
            .bytea("body"),
        ],
        key: ["notification_uuid"], returning: ["notification_uuid"])

    static let userClaims = Table(
        "user_claims",
        [
            .int4("scope"), .int2("kind"), .bytea("value"), .bytea("key"), .bytea("user_id"), .bytea("carried"),
        ],
        key: ["scope", "kind", "value", "key"])

    static let verifiedReceipts = Table(
        "verified_receipts", [.bytea("key"), .int4("scope"), .int2("form"), .bytea("identities")], key: ["key"])

    static let unknownTransactions = Table(
        "unknown_transactions",
        [.bytea("environment"), .bytea("bundle_id"), .bytea("transaction_id"), .int8("answered_at")],
        key: ["environment", "bundle_id", "transaction_id"], order: RowOrder(columns: ["answered_at"]))

    static let leftHashes = Table(
        "left_hashes", [.bytea("secret"), .bytea("hash"), .int4("scope")], key: ["secret", "hash"],
        returning: ["secret", "hash"])

    static let quarantine = Table("quarantine", [.bytea("key"), .bytea("line")], key: ["key"])
}

/// Rows to write to a table: row by row for COPY, or as one array per column for INSERT.
struct RowBuffer {
    enum Layout { case rows, columns }

    private let table: Table
    private let layout: Layout
    private var buffers: [BinaryBuffer]
    private var column = 0
    private(set) var count = 0

    /// Whether the rows should be sent before more are added. While they are sent, libpq and the session have copies of them.
    var isFull: Bool { buffers.reduce(0) { $0 + $1.count } >= 1 << 20 }

    init(_ table: Table, _ layout: Layout) {
        self.table = table
        self.layout = layout
        buffers = Array(repeating: BinaryBuffer(), count: layout == .rows ? 1 : table.columns.count)
        removeAll()
    }

    mutating func removeAll() {
        count = 0
        for place in buffers.indices { buffers[place].removeAll() }
        if layout == .rows { buffers[0].copyHeader() }
    }

    mutating func beginRow() {
        count += 1
        column = 0
        if layout == .rows { buffers[0].integer(Int16(truncatingIfNeeded: table.columns.count)) }
    }

    private var place: Int { layout == .rows ? 0 : column }

    mutating func integer<Value: FixedWidthInteger>(_ value: Value) {
        buffers[place].field(value)
        column += 1
    }

    mutating func bytes(_ value: some Collection<UInt8>) {
        buffers[place].field(value)
        column += 1
    }

    mutating func null() {
        buffers[place].null()
        column += 1
    }

    /// Writes the rows and returns how many were inserted or replaced an older row. Afterwards it has no rows.
    @discardableResult
    mutating func send(to session: PostgreSQLSession) throws -> Int {
        guard count > 0 else { return 0 }
        defer { removeAll() }
        switch layout {
        case .rows:
            buffers[0].integer(Int16(-1))
            try session.copy(table.copy, buffers[0].bytes)
            return count
        case .columns:
            return try insert(session).affected
        }
    }

    func insert(_ session: PostgreSQLSession) throws -> ResultRows {
        let parameters = zip(table.columns, buffers).map { column, buffer in
            Parameter.encoded(elementType: column.type.id, count: count, elements: buffer.bytes)
        }
        return try session.run(table.insert, parameters)
    }
}
