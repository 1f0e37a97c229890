import Foundation
import TestSupport
import Testing

/// README shows what tools/demo.sh prints, shortened: `…` stands for the rest of a line, a line of its own for any lines.
@Suite("README's sample output", .timeLimit(.minutes(10)))
struct DemonstrationTests {
    @Test(
        "is what the demonstration prints",
        .enabled(if: Command.hasProgram("curl") && Command.hasProgram("python3") && Command.hasProgram("bash")))
    func sample() async throws {
        let readme = try String(contentsOf: PackageFolder.url.appending(path: "README.md"), encoding: .utf8)
        let block = try #require(readme.firstMatch(of: /<!-- demo -->\s*```text\n((?s:.*?))\n```\s*<!-- \/demo -->/))
        let folder = try Folder()
        let outcome = try await Command.shell(
            "DEMO_COMMAND=\"$COMMAND\" bash '\(PackageFolder.path("tools/demo.sh"))'", in: folder)
        #expect(outcome.status == 0, "\(outcome.error)")
        let sample = block.1.split(separator: "\n", omittingEmptySubsequences: false)
        let printed = outcome.output.trimmingCharacters(in: .newlines)
            .split(separator: "\n", omittingEmptySubsequences: false)
        #expect(sample.count(where: { !$0.isEmpty && $0 != "…" }) > 20, "the sample shows next to nothing")
        let difference = Self.firstDifference(sample[...], printed[...])
        #expect(difference == nil, "README shows another line than was printed: \(difference?.line ?? "")")
    }

    @Test(
        "is compared line by line",
        arguments: [
            ("a\nb", "a\nb", nil), ("a\n…\nd", "a\nb\nc\nd", nil), ("a\n…\nd", "a\nd", nil), ("ab…", "abc", nil),
            ("a…c…", "a1c2", nil), ("a\nb", "a\nc", "b"), ("a\n…\nd", "a\nb\nc", "d"), ("a…c", "ab", "a…c"),
            ("a", "a\nb", "the end"), ("a\nb", "a", "b"), ("a\n…\nb\nc", "a\nb\nx\nb\nc", nil), ("ab…", "a", "ab…"),
        ] as [(String, String, String?)])
    func comparison(sample: String, printed: String, difference: String?) {
        let lines = { (text: String) in text.split(separator: "\n", omittingEmptySubsequences: false)[...] }
        #expect(Self.firstDifference(lines(sample), lines(printed))?.line == difference)
    }

    /// The line of the sample that was not printed where it should be, or "the end" where more was printed; nil if there
    /// is no difference. `left` counts the lines of the sample from there on.
    private static func firstDifference(
        _ sample: ArraySlice<Substring>, _ printed: ArraySlice<Substring>
    ) -> (line: String, left: Int)? {
        var sample = sample
        var printed = printed
        while let line = sample.first, line != "…" {
            guard let found = printed.first, matches(line, found) else { return (String(line), sample.count) }
            sample.removeFirst()
            printed.removeFirst()
        }
        guard !sample.isEmpty else { return printed.isEmpty ? nil : ("the end", 0) }
        sample.removeFirst()
        guard let next = sample.first else { return nil }
        // The rest may begin in several places. The difference is that of the place that gets furthest.
        var furthest = (line: String(next), left: sample.count)
        for start in printed.indices where matches(next, printed[start]) {
            guard let found = firstDifference(sample, printed[start...]) else { return nil }
            if found.left < furthest.left { furthest = found }
        }
        return furthest
    }

    private static func matches(_ pattern: Substring, _ line: Substring) -> Bool {
        let parts = pattern.split(separator: "…", omittingEmptySubsequences: false)
        guard let first = parts.first, line.hasPrefix(first) else { return false }
        guard parts.count > 1, let last = parts.last else { return pattern == line }
        var rest = line.dropFirst(first.count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let range = rest.range(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return rest.hasSuffix(last)
    }
}
