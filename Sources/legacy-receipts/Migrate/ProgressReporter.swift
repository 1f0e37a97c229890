import Foundation
import Migration
import Synchronization

/// A bar on a terminal, a plain line from time to time elsewhere.
final class ProgressReporter: Sendable {
    private struct State {
        var lastReport: ContinuousClock.Instant
        var hasBar = false
        var records = 0
    }

    private let start = ContinuousClock.now
    private let total: Int?
    private let isQuiet: Bool
    private let isTerminal: Bool
    private let state = Mutex(State(lastReport: .now))

    init(inputs: [String], isQuiet: Bool) {
        self.isQuiet = isQuiet
        isTerminal = Terminal.isErrorTerminal
        total = isQuiet || !isTerminal ? nil : Self.totalBytes(inputs)
    }

    /// The records that were reported last.
    var records: Int { state.withLock { $0.records } }

    func report(_ progress: StoreMigration.Progress) {
        state.withLock { $0.records = progress.records }
        guard !isQuiet else { return }
        let interval: Duration = isTerminal ? .milliseconds(100) : .seconds(5)
        state.withLock { state in
            let now = ContinuousClock.now
            guard now - state.lastReport >= interval else { return }
            state.lastReport = now
            if isTerminal {
                state.hasBar = true
                Terminal.rewriteLine(bar(progress, after: now - start))
            } else {
                Terminal.error(counts(progress, after: now - start))
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

    private func bar(_ progress: StoreMigration.Progress, after elapsed: Duration) -> String {
        let counts = counts(progress, after: elapsed)
        guard let total, total > 0 else { return counts }
        let share = min(1, Double(progress.bytesRead) / Double(total))
        let width = 20
        let filled = Int(share * Double(width))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        return "[\(bar)] \(Int(share * 100)) %  \(counts)"
    }

    private func counts(_ progress: StoreMigration.Progress, after elapsed: Duration) -> String {
        let (seconds, megabytes) = (Int(elapsed.components.seconds), progress.bytesRead / 1_000_000)
        return "\(progress.records) records (\(megabytes) MB) in \(seconds) s, \(progress.quarantined) quarantined"
    }

    /// The bytes of all files named or in named folders; nil if standard input is among them.
    private static func totalBytes(_ inputs: [String]) -> Int? {
        guard !inputs.contains("-") else { return nil }
        var total = 0
        for input in inputs {
            let url = URL(fileURLWithPath: input)
            let keys: [URLResourceKey] = [.fileSizeKey, .isRegularFileKey]
            if let size = try? url.resourceValues(forKeys: Set(keys)), size.isRegularFile == true {
                total += size.fileSize ?? 0
                continue
            }
            let walk = FileManager.default.enumerator(at: url, includingPropertiesForKeys: keys)
            while let file = walk?.nextObject() as? URL {
                total += (try? file.resourceValues(forKeys: [.fileSizeKey]))?.fileSize ?? 0
            }
        }
        return total
    }
}
