/// The sandbox's time: the machine's, put forward by so much; or one that stands still until it is put forward.
public struct SandboxClock: Sendable {
    /// How the time passes.
    public enum Mode: String, Sendable, CaseIterable {
        /// As on the machine's clock.
        case running
        /// Only when it is put forward.
        case stepped
    }

    /// How the time passes.
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
        mode == .running ? wallClock.advanced(bySaturating: offset) : stopped
    }

    /// Puts the clock forward to a date; it never goes back.
    mutating func advance(to date: Int64, wallClock: Int64) {
        let ahead = date.advanced(bySaturating: 0 - now(wallClock: wallClock))
        guard ahead > 0 else { return }
        offset = offset.advanced(bySaturating: ahead)
        stopped = max(stopped, date)
    }
}
