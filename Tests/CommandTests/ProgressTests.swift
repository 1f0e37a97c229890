import Foundation
import Testing

@Suite("migrate: progress", .timeLimit(.minutes(10)))
struct ProgressTests {
    /// Feeds standard input slower than the interval of reports.
    private static let slow = """
        { cat dump.ndjson; sleep 6; cat dump.ndjson; } | "$COMMAND" migrate - --trust-root root.der --output out
        """

    @Test("Elsewhere than on a terminal: a plain line from time to time; --quiet: none")
    func plainLines() async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.ndjson", Forged.ndjson(300))
        async let loud = Command.shell(Self.slow, in: folder)
        async let quiet = Command.shell(Self.slow + "-quiet --quiet", in: folder)
        let lines = try await loud.error.split(separator: "\n")
        #expect(!lines.isEmpty)
        for line in lines {
            #expect(line.wholeMatch(of: /\d+ records \(\d+ MB\) in \d+ s, 0 quarantined/) != nil, "\(line)")
        }
        #expect(try await quiet.error.isEmpty)
        #expect(try await quiet.status == 0)
    }

    @Test("A short run prints nothing but its table")
    func shortRun() async throws {
        let folder = try Folder.withRoot()
        let start = ContinuousClock.now
        let outcome = try await Command.run(
            "migrate", "-", "--trust-root", "root.der", input: Forged.ndjson(1), in: folder)
        #expect(outcome.error.isEmpty || ContinuousClock.now - start > .seconds(5))
    }

    @Test("On a terminal: a bar on one line, gone at the end", .enabled(if: Command.hasScript))
    func bar() async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.ndjson", Forged.ndjson(8000))
        let run = "$COMMAND migrate dump.ndjson --jobs 1 --trust-root root.der --output out"
        let outcome = try await Command.shell("script -qec \"\(run)\" /dev/null </dev/null", in: folder)
        #expect(outcome.status == 0)
        let parts = outcome.output.split(separator: "\r\u{1B}[2K\u{1B}[?7l")
        #expect(parts.count >= 2, "\(outcome.output)")
        let bars = parts.dropLast()
        #expect(bars.allSatisfy { $0.contains(/^\[#*\.*\] \d+ %  \d+ records/) })
        // The last rewriting leaves an empty line for the table.
        #expect(parts.last?.hasPrefix("\u{1B}[?7hrecords read") == true)
        try FileManager.default.removeItem(atPath: folder.file("out"))
        let dumb = try await Command.shell("TERM=dumb script -qec \"\(run)\" /dev/null </dev/null", in: folder)
        #expect(!dumb.output.contains("\u{1B}"))
    }
}
