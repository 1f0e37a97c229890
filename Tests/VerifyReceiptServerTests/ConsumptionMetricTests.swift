import AppStoreSync
import Synchronization
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

@Suite("Metrics of consumption requests")
struct ConsumptionMetricTests {
    private static let june: Int64 = 1_717_243_200_000

    /// Answers nothing. The test says what is open, and to which deadlines an answer may have arrived.
    private final class Answering: ConsumptionAnswering {
        let deadlines: Mutex<[Int64]>
        let maybeAnswered: Set<Int64>
        private let counted = Mutex<Set<Int64>>([])
        /// The clock of the server.
        let now = Mutex(ConsumptionMetricTests.june)

        init(_ deadlines: [Int64], maybeAnswered: Set<Int64> = []) {
            self.deadlines = Mutex(deadlines)
            self.maybeAnswered = maybeAnswered
        }

        func answerOpenRequests(
            _ credentials: [AppStoreCredentials], _ endpoint: EndpointConfiguration, now: Int64
        ) async throws -> ConsumptionRound {
            ConsumptionRound()
        }
        func openDeadlines(after date: Int64) async throws -> [Int64] { deadlines.withLock { $0.filter { $0 > date } } }
        func countMissed(deadlineUpTo date: Int64) async throws -> MissedConsumptionTasks {
            let over = deadlines.withLock { Set($0.filter { $0 <= date }) }
            let new = counted.withLock { counted in
                let new = over.subtracting(counted)
                counted.formUnion(new)
                return new
            }
            let unknown = new.intersection(maybeAnswered).count
            return MissedConsumptionTasks(missed: new.count - unknown, unknown: unknown)
        }
    }

    /// Runs a server whose rounds are an hour apart.
    @inline(never)
    private static func run(_ answering: Answering, _ body: @Sendable (TestServer) async throws -> Void) async throws {
        let configuration = VerifyReceiptServerConfiguration.testing {
            $0.consumption = .init(rulesFile: "none", consentFile: "none", interval: .seconds(3_600))
        }
        try await TestServer.run(
            configuration, store: PuppetStore(), consumptionAnswering: answering,
            clock: { answering.now.withLock { $0 } }, body)
    }

    @Test("A closed request, and one whose deadline has passed, do not count as open, also before the next round")
    func open() async throws {
        let answering = Answering([Self.june + 90_000, Self.june + 60_000])
        try await Self.run(answering) { server in
            let number = "consumption_requests_open"
            // The type selects the synchronous function. Another one of the same name reads the metric over HTTP.
            let deadline: @Sendable () -> Int? = { server.metric("consumption_deadline_timestamp_seconds") }
            try await eventually("both are open") { server.metric(number) == 2 }
            #expect(deadline() == 1_717_243_260)
            answering.now.withLock { $0 += 60_000 }
            let one: Int? = server.metric(number)
            #expect(one == 1)
            #expect(deadline() == 1_717_243_290)
            answering.deadlines.withLock { $0 = [] }
            try await eventually("the closed request is not counted") { server.metric(number) == 0 }
            #expect(deadline() == 0)
        }
    }

    @Test("A minute after its deadline, an open request counts as missed or unknown once, also between two rounds")
    func missed() async throws {
        let answering = Answering(
            [60_000, 61_000, 62_000, 100_000].map { Self.june + $0 }, maybeAnswered: [Self.june + 62_000])
        try await Self.run(answering) { server in
            let missed: @Sendable () -> Int? = { server.metric(#"consumption_requests_total{outcome="missed"}"#) }
            let unknown: @Sendable () -> Int? = { server.metric(#"consumption_requests_total{outcome="unknown"}"#) }
            #expect(missed() == 0 && unknown() == 0)
            try await eventually("all are open") { server.metric("consumption_requests_open") == 4 }
            // The second is answered. The fourth may be closed yet, because its deadline is half a minute ago.
            answering.deadlines.withLock { $0.removeAll { $0 == Self.june + 61_000 } }
            answering.now.withLock { $0 += 130_000 }
            try await eventually("the first is missed") { missed() == 1 }
            try await eventually("the third is unknown") { unknown() == 1 }
            answering.now.withLock { $0 += 60_000 }
            try await eventually("the fourth is missed, and the others do not count again") { missed() == 2 }
            #expect(unknown() == 1)
        }
    }
}
