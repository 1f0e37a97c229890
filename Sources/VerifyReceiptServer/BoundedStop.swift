import AppStoreSync
import ServiceLifecycle

/// Runs services, and waits for their shutdown for a limited time. A call of a store that neither answers nor reacts to
/// cancellation would otherwise keep the process alive.
struct BoundedStop: Sendable {
    /// The time for canceled work to end.
    private static let afterCancellation = Duration.seconds(2)

    /// The time for requests in progress, after which the services cancel the rest.
    let limit: Duration
    /// Called when the services are abandoned.
    let onAbandon: @Sendable () -> Void

    func run(_ group: ServiceGroup) async throws {
        let (results, continuation) = AsyncStream<Result<Void, any Error>>.makeStream()
        let work = Task {
            do { continuation.yield(.success(try await group.run())) } catch { continuation.yield(.failure(error)) }
        }
        // In a task of its own, because a stream ends at once in a canceled task.
        let ended = Task { () -> Result<Void, any Error> in
            for await result in results { return result }
            return .success(())
        }
        let giveUp = { @Sendable in
            _ = Task {
                let timeout = limit + Self.afterCancellation
                guard await withTimeout(timeout, waitingFor: Task { await work.result }) == nil else { return }
                onAbandon()
                continuation.yield(.success(()))
            }
        }
        try await withTaskCancellationHandler {
            try await withGracefulShutdownHandler {
                try await ended.value.get()
            } onGracefulShutdown: {
                giveUp()
            }
        } onCancel: {
            work.cancel()
            giveUp()
        }
    }
}
