import Purchases
import Synchronization
import Testing
import TransactionStore

@Suite("Purchases that state the same transactions")
struct ConnectedPurchaseTests {
    /// The signed transactions of purchases. Counts the rows that are read to find out which purchases are connected.
    private final class Rows: SQLPurchaseRows {
        private let transactions: [SQLPurchase: [String]]
        private let purchases: [String: [SQLPurchase]]
        private let unsigned: Set<String>
        let rows = Mutex(0)
        /// The transaction ids that were named to be left out, over all look-ups.
        let leftOut = Mutex(0)

        init(_ transactions: [SQLPurchase: [String]], unsigned: Set<String> = []) {
            self.transactions = transactions
            self.unsigned = unsigned
            var purchases: [String: [SQLPurchase]] = [:]
            for (purchase, ids) in transactions {
                for id in ids { purchases[id, default: []].append(purchase) }
            }
            self.purchases = purchases
        }

        func sharing(_ purchases: [SQLPurchase]) throws -> [Int] {
            purchases.indices.filter { place in
                (transactions[purchases[place]] ?? []).contains { (self.purchases[$0] ?? []).count > 1 }
            }
        }

        func stating(
            transactionsOf purchases: [SQLPurchase], except known: Set<String>
        ) throws -> [(transactionId: String, purchase: SQLPurchase, isSigned: Bool)] {
            leftOut.withLock { $0 += known.count }
            let ids = Set(purchases.flatMap { transactions[$0] ?? [] }).subtracting(known)
            var found: [(transactionId: String, purchase: SQLPurchase, isSigned: Bool)] = []
            for id in ids {
                for purchase in self.purchases[id] ?? [] { found.append((id, purchase, !unsigned.contains(id))) }
            }
            rows.withLock { $0 += found.count }
            return found
        }

        // The others are not called.

        func addTransactions(of purchases: [SQLPurchase], to assemblers: inout [Int: CustomerAssembler]) throws {}
        func addRenewalInfos(of purchases: [SQLPurchase], to assemblers: inout [Int: CustomerAssembler]) throws {}
        func dependent(_ purchases: [(purchase: SQLPurchase, product: [UInt8])]) throws -> [Int] { [] }
        func notified(_ transactions: [SQLTransaction]) throws -> [Int] { [] }
        func histories(of transactions: [SQLTransaction]) throws -> [Int: LedgerHistory] { [:] }
        func appendNumbered(_ entries: [SQLNumberedEntry]) throws -> [Int] { [] }
        func events(of purchases: [SQLPurchase]) throws -> [Int: [String: [LedgerEntry.Event]]] { [:] }
        func append(_ entries: [SQLEntry]) throws {}
        func duePurchases(by date: Int64, limit: Int) throws -> [SQLPurchase] { [] }
        func setLookDates(_ dates: [(purchase: SQLPurchase, date: Int64?)]) throws {}
        func customers(
            with purchases: [SQLPurchase], in scope: StoreScope
        ) throws -> [Result<Customer?, TransactionStoreError>] { [] }
        func purchasesWithTerms(of customers: [Int64]) throws -> [SQLOwnedPurchase] { [] }
        func owners(of purchases: [SQLPurchase]) throws -> [Int: Int64] { [:] }
        func bases(of purchases: [SQLPurchase]) throws -> [Int: [String: Int64]] { [:] }
        func replace(_ outdated: [SQLTransaction], with new: [(term: SQLTransaction, basis: Int64)]) throws {}
        func dueTerms(
            in scopeId: Int64, by date: Int64, limit: Int
        ) throws -> [(term: SQLTransaction, customer: Int64)] { [] }
        func setLookDates(_ dates: [(term: SQLTransaction, date: Int64)]) throws {}
    }

    private func purchase(_ number: Int) -> SQLPurchase { SQLPurchase(scopeId: 1, original: "\(number)") }

    @Test("A transaction that thousands of purchases state is read once, also for all of them")
    func oneTransaction() throws {
        let all = (1...5_000).map(purchase)
        let rows = Rows(Dictionary(uniqueKeysWithValues: all.map { ($0, ["shared", "own \($0.original)"]) }))
        let connected = try rows.connected(all)
        #expect(connected.count == 5_000)
        #expect(connected.values.allSatisfy { $0.count == 5_000 })
        // One for each purchase and transaction.
        #expect(rows.rows.withLock { $0 } == 10_000)
        #expect(try rows.connected([all[0]])[all[0]]?.count == 5_000)
        #expect(rows.rows.withLock { $0 } == 20_000)
    }

    @Test("A chain of shared transactions connects purchases, and one that no signed document states does not")
    func chain() throws {
        let rows = Rows(
            [
                purchase(1): ["a"], purchase(2): ["a", "b"], purchase(3): ["b", "recorded"],
                purchase(4): ["recorded", "c"], purchase(5): ["c"], purchase(6): ["recorded"], purchase(7): ["d"],
            ], unsigned: ["recorded"])
        let connected = try rows.connected((1...7).map(purchase))
        #expect(connected[purchase(1)] == Set((1...3).map(purchase)))
        #expect(connected[purchase(3)] == Set((1...3).map(purchase)))
        #expect(connected[purchase(4)] == Set((4...5).map(purchase)))
        #expect(connected[purchase(6)] == nil)
        #expect(connected[purchase(7)] == nil)
        #expect(try rows.connected([purchase(1)]) == [purchase(1): Set((1...3).map(purchase))])
    }

    @Test("The search along a chain of thousands of purchases names and reads each transaction a few times at most")
    func longChain() throws {
        let all = (1...3_000).map(purchase)
        let rows = Rows(
            Dictionary(uniqueKeysWithValues: all.enumerated().map { ($1, ["shared \($0)", "shared \($0 + 1)"]) }))
        #expect(try rows.connected([all[0]])[all[0]]?.count == 3_000)
        #expect(rows.rows.withLock { $0 } < 10_000)
        #expect(rows.leftOut.withLock { $0 } < 10_000)
    }
}
