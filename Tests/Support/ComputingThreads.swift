import Foundation
import Synchronization

/// Threads for tests that compute for long, beside those of Swift's concurrency.
///
/// Swift's concurrency has one thread per processor. Two tests that compute for a minute each would hold both, and every server of
/// another test would be silent for that minute: its clients give up. Here such tests only share the processors, and come last.
package final class ComputingThreads: TaskExecutor {
    package static let shared = ComputingThreads(count: ProcessInfo.processInfo.activeProcessorCount)

    private let jobs = Mutex<[UnownedJob]>([])
    private let waiting = DispatchSemaphore(value: 0)

    private init(count: Int) {
        for _ in 0..<max(1, count) {
            let thread = Thread { [self] in run() }
            // As large as the first thread's of a program: tests nest deeply on purpose.
            thread.stackSize = 8 << 20
            thread.start()
        }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        waiting.signal()
    }

    private func run() {
        #if os(Linux)
            // On Linux this is about the thread.
            setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 5)
        #endif
        while true {
            waiting.wait()
            guard let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { continue }
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
