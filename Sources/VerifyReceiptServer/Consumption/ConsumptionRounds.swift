import AppStoreModels
import AppStoreSync
import Logging
import Synchronization
import VerifyReceipt

/// Answers the open requests in rounds, and counts the outcomes and the open requests.
final class ConsumptionRounds: Sendable {
    private let answering: any ConsumptionAnswering
    private let interval: Duration
    private let credentials: Mutex<[AppStoreCredentials]>
    private let last = Mutex(ConsumptionRound())
    /// The deadlines of the requests that were open at the last look.
    private let deadlines = Mutex<[Int64]>([])
    private let state: ServerState

    init(
        _ answering: any ConsumptionAnswering, interval: Duration, credentials: [AppStoreCredentials],
        _ state: ServerState
    ) {
        self.answering = answering
        self.interval = interval
        self.credentials = Mutex(credentials)
        self.state = state
        state.metrics.add(consumption: { [weak self] in self?.openDeadlines ?? [] })
        // An alert sees no increase of a series that begins above 0.
        for outcome in ["missed", "unknown"] { state.metrics.consumptionRequests.add(outcome, amount: 0) }
    }

    /// The deadlines of the last look that have not passed since.
    private var openDeadlines: [Int64] {
        let now = state.clock()
        return deadlines.withLock { $0.filter { $0 > now } }
    }

    /// Uses these keys from the next round on.
    func replace(_ credentials: [AppStoreCredentials]) { self.credentials.withLock { $0 = credentials } }

    /// The longest time that a request counts as open after a person answered or dismissed it with another program.
    private static let longestPause = Duration.seconds(5)
    /// How long after its deadline a request can still be closed, in milliseconds. Its answer may have been sent at the
    /// last moment.
    private static let closingTime: Int64 = 60_000

    /// Until cancellation.
    func run() async {
        // A separate task, because a round can take minutes.
        let looking = Task {
            while !Task.isCancelled {
                await look()
                do { try await Task.sleep(for: min(interval, Self.longestPause)) } catch { return }
            }
        }
        defer { looking.cancel() }
        while !Task.isCancelled {
            await round()
            await look()
            do { try await Task.sleep(for: interval) } catch { return }
        }
    }

    private func look() async {
        let now = state.clock()
        // If the store cannot be read, what is known goes on.
        guard let open = try? await answering.openDeadlines(after: now) else { return }
        deadlines.withLock { $0 = open }
        let last = now.subtractingSaturated(Self.closingTime)
        guard let counted = try? await answering.countMissed(deadlineUpTo: last) else { return }
        if counted.missed > 0 { state.metrics.consumptionRequests.add("missed", amount: counted.missed) }
        if counted.unknown > 0 { state.metrics.consumptionRequests.add("unknown", amount: counted.unknown) }
    }

    private func round() async {
        let round: ConsumptionRound
        do {
            // That of now, because a reload can change it.
            let endpoint = state.current.endpoint.configuration
            round = try await answering.answerOpenRequests(credentials.withLock { $0 }, endpoint, now: state.clock())
        } catch is CancellationError {
            return
        } catch {
            return note("\(error)")
        }
        for _ in 0..<round.answered { state.metrics.consumptionRequests.add("answered") }
        if let failure = round.failure {
            last.withLock { $0 = round }
            return note(failure, Self.metadata(of: round))
        }
        let before = last.withLock { last in
            defer { last = round }
            return last
        }
        // A round like the one before needs no line.
        guard round.answered > 0 || round != before else { return }
        state.logger.log(
            level: round.left > 0 ? .warning : .notice, "consumption requests", metadata: Self.metadata(of: round))
    }

    private static func metadata(of round: ConsumptionRound) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "answered": .stringConvertible(round.answered), "unanswered": .stringConvertible(round.unanswered),
            "left": .stringConvertible(round.left), "missed": .stringConvertible(round.missed),
            "unknown": .stringConvertible(round.unknown),
        ]
        if let problem = round.problem { metadata["problem"] = "\(problem)" }
        return metadata
    }

    /// Counts and logs a round that could not do all of its work. Other apps may have been answered in it.
    private func note(_ failure: String, _ numbers: Logger.Metadata = [:]) {
        state.metrics.consumptionRequests.add("failed")
        state.logger.error(
            "consumption requests are not answered", metadata: numbers.merging(["error": "\(failure)"]) { $1 })
    }
}
