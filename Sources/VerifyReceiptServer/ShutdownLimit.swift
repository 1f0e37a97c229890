import Dispatch
package import Logging
import ServiceLifecycle
import Synchronization

/// Ends a process that does not end by itself, for example because a store hangs and ignores cancellation.
///
/// Services stop in reverse order, so this one must be the last of its group to learn of the shutdown first.
package final class ShutdownLimit: Service {
    /// The time after the requests in progress, for cancellation and for closing the store.
    package static let grace = Duration.seconds(5)

    private let duration: Duration
    private let logger: Logger
    private let end: @Sendable () -> Void
    private let isArmed = Atomic<Bool>(false)

    /// - Parameters:
    ///   - duration: from the start of the shutdown to the end of the process.
    ///   - logger: logs that the limit was reached.
    ///   - end: ends the process.
    package init(_ duration: Duration, logger: Logger, end: @escaping @Sendable () -> Void) {
        self.duration = duration
        self.logger = logger
        self.end = end
    }

    package func run() async throws {
        try await gracefulShutdown()
        arm()
    }

    /// Starts the timer; only the first call counts.
    package func arm() {
        guard !isArmed.exchange(true, ordering: .relaxed) else { return }
        // A thread outside of Swift's pool, whose threads may all hang.
        let deadline = DispatchTime.now() + .nanoseconds(Int(clamping: duration.wholeNanoseconds))
        DispatchQueue.global().asyncAfter(deadline: deadline) { [logger, end] in
            logger.critical("the store or a request does not end: the process ends without waiting")
            end()
        }
    }
}
