import Testing

/// How many members of our replies equalled Apple's in the pairs of `../shared/receipts/pairs`. A change may not lower them.
///
/// After a change that raises them, or for a new pair, copy the line "parity baseline" that the test prints. A count goes down
/// only if the comparison itself changed; the commit then says why.
struct ParityBaseline {
    /// The least number of equal members of each pair, by its file name without the extension.
    let pairs: [String: Int]

    /// The reply to the receipt alone, without a store.
    static let receipt = ParityBaseline(
        pairs: [
            "ios6-007": 20, "ios6-011": 12, "sandbox-007": 222, "sandbox-019": 230, "sandbox-031": 31,
            "sandbox-041": 308,
        ])

    /// `latest_receipt_info` after the store has learned the `latest_receipt` of Apple's reply.
    static let learned = ParityBaseline(
        pairs: ["ios6-007": 19, "sandbox-007": 506, "sandbox-019": 271, "sandbox-041": 145])

    /// Compares the counts of a run.
    func check(_ equal: [String: Int], _ name: String) {
        let line = equal.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value)" }.joined(separator: ", ")
        print("parity baseline, \(name): [\(line)], total: \(equal.values.reduce(0, +))")
        for problem in problems(equal) { Issue.record("\(name): \(problem)") }
    }

    /// What is less than the stored counts, and the pairs that could not be compared.
    func problems(_ equal: [String: Int]) -> [String] {
        Set(pairs.keys).union(equal.keys).sorted().compactMap { pair in
            guard let least = pairs[pair] else { return "\(pair) has no stored count" }
            guard let count = equal[pair] else { return "\(pair) was not compared" }
            return count < least ? "\(pair) has \(count) equal members, \(least) before" : nil
        }
    }
}

@Suite struct ParityBaselineTests {
    private static let baseline = ParityBaseline(pairs: ["a": 10, "b": 5])

    @Test func fewerEqualMembersThanStoredAreAProblem() {
        #expect(Self.baseline.problems(["a": 10, "b": 6]).isEmpty)
        #expect(Self.baseline.problems(["a": 9, "b": 9]) == ["a has 9 equal members, 10 before"])
        #expect(
            Self.baseline.problems(["a": 9, "b": 4]) == [
                "a has 9 equal members, 10 before", "b has 4 equal members, 5 before",
            ])
    }

    @Test func aPairThatWasNotComparedAndOneWithoutAStoredCountAreProblems() {
        #expect(Self.baseline.problems(["a": 10]) == ["b was not compared"])
        #expect(Self.baseline.problems(["a": 10, "b": 5, "c": 7]) == ["c has no stored count"])
    }
}
