internal import AppStoreModels

/// The sandbox's time: the machine's time plus an offset, or a time that only advances on request.
public struct SandboxClock: Sendable {
    /// The two modes of the clock.
    public enum Mode: String, Sendable, CaseIterable {
        /// The time passes like the machine's.
        case running
        /// The time only advances on request.
        case stepped
    }

    /// Whether the time passes on its own. The mode cannot change later.
    public let mode: Mode
    private var offset: Int64 = 0
    private var stopped: Int64

    init(mode: Mode, start: Int64) {
        self.mode = mode
        stopped = start
    }

    /// Milliseconds since 1970 in the sandbox.
    /// - Parameter wallClock: the machine's.
    func now(wallClock: Int64) -> Int64 {
        mode == .running ? wallClock.addingSaturated(offset) : stopped
    }

    /// Advances the clock to a date. An earlier date changes nothing.
    mutating func advance(to date: Int64, wallClock: Int64) {
        let ahead = date.addingSaturated(0 - now(wallClock: wallClock))
        guard ahead > 0 else { return }
        offset = offset.addingSaturated(ahead)
        stopped = max(stopped, date)
    }
}
