import Purchases
import Synchronization
import Testing
import TransactionStore

@Suite("Looks at all purchases that are due")
struct EndingBatchTests {
    /// Has three full batches that each take a while.
    private final class SlowStore: PurchaseEndings {
        let times = Mutex<[(begin: ContinuousClock.Instant, end: ContinuousClock.Instant)]>([])

        func recordEndings(by date: Int64, limit: Int) async throws -> RecordedEndings {
            let begin = ContinuousClock.now
            try await Task.sleep(for: .milliseconds(40))
            let count = times.withLock {
                $0.append((begin: begin, end: .now))
                return $0.count
            }
            var result = RecordedEndings()
            result.purchases = count < 4 ? limit : 1
            return result
        }

        func recordTermEnds(by date: Int64, limit: Int, catalogs: TermCatalogs) async throws -> RecordedEndings {
            RecordedEndings()
        }
    }

    @Test("Other writers get as much time between two batches as a batch takes")
    func pause() async throws {
        let store = SlowStore()
        let found = try await store.recordAllEndings(by: 0)
        #expect(found.purchases == 3 * LedgerEndings.batch + 1)
        let times = store.times.withLock { $0 }
        for (batch, next) in zip(times, times.dropFirst()) {
            #expect(next.begin - batch.end >= .milliseconds(40))
        }
    }
}
