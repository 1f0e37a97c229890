import AppStoreSync
import Synchronization
import TestSupport
import Testing
import VerifyReceiptServer

@Suite("Metrics of consumption requests")
struct ConsumptionMetricTests {
    private static let june: Int64 = 1_717_243_200_000

    /// Answers nothing. The test says what is open.
    private final class Answering: ConsumptionAnswering {
        let deadlines: Mutex<[Int64]>

        init(_ deadlines: [Int64]) { self.deadlines = Mutex(deadlines) }

        func answerOpenRequests(_ credentials: [AppStoreCredentials], now: Int64) async throws -> ConsumptionRound {
            ConsumptionRound()
        }
        func openDeadlines(now: Int64) async throws -> [Int64] { deadlines.withLock { $0 } }
    }

    @Test("A closed request, and one whose deadline has passed, do not count as open, also before the next round")
    func open() async throws {
        let answering = Answering([Self.june + 90_000, Self.june + 60_000])
        let now = Mutex(Self.june)
        let configuration = VerifyReceiptServerConfiguration.testing {
            $0.consumption = .init(rulesFile: "none", consentFile: "none", interval: .seconds(3_600))
        }
        let clock: @Sendable () -> Int64 = { now.withLock { $0 } }
        try await TestServer.run(
            configuration, store: PuppetStore(), consumptionAnswering: answering, clock: clock
        ) { server in
            let number = "consumption_requests_open"
            // Not asynchronous, unlike the function of the same name that asks over HTTP.
            let deadline: @Sendable () -> Int? = { server.metric("consumption_deadline_timestamp_seconds") }
            try await eventually("both are open") { server.metric(number) == 2 }
            #expect(deadline() == 1_717_243_260)
            now.withLock { $0 += 60_000 }
            let one: Int? = server.metric(number)
            #expect(one == 1)
            #expect(deadline() == 1_717_243_290)
            answering.deadlines.withLock { $0 = [] }
            try await eventually("the closed request is not counted") { server.metric(number) == 0 }
            #expect(deadline() == 0)
        }
    }
}
