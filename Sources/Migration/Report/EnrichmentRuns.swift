internal import AppStoreModels
internal import LegacyReceipts
package import TransactionStore

/// What runs of `enrich` did.
public struct EnrichmentCounts: Sendable, Hashable {
    /// Requests to the App Store, repeated ones too.
    public var requests = 0
    /// Customers and bare transaction ids whose answer was stored.
    public var answered = 0
    /// Customers and bare transaction ids for which the App Store knows no transaction.
    public var unknown = 0
    /// Customers and bare transaction ids whose query failed. Each run that queries one again counts it again.
    public var failed = 0
    /// Runs that ended because the App Store did not accept the app or the key.
    public var refused = 0
    /// Facts that were new to the store, or newer than its own.
    public var newFacts = 0

    /// Counts of a run that has done nothing: all numbers are 0.
    public init() {}

    fileprivate static let members: [(name: String, count: any WritableKeyPath<EnrichmentCounts, Int> & Sendable)] = [
        ("requests", \.requests), ("answered", \.answered), ("unknown", \.unknown), ("failed", \.failed),
        ("refused", \.refused), ("newFacts", \.newFacts),
    ]
}

/// Keeps the counts of one run of `enrich` in a store, for its report.
package struct EnrichmentRecord: Sendable {
    /// Each loss means that another run has kept its counts.
    private static let maximumAttempts = 100

    private let run = String(UInt64.random(in: .min ... .max), radix: 36)

    package init() {}

    /// Keeps the counts of the run so far, in place of those that it kept before. Other runs can do the same at that moment.
    /// - Throws: `TransactionStoreError`.
    package func keep(_ counts: EnrichmentCounts, in store: any MigrationStore) async throws {
        for _ in 1...Self.maximumAttempts {
            let checkpoint = try await store.checkpoint(of: EnrichmentRuns.name)
            var runs = checkpoint.flatMap { EnrichmentRuns(state: $0.state) } ?? EnrichmentRuns()
            guard runs.keep(counts, of: run) else { return }
            // The store keeps the checkpoint with the most records. If two runs write the same number, the next
            // attempt of the one that lost adds its counts to those of the other.
            let next = MigrationCheckpoint(
                migration: EnrichmentRuns.name, records: (checkpoint?.records ?? 0).addingSaturated(1),
                digest: [UInt8](repeating: 0, count: 32), state: runs.state)
            _ = try await store.apply(MigrationStep(checkpoint: next))
        }
        throw TransactionStoreError(.busy, "The counts of enrich could not be stored. Its answers are in the store.")
    }
}

/// The counts of all runs of `enrich` on a store: the content of a checkpoint that belongs to no migration.
package struct EnrichmentRuns: Sendable, Equatable {
    /// The name of the checkpoint.
    static let name = Fingerprint(of: Array("enrich".utf8)).description
    /// The newest runs are kept one by one, so that a run can replace its own counts. The others are one sum.
    package static let maximumRuns = 100

    private struct Run: Sendable, Equatable {
        let name: String
        var counts: EnrichmentCounts
    }

    private var earlier = EnrichmentCounts()
    private var earlierRuns = 0
    /// The one that kept its counts last is the last.
    private var runs: [Run] = []

    package init() {}

    /// The number of runs that queried the App Store.
    package var count: Int { earlierRuns + runs.count }

    package var total: EnrichmentCounts {
        runs.reduce(into: earlier) { total, run in total.add(run.counts) }
    }

    /// Replaces the counts of a run. False if that changes nothing.
    package mutating func keep(_ counts: EnrichmentCounts, of name: String) -> Bool {
        let place = runs.firstIndex { $0.name == name }
        guard counts != place.map({ runs[$0].counts }) ?? EnrichmentCounts() else { return false }
        if let place { runs.remove(at: place) }
        runs.append(Run(name: name, counts: counts))
        while runs.count > Self.maximumRuns {
            earlier.add(runs.removeFirst().counts)
            earlierRuns += 1
        }
        return true
    }

    /// The form in a checkpoint.
    package var state: [UInt8] {
        JSONWriter.object { writer in
            writer.object("enrich") { writer in
                writer.member("earlierRuns", earlierRuns)
                writer.object("earlier") { $0.members(earlier.counted) }
                writer.objects("runs", runs) { writer, run in
                    writer.member("run", run.name)
                    writer.members(run.counts.counted)
                }
            }
        }
    }

    /// Nil if the bytes are not such a state.
    package init?(state: [UInt8]) {
        guard let object = try? JSONValue.parse(state[...])["enrich"]?.object else { return nil }
        earlierRuns = object["earlierRuns"].count
        earlier = EnrichmentCounts(object["earlier"])
        runs = (object["runs"]?.array ?? []).suffix(Self.maximumRuns).compactMap { run in
            run["run"]?.string.map { Run(name: $0, counts: EnrichmentCounts(run)) }
        }
    }
}

extension EnrichmentCounts {
    fileprivate init(_ object: JSONValue?) {
        for (name, count) in Self.members { self[keyPath: count] = object?[name].count ?? 0 }
    }

    fileprivate var counted: [(name: String, count: Int)] {
        Self.members.map { (name: $0.name, count: self[keyPath: $0.count]) }
    }

    fileprivate mutating func add(_ other: EnrichmentCounts) {
        for (_, count) in Self.members { self[keyPath: count] += other[keyPath: count] }
    }
}

extension JSONValue? {
    /// A count. A damaged store can have any number, and sums must not overflow.
    fileprivate var count: Int { Int(max(0, min(self?.integer ?? 0, 1 << 48))) }
}
