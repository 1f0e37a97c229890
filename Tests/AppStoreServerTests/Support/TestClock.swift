import AppStoreServer
import Synchronization

/// A clock that stands still until someone waits: waiting moves it on and takes no time.
final class TestClock: Sendable {
    private let state: Mutex<(elapsed: Duration, sleeps: [Duration], start: Int64)>

    /// - Parameter start: the time of day at the beginning, in milliseconds since 1970.
    init(start: Int64 = 1_760_000_000_000) {
        state = Mutex((.zero, [], start))
    }

    /// What was waited for, in order.
    var sleeps: [Duration] { state.withLock { $0.sleeps } }

    var elapsed: Duration { state.withLock { $0.elapsed } }

    var now: Int64 { state.withLock { $0.start + Int64(($0.elapsed / Duration.milliseconds(1)).rounded(.down)) } }

    func advance(by time: Duration) {
        state.withLock { $0.elapsed += time }
    }

    /// Sets the time of day alone, as an administrator would.
    func setTimeOfDay(back: Duration) {
        state.withLock { $0.start -= Int64(back / Duration.milliseconds(1)) }
    }

    var clock: ServerClock {
        ServerClock(
            now: { self.now }, uptime: { self.elapsed },
            sleep: { time in
                try Task.checkCancellation()
                self.state.withLock { state in
                    state.sleeps.append(time)
                    state.elapsed += time
                }
            })
    }
}
