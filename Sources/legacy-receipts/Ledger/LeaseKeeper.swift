import Foundation
import Synchronization
import TransactionStore

/// The lease of a consumer for this process, renewed while it runs.
final class LeaseKeeper: Sendable {
    private let consumer: String
    private let milliseconds: Int64
    private let store: any DeliveryLedger
    private let holder: String
    private let until = Mutex(ContinuousClock.now)
    private let isStandby: Bool
    /// Whether standard error says that this process stands by.
    private let standsBy = Atomic(false)
    /// Whether the store may have granted the lease to this process. A failed call does not rule it out: a signal or a
    /// broken connection can come after the grant.
    private let mayBeGranted = Atomic(false)

    init(consumer: String, seconds: Int, isStandby: Bool, in store: any DeliveryLedger) {
        self.consumer = consumer
        self.isStandby = isStandby
        milliseconds = Int64(seconds) * 1_000
        self.store = store
        // A random part, because a process id of one machine or container recurs in another.
        let number = UInt64.random(in: .min ... .max)
        holder = "process \(getpid()) on \(Self.hostName) (\(String(number, radix: 36)))"
    }

    /// When this process loses the consumer unless it renews the lease. Its own clock decides, without the store. A quarter of
    /// the lease is left then, to end a command before another process can have the consumer.
    var deadline: ContinuousClock.Instant { until.withLock { $0 } }

    var hasLease: Bool { .now < deadline }

    /// How long a command has after ``deadline``. The rest of the quarter is for its last moments and for the machine.
    var killDelay: Duration { min(.seconds(5), length / 6) }

    private var length: Duration { .milliseconds(milliseconds) }

    /// Acquires the lease, unless this process has it. Waits until the lease of a process that no longer renews it ends. A
    /// standby waits for every lease.
    ///
    /// - Parameter check: runs before each pause of a standby. Its error ends the wait.
    /// - Throws: ``CommandFailure`` if another process has the consumer and this one is not a standby,
    ///   `TransactionStoreError`, `CancellationError`, and the error of `check`.
    func take(_ check: () throws -> Void = {}) async throws {
        var before: ConsumerLease?
        while !hasLease {
            let lease = try await renew()
            if lease.isGranted { break }
            guard !isStandby else {
                if !standsBy.exchange(true, ordering: .relaxed) {
                    Terminal.error("The consumer \(consumer) is in use by \(lease.holder). This process stands by.")
                }
                try check()
                try await Task.sleep(for: .milliseconds(min(1_000, lease.remainingMilliseconds + 10)))
                continue
            }
            // A lease that was renewed, or changed its holder, belongs to a process that runs.
            if let before, lease.holder != before.holder || lease.remainingMilliseconds > before.remainingMilliseconds {
                throw CommandFailure(
                    """
                    The consumer \(consumer) is in use by \(lease.holder). Stop that process, or give this one another \
                    --consumer.
                    """)
            }
            if before == nil {
                Terminal.error(
                    "The consumer \(consumer) is leased to \(lease.holder) for \(lease.remainingMilliseconds / 1000 + 1) s. Waiting."
                )
            }
            before = lease
            try await Task.sleep(for: .milliseconds(min(500, lease.remainingMilliseconds + 10)))
        }
        if standsBy.exchange(false, ordering: .relaxed) {
            Terminal.error("This process takes over the consumer \(consumer).")
        }
    }

    /// Renews the lease until the task is cancelled. A lease that has ended is left to ``take()``.
    func keep() async {
        var pause = length / 4
        while !Task.isCancelled {
            try? await Task.sleep(for: pause)
            guard hasLease else { continue }
            // A store that cannot be reached for a moment is tried again soon.
            pause = min(length / 4, .seconds(1))
            guard let lease = try? await renew() else { continue }
            pause = length / 4
            if !lease.isGranted { until.withLock { $0 = .now } }
        }
    }

    /// Lets the next process begin at once. A lease that cannot be ended expires.
    func end() async {
        // If another process has the lease, a signal must end a standby at once.
        guard mayBeGranted.load(ordering: .relaxed) else { return }
        // A task of its own, because a cancelled one cannot use the store.
        await Task { [self] in try? await store.endLease(of: consumer, by: holder) }.value
    }

    private func renew() async throws -> ConsumerLease {
        // Counted from before the call, so that the store's lease never ends first.
        let now = ContinuousClock.now
        mayBeGranted.store(true, ordering: .relaxed)
        let lease = try await store.lease(consumer, to: holder, for: milliseconds)
        if lease.isGranted {
            until.withLock { $0 = max($0, now + length * 3 / 4) }
        } else {
            mayBeGranted.store(false, ordering: .relaxed)
        }
        return lease
    }

    private static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "unknown" }
        let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        // The store takes printable ASCII, at most 256 characters.
        return String(decoding: bytes.filter { (0x21...0x7E).contains($0) }.prefix(128), as: UTF8.self)
    }
}
