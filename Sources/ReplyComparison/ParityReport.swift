internal import AppStoreModels

/// The result of the comparison of many pairs. Its size does not depend on the number of pairs.
public struct ParityReport: Sendable {
    /// A difference, and the place of its record.
    public struct Example: Sendable {
        /// The place of the pair's record in the input, as the caller gave it.
        public let place: String
        /// The difference, with redacted values.
        public let difference: ReplyDifference
    }

    /// Apple's status and ours for the same request; nil if a reply has none.
    public struct Statuses: Hashable, Sendable {
        /// `status` of Apple's reply.
        public let apples: Int64?
        /// `status` of our reply.
        public let ours: Int64?
    }

    /// Paths above this number are counted together.
    private static let maximumPaths = 4096

    /// Pairs that were compared. ``failed`` and ``skipped`` are not included.
    public private(set) var pairs = 0
    /// Pairs without any difference.
    public private(set) var identicalPairs = 0
    /// Comparable pairs that grant the same and have no difference of the kind ``DifferenceKind/mismatch``.
    public private(set) var pairsWithoutFault = 0
    /// The pairs that grant differently.
    public private(set) var entitlement: EntitlementTally
    /// The receipts that the endpoint stored before the comparison.
    public let learning: LatestReceiptLearning
    /// Accepted pairs without a date, or older than an earlier pair of the input. With
    /// ``LatestReceiptLearning/earlierPairs``, the endpoint had later replies when it answered them.
    public private(set) var pairsOutOfOrder = 0
    /// The members of all pairs. A missing element of a list counts once.
    public private(set) var counts = ParityCounts()
    /// The counts by path, as in ``ReplyComparison/fields``. Paths beyond the first 4,096 are counted together as
    /// `(other)`.
    public private(set) var fields: [String: ParityCounts] = [:]
    /// The number of pairs with each combination of statuses.
    public private(set) var statuses: [Statuses: Int] = [:]
    /// The number of differences by rule. Differences beyond ``ComparisonContext/maximumDifferences`` are not included.
    public private(set) var rules: [ComparisonRule: Int] = [:]
    /// The first differences: mismatches up to the limit, and one of each other kind per member and rule.
    public private(set) var examples: [Example] = []
    /// Records that are not pairs.
    public private(set) var skipped = 0
    /// Pairs that could not be compared.
    public private(set) var failed = 0
    /// The first reasons why records were left out.
    public private(set) var reasons: [String] = []

    private let maximumExamples: Int
    private var seen: Set<String> = []
    private var newestDate = Int64.min

    /// An empty report.
    ///
    /// - Parameters:
    ///   - maximumExamples: the limit for ``examples``, and for the examples of ``entitlement``. A negative number
    ///     counts as 0.
    ///   - learning: the receipts that the endpoint stored before the comparison. It is only reported.
    public init(maximumExamples: Int = 100, learning: LatestReceiptLearning = .none) {
        self.maximumExamples = max(0, maximumExamples)
        self.learning = learning
        entitlement = EntitlementTally(maximumExamples: maximumExamples)
    }

    /// Whether the replies allow a cut-over: at least one pair was compared and none failed, no field is a mismatch,
    /// and every pair grants the same. A pair with unreadable purchases counts as a difference, because it may grant
    /// anything.
    public var hasParity: Bool {
        counts.mismatch == 0 && failed == 0 && entitlement.pairsDiffering == 0 && entitlement.pairsCompared > 0
            && entitlement.obstacles[.unreadablePurchases] == nil
    }

    /// Counts a pair.
    ///
    /// - Parameters:
    ///   - comparison: its two replies.
    ///   - place: names the record in ``examples``, for example file and line.
    public mutating func add(_ comparison: ReplyComparison, place: String) {
        pairs += 1
        if comparison.isIdentical { identicalPairs += 1 }
        let grantsTheSame = comparison.entitlement.obstacle == nil && !comparison.entitlement.isDifferent
        if comparison.counts.mismatch == 0, grantsTheSame { pairsWithoutFault += 1 }
        entitlement.add(comparison, place: place)
        noteOrder(comparison)
        counts += comparison.counts
        statuses[Statuses(apples: comparison.appleStatus, ours: comparison.ourStatus), default: 0] += 1
        for (path, count) in comparison.fields {
            let isKept = fields[path] != nil || fields.count < Self.maximumPaths
            fields[isKept ? path : "(other)", default: ParityCounts()] += count
        }
        for difference in comparison.differences {
            rules[difference.rule, default: 0] += 1
            guard examples.count < maximumExamples else { continue }
            let isNew = seen.insert(difference.path + " " + difference.rule.rawValue).inserted
            if isNew || difference.kind == .mismatch {
                examples.append(Example(place: place, difference: difference))
            }
        }
    }

    private mutating func noteOrder(_ comparison: ReplyComparison) {
        if let date = comparison.requestDate, date >= newestDate {
            newestDate = date
        } else if comparison.appleStatus == 0 || comparison.appleStatus == 21006 {
            pairsOutOfOrder += 1
        }
    }

    /// Counts a record without a pair.
    public mutating func addSkipped(place: String, reason: String) {
        skipped += 1
        note(place, reason)
    }

    /// Counts a pair whose replies could not be compared.
    public mutating func addFailed(place: String, error: ReplyComparisonError) {
        failed += 1
        note(place, error.rawValue)
    }

    private mutating func note(_ place: String, _ reason: String) {
        if reasons.count < 10 { reasons.append("\(place): \(reason)") }
    }

    // MARK: Output

    /// A text table: a line per member, then the sums.
    public func table() -> String {
        let head = ["field", "equal", "mismatch", "only their database", "formatting"]
        var rows = fields.sorted { $0.key < $1.key }.map { [$0.key] + Self.cells($0.value) }
        rows.append(["all fields"] + Self.cells(counts))
        var widths = head.map(\.count)
        for row in rows {
            for (column, cell) in row.enumerated() { widths[column] = max(widths[column], cell.count) }
        }
        func line(_ row: [String]) -> String {
            row.enumerated().map { column, cell in
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                return column == 0 ? cell + padding : padding + cell
            }.joined(separator: "  ")
        }
        let rule = widths.map { String(repeating: "-", count: $0) }.joined(separator: "  ")
        var lines = [line(head), rule] + rows.dropLast().map(line) + [rule] + rows.suffix(1).map(line)
        lines += ["", "equal, from receipt or store: \(counts.equalDerivable)"]
        lines += ["equal, from database or clock: \(counts.equalServerState)"]
        lines += ["pairs: \(pairs), identical: \(identicalPairs), without fault: \(pairsWithoutFault)"]
        lines += entitlement.lines()
        if skipped > 0 || failed > 0 { lines += ["records left out: \(skipped), pairs not comparable: \(failed)"] }
        lines += learning.lines(pairsOutOfOrder: pairsOutOfOrder)
        return lines.joined(separator: "\n")
    }

    private static func cells(_ counts: ParityCounts) -> [String] {
        [counts.equal, counts.mismatch, counts.serverState, counts.formatting].map(String.init)
    }

    /// One JSON object.
    public func json() -> [UInt8] {
        JSONWriter.object { writer in
            writer.members([
                ("pairs", pairs), ("identicalPairs", identicalPairs), ("pairsWithoutFault", pairsWithoutFault),
                ("skipped", skipped), ("failed", failed),
            ])
            writer.object("entitlement", entitlement.write(to:))
            writer.member("learned", learning.rawValue)
            writer.member("isUpperBound", learning.isUpperBound(pairsOutOfOrder: pairsOutOfOrder))
            writer.object("counts", counts.write(to:))
            writeStatuses(to: &writer)
            writer.object("rules") { writer in
                writer.members(rules.map { (name: $0.key.rawValue, count: $0.value) }.sorted { $0.name < $1.name })
            }
            writer.object("fields") { writer in
                for (path, count) in fields.sorted(by: { $0.key < $1.key }) {
                    writer.key(path)
                    writer.object(count.write(to:))
                }
            }
            writer.objects("differences", examples) { writer, example in
                writer.member("place", example.place)
                writer.object("difference", example.difference.write(to:))
            }
            writer.member("leftOut", reasons)
        }
    }

    private func writeStatuses(to writer: inout JSONWriter) {
        let sorted = statuses.sorted {
            ($0.key.apples ?? -1, $0.key.ours ?? -1) < ($1.key.apples ?? -1, $1.key.ours ?? -1)
        }
        writer.objects("statuses", sorted) { writer, entry in
            writer.member("apple", entry.key.apples)
            writer.member("ours", entry.key.ours)
            writer.member("pairs", entry.value)
        }
    }
}
