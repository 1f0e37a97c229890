import Dispatch
package import Logging
import ServiceLifecycle
import Synchronization

/// Ends a process that should have ended: a store that hangs and hears of no cancellation would keep it for ever.
///
/// Services are stopped in reverse, so this one must be the last of its group to hear of the stop first.
package final class ShutdownLimit: Service {
    /// The time after the requests in flight, for cancellation and closing the store.
    package static let grace = Duration.seconds(5)

    private let duration: Duration
    private let logger: Logger
    private let end: @Sendable () -> Void
    private let isArmed = Atomic<Bool>(false)

    /// - Parameters:
    ///   - duration: from the stop to the end of the process.
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

    /// From now on the time runs; only the first call counts.
    package func arm() {
        guard !isArmed.exchange(true, ordering: .relaxed) else { return }
        // A thread of its own: Swift's few may be what hangs.
        let deadline = DispatchTime.now() + .nanoseconds(Int(clamping: duration.wholeNanoseconds))
        DispatchQueue.global().asyncAfter(deadline: deadline) { [logger, end] in
            logger.critical("the store or a request does not come to an end: the process ends without it")
            end()
        }
    }
}
