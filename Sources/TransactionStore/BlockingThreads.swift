import Dispatch
import Foundation
import Synchronization

/// A task executor whose threads may wait for a disk. Threads of Swift's own pool must not: there are only as many as
/// processors, and all other work would wait with them.
///
/// An engine that reads synchronously does so on these threads. A server that handles its connections on them saves
/// each look-up two thread switches, which cost as much as a small look-up.
///
/// Normally one more thread than there are processors is active, because more threads would only add thread switches.
/// Another thread runs only after one has waited (``wait(_:)``) for two milliseconds.
public final class BlockingThreads: TaskExecutor {
    private struct State {
        var jobs = Jobs()
        /// Wakes idle workers. The last one that went to sleep comes first, because its memory is in the caches.
        var idle: [DispatchSemaphore] = []
        var workers: [Worker] = []
        /// How many workers were started or woken and have not taken a job yet. Starting one may take some time.
        var coming = 0
        /// Whether a check of the jobs after `checkDelay` is scheduled.
        var isWatched = false
    }

    /// A first-in, first-out queue.
    private struct Jobs {
        private var jobs: [UnownedJob] = []
        /// The index of the first waiting job. Jobs before it were taken.
        private var head = 0

        var count: Int { jobs.count - head }

        mutating func append(_ job: UnownedJob) { jobs.append(job) }

        mutating func popFirst() -> UnownedJob? {
            guard head < jobs.count else { return nil }
            defer {
                head += 1
                if head == jobs.count {
                    jobs.removeAll(keepingCapacity: head <= 1_024)
                    head = 0
                } else if head >= 1_024 {
                    jobs.removeFirst(head)
                    head = 0
                }
            }
            return jobs[head]
        }
    }

    private final class Worker: Sendable {
        /// When the current wait began, in nanoseconds of uptime; 0 if the worker does not wait.
        let waitsSince = Atomic<UInt64>(0)
    }

    private enum Step {
        case wake(DispatchSemaphore)
        case start(Worker)
        case watch
        case nothing
    }

    /// The threads of this process. The first job starts them.
    public static let shared = BlockingThreads(maximum: sharedMaximum)
    package static let sharedMaximum = 4 * ProcessInfo.processInfo.activeProcessorCount + sharedReserve
    /// How many shared threads must stay free if everything that waits for one disk hangs. An engine lets at most the
    /// remaining threads wait at once.
    package static let sharedReserve = 4

    /// How long a thread may wait before another thread runs in its place.
    private static let checkDelay = DispatchTimeInterval.nanoseconds(Int(checkDelayNanoseconds))
    private static let checkDelayNanoseconds: UInt64 = 2_000_000
    /// A serial queue, because it has its own thread.
    private static let watch = DispatchQueue(label: "BlockingThreads.watch")

    /// The `Worker` of a thread that may wait; null for all other threads. The worker lives as long as its thread.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// Whether the current thread is allowed to wait.
    public static var isCurrent: Bool { pthread_getspecific(key) != nil }

    /// Runs `body`, which may wait for a disk. On a thread of another executor, this only calls `body`.
    public static func wait<Value>(_ body: () throws -> Value) rethrows -> Value {
        guard let pointer = pthread_getspecific(key) else { return try body() }
        let worker = Unmanaged<Worker>.fromOpaque(pointer).takeUnretainedValue()
        worker.waitsSince.store(DispatchTime.now().uptimeNanoseconds, ordering: .relaxed)
        defer { worker.waitsSince.store(0, ordering: .relaxed) }
        return try body()
    }

    private let maximum: Int
    private let sufficient = ProcessInfo.processInfo.activeProcessorCount + 1
    private let state = Mutex(State())

    /// - Parameter maximum: the maximum number of threads. A thread stays until the process ends.
    package init(maximum: Int) { self.maximum = max(1, maximum) }

    /// Called by the Swift runtime. It returns at once, and one of the threads runs the job later.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        take(
            state.withLock { state in
                state.jobs.append(job)
                return nextStep(&state)
            })
    }

    /// The next step for the waiting jobs.
    private func nextStep(_ state: inout State) -> Step {
        guard state.jobs.count > state.coming else { return .nothing }
        guard isAnotherNeeded(state) else { return watch(&state) }
        if let worker = state.idle.popLast() {
            state.coming += 1
            return .wake(worker)
        }
        guard state.workers.count < maximum else { return .nothing }
        let worker = Worker()
        state.workers.append(worker)
        state.coming += 1
        return .start(worker)
    }

    /// Running jobs may begin to wait, and no other event would trigger a check.
    private func watch(_ state: inout State) -> Step {
        guard !state.isWatched else { return .nothing }
        state.isWatched = true
        return .watch
    }

    private func isAnotherNeeded(_ state: State) -> Bool {
        let running = state.workers.count - state.idle.count
        if running < sufficient { return true }
        guard state.workers.count < maximum || !state.idle.isEmpty else { return false }
        let now = DispatchTime.now().uptimeNanoseconds
        let waiting = state.workers.count { worker in
            let start = worker.waitsSince.load(ordering: .relaxed)
            return start > 0 && now > start && now - start >= Self.checkDelayNanoseconds
        }
        return running - waiting < sufficient
    }

    private func take(_ step: Step) {
        switch step {
        case .wake(let worker): worker.signal()
        case .start(let worker):
            if !startThread(worker) { take(state.withLock { notStarted(worker, &$0) }) }
        case .watch:
            Self.watch.asyncAfter(deadline: .now() + Self.checkDelay) {
                self.take(
                    self.state.withLock { state in
                        state.isWatched = false
                        return self.nextStep(&state)
                    })
            }
        case .nothing: break
        }
    }

    /// Handles a thread that the system did not provide: other workers take its jobs, or the start is retried.
    private func notStarted(_ worker: Worker, _ state: inout State) -> Step {
        state.workers.removeAll { $0 === worker }
        state.coming -= 1
        guard let idle = state.idle.popLast() else { return watch(&state) }
        state.coming += 1
        return .wake(idle)
    }

    private final class Start: Sendable {
        let threads: BlockingThreads
        let worker: Worker

        init(_ threads: BlockingThreads, _ worker: Worker) {
            self.threads = threads
            self.worker = worker
        }
    }

    /// Foundation's `Thread` does not report whether the start succeeded.
    private func startThread(_ worker: Worker) -> Bool {
        let start = Unmanaged.passRetained(Start(self, worker))
        #if canImport(Darwin)
            var thread: pthread_t?
            let code = pthread_create(&thread, nil, { BlockingThreads.begin($0) }, start.toOpaque())
            let created = thread
        #else
            var thread = pthread_t()
            let code = pthread_create(&thread, nil, { $0.flatMap { BlockingThreads.begin($0) } }, start.toOpaque())
            let created: pthread_t? = thread
        #endif
        guard code == 0, let created else {
            start.release()
            return false
        }
        pthread_detach(created)
        return true
    }

    private static func begin(_ pointer: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        let start = Unmanaged<Start>.fromOpaque(pointer).takeRetainedValue()
        withExtendedLifetime(start.worker) {
            pthread_setspecific(key, UnsafeRawPointer(Unmanaged.passUnretained(start.worker).toOpaque()))
            start.threads.work()
        }
        return nil
    }

    /// Never returns: the thread stays until the process ends.
    private func work() {
        let wakeUp = DispatchSemaphore(value: 0)
        let executor = asUnownedTaskExecutor()
        var isComing = true
        while true {
            let (job, step) = state.withLock { state -> (UnownedJob?, Step) in
                if isComing { state.coming -= 1 }
                guard let job = state.jobs.popFirst() else {
                    state.idle.append(wakeUp)
                    return (nil, .nothing)
                }
                return (job, nextStep(&state))
            }
            isComing = false
            take(step)
            if let job {
                #if canImport(Darwin)
                    // The thread never ends, so Foundation never frees what it keeps until then.
                    autoreleasepool { job.runSynchronously(on: executor) }
                #else
                    job.runSynchronously(on: executor)
                #endif
            } else {
                wakeUp.wait()
                isComing = true
            }
        }
    }
}
