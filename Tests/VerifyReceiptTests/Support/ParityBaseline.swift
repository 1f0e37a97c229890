import Testing

/// How many members of our replies equalled Apple's in the pairs of `../shared/receipts/pairs`. A change may not lower them.
///
/// After a change that raises them, or for a new pair, copy the line "parity baseline" that the test prints. A count goes down
/// only if the comparison itself changed; the commit then says why.
struct ParityBaseline {
    /// The least number of equal members of each pair, by its file name without the extension.
    let pairs: [String: Int]
    /// The least sum over all of these pairs.
    let total: Int

    /// The reply to the receipt alone, without a store.
    static let receipt = ParityBaseline(
        pairs: [
            "ios6-007": 20, "ios6-011": 12, "sandbox-007": 222, "sandbox-019": 230, "sandbox-031": 31,
            "sandbox-041": 308,
        ], total: 823)

    /// `latest_receipt_info` after the store has learned the `latest_receipt` of Apple's reply.
    static let learned = ParityBaseline(
        pairs: ["ios6-007": 19, "sandbox-007": 506, "sandbox-019": 271, "sandbox-041": 145], total: 941)

    /// Compares the counts of a run. Pairs without a stored count, and stored pairs that are not there, are not compared.
    func check(_ equal: [String: Int], _ name: String) {
        let line = equal.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value)" }.joined(separator: ", ")
        print("parity baseline, \(name): [\(line)], total: \(equal.values.reduce(0, +))")
        for problem in problems(equal) { Issue.record("\(name): \(problem)") }
    }

    /// What is less than the stored counts.
    func problems(_ equal: [String: Int]) -> [String] {
        var problems: [String] = []
        var sum = 0
        var isComplete = true
        for (pair, least) in pairs.sorted(by: { $0.key < $1.key }) {
            guard let count = equal[pair] else {
                isComplete = false
                continue
            }
            sum += count
            if count < least { problems.append("\(pair) has \(count) equal members, \(least) before") }
        }
        if isComplete, sum < total { problems.append("\(sum) equal members in all, \(total) before") }
        return problems
    }
}

@Suite struct ParityBaselineTests {
    private static let baseline = ParityBaseline(pairs: ["a": 10, "b": 5], total: 16)

    @Test func fewerEqualMembersThanStoredAreAProblem() {
        #expect(Self.baseline.problems(["a": 10, "b": 6]).isEmpty)
        #expect(Self.baseline.problems(["a": 11, "b": 5]).isEmpty)
        #expect(Self.baseline.problems(["a": 9, "b": 9]) == ["a has 9 equal members, 10 before"])
        #expect(Self.baseline.problems(["a": 10, "b": 5]) == ["15 equal members in all, 16 before"])
    }

    @Test func otherPairsAndAbsentPairsAreNotCompared() {
        #expect(Self.baseline.problems(["a": 10, "c": 0]).isEmpty)
        #expect(Self.baseline.problems([:]).isEmpty)
        #expect(Self.baseline.problems(["a": 10, "b": 6, "c": 0]).isEmpty)
    }

    @Test func theStoredSumIsThatOfTheStoredPairs() {
        for stored in [ParityBaseline.receipt, .learned] { #expect(stored.pairs.values.reduce(0, +) == stored.total) }
    }
}
