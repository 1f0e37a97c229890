public import AppStoreServer
public import Purchases
internal import Synchronization
public import TransactionStore

/// The rate limits of one app in one environment, shared through a store by all programs that use it.
///
/// A store that fails or does not answer in time delays no request. For `pause`, and for as long as it hangs, the
/// budget is unavailable at once, and each client keeps to a part of the limits (`SharedRateLimit.shareAlone`).
public final class StoreRateBudget: SharedRateBudget {
    /// The caller that takes permits.
    public enum Priority: Sendable {
        /// A request of a client that waits for the answer. It may take all permits.
        case interactive
        /// Work without a deadline. It leaves half of a burst for interactive requests, so it gets what they leave.
        case background
    }

    /// The budget cannot be reached.
    struct Unavailable: Error {}

    /// How long the store is not called again after a failure.
    static let pause = Duration.seconds(1)

    private struct State {
        var pausedUntil: ContinuousClock.Instant?
        /// Calls that have not ended in time.
        var hanging = 0
    }

    private let store: any RequestBudgets
    private let scope: StoreScope
    private let priority: Priority
    private let timeout: Duration
    private let state = Mutex(State())

    /// - Parameters:
    ///   - store: the store that the programs share.
    ///   - scope: the app and the environment.
    ///   - priority: who takes permits.
    ///   - timeout: how long to wait for the store.
    public init(
        _ store: any RequestBudgets, scope: StoreScope, priority: Priority, timeout: Duration = .milliseconds(500)
    ) {
        self.store = store
        self.scope = scope
        self.priority = priority
        self.timeout = timeout
    }

    /// Takes permits from the store, at most `count`.
    ///
    /// - Throws: an error if the store fails, does not answer in time, or did so less than a second ago. The client
    ///   then keeps to a part of the limit.
    public func take(_ count: Int, of limit: SharedRateLimit) async throws -> SharedRatePermits {
        let isPaused = state.withLock { $0.hanging > 0 || ($0.pausedUntil.map { $0 > .now } ?? false) }
        guard !isPaused else { throw Unavailable() }
        let budget = RequestBudget(
            scope: scope, endpoint: limit.endpoint.rawValue,
            interval: Int64((limit.interval / .microseconds(1)).rounded(.up)), burst: limit.burst,
            reserve: priority == .interactive ? 0 : limit.burst / 2)
        let call = Task { [store] in try? await store.takePermits(count, of: budget) }
        guard let answer = await withTimeout(timeout, waitingFor: call) else {
            state.withLock {
                $0.hanging += 1
                $0.pausedUntil = .now + Self.pause
            }
            Task { [self] in
                _ = await call.value
                state.withLock { $0.hanging -= 1 }
            }
            throw Unavailable()
        }
        guard let permits = answer else {
            state.withLock { $0.pausedUntil = .now + Self.pause }
            throw Unavailable()
        }
        return SharedRatePermits(count: permits.count, wait: .microseconds(permits.wait))
    }
}
