import Migration
import Purchases
import SQLiteTransactionStore
import Synchronization
import TestSupport
import Testing
import TransactionStore
import TransactionStoreConformance

@Suite("Pages of customers")
struct CustomerPagesTests {
    /// More customers than one task prepares.
    private static let sets = (5_001...5_040).map { number in
        StoreSamples.set(Samples.period(String(number), String(number), from: 0))
    }

    /// A store with pages of another size, which counts what is read and can fail.
    private final class PagedStore: CustomerDirectory, MigrationStore {
        private struct Counts {
            var begun = 0
            var completed = 0
        }

        private let store: any CompleteTransactionStore
        private let size: Int
        private let failure: Int?
        private let counts = Mutex(Counts())

        /// - Parameters:
        ///   - size: the number of customers of a page.
        ///   - failure: the number of the page that cannot be read.
        init(_ store: any CompleteTransactionStore, size: Int, failure: Int? = nil) {
            self.store = store
            self.size = size
            self.failure = failure
        }

        var begun: Int { counts.withLock { $0.begun } }
        var completed: Int { counts.withLock { $0.completed } }

        func scopes() async throws -> [StoreScope] { try await store.scopes() }

        func customers(
            in scope: StoreScope, after identity: CustomerIdentity?, limit: Int
        ) async throws -> [Customer] {
            let number = counts.withLock { counts in
                counts.begun += 1
                return counts.begun
            }
            if number == failure { throw TransactionStoreError(.unavailable, "gone") }
            return try await store.customers(in: scope, after: identity, limit: size)
        }

        func users(of identities: [CustomerIdentity], in scope: StoreScope) async throws -> [UserClaim] {
            let users = try await store.users(of: identities, in: scope)
            counts.withLock { $0.completed += 1 }
            return users
        }

        func quarantine(after key: [UInt8]?, limit: Int) async throws -> [QuarantinedRecord] {
            try await store.quarantine(after: key, limit: limit)
        }

        func identities(of reference: CustomerReference, limit: Int) async throws -> [ScopedIdentity] { [] }
        func apply(_ step: MigrationStep) async throws -> AppliedFacts { try await store.apply(step) }
        func checkpoint(of migration: String) async throws -> MigrationCheckpoint? { nil }
        func checkpoints(after migration: String?, limit: Int) async throws -> [MigrationCheckpoint] { [] }
        func verifiedReceipts(_ keys: [[UInt8]]) async throws -> [VerifiedReceipt] { [] }
    }

    private final class PageCount: Sendable {
        let count = Mutex(0)
    }

    @Test("of any size give the same export, byte for byte", arguments: TableExport.Format.allCases)
    func sizes(_ format: TableExport.Format) async throws {
        try await Samples.withStore(Samples.sets + Samples.distant + Self.sets) { store in
            var exports: [[String: [UInt8]]] = []
            for size in [1, 2, 500] {
                let folder = try TemporaryFolder()
                _ = try await Samples.export(format).run(PagedStore(store, size: size), to: folder.path)
                exports.append(try folder.files())
            }
            #expect(exports[1] == exports[0])
            #expect(exports[2] == exports[0])
        }
    }

    @Test("have the customers in the order of the store, although several tasks prepare them")
    func order() async throws {
        try await Samples.withStore(Self.sets) { store in
            var expected: [CustomerIdentity?] = []
            for scope in try await store.scopes() {
                try await store.forEachCustomer(in: scope) { expected.append($0.identities.first) }
            }
            var found: [CustomerIdentity?] = []
            let prepared = Mutex(0)
            try await store.forEachPage { customers -> [CustomerIdentity?] in
                // The first part is ready last, if several tasks run at the same time.
                let end = ContinuousClock.now + .seconds(1)
                while customers.startIndex == 0, prepared.withLock({ $0 }) < 4, ContinuousClock.now < end {}
                prepared.withLock { $0 += 1 }
                return customers.map { $0.customer.identities.first }
            } body: { page in
                #expect(page.count == 5)
                for part in page { found += part }
            }
            #expect(found == expected)
            #expect(found.count == Self.sets.count)
        }
    }

    @Test("are read one ahead of the page that is worked on, and no further")
    func readAhead() async throws {
        try await Samples.withStore(Self.sets) { sqlite in
            let store = PagedStore(sqlite, size: 10)
            var pages = 0
            try await store.forEachPage {
                $0.count
            } body: { _ in
                pages += 1
                let next = pages + 1
                try await eventually("the next page is read") { store.begun >= next }
                // Gives a reader that goes on the time to do so.
                for _ in 0..<1_000 { await Task.yield() }
                #expect(store.begun == next)
            }
            #expect(pages == 4)
        }
    }

    @Test("that cannot be read end the work with the error of the store, after the pages before them")
    func unreadable() async throws {
        try await Samples.withStore(Self.sets) { sqlite in
            let store = PagedStore(sqlite, size: 10, failure: 3)
            var pages = 0
            do {
                try await store.forEachPage {
                    $0.count
                } body: { _ in
                    pages += 1
                }
                Issue.record("No error")
            } catch let error as TransactionStoreError {
                #expect(error.code == .unavailable)
                #expect(error.message == "gone")
            }
            #expect(pages == 2)
            let folder = try TemporaryFolder()
            let unreadable = PagedStore(sqlite, size: 10, failure: 3)
            await #expect(throws: TransactionStoreError(.unavailable, "")) {
                try await Samples.export(.ndjson).run(unreadable, to: folder.path)
            }
            #expect(try folder.files().isEmpty)
        }
    }

    @Test("report the error of the work on a page before that of the next page")
    func firstError() async throws {
        try await Samples.withStore(Self.sets) { sqlite in
            let store = PagedStore(sqlite, size: 10, failure: 2)
            await #expect(throws: TestFailure.self) {
                try await store.forEachPage {
                    $0.count
                } body: { _ in
                    throw TestFailure("the first page")
                }
            }
        }
    }

    @Test("stop after the current page when the task is canceled")
    func canceled() async throws {
        try await Samples.withStore(Self.sets) { sqlite in
            let store = PagedStore(sqlite, size: 10)
            let pages = PageCount()
            let task = Task {
                try await store.forEachPage {
                    $0.count
                } body: { _ in
                    pages.count.withLock { $0 += 1 }
                    try? await Task.sleep(for: .seconds(600))
                }
            }
            try await eventually("the next page is read") { store.completed == 2 }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(pages.count.withLock { $0 } == 1)
        }
    }
}
