import GRDB
import Purchases
import TransactionStore

/// Finds the customer with given identities, and merges several customers into one.
struct CustomerWriter {
    private let db: Database
    private let find: SQLStatement
    private let insert: SQLStatement
    private let next: SQLStatement

    init(_ db: Database) throws {
        self.db = db
        find = try db.statement("SELECT customer_id FROM identities WHERE scope_id = ?1 AND kind = ?2 AND value = ?3")
        insert = try db.statement("INSERT INTO identities (scope_id, kind, value, customer_id) VALUES (?1, ?2, ?3, ?4)")
        next = try db.statement("SELECT COALESCE(MAX(customer_id), 0) + 1 FROM identities")
    }

    /// Finds or creates the customer with these identities, of which there is at least one. `isNew` states whether it was
    /// created, and `wasJoined` whether several customers were merged into it.
    func customer(
        of identities: [CustomerIdentity], in scopeId: Int64
    ) throws -> (id: Int64, isNew: Bool, wasJoined: Bool) {
        var found: Set<Int64> = []
        var missing: [CustomerIdentity] = []
        for identity in identities {
            if let id = try find.integer(scopeId, Int64(identity.kind.rawValue), identity.value) {
                found.insert(id)
            } else {
                missing.append(identity)
            }
        }
        let customerId: Int64
        if found.count > 1 {
            customerId = try join(found)
        } else if let only = found.first {
            customerId = only
        } else {
            customerId = try next.integer() ?? 1
        }
        for identity in missing { try insert.run(scopeId, Int64(identity.kind.rawValue), identity.value, customerId) }
        return (customerId, found.isEmpty, found.count > 1)
    }

    /// Moves everything to the customer with the most identities, so that one identity moves at most a logarithmic
    /// number of times.
    private func join(_ customers: Set<Int64>) throws -> Int64 {
        let largest = try largest(customers)
        let moveIdentities = try db.statement("UPDATE identities SET customer_id = ?1 WHERE customer_id = ?2")
        let copyAppTransactions = try db.statement(StoreTable.appTransactions.copy)
        let copyReceipts = try db.statement(StoreTable.receipts.copy)
        let deleteAppTransactions = try db.statement("DELETE FROM app_transactions WHERE customer_id = ?1")
        let deleteReceipts = try db.statement("DELETE FROM receipts WHERE customer_id = ?1")
        for customer in customers where customer != largest {
            for move in [moveIdentities, copyAppTransactions, copyReceipts] { try move.run(largest, customer) }
            for delete in [deleteAppTransactions, deleteReceipts] { try delete.run(customer) }
        }
        return largest
    }

    /// Counts the identities of each customer only up to 2, 4, 8, … and drops the customers that have fewer. The cost
    /// therefore depends on the smaller customers.
    private func largest(_ customers: Set<Int64>) throws -> Int64 {
        let count = try db.statement("SELECT COUNT(*) FROM (SELECT 1 FROM identities WHERE customer_id = ?1 LIMIT ?2)")
        var candidates = customers.sorted()
        var bound: Int64 = 2
        while candidates.count > 1 {
            var larger: [Int64] = []
            for customer in candidates {
                if try count.integer(customer, bound) ?? 0 >= bound { larger.append(customer) }
            }
            if larger.isEmpty { break }
            candidates = larger
            bound *= 2
        }
        guard let largest = candidates.first else {
            throw TransactionStoreError(.engine, "The database has no customer to join.")
        }
        return largest
    }
}
