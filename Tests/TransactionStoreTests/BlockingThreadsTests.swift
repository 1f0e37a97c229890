import Dispatch
import Foundation
import Synchronization
import Testing
import TransactionStore

@Suite("Threads that may wait", .timeLimit(.minutes(10)))
struct BlockingThreadsTests {
    private static let processors = ProcessInfo.processInfo.activeProcessorCount

    @Test func currentThreadIsRecognized() async {
        #expect(!BlockingThreads.isCurrent)
        let threads = BlockingThreads(maximum: 2)
        await withTaskExecutorPreference(threads) {
            #expect(BlockingThreads.isCurrent)
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<20 { group.addTask { BlockingThreads.isCurrent } }
                for await isCurrent in group { #expect(isCurrent) }
            }
            // Which inherits no executor.
            #expect(await !Task { BlockingThreads.isCurrent }.value)
        }
        #expect(!BlockingThreads.isCurrent)
    }

    /// Each waits until all are there, which takes as many threads.
    @Test func furtherThreadsRunWhileOthersWait() async {
        let count = Self.processors + 4
        let counter = Counter()
        let all = DispatchSemaphore(value: 0)
        await Self.run(count, on: BlockingThreads(maximum: count)) {
            if counter.enter() == count { for _ in 0..<count { all.signal() } }
            BlockingThreads.wait { all.waitOnThread() }
        }
        #expect(counter.most == count)
    }

    @Test func thereAreNeverMoreThanTheMaximum() async {
        let maximum = Self.processors + 2
        let counter = Counter()
        await Self.run(4 * maximum, on: BlockingThreads(maximum: maximum)) {
            _ = counter.enter()
            BlockingThreads.wait { _ = usleep(20_000) }
            counter.leave()
        }
        #expect(counter.most <= maximum)
    }

    @Test(arguments: [1, 2, 8]) func everyJobIsRun(maximum: Int) async {
        let counter = Counter()
        await Self.run(5_000, on: BlockingThreads(maximum: maximum)) {
            await Task.yield()
            _ = counter.enter()
            await Task.yield()
        }
        #expect(counter.most == 5_000)
    }

    private static func run(
        _ count: Int, on threads: BlockingThreads, _ body: @escaping @Sendable () async -> Void
    ) async {
        await withTaskExecutorPreference(threads) {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<count { group.addTask { await body() } }
            }
        }
    }

    /// As a server does that was idle.
    @Test func afterAPauseTheyRunAgain() async throws {
        let threads = BlockingThreads(maximum: 3)
        for pause in [0, 1, 20] {
            try await Task.sleep(for: .milliseconds(pause))
            let found = await withTaskExecutorPreference(threads) { BlockingThreads.isCurrent }
            #expect(found)
        }
    }
}

private final class Counter: Sendable {
    private let state = Mutex((now: 0, most: 0))

    var most: Int { state.withLock { $0.most } }

    /// How many are in then.
    func enter() -> Int {
        state.withLock {
            $0.now += 1
            $0.most = max($0.most, $0.now)
            return $0.now
        }
    }

    func leave() { state.withLock { $0.now -= 1 } }
}

extension DispatchSemaphore {
    /// `wait` is not for asynchronous code, but these tests are about threads that wait.
    fileprivate func waitOnThread() { wait() }
}
