import AppStoreModels
import AppStoreServer
import AppStoreSync
import Crypto
import Foundation
import Purchases
import Synchronization
import Testing
import TransactionStore

@Suite struct ConsumptionAnswersTests {
    private static let scope = StoreScope(environment: .production, bundleId: "com.example.orchard")
    private static let now: Int64 = 1_700_000_000_000
    /// The tasks of all tests, which ``Tasks`` lists until they are closed in it.
    private static let created = Mutex<[ConsumptionTask]>([])

    /// Takes every answer. Each request takes so long on the clock.
    private final class API: APITransport {
        let sent = Mutex<[String]>([])
        let time: Mutex<Int64>
        let requestTime: Int64
        let status: Int
        let body: String
        let isSilent: Bool

        init(requestTime: Int64 = 0, status: Int = 202, body: String = "", isSilent: Bool = false) {
            time = Mutex(ConsumptionAnswersTests.now)
            self.requestTime = requestTime
            self.status = status
            self.body = body
            self.isSilent = isSilent
        }

        /// The clock of the API client. Waiting advances it and takes no real time.
        var clock: ServerClock {
            ServerClock(
                now: { self.time.withLock { $0 } },
                uptime: { .milliseconds(self.time.withLock { $0 } - ConsumptionAnswersTests.now) },
                sleep: { wait in self.time.withLock { $0 += Int64((wait / .milliseconds(1)).rounded(.up)) } })
        }

        func send(_ request: APITransportRequest) async throws -> APITransportResponse {
            sent.withLock { $0.append(String(request.url.split(separator: "/").last ?? "")) }
            time.withLock { $0 += requestTime }
            if isSilent { throw APITransportError.timedOut }
            return APITransportResponse(status: status, body: Array(body.utf8))
        }
    }

    /// Takes an answer when it may, or when its task is cancelled.
    private final class SlowAPI: APITransport {
        let sent = Mutex<[String]>([])
        let acceptsCancelled: Bool
        let mayAnswer: @Sendable () -> Bool

        init(acceptsCancelled: Bool = false, _ mayAnswer: @escaping @Sendable () -> Bool = { false }) {
            self.acceptsCancelled = acceptsCancelled
            self.mayAnswer = mayAnswer
        }

        func send(_ request: APITransportRequest) async throws -> APITransportResponse {
            sent.withLock { $0.append(String(request.url.split(separator: "/").last ?? "")) }
            while !mayAnswer(), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
            if Task.isCancelled, !acceptsCancelled { throw CancellationError() }
            return APITransportResponse(status: 202, body: [])
        }
    }

    /// Takes answers once as many are under way as may be.
    private final class CountingAPI: APITransport {
        let requests = Mutex((running: 0, most: 0, begun: 0))

        func send(_ request: APITransportRequest) async throws -> APITransportResponse {
            requests.withLock {
                $0.running += 1
                $0.begun += 1
                $0.most = max($0.most, $0.running)
            }
            while requests.withLock({ $0.begun < ConsumptionAnswers.concurrency }) {
                try await Task.sleep(for: .milliseconds(1))
            }
            for _ in 0..<100 { await Task.yield() }
            requests.withLock { $0.running -= 1 }
            return APITransportResponse(status: 202, body: [])
        }
    }

    private final class Tasks: ConsumptionTasks {
        let closed = Mutex<[String]>([])
        /// Whether nothing can be closed.
        let isFull: Bool

        init(isFull: Bool = false) { self.isFull = isFull }

        func openConsumptionTasks(after task: ConsumptionTask?, limit: Int) async throws -> [ConsumptionTask] {
            let done = closed.withLock { Set($0) }
            let last = (task?.requestedDate ?? .min, task?.notificationUUID ?? "")
            let open = ConsumptionAnswersTests.created.withLock { $0 }.filter {
                !done.contains($0.notificationUUID) && ($0.requestedDate, $0.notificationUUID) > last
            }.sorted { ($0.requestedDate, $0.notificationUUID) < ($1.requestedDate, $1.notificationUUID) }
            return Array(open.prefix(limit))
        }
        func closeConsumptionTasks(
            _ notificationUUIDs: [String], as outcome: ConsumptionTask.Outcome
        ) async throws -> Int {
            try Task.checkCancellation()
            if isFull { throw TransactionStoreError(.unavailable, "The disk is full.") }
            closed.withLock { $0 += notificationUUIDs }
            return notificationUUIDs.count
        }

        /// The marks of the requests that were claimed, by UUID.
        let marks = Mutex<[String: Int64]>([:])
        /// The clock for claims, which also distinguishes them.
        let time = Mutex<Int64>(1)

        func claimConsumptionTasks(
            _ notificationUUIDs: [String], for milliseconds: Int64, renewing claim: ConsumptionClaim?
        ) async throws -> ConsumptionClaim? {
            try Task.checkCancellation()
            if isFull { throw TransactionStoreError(.unavailable, "The disk is full.") }
            let now = time.withLock { time in
                time += 1
                return time
            }
            let done = closed.withLock { Set($0) }
            return marks.withLock { marks in
                let open = notificationUUIDs.filter { !done.contains($0) }.map {
                    ConsumptionClaim.Request(notificationUUID: $0, mark: marks[$0])
                }
                let granted = ConsumptionClaim(open, at: now, for: milliseconds, renewing: claim)
                for uuid in granted?.notificationUUIDs ?? [] { marks[uuid] = granted?.end }
                return granted
            }
        }
        func endClaim(_ claim: ConsumptionClaim, maybeAnswered: Bool) async throws {
            try Task.checkCancellation()
            let now = time.withLock { $0 }
            marks.withLock { marks in
                for uuid in claim.notificationUUIDs where marks[uuid] == claim.end {
                    marks[uuid] = maybeAnswered || claim.maybeAnswered.contains(uuid) ? now : nil
                }
            }
        }
        func countMissedConsumptionTasks(
            requestedAfter start: Int64, upTo end: Int64
        ) async throws -> MissedConsumptionTasks {
            MissedConsumptionTasks()
        }
    }

    /// A request about a consumable, whose deadline is so long after now. All ``Tasks`` contain it.
    private static func open(
        _ id: String, deadline: Int64, uuid: String? = nil, ownership: InAppOwnershipType = .purchased
    ) throws -> ConsumptionCase {
        let payload = JWSTransactionDecodedPayload {
            $0.originalTransactionId = id
            $0.transactionId = id
            $0.bundleId = scope.bundleId
            $0.productId = "apples"
            $0.purchaseDate = now - 1_000
            $0.quantity = 1
            $0.type = .consumable
            $0.inAppOwnershipType = ownership
            $0.signedDate = now
            $0.environment = .production
        }
        let origin = FactOrigin(source: .signedTransaction, signedDate: now)
        let set = FactSet(
            scope: scope, transactions: [TransactionFact(payload: payload, legacy: nil, origin: origin)])
        let task = ConsumptionTask(
            notificationUUID: uuid ?? "uuid-\(id)", scope: scope, originalTransactionId: id, transactionId: id,
            reason: nil,
            requestedDate: now + deadline - ConsumptionTask.answerTime, purchasedPosition: nil)
        created.withLock { $0.append(task) }
        return ConsumptionCase(task, of: Customer(resolving: [set]), catalog: nil, acknowledged: nil)
    }

    private static func answers(
        _ api: API, _ tasks: Tasks, isDryRun: Bool = false,
        _ configuration: APIClientConfiguration = APIClientConfiguration(retryPolicy: .never)
    ) throws -> ConsumptionAnswers {
        try answers(api, tasks, isDryRun: isDryRun, configuration) { api.time.withLock { $0 } }
    }

    private static func client(
        _ api: any APITransport, _ configuration: APIClientConfiguration
    ) throws -> AppStoreServerAPIClient {
        let key = try InAppPurchaseKey(
            pem: P256.Signing.PrivateKey().pemRepresentation, keyID: "ABCDEFGHIJ",
            issuerID: "57246542-96fe-1a63-e053-0824d011072a")
        return try AppStoreServerAPIClient(
            key: key, bundleID: scope.bundleId, environment: .production, configuration: configuration, transport: api)
    }

    private static func answers(
        _ api: any APITransport, _ tasks: Tasks, isDryRun: Bool = false,
        _ configuration: APIClientConfiguration = APIClientConfiguration(retryPolicy: .never),
        clock: @escaping @Sendable () -> Int64
    ) throws -> ConsumptionAnswers {
        let rules = #"{"rules":[{"answer":{"deliveryStatus":"DELIVERED","sampleContentProvided":false}}]}"#
        return ConsumptionAnswers(
            client: try client(api, configuration), store: tasks, rules: try ConsumptionRules(json: Array(rules.utf8)),
            consent: { $0 == "3" ? nil : ConsumptionConsent(customerConsented: true, consumptionPercentage: nil) },
            isDryRun: isDryRun, clock: clock)
    }

    @Test("An answer about a family-shared or assigned purchase, which Apple refuses, is not sent")
    func refusedOwnership() async throws {
        let (api, tasks) = (API(), Tasks())
        let outcome = try await Self.answers(api, tasks).answer([
            Self.open("91", deadline: 90_000, ownership: .assigned),
            Self.open("92", deadline: 90_000, ownership: .familyShared), Self.open("94", deadline: 90_000),
        ])
        #expect(api.sent.withLock { $0 } == ["94"] && outcome.answered.map(\.transactionId) == ["94"])
        #expect(outcome.problems.map(\.transactionId) == ["91", "92"] && outcome.unansweredRequests == 2)
        for (_, problem) in outcome.problems {
            guard case .undecided(let message) = problem else {
                Issue.record("\(problem)")
                continue
            }
            #expect(message.hasPrefix("Apple accepts no answer about a"))
        }
        #expect(tasks.closed.withLock { $0 } == ["uuid-94"])
    }

    @Test("A request whose deadline passes while others are sent is missed, and not sent")
    func deadlineDuringTheRun() async throws {
        let (api, tasks) = (API(requestTime: 60_000), Tasks())
        let cases = try [
            Self.open("1", deadline: 30_000), Self.open("2", deadline: 50_000), Self.open("4", deadline: 90_000),
        ]
        let outcome = try await Self.answers(api, tasks).answer(cases)
        #expect(api.sent.withLock { $0 } == ["1", "4"])
        #expect(outcome.answered.map(\.transactionId) == ["1", "4"] && outcome.missed == 1)
        #expect(tasks.closed.withLock { $0 } == ["uuid-1", "uuid-4"])
    }

    @Test("A request whose deadline passes while its answer waits for the rate limit is missed, and not sent")
    func deadlineDuringTheWait() async throws {
        let (api, tasks) = (API(), Tasks())
        // One answer in 103 seconds.
        let configuration = APIClientConfiguration(
            rateBudgets: RateBudgets(overrides: [.sendConsumptionInformation: 0.01]), retryPolicy: .never,
            clock: api.clock)
        let outcome = try await Self.answers(api, tasks, configuration).answer([
            Self.open("1", deadline: 30_000), Self.open("2", deadline: 60_000), Self.open("4", deadline: 150_000),
            Self.open("2", deadline: 300_000, uuid: "in time"),
        ])
        #expect(api.sent.withLock { $0 } == ["1", "2"])
        #expect(outcome.answered.map(\.notificationUUIDs) == [["uuid-1"], ["in time"]])
        #expect(outcome.missed == 2 && outcome.problems.isEmpty && outcome.left == 0)
        #expect(tasks.closed.withLock { $0 } == ["uuid-1", "in time"])
    }

    @Test("An answer is not sent again once the deadline is over, and its request counts as missed, once")
    func deadlineDuringTheRetries() async throws {
        let (api, tasks) = (API(status: 503), Tasks())
        let retries = RetryPolicy(firstDelay: .seconds(60), maximumDelay: .seconds(60), random: { 1 })
        let outcome = try await Self.answers(
            api, tasks, APIClientConfiguration(retryPolicy: retries, clock: api.clock)
        ).answer([Self.open("1", deadline: 90_000)])
        #expect(api.sent.withLock { $0 } == ["1", "1"])
        #expect(outcome.missed == 1 && outcome.unansweredRequests == 0 && outcome.leftRequests == 0)
        #expect(outcome.stopped == nil && outcome.answered.isEmpty && tasks.closed.withLock { $0.isEmpty })
    }

    @Test("A request whose deadline passes after an attempt that may have arrived counts as unknown, not as missed")
    func unknownResult() async throws {
        let (api, tasks) = (API(requestTime: 60_000, isSilent: true), Tasks())
        let retries = RetryPolicy(firstDelay: .seconds(60), maximumDelay: .seconds(60), random: { 1 })
        let outcome = try await Self.answers(
            api, tasks, APIClientConfiguration(retryPolicy: retries, clock: api.clock)
        ).answer([Self.open("81", deadline: 90_000), Self.open("82", deadline: 100_000)])
        // The first is sent at 0 s, and its deadline is over before the retry. The deadline of the second is over too.
        #expect(api.sent.withLock { $0 } == ["81"])
        #expect(outcome.unknown == 1 && outcome.missed == 1 && outcome.answered.isEmpty)
        #expect(tasks.marks.withLock { $0["uuid-81"] } != nil && tasks.marks.withLock { $0["uuid-82"] } == nil)
        let last = try await Self.answers(API(requestTime: 60_000, isSilent: true), Tasks()).answer([
            Self.open("83", deadline: 50_000)
        ])
        #expect(last.unknown == 1 && last.missed == 0 && last.unansweredRequests == 0)
    }

    @Test("A refused answer leaves no claim and no doubt, and an answer without a result leaves the doubt")
    func marks() async throws {
        for (status, isMarked) in [(400, false), (429, false), (503, false), (500, true), (504, true)] {
            let (api, tasks) = (API(status: status), Tasks())
            _ = try await Self.answers(api, tasks).answer([Self.open("84", deadline: 30_000)])
            #expect(api.sent.withLock { $0 } == ["84"])
            let mark = tasks.marks.withLock { $0["uuid-84"] }
            #expect((mark != nil) == isMarked, "\(status)")
            // The claim has ended: the next program can answer at once.
            let next = API()
            let outcome = try await Self.answers(next, tasks).answer([Self.open("84", deadline: 30_000)])
            #expect(outcome.answered.count == 1, "\(status)")
        }
    }

    @Test("Of two programs on one store, one sends the answer", .timeLimit(.minutes(5)))
    func twoPrograms() async throws {
        let tasks = Tasks()
        let mayAnswer = Atomic(false)
        let slow = SlowAPI { mayAnswer.load(ordering: .relaxed) }
        let other = API()
        let cases = [try Self.open("85", deadline: 30_000)]
        let first = try Self.answers(slow, tasks) { Self.now }
        let second = try Self.answers(other, tasks) { Self.now }
        async let outcome = first.answer(cases)
        while slow.sent.withLock({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(1)) }
        let refused = try await second.answer(cases)
        #expect(other.sent.withLock { $0.isEmpty } && refused.answered.isEmpty && refused.unansweredRequests == 1)
        await #expect(throws: ConsumptionProblem.self) {
            _ = try await ConsumptionAnswers.send(
                ConsumptionRequest(customerConsented: true, deliveryStatus: .delivered, sampleContentProvided: false),
                about: "85", in: Self.scope, Self.client(other, APIClientConfiguration(retryPolicy: .never)),
                closingRequestsIn: tasks, now: Self.now)
        }
        #expect(other.sent.withLock { $0.isEmpty })
        mayAnswer.store(true, ordering: .relaxed)
        let sent = try await outcome
        #expect(sent.answered.map(\.notificationUUIDs) == [["uuid-85"]])
        #expect(slow.sent.withLock { $0 } == ["85"] && tasks.closed.withLock { $0 } == ["uuid-85"])
    }

    @Test("A program that was killed while it sent an answer is replaced once its claim has ended")
    func killedProgram() async throws {
        let tasks = Tasks()
        let killed = try await tasks.claimConsumptionTasks(["uuid-86"], for: 60_000, renewing: nil)
        let cases = [try Self.open("86", deadline: 300_000)]
        let before = try await Self.answers(API(), tasks).answer(cases)
        #expect(before.answered.isEmpty && before.unansweredRequests == 1)
        tasks.time.withLock { $0 = (killed?.end ?? 0) + 1 }
        let after = try await Self.answers(API(), tasks).answer(cases)
        #expect(after.answered.count == 1)
    }

    @Test("A single answer is sent, closes only the requests whose deadline is not over, and counts the others")
    func singleAnswer() async throws {
        let (api, tasks) = (API(), Tasks())
        _ = try (Self.open("70", deadline: 0, uuid: "over"), Self.open("70", deadline: 3_600_000, uuid: "not over"))
        let request = ConsumptionRequest(
            customerConsented: true, deliveryStatus: .delivered, sampleContentProvided: false)
        let sent = try await ConsumptionAnswers.send(
            request, about: "70", in: Self.scope, Self.client(api, APIClientConfiguration(retryPolicy: .never)),
            closingRequestsIn: tasks, now: Self.now)
        #expect(api.sent.withLock { $0 } == ["70"] && sent.notificationUUIDs == ["not over"] && sent.missed == 1)
        #expect(tasks.closed.withLock { $0 } == ["not over"])
    }

    @Test("Of two requests about one transaction, the one whose deadline is not over is answered")
    func laterRequest() async throws {
        let (api, tasks) = (API(requestTime: 60_000), Tasks())
        let outcome = try await Self.answers(api, tasks).answer([
            Self.open("1", deadline: 30_000), Self.open("2", deadline: 50_000, uuid: "first"),
            Self.open("2", deadline: 90_000, uuid: "second"), Self.open("3", deadline: 95_000, uuid: "third"),
            Self.open("3", deadline: 96_000, uuid: "fourth"),
        ])
        #expect(outcome.answered.map(\.transactionId) == ["1", "2"] && outcome.missed == 3)
        #expect(tasks.closed.withLock { $0 } == ["uuid-1", "second"])
        let without = try await Self.answers(API(), Tasks()).answer([
            Self.open("3", deadline: 95_000, uuid: "third"), Self.open("3", deadline: 96_000, uuid: "fourth"),
        ])
        #expect(without.problems.count == 1 && without.unansweredRequests == 2)
    }

    @Test("If the store cannot close a request, the other answers are still sent, and the error is reported")
    func fullDisk() async throws {
        let (api, tasks) = (API(), Tasks(isFull: true))
        let outcome = try await Self.answers(api, tasks).answer([
            Self.open("1", deadline: 30_000), Self.open("2", deadline: 30_000),
        ])
        #expect(api.sent.withLock { $0 } == ["1", "2"] && outcome.answered.count == 2)
        #expect(outcome.storeError?.code == .unavailable)
    }

    @Test("While the store cannot be written, an answer is sent only in the last 2 hours before its deadline")
    func withoutClaim() async throws {
        let (api, tasks) = (API(), Tasks(isFull: true))
        let limit = ConsumptionAnswers.unclaimedTime
        let cases = try [Self.open("88", deadline: limit), Self.open("87", deadline: limit + 1)]
        let outcome = try await Self.answers(api, tasks).answer(cases)
        #expect(limit == 7_200_000 && api.sent.withLock { $0 } == ["88"])
        #expect(outcome.answered.map(\.transactionId) == ["88"] && outcome.problems.map(\.transactionId) == ["87"])
        #expect(outcome.unansweredRequests == 1 && outcome.stopped == nil)
        if case .unclaimed(let error)? = outcome.problems.first?.problem {
            #expect(error.code == .unavailable)
        } else {
            Issue.record("\(outcome.problems)")
        }
        api.time.withLock { $0 += 1 }
        let later = try await Self.answers(api, tasks).answer([cases[1]])
        #expect(later.answered.map(\.transactionId) == ["87"] && later.problems.isEmpty)
    }

    @Test("A single answer is not sent either while the store cannot be written")
    func singleWithoutClaim() async throws {
        let (api, tasks) = (API(), Tasks(isFull: true))
        _ = try Self.open("89", deadline: 4 * 3_600_000)
        await #expect(throws: TransactionStoreError.self) {
            _ = try await ConsumptionAnswers.send(
                ConsumptionRequest(customerConsented: true, deliveryStatus: .delivered, sampleContentProvided: false),
                about: "89", in: Self.scope, Self.client(api, APIClientConfiguration(retryPolicy: .never)),
                closingRequestsIn: tasks, now: Self.now)
        }
        #expect(api.sent.withLock { $0.isEmpty })
    }

    @Test("An App Store that hangs ends the run after three requests, because other apps wait for their turn")
    func silence() async throws {
        let (api, tasks) = (API(isSilent: true), Tasks())
        let outcome = try await Self.answers(api, tasks).answer(
            (4...9).map { try Self.open("\($0)", deadline: 30_000) })
        #expect(api.sent.withLock { $0 } == ["4", "5", "6"])
        #expect(outcome.problems.count == 2 && outcome.stopped?.reason == .timedOut && outcome.leftRequests == 4)
    }

    @Test("Without consent nothing is sent, and a dry run sends and closes nothing")
    func nothingSent() async throws {
        let (api, tasks) = (API(), Tasks())
        let refused = try await Self.answers(api, tasks).answer([Self.open("3", deadline: 30_000)])
        #expect(refused.problems.map(\.transactionId) == ["3"] && refused.answered.isEmpty)
        let dry = try await Self.answers(api, tasks, isDryRun: true).answer([Self.open("1", deadline: 30_000)])
        #expect(dry.answered.map(\.transactionId) == ["1"])
        #expect(api.sent.withLock { $0 }.isEmpty && tasks.closed.withLock { $0 }.isEmpty)
    }

    @Test(
        "An app or a key that the App Store does not accept ends the run at the first answer, and the rest stays open",
        arguments: [(401, ""), (403, #"{"errorCode":4030999}"#), (404, #"{"errorCode":4040003}"#)])
    func refusedApp(status: Int, body: String) async throws {
        let (api, tasks) = (API(status: status, body: body), Tasks())
        let outcome = try await Self.answers(api, tasks).answer([
            Self.open("1", deadline: 30_000), Self.open("2", deadline: 30_000),
        ])
        #expect(outcome.stopped != nil && outcome.left == 2 && outcome.answered.isEmpty && outcome.problems.isEmpty)
        #expect(api.sent.withLock { $0 } == ["1"])
        #expect(tasks.closed.withLock { $0 }.isEmpty)
    }

    @Test("A request that is missed when its turn comes does not count as left too")
    func missedIsNotLeft() async throws {
        let calls = Mutex(0)
        let cases = try [
            Self.open("2", deadline: 50_000, uuid: "first"), Self.open("2", deadline: 90_000, uuid: "second"),
        ]
        let outcome = try await Self.answers(API(status: 401), Tasks()) {
            // The deadlines are looked at for both requests, and again when their turn comes.
            let call = calls.withLock { count in
                count += 1
                return count
            }
            return call <= 2 ? Self.now : Self.now + 60_000
        }.answer(cases)
        #expect(outcome.stopped != nil && outcome.missed == 1 && outcome.left == 1 && outcome.leftRequests == 1)
    }

    @Test("A request that a person answers or dismisses during a run is not answered by the run")
    func closedMeanwhile() async throws {
        let tasks = Tasks()
        let api = SlowAPI {
            tasks.closed.withLock { $0.append("uuid-2") }
            return true
        }
        let outcome = try await Self.answers(api, tasks) { Self.now }.answer([
            Self.open("1", deadline: 30_000), Self.open("2", deadline: 30_000),
            Self.open("2", deadline: 40_000, uuid: "again"), Self.open("4", deadline: 50_000),
        ])
        #expect(outcome.answered.map(\.transactionId) == ["1", "2", "4"])
        #expect(outcome.answered.map(\.notificationUUIDs) == [["uuid-1"], ["again"], ["uuid-4"]])
        #expect(outcome.missed == 0 && outcome.left == 0 && outcome.problems.isEmpty)
        let alone = try await Self.answers(api, tasks) { Self.now }.answer([Self.open("2", deadline: 30_000)])
        #expect(alone.answered.isEmpty && api.sent.withLock { $0 } == ["1", "2", "4"])
    }

    @Test("An app whose App Store is slow keeps no other app waiting", .timeLimit(.minutes(5)))
    func besideEachOther() async throws {
        let (fast, tasks) = (API(), Tasks())
        let slow = SlowAPI { fast.sent.withLock { !$0.isEmpty } }
        let outcomes = try await ConsumptionAnswers.answer(
            [
                (Self.answers(slow, tasks) { Self.now }, [Self.open("1", deadline: 30_000)]),
                (Self.answers(fast, tasks), [Self.open("2", deadline: 30_000)]),
            ], within: .seconds(3_600))
        #expect(outcomes.map { $0.answered.map(\.transactionId) } == [["1"], ["2"]])
        #expect(tasks.closed.withLock { Set($0) } == ["uuid-1", "uuid-2"])
    }

    @Test("No more than eight apps are answered at the same time", .timeLimit(.minutes(5)))
    func limitedConcurrency() async throws {
        let (api, tasks) = (CountingAPI(), Tasks())
        let runs = try (10..<30).map { number in
            (
                answers: try Self.answers(api, tasks) { Self.now },
                cases: [try Self.open("\(number)", deadline: 30_000)]
            )
        }
        let outcomes = try await ConsumptionAnswers.answer(runs, within: .seconds(3_600))
        let answered: [String] = outcomes.flatMap { $0.answered.map(\.transactionId) }
        let expected: [String] = (10..<30).map { "\($0)" }
        #expect(answered == expected)
        #expect(ConsumptionAnswers.concurrency == 8 && api.requests.withLock { $0.most } == 8)
    }

    @Test("A run whose time is over ends, and the rest stays open for the next one", .timeLimit(.minutes(5)))
    func outOfTime() async throws {
        let (api, tasks) = (SlowAPI(), Tasks())
        let outcome = try await Self.answers(api, tasks) { Self.now }.answer(
            [Self.open("1", deadline: 30_000), Self.open("2", deadline: 30_000)], within: .milliseconds(100))
        #expect(outcome.isOutOfTime && outcome.left == 2 && outcome.leftRequests == 2 && outcome.answered.isEmpty)
        #expect(api.sent.withLock { $0.count } <= 1)
        #expect(tasks.closed.withLock { $0 }.isEmpty)
    }

    @Test("An answer that the App Store accepts when the time is over closes its request", .timeLimit(.minutes(5)))
    func acceptedLate() async throws {
        let (api, tasks) = (SlowAPI(acceptsCancelled: true), Tasks())
        let answers = try Self.answers(api, tasks) { Self.now }
        let cases = [try Self.open("1", deadline: 30_000), try Self.open("2", deadline: 30_000)]
        var outcome: ConsumptionAnswers.Outcome
        // On a busy machine, the time can be over before anything is sent.
        repeat {
            outcome = try await answers.answer(cases, within: .milliseconds(100))
        } while api.sent.withLock { $0.isEmpty }
        #expect(outcome.answered.map(\.transactionId) == ["1"] && outcome.storeError == nil && outcome.isOutOfTime)
        #expect(outcome.left == 1 && tasks.closed.withLock { $0 } == ["uuid-1"])
    }
}
