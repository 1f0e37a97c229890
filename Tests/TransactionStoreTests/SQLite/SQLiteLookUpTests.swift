import Foundation
import GRDB
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore
import TransactionStoreConformance

@Suite("Look-ups that share a connection", .timeLimit(.minutes(10)))
struct SQLiteLookUpTests {
    private func store(in folder: TemporaryFolder, readers: Int) async throws -> SQLiteTransactionStore {
        let store = try SQLiteTransactionStore.open(
            path: folder.file("store.sqlite"), options: .init(readers: readers))
        _ = try await store.apply((1...50).map { Samples.set(Samples.fact("\($0)", product: "p\($0)")) })
        return store
    }

    private func damageTransaction7(in folder: TemporaryFolder) async throws {
        let damage = try DatabaseQueue(path: folder.file("store.sqlite"))
        try await damage.write { db in
            try db.execute(sql: "UPDATE transactions SET payload = X'7B' WHERE transaction_id = '7'")
        }
        try damage.close()
    }

    @Test(arguments: [1, 4]) func eachGetsItsOwnAnswer(readers: Int) async throws {
        let folder = try TemporaryFolder()
        let store = try await store(in: folder, readers: readers)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<400 {
                group.addTask {
                    let id = number % 51
                    let products = try await store.customer(original: "\(id)")?.transactions.map(\.payload.productId)
                    #expect(products == (id == 0 ? nil : ["p\(id)"]))
                }
            }
            try await group.waitForAll()
        }
        try await store.close()
    }

    @Test func theIdentitiesOfACustomerAreFoundByTheirIndex() async throws {
        let folder = try TemporaryFolder()
        let store = try await store(in: folder, readers: 1)
        let plan = try queryPlan(of: SQLiteTransactionStore.leastIdentity, [1, 1], in: folder.file("store.sqlite"))
        #expect(plan.first?.contains("identities_by_customer (customer_id=?)") == true, "\(plan)")
        // The first one is found without sorting all of them.
        #expect(plan.count == 1, "\(plan)")
        try await store.close()
    }

    @Test func aLookUpSeesEarlierWrites() async throws {
        let folder = try TemporaryFolder()
        let store = try await store(in: folder, readers: 1)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...50 {
                group.addTask {
                    for date in 1...5 {
                        let product = "p\(number).\(date)"
                        let fact = Samples.fact("\(number)", product: product, at: Samples.june + Int64(date))
                        _ = try await store.apply([Samples.set(fact)])
                        let found = try await store.customer(original: "\(number)")
                        #expect(found?.transactions.first?.payload.productId == product)
                    }
                }
            }
            try await group.waitForAll()
        }
        try await store.close()
    }

    @Test func oneThatCannotBeReadFailsAlone() async throws {
        let folder = try TemporaryFolder()
        let store = try await store(in: folder, readers: 1)
        try await damageTransaction7(in: folder)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...50 {
                group.addTask { try await check(number, in: store, damaged: 7) }
            }
            try await group.waitForAll()
        }
        try await store.close()
    }

    /// Whatever becomes of the connection of a look-up that fails: the next look-up sees what was written since.
    @Test func afterALookUpFailsTheNextOneSeesNewWrites() async throws {
        let folder = try TemporaryFolder()
        let store = try await store(in: folder, readers: 1)
        try await damageTransaction7(in: folder)
        for date in Int64(1)...3 {
            let error = await #expect(throws: TransactionStoreError.self) {
                try await store.customer([Samples.original("6"), Samples.original("7")], in: Samples.scope)
            }
            #expect(error?.code == .corrupt)
            let fact = Samples.fact("6", product: "new\(date)", at: Samples.june + date)
            _ = try await store.apply([Samples.set(fact)])
            let found = try await store.customer([Samples.original("6"), Samples.original("8")], in: Samples.scope)
            #expect(found?.transactions.map(\.payload.productId) == ["p8", "new\(date)"])
        }
        try await store.close()
    }

    private func check(_ number: Int, in store: SQLiteTransactionStore, damaged: Int) async throws {
        guard number == damaged else {
            #expect(try await store.customer(original: "\(number)")?.transactions.count == 1)
            return
        }
        let error = await #expect(throws: TransactionStoreError.self) {
            try await store.customer(original: "\(number)")
        }
        #expect(error?.code == .corrupt)
    }

    @Test func aCancelledCallerGetsAnAnswerToo() async throws {
        let folder = try TemporaryFolder()
        let store = try await store(in: folder, readers: 1)
        await withTaskGroup(of: Bool.self) { group in
            for number in 1...200 {
                group.addTask {
                    do {
                        return try await store.customer(original: "\(number % 50 + 1)")?.transactions.count == 1
                    } catch {
                        return error is TransactionStoreError
                    }
                }
            }
            group.cancelAll()
            for await isAnswered in group { #expect(isAnswered) }
        }
        #expect(try await store.customer(original: "1")?.transactions.count == 1)
        try await store.close()
    }

    @Test func anyNumberOfReadersWillDo() async throws {
        let folder = try TemporaryFolder()
        let store = try await store(in: folder, readers: .max)
        #expect(try await store.customer(original: "1")?.transactions.count == 1)
        try await store.close()
    }

    @Test func aClosedStoreAnswersAllWaitingCallers() async throws {
        let folder = try TemporaryFolder()
        let store = try await store(in: folder, readers: 1)
        await withTaskGroup(of: TransactionStoreError.Code?.self) { group in
            for number in 1...200 {
                group.addTask {
                    do {
                        #expect(try await store.customer(original: "\(number % 50 + 1)")?.transactions.count == 1)
                        return nil
                    } catch {
                        return (error as? TransactionStoreError)?.code ?? .engine
                    }
                }
            }
            group.addTask {
                try? await store.close()
                return nil
            }
            for await code in group { #expect(code == nil || code == .closed) }
        }
        await #expect(throws: TransactionStoreError(.closed, "The store was closed.")) {
            try await store.customer(original: "1")
        }
    }
}
