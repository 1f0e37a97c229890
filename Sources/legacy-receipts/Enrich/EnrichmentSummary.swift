import AppStoreModels
import AppStoreSync

/// The queries of a run, and its result.
struct EnrichmentSummary: Sendable {
    let estimate: EnrichmentEstimate
    /// Nil for a dry run, which sends no query.
    var counts: CustomerEnrichment.Counts?
    /// Why the run stopped before its end.
    var stopped: CommandFailure?

    /// Whether no query failed.
    var isWhole: Bool { stopped == nil && (counts?.failed ?? 0) == 0 }

    /// The summary for the terminal.
    var text: String {
        guard let counts else { return estimate.text }
        var text = """
            App Store Server API: \(counts.completed) customers completed, \(counts.known) known before, \
            \(counts.unknown) unknown to the App Store; \(counts.changedFacts) facts are new.
            """
        if counts.remembered > 0 {
            text += """
                \nNot queried again: \(counts.remembered), unknown to the App Store \
                \(EnrichmentEstimate.period(days: estimate.unknownDays)).
                """
        }
        if counts.erasedFacts > 0 { text += "\nNot stored, of erased customers: \(counts.erasedFacts) facts." }
        if counts.failed > 0 { text += "\nNot completed: \(counts.failed). Run it again to try those." }
        return text
    }

    /// The summary as JSON, laid out for people, keys in a fixed order, ending with a line feed.
    func json() -> [UInt8] {
        let apps = estimate.open.map { open in
            let calls = estimate.calls(open.purchases, open.scope.environment)
            return Self.object([
                ("bundleId", JSONWriter.quoted(open.scope.bundleId)),
                ("environment", JSONWriter.quoted(open.scope.environment.rawValue)),
                ("customers", "\(open.customers)"), ("purchases", "\(open.purchases)"),
                ("calls", "\(calls?.count ?? 0)"), ("seconds", "\(calls?.seconds ?? 0)"),
                ("purchasesNotAskedAgain", "\(open.rememberedPurchases)"),
            ])
        }
        let calls = estimate.calls(estimate.bareIds, estimate.bareIdEnvironment)
        let bareIds = Self.object([
            ("ids", "\(estimate.bareIds)"), ("calls", "\(calls?.count ?? 0)"), ("seconds", "\(calls?.seconds ?? 0)"),
            ("idsNotAskedAgain", "\(estimate.rememberedIds)"),
        ])
        let list = apps.map { "\n    \($0)" }.joined(separator: ",")
        let done = counts ?? CustomerEnrichment.Counts()
        let members: [(String, String)] = [
            ("dryRun", "\(counts == nil)"), ("askAgainAfterDays", "\(estimate.unknownDays)"),
            ("toAsk", "[\(list)\(apps.isEmpty ? "" : "\n  ")]"), ("bareTransactionIdsToAsk", bareIds),
            ("completed", "\(done.completed)"), ("knownBefore", "\(done.known)"),
            ("unknownToTheAppStore", "\(done.unknown)"), ("notAskedAgain", "\(done.remembered)"),
            ("notCompleted", "\(done.failed)"), ("factsNewToTheStore", "\(done.changedFacts)"),
            ("factsOfErasedCustomers", "\(done.erasedFacts)"),
            ("stopped", stopped.map { JSONWriter.quoted($0.description) } ?? "null"),
        ]
        let lines = members.map { "  \"\($0)\": \($1)" }
        return Array("{\n\(lines.joined(separator: ",\n"))\n}\n".utf8)
    }

    private static func object(_ members: [(String, String)]) -> String {
        "{\(members.map { "\"\($0)\": \($1)" }.joined(separator: ", "))}"
    }
}
