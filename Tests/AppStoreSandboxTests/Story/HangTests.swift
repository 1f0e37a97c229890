import AppStoreModels
import AppStoreSandbox
import AppStoreServer
import Synchronization
import TestSupport
import Testing
import VerifyReceipt
import VerifyReceiptServer

/// A number that several tasks count up.
private final class Counter: Sendable {
    private let number = Mutex(0)

    var value: Int { number.withLock { $0 } }
    func add() { number.withLock { $0 += 1 } }
}

/// An App Store that takes requests and answers none.
@Suite(.timeLimit(.minutes(10))) struct HangTests {
    /// More than the slots of the server and than the failures that open the breaker, and fewer than the connections that
    /// the shared HTTP client keeps to one host.
    private static let clients = 6

    /// The receipts of so many customers, and one of an app that answers from receipts alone.
    private func receipts(_ sandbox: RunningSandbox) async throws -> (asked: [String], local: String) {
        var asked: [String] = []
        for number in 0..<Self.clients {
            _ = try await sandbox.buy(Sold.basic, by: "customer\(number)")
            asked.append(try await receipt(sandbox, "customer\(number)"))
        }
        let other = RunningSandbox.Setup(change: { $0.sandbox.bundleId = "com.example.other" })
        let local = try await RunningSandbox.run(other) { other in
            _ = try await other.buy(Sold.basic)
            return try await receipt(other, "ada")
        }
        return (asked, local)
    }

    private func receipt(_ sandbox: RunningSandbox, _ customer: String) async throws -> String {
        let answer = try await sandbox.call("GET", "customers/\(customer)/receipt")
        return try #require(answer["receipt-data"]?.string)
    }

    private func fault(_ sandbox: RunningSandbox, _ member: String) async throws -> Int64 {
        try await sandbox.call("GET", "faults")["faults"]?.array?.first?[member]?.integer ?? 0
    }

    private func playing(
        timeout: Duration, _ body: @Sendable (RunningSandbox, _ endpoint: String) async throws -> Void
    ) async throws {
        let story = StoryTests()
        let asking = try story.asking(Freshness(source: .appStore, maximumAge: 0))
        let change: @Sendable (inout VerifyReceiptServerConfiguration, String) -> Void = { configuration, url in
            asking(&configuration, url)
            configuration.endpoint.apps.append(
                AppConfiguration(bundleId: "com.example.other", freshness: Freshness(source: .local)))
            configuration.limits.concurrentRequests = 2
            configuration.timeouts.appStore = timeout
        }
        try await story.playing(change) { sandbox, _, endpoint in try await body(sandbox, endpoint) }
    }

    @Test(
        "While the App Store hangs, requests that do not need it are answered, more of them wait than there are slots")
    func others() async throws {
        try await playing(timeout: .seconds(120)) { sandbox, endpoint in
            let (asked, local) = try await receipts(sandbox)
            let url = "\(endpoint)/sandbox/verifyReceipt"
            try await sandbox.post("faults", "{\"kind\": \"hang\"}")
            let answered = Counter()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for receipt in asked {
                    group.addTask {
                        let truth = try await StoryTests().ask(url, receipt)
                        answered.add()
                        #expect(truth.status == 0)
                    }
                }
                try await eventually("three calls hang") { try await fault(sandbox, "hanging") > 2 }
                for _ in 0..<10 {
                    #expect(try await StoryTests().ask(url, local).status == 0)
                    let (status, _) = try await Running.fetch("POST", "\(endpoint)/notifications/v2", Array("{}".utf8))
                    #expect(status == 400)
                }
                #expect(answered.value == 0)
                // Waiting requests continue when it answers again.
                try await sandbox.call("DELETE", "faults")
                try await group.waitForAll()
            }
        }
    }

    @Test("Answers that come too late open the circuit breaker, and no call is left over")
    func breaker() async throws {
        try await playing(timeout: .seconds(10)) { sandbox, endpoint in
            let (asked, _) = try await receipts(sandbox)
            let url = "\(endpoint)/sandbox/verifyReceipt"
            try await sandbox.post("faults", "{\"kind\": \"hang\"}")
            // On a busy machine a call may begin so late that it is abandoned and does not count, or the pause of the breaker
            // may be over before all have retried. Such a round proves nothing.
            try await eventually("the breaker is open, and no request is sent", within: 300) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for receipt in asked {
                        group.addTask {
                            let truth = try await StoryTests().ask(url, receipt)
                            #expect(truth.status == 0 && truth.transactionCount == 1)
                        }
                    }
                    try await group.waitForAll()
                }
                try await eventually("no call hangs") { try await fault(sandbox, "hanging") == 0 }
                let met = try await fault(sandbox, "met")
                #expect(met > 0)
                for receipt in asked { #expect(try await StoryTests().ask(url, receipt).status == 0) }
                return try await fault(sandbox, "met") == met
            }
        }
    }
}
