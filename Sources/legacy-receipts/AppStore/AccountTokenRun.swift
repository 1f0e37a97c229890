import AppStoreModels
import AppStoreServer

/// Sets the tokens of many purchases.
struct AccountTokenRun {
    /// The outcome of the rows.
    struct Outcome {
        var rows = 0
        /// Of this run and of earlier ones.
        var set = 0
        /// Refused by Apple for good, of this run and of earlier ones.
        var refused = 0
        /// Without an answer for good; a later run sends them again.
        var failed = 0
        /// Of earlier runs.
        var known = 0
        /// The first refusals and failures, as lines for a person.
        var refusals: [String] = []
        /// The error that ended the run.
        var stopped: AppStoreServerAPIError?

        var text: String {
            """
            Purchases: \(rows); tokens set: \(set), refused: \(refused), failed: \(failed), left: \(left); \
            known from earlier runs: \(known)
            """
        }

        var left: Int { rows - set - refused - failed }

        func json(_ environment: AppStoreModels.Environment) -> String {
            InspectionJSON.object { writer in
                writer.member("environment", environment.rawValue)
                writer.member("rows", rows)
                writer.member("set", set)
                writer.member("refused", refused)
                writer.member("failed", failed)
                writer.member("left", left)
                writer.member("known", known)
            }
        }
    }

    /// Calls at the same time. Apple allows 20 calls per second, and an answer takes less than a second.
    private static let concurrency = 16
    private static let shownRefusals = 20
    /// Rows that Apple's server fails for: after these many, the server and not the rows is the cause.
    private static let maximumFailures = 50

    let client: AppStoreServerAPIClient
    let done: AccountTokenLog

    /// - Throws: `CommandFailure` if an answer cannot be written; `CancellationError` if the task is canceled.
    func run(_ rows: [AccountTokenRow]) async throws -> Outcome {
        var outcome = Outcome(rows: rows.count)
        for row in rows {
            guard let known = done.outcome(of: row) else { continue }
            outcome.known += 1
            if known == AccountTokenLog.set { outcome.set += 1 } else { outcome.refused += 1 }
        }
        let waiting = rows.filter { done.outcome(of: $0) == nil }
        let client = client
        try await withThrowingTaskGroup(of: (AccountTokenRow, Result<Void, any Error>).self) { group in
            var next = waiting.startIndex
            func start() {
                guard next < waiting.endIndex, outcome.stopped == nil else { return }
                let row = waiting[next]
                next += 1
                let request = UpdateAppAccountTokenRequest(appAccountToken: row.token)
                group.addTask { (row, await Result { try await client.setAppAccountToken(row.id, request) }) }
            }
            for _ in 0..<Self.concurrency { start() }
            while let (row, result) = try await group.next() {
                try take(result, for: row, &outcome)
                if outcome.stopped != nil { group.cancelAll() }
                start()
            }
        }
        try Task.checkCancellation()
        return outcome
    }

    private func take(_ result: Result<Void, any Error>, for row: AccountTokenRow, _ outcome: inout Outcome) throws {
        switch result {
        case .success:
            try done.append(row, AccountTokenLog.set)
            outcome.set += 1
        // The run was stopped before the answer. Sending the row again has the same effect.
        case .failure(is CancellationError): break
        case .failure(let error as AppStoreServerAPIError):
            guard !error.concernsApp, [.refused, .timedOut, .interrupted].contains(error.reason) else {
                // The app, the key, the network or the rate limit: the next row would fail too.
                outcome.stopped = outcome.stopped ?? error
                return
            }
            if Self.isFinal(error), let code = error.code {
                try done.append(row, String(code.rawValue))
                outcome.refused += 1
            } else {
                outcome.failed += 1
                if outcome.failed >= Self.maximumFailures { outcome.stopped = outcome.stopped ?? error }
            }
            guard outcome.refusals.count < Self.shownRefusals else { return }
            outcome.refusals.append("\(row.id): \(AppStoreErrorText.text(error))")
        case .failure(let error): throw error
        }
    }

    /// Whether the same request would get the same answer again.
    private static func isFinal(_ error: AppStoreServerAPIError) -> Bool {
        guard error.reason == .refused, let code = error.code else { return false }
        return !code.isRetryable && (error.httpStatus ?? 500) < 500
    }
}
