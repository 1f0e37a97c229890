import GRDB
import Purchases

/// Fills in the legacy fields of app transactions from the stored receipts, in a store of an earlier version. It works
/// in pages, because receipts are large.
enum AppTransactionFiller {
    private static let pageSize: Int64 = 100

    static func fill(_ db: Database) throws {
        let page = try db.statement(
            """
            SELECT a.customer_id, a.payload, r.bytes
            FROM app_transactions a
            CROSS JOIN receipts r ON r.customer_id = a.customer_id AND r.form = 1 AND r.signed_date = a.signed_date
            WHERE a.customer_id > ?1 AND a.kind = 1
            ORDER BY a.customer_id LIMIT ?2
            """)
        let update = try db.statement("UPDATE app_transactions SET legacy = ?2 WHERE customer_id = ?1 AND kind = 1")
        var last = Int64.min
        while true {
            let rows = try page.rows(last, pageSize) { row -> (customerId: Int64, legacy: [UInt8]) in
                let legacy = LegacyAppTransactionFields.stored(
                    of: Array(row.bytes(2)), ofAppTransaction: Array(row.bytes(1)))
                return (row.integer(0), legacy)
            }
            guard let greatest = rows.last else { return }
            for row in rows where !row.legacy.isEmpty { try update.run(row.customerId, row.legacy) }
            last = greatest.customerId
        }
    }
}
