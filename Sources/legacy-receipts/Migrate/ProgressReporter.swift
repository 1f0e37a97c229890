import Migration
import Synchronization

/// A bar on a terminal, a plain line from time to time elsewhere.
final class ProgressReporter: Sendable {
    private struct State {
        var lastReport: ContinuousClock.Instant
        var hasBar = false
        var done = 0
    }

    private let start = ContinuousClock.now
    private let total: Int?
    private let isQuiet: Bool
    private let isTerminal: Bool
    private let state = Mutex(State(lastReport: .now))

    /// - Parameters:
    ///   - isQuiet: whether nothing is printed.
    ///   - bytes: how many there are to read, for the bar; nil if it is unknown, or the bar has another measure.
    init(isQuiet: Bool, of bytes: () -> Int? = { nil }) {
        self.isQuiet = isQuiet
        isTerminal = Terminal.isErrorTerminal
        total = isQuiet || !isTerminal ? nil : bytes()
    }

    /// The number of records or customers that was reported last.
    var done: Int { state.withLock { $0.done } }

    func report(_ progress: StoreMigration.Progress) {
        let share = total.flatMap { $0 > 0 ? Double(progress.bytesRead) / Double($0) : nil }
        report(done: progress.records, share: share) { seconds in
            let megabytes = progress.bytesRead / 1_000_000
            return
                "\(progress.records) records (\(megabytes) MB) in \(seconds) s, \(progress.quarantined) quarantined"
        }
    }

    func report(_ progress: StoreMerge.Progress) {
        let summary = progress.summary
        report(done: summary.customers, share: progress.share) { seconds in
            let store = min(summary.stores + 1, progress.stores)
            return
                "\(summary.customers) customers (store \(store) of \(progress.stores)) in \(seconds) s, \(summary.quarantined) quarantined"
        }
    }

    /// - Parameters:
    ///   - done: the number of records or customers.
    ///   - share: the part of the work that is done, for the bar; nil if it is unknown.
    ///   - counts: the text after a number of seconds.
    private func report(done: Int, share: Double?, _ counts: (_ seconds: Int) -> String) {
        state.withLock { $0.done = done }
        guard !isQuiet else { return }
        state.withLock { state in
            let now = ContinuousClock.now
            // The first line of a terminal at once: a person sees that something happens.
            let interval: Duration = !isTerminal ? .seconds(5) : state.hasBar ? .milliseconds(100) : .zero
            guard now - state.lastReport >= interval else { return }
            state.lastReport = now
            let text = counts(Int((now - start).components.seconds))
            if isTerminal {
                state.hasBar = true
                Terminal.rewriteLine(share.map { "\(Self.bar($0))  \(text)" } ?? text)
            } else {
                Terminal.error(text)
            }
        }
    }

    /// Removes the bar.
    func finish() {
        let hadBar = state.withLock { state in
            defer { state.hasBar = false }
            return state.hasBar
        }
        if hadBar { Terminal.rewriteLine("") }
    }

    private static func bar(_ share: Double) -> String {
        let (share, width) = (min(1, share), 20)
        let filled = Int(share * Double(width))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        return "[\(bar)] \(Int(share * 100)) %"
    }
}
