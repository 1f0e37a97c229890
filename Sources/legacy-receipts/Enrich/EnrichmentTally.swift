import AppStoreServer
import AppStoreSync
import Migration
import Synchronization
import TransactionStore

/// Counts a run, and keeps the counts in its store, for the report. Answers are stored before they are counted.
final class EnrichmentTally: APITransport {
    private static let pause = Duration.seconds(5)

    private let transport: any APITransport
    private let store: any MigrationStore
    private let record = EnrichmentRecord()
    private let requests = Atomic<Int>(0)
    private let isRefused = Atomic(false)
    private let answered = Mutex(CustomerEnrichment.Counts())

    init(_ transport: any APITransport, store: any MigrationStore) {
        self.transport = transport
        self.store = store
    }

    /// The answers so far.
    var answers: CustomerEnrichment.Counts {
        get { answered.withLock { $0 } }
        set { answered.withLock { $0 = newValue } }
    }

    func send(_ request: APITransportRequest) async throws -> APITransportResponse {
        requests.add(1, ordering: .relaxed)
        return try await transport.send(request)
    }

    /// Keeps the counts until the task is canceled, so that a run that is killed loses only those of its last seconds.
    func keepRegularly() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.pause)
            // An error of the store is reported at the end of the run.
            if !Task.isCancelled { try? await keep() }
        }
    }

    /// Keeps the counts at the end of the run.
    /// - Parameter result: of the queries.
    /// - Throws: `TransactionStoreError`.
    func end(_ result: Result<Void, any Error>) async throws {
        if case .failure(let error) = result, error is AppStoreRefusal {
            isRefused.store(true, ordering: .relaxed)
        }
        // SQLite writes nothing in a canceled task.
        try await Task { [self] in try await keep() }.value
    }

    private func keep() async throws {
        let answers = answers
        var counts = EnrichmentCounts()
        counts.requests = requests.load(ordering: .relaxed)
        counts.answered = answers.completed
        counts.unknown = answers.unknown
        counts.failed = answers.failed
        counts.refused = isRefused.load(ordering: .relaxed) ? 1 : 0
        counts.newFacts = answers.changedFacts
        try await record.keep(counts, in: store)
    }
}
