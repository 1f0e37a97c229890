import TransactionStore

/// A table, and the statements that write its rows.
struct StoreTable: Sendable {
    /// Inserts a row. It replaces a row with the same key only if the table has an order that keeps the given row.
    let insert: String
    /// Copies the rows of the customer `?2` to the customer `?1`, by the same order.
    let copy: String

    /// - Parameters:
    ///   - name: the name in SQL.
    ///   - key: the columns that identify a row, the first ones of a statement.
    ///   - values: the other columns.
    ///   - order: decides which of two rows is kept; nil if rows never change.
    private init(_ name: String, key: [String], _ values: [String], order: RowOrder? = nil) {
        let columns = (key + values).joined(separator: ", ")
        let parameters = (1...(key.count + values.count)).map { "?\($0)" }.joined(separator: ", ")
        var conflict = "ON CONFLICT (\(key.joined(separator: ", "))) DO "
        if let order {
            conflict += "UPDATE SET " + values.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
            conflict += " WHERE \(order.value(of: "excluded")) > \(order.value(of: name))"
        } else {
            conflict += "NOTHING"
        }
        insert = "INSERT INTO \(name) (\(columns)) VALUES (\(parameters)) \(conflict)"
        let copied = (key.dropFirst() + values).joined(separator: ", ")
        copy = "INSERT INTO \(name) (\(columns)) SELECT ?1, \(copied) FROM \(name) WHERE \(key[0]) = ?2 \(conflict)"
    }

    static let transactions = StoreTable(
        "transactions", key: ["scope_id", "original_transaction_id", "transaction_id", "kind"],
        ["source", "signed_date", "payload", "legacy", "document"], order: RowOrder(revokes: FactWriter.revokes))
    static let renewalInfos = StoreTable(
        "renewal_infos", key: ["scope_id", "original_transaction_id", "kind"],
        ["source", "signed_date", "payload", "document"], order: RowOrder(hasLegacy: false))
    static let appTransactions = StoreTable(
        "app_transactions", key: ["customer_id", "kind"], ["source", "signed_date", "payload", "legacy", "document"],
        order: RowOrder())
    static let receipts = StoreTable(
        "receipts", key: ["customer_id", "form"], ["signed_date", "bytes"],
        order: RowOrder(columns: ["signed_date", "bytes"]))
    static let notifications = StoreTable(
        "notifications", key: ["notification_uuid"],
        ["scope_id", "notification_type", "subtype", "signed_date", "body"])
    static let userClaims = StoreTable(
        "user_claims", key: ["scope_id", "kind", "value", "key"], ["user_id", "carried"])
    static let verifiedReceipts = StoreTable("verified_receipts", key: ["key"], ["scope_id", "form", "identities"])
    static let unknownTransactions = StoreTable(
        "unknown_transactions", key: ["environment", "bundle_id", "transaction_id"], ["answered_at"],
        order: RowOrder(columns: ["answered_at"]))
    static let leftHashes = StoreTable("left_hashes", key: ["secret", "hash"], ["scope_id"])
    static let quarantine = StoreTable("quarantine", key: ["key"], ["line"])
}
