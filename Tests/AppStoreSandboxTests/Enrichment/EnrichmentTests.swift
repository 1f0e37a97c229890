import AppStoreModels
import AppStoreSandbox
import AppStoreServer
import AppStoreSync
import Foundation
import Purchases
import ReceiptForge
import SQLiteTransactionStore
import Synchronization
import TestSupport
import Testing
import TransactionStore
import VerifyReceiptServer

/// Completing customers and bare ids against the App Store that the sandbox plays.
struct EnrichmentTests {
    private static let scope = StoreScope(environment: .sandbox, bundleId: "com.example.app")
    private static let nowhere = "9000000000000009"

    @inline(never)
    private func playing(
        _ setup: RunningSandbox.Setup = .init(),
        _ body: @Sendable (RunningSandbox, SQLiteTransactionStore) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        try await RunningSandbox.run(setup) { try await body($0, store) }
        try await store.close()
    }

    private func reader(
        _ transport: any APITransport, _ sandbox: RunningSandbox, _ environment: AppStoreModels.Environment = .sandbox,
        bundleID: String = "com.example.app", configuration: APIClientConfiguration? = nil
    ) throws -> CustomerHistoryReader {
        let configuration =
            configuration
            ?? APIClientConfiguration(
                baseURL: sandbox.url, timeout: .seconds(300), rateBudgets: .unlimited, retryPolicy: .never)
        let client = try AppStoreServerAPIClient(
            key: try DeveloperKey.signing(), bundleID: bundleID, environment: environment,
            configuration: configuration, transport: transport)
        return CustomerHistoryReader(
            client: client,
            verifier: try SignedDataVerifier(
                trust: SignedDataTrust(additionalRoots: [TestSignedDataAuthority.standard.rootCertificate])),
            bundleID: bundleID, clock: { 0 })
    }

    /// A purchase as a document of the store's states it.
    private func fact(_ id: String, _ source: FactSource) -> TransactionFact {
        var payload = JWSTransactionDecodedPayload()
        payload.transactionId = id
        payload.originalTransactionId = id
        payload.productId = Sold.basic
        return TransactionFact(payload: payload, legacy: nil, origin: FactOrigin(source: source, signedDate: 1))
    }

    @Test("Two Apple Accounts of one customer are both asked about, once")
    func joinedCustomer() async throws {
        try await playing { sandbox, store in
            let ids = [try await sandbox.buy(Sold.basic), try await sandbox.buy(Sold.basic, by: "grace")]
            let coins = try await sandbox.buy(Sold.coins)
            let token = CustomerIdentity(.appAccountToken, "7e57a11c-0000-4000-8000-00000000f06e")
            _ = try await store.apply([
                FactSet(
                    scope: Self.scope, identities: [token], transactions: (ids + [coins]).map { fact($0, .receipt) })
            ])
            let transport = WatchedTransport()
            let enrichment = CustomerEnrichment(apps: [.init(try reader(transport, sandbox))], store: store)
            let before = try await CustomerEnrichment.openCustomers(of: store, in: [Self.scope])
            #expect(before.map(\.customers) == [1] && before.map(\.purchases) == [3])
            let excluded = try await CustomerEnrichment.openCustomers(of: store, in: [Self.scope]) { _ in false }
            #expect(excluded.map(\.customers) == [0])
            let first = try await enrichment.completeCustomers(of: store)
            #expect(first.seen == 1 && first.asked == 1 && first.completed == 1 && first.failed == 0)
            let open = try await CustomerEnrichment.openCustomers(of: store, in: [Self.scope])
            #expect(open.map(\.customers) == [0] && open.map(\.purchases) == [0])
            // The newest first; the coins belong to ada, whom that answer covered.
            #expect(transport.asked == [coins, ids[1]])
            let customer = try #require(try await store.customer([token], in: Self.scope))
            #expect(customer.transactions.count == 3)
            #expect(customer.transactions.allSatisfy { $0.origins.contains { $0.source == .appStoreServerAPI } })
            let second = try await enrichment.completeCustomers(of: store)
            #expect(second.known == 1 && second.completed == 0 && transport.asked.count == 2)
        }
    }

    @Test("A customer is unknown only if the App Store knows none of the ids; signed ids are queried first")
    func recordedIds() async throws {
        try await playing { sandbox, store in
            let bought = try await sandbox.buy(Sold.basic)
            _ = try await store.apply([
                FactSet(
                    scope: Self.scope, transactions: [fact(bought, .receipt), fact(Self.nowhere, .recordedReply)]),
                FactSet(scope: Self.scope, transactions: [fact("9000000000000010", .recordedReply)]),
            ])
            let transport = WatchedTransport()
            let enrichment = CustomerEnrichment(apps: [.init(try reader(transport, sandbox))], store: store)
            let first = try await enrichment.completeCustomers(of: store)
            #expect(first.seen == 2 && first.completed == 1 && first.unknown == 1 && first.failed == 0)
            #expect(transport.asked.filter { $0 == bought || $0 == Self.nowhere } == [bought, Self.nowhere])
            let second = try await enrichment.completeCustomers(of: store)
            #expect(second.known == 1 && second.unknown == 0 && second.remembered == 1 && second.completed == 0)
            #expect(second.asked == 0 && second.seen == 2)
        }
    }

    @Test("A failure after a good answer is reported, and the stored facts stay")
    func failureHalfWay() async throws {
        try await playing { sandbox, store in
            let ids = [try await sandbox.buy(Sold.basic), try await sandbox.buy(Sold.basic, by: "grace")]
            _ = try await store.apply([
                FactSet(scope: Self.scope, transactions: ids.map { fact($0, .receipt) })
            ])
            let transport = WatchedTransport { id in id == ids[0] ? .init(status: 500, body: []) : nil }
            let enrichment = CustomerEnrichment(apps: [.init(try reader(transport, sandbox))], store: store)
            let failed = Mutex<[String]>([])
            let first = try await enrichment.completeCustomers(
                of: store, events: .init(onFailure: { failure in failed.withLock { $0.append(failure.transactionId) } })
            )
            #expect(first.failed == 1 && first.completed == 0 && first.changedFacts > 0)
            #expect(failed.withLock { $0 } == [ids[0]])
            let again = CustomerEnrichment(apps: [.init(try reader(WatchedTransport(), sandbox))], store: store)
            #expect(try await again.completeCustomers(of: store).completed == 1)
        }
    }

    @Test(
        "A bare id that production does not know, or refuses because the app has no release, is looked up in the sandbox",
        arguments: [401, 404])
    func fallback(status: Int) async throws {
        try await playing { sandbox, store in
            let bought = try await sandbox.buy(Sold.basic)
            let production = WatchedTransport { _ in .refusal(status) }
            let app = CustomerEnrichment.App(
                try reader(production, sandbox, .production), fallback: try reader(WatchedTransport(), sandbox))
            let counts = try await CustomerEnrichment(apps: [app], store: store).complete(ids: [bought, Self.nowhere])
            #expect(counts.seen == 2 && counts.completed == 1)
            // Production may know a customer that it rejects: the sandbox cannot prove that the id is unknown.
            #expect(counts.unknown == (status == 404 ? 1 : 0) && counts.failed == (status == 401 ? 1 : 0))
            let known = try await CustomerEnrichment(apps: [app], store: store).complete(ids: [bought])
            #expect(known.known == 1 && production.asked.filter { $0 == bought }.count == 1)
        }
    }

    @Test("Of several apps the ones after the app that has an id are not asked, and each id counts once")
    func severalApps() async throws {
        try await playing { sandbox, store in
            let bought = try await sandbox.buy(Sold.basic)
            let other = WatchedTransport { _ in .refusal(404) }
            let strange = WatchedTransport { _ in .refusal(404) }
            let apps = [
                CustomerEnrichment.App(try reader(other, sandbox, bundleID: "com.example.other")),
                CustomerEnrichment.App(try reader(WatchedTransport(), sandbox)),
                CustomerEnrichment.App(try reader(strange, sandbox, bundleID: "com.example.strange")),
            ]
            let counts = try await CustomerEnrichment(apps: apps, store: store).complete(ids: [bought])
            #expect(counts.seen == 1 && counts.completed == 1 && counts.failed == 0 && counts.unknown == 0)
            #expect(other.asked == [bought] && strange.asked.isEmpty)
            let known = try await CustomerEnrichment(apps: apps, store: store).complete(ids: [bought])
            #expect(known.known == 1 && known.asked == 0 && other.asked.count == 1)
            let unknown = try await CustomerEnrichment(apps: apps, store: store).complete(ids: [Self.nowhere])
            #expect(unknown.seen == 1 && unknown.unknown == 1 && strange.asked == [Self.nowhere])
        }
    }

    @Test func anIdThatNoTransactionCanHaveIsUnknownAndNotAFailure() async throws {
        try await playing { sandbox, store in
            let enrichment = CustomerEnrichment(apps: [.init(try reader(WatchedTransport(), sandbox))], store: store)
            let counts = try await enrichment.complete(ids: ["edited"])
            #expect(counts.asked == 1 && counts.unknown == 1 && counts.failed == 0)
        }
    }

    @Test("An unknown id is queried once, and again after the period that the caller sets")
    func unknownOnce() async throws {
        let clock = SteppedClock(start: 1_800_000_000_000)
        try await playing { sandbox, store in
            _ = try await store.apply([
                FactSet(scope: Self.scope, transactions: [fact(Self.nowhere, .receipt), fact("77", .receipt)]),
                FactSet(scope: Self.scope, transactions: [fact("88", .receipt)]),
            ])
            let transport = WatchedTransport()
            let app = CustomerEnrichment.App(try reader(transport, sandbox))
            let period = Duration.seconds(600)
            func run(_ period: Duration) async throws -> CustomerEnrichment.Counts {
                let run = CustomerEnrichment(apps: [app], store: store, unknownPeriod: period, clock: clock.clock)
                let counts = try await run.completeCustomers(of: store)
                let ids = try await run.complete(ids: ["99", Self.nowhere])
                #expect(counts.seen == 2 && ids.failed == 0)
                #expect(counts.unknown + counts.remembered == 2)
                return counts
            }
            func open() async throws -> CustomerEnrichment.OpenCustomers? {
                try await CustomerEnrichment.openCustomers(
                    of: store, in: [Self.scope], unknownPeriod: period, clock: clock.clock
                ).first
            }
            #expect(try await open()?.purchases == 3)
            #expect(try await run(period).unknown == 2)
            // The bare id that is a purchase too was answered by then.
            #expect(transport.asked.sorted() == ["77", "88", "99", Self.nowhere].sorted())
            #expect(try await store.unknownTransactionCount() == 4)
            let left = try await open()
            #expect(left?.customers == 0 && left?.purchases == 0 && left?.rememberedPurchases == 3)
            #expect(try await run(period).remembered == 2 && transport.asked.count == 4)
            let ids = ["99", "100"]
            func openIds(_ scopes: [StoreScope]) async throws -> [String] {
                try await CustomerEnrichment.openIds(
                    ids, of: store, in: scopes, unknownPeriod: period, clock: clock.clock)
            }
            #expect(try await openIds([Self.scope]) == ["100"])
            let production = StoreScope(environment: .production, bundleId: Self.scope.bundleId)
            #expect(try await openIds([Self.scope, production]) == ids)
            try await clock.clock.sleep(.seconds(599))
            #expect(try await run(period).remembered == 2 && transport.asked.count == 4)
            // Answers keep their date, and the time counts from the first one.
            try await clock.clock.sleep(.seconds(2))
            #expect(try await open()?.purchases == 3)
            #expect(try await run(period).unknown == 2 && transport.asked.count == 8)
            try await clock.clock.sleep(.seconds(1))
            #expect(try await run(.zero).unknown == 2 && transport.asked.count == 12)
        }
    }

    @Test(
        "Only an answer that there is no such purchase is remembered",
        arguments: [
            (404, 4_040_010, true), (404, 4_040_001, true), (404, 4_040_005, true), (400, 4_000_006, true),
            (404, 4_040_002, false), (404, 4_040_004, false), (404, 4_040_006, false), (500, 5_000_000, false),
            (404, 0, false),
        ])
    func remembersOnlyUnknown(status: Int, code: Int, isRemembered: Bool) async throws {
        try await playing { sandbox, store in
            _ = try await store.apply([FactSet(scope: Self.scope, transactions: [fact("77", .receipt)])])
            let body = code == 0 ? "" : #"{"errorCode": \#(code), "errorMessage": "No."}"#
            let transport = WatchedTransport { _ in .init(status: status, body: Array(body.utf8)) }
            let enrichment = CustomerEnrichment(apps: [.init(try reader(transport, sandbox))], store: store)
            let first = try await enrichment.completeCustomers(of: store)
            #expect(first.unknown == (isRemembered ? 1 : 0) && first.failed == (isRemembered ? 0 : 1))
            _ = try await enrichment.complete(ids: ["99"])
            #expect(try await store.unknownTransactionCount() == (isRemembered ? 2 : 0))
            let second = try await enrichment.completeCustomers(of: store)
            #expect(second.remembered == (isRemembered ? 1 : 0))
            #expect(transport.asked == (isRemembered ? ["77", "99"] : ["77", "99", "77"]))
        }
    }

    @Test("A purchase that the App Store knows now is no longer remembered as unknown")
    func knownLater() async throws {
        try await playing { sandbox, store in
            let ids = [try await sandbox.buy(Sold.basic), try await sandbox.buy(Sold.basic, by: "grace")]
            _ = try await store.apply([FactSet(scope: Self.scope, transactions: [fact(ids[0], .receipt)])])
            let app = CustomerEnrichment.App(try reader(WatchedTransport(), sandbox))
            let early = WatchedTransport { _ in .refusal(404) }
            let first = CustomerEnrichment(apps: [.init(try reader(early, sandbox))], store: store)
            #expect(try await first.completeCustomers(of: store).unknown == 1)
            #expect(try await first.complete(ids: [ids[1]]).unknown == 1)
            #expect(try await store.unknownTransactionCount() == 2)
            // The answers of the first run are older than the second one, even in the same millisecond.
            let later = SteppedClock(start: ServerClock.system.now() + 60_000)
            let second = CustomerEnrichment(apps: [app], store: store, unknownPeriod: .zero, clock: later.clock)
            #expect(try await second.completeCustomers(of: store).completed == 1)
            #expect(try await second.complete(ids: [ids[1]]).completed == 1)
            #expect(try await store.unknownTransactionCount() == 0)
        }
    }

    @Test("A purchase that the answer about its customer does not have is not asked about again")
    func withoutThePurchase() async throws {
        try await playing { sandbox, store in
            let bought = try await sandbox.buy(Sold.basic)
            let coins = try await sandbox.buy(Sold.coins)
            // The newest transaction of the purchase is one of another purchase, as in an edited document.
            var edited = JWSTransactionDecodedPayload()
            edited.transactionId = coins
            edited.originalTransactionId = "77"
            let origin = FactOrigin(source: .receipt, signedDate: 1)
            _ = try await store.apply([
                FactSet(
                    scope: Self.scope,
                    transactions: [
                        fact(bought, .receipt), TransactionFact(payload: edited, legacy: nil, origin: origin),
                    ])
            ])
            let transport = WatchedTransport()
            let enrichment = CustomerEnrichment(apps: [.init(try reader(transport, sandbox))], store: store)
            #expect(try await enrichment.completeCustomers(of: store).completed == 1)
            let count = transport.asked.count
            #expect(try await store.unknownTransactions(["77"], in: Self.scope).count == 1)
            #expect(try await enrichment.completeCustomers(of: store).known == 1)
            #expect(transport.asked.count == count)
        }
    }

    @Test("A bare id that an app did not know before is looked up in a new app only")
    func newApp() async throws {
        try await playing { sandbox, store in
            let bought = try await sandbox.buy(Sold.basic)
            let other = WatchedTransport { _ in .refusal(404) }
            let old = CustomerEnrichment.App(try reader(other, sandbox, bundleID: "com.example.other"))
            #expect(try await CustomerEnrichment(apps: [old], store: store).complete(ids: [bought]).unknown == 1)
            let apps = [old, CustomerEnrichment.App(try reader(WatchedTransport(), sandbox))]
            var found: [String: ScopedIdentity?] = [:]
            let counts = try await CustomerEnrichment(apps: apps, store: store).complete(
                ids: [bought, Self.nowhere], events: .init(onBareId: { found[$0] = $1 }))
            #expect(counts.completed == 1 && counts.unknown == 1 && other.asked == [bought, Self.nowhere])
            #expect(found[Self.nowhere] == .some(nil))
            // In one run an id counts once; a later run states that it was not queried.
            let later = CustomerEnrichment(apps: apps, store: store)
            let again = try await later.complete(ids: [Self.nowhere], events: .init(onBareId: { found[$0] = $1 }))
            #expect(again.asked == 0 && again.seen <= 1 && again.remembered == again.seen)
            #expect(other.asked.count == 2 && found[Self.nowhere] == .some(nil))
        }
    }

    /// So many customers with one purchase each; a receipt states only the id.
    private func stocked(_ count: Int, _ sandbox: RunningSandbox, _ store: SQLiteTransactionStore) async throws
        -> [String]
    {
        var ids: [String] = []
        for number in 0..<count { ids.append(try await sandbox.buy(Sold.unlock, by: "customer \(number)")) }
        _ = try await store.apply(ids.map { FactSet(scope: Self.scope, transactions: [fact($0, .receipt)]) })
        return ids
    }

    /// Sends each query once, by this clock, and leaves longer waits to the run.
    private static func shortTimeouts(_ clock: SteppedClock, _ sandbox: RunningSandbox) -> APIClientConfiguration {
        var limits = APIClientConfiguration(
            baseURL: sandbox.url, timeout: .seconds(300), rateBudgets: RateBudgets(maximumWait: .seconds(60)),
            retryPolicy: .never)
        limits.clock = clock.clock
        limits.rateBudgets.overrides = [.getTransactionHistory: 1_000, .getAllSubscriptionStatuses: 1_000]
        return limits
    }

    @Test("While the App Store cannot be reached, the run waits and passes few customers over")
    func outage() async throws {
        let clock = SteppedClock(start: 1_800_000_000_000)
        try await playing(.init(wallClock: { clock.now })) { sandbox, store in
            _ = try await stocked(90, sandbox, store)
            let over = clock.now + 300_000
            let questions = Mutex(0)
            let transport = WatchedTransport { _ in
                let number = questions.withLock { count in
                    count += 1
                    return count
                }
                return number > 10 && clock.now < over ? .init(status: 503, body: []) : nil
            }
            let enrichment = CustomerEnrichment(
                apps: [.init(try reader(transport, sandbox, configuration: Self.shortTimeouts(clock, sandbox)))],
                store: store, clock: clock.clock)
            let counts = try await enrichment.completeCustomers(of: store)
            // Those that were under way together, and one a minute.
            #expect(counts.completed + counts.failed == 90 && (1...45).contains(counts.failed), "\(counts)")
            #expect(clock.now >= over)
        }
    }

    @Test("After 30 waits of a minute without an answer the run stops")
    func unreachable() async throws {
        let clock = SteppedClock(start: 1_800_000_000_000)
        try await playing(.init(wallClock: { clock.now })) { sandbox, store in
            _ = try await stocked(40, sandbox, store)
            let transport = WatchedTransport { _ in .init(status: 503, body: []) }
            let enrichment = CustomerEnrichment(
                apps: [.init(try reader(transport, sandbox, configuration: Self.shortTimeouts(clock, sandbox)))],
                store: store, clock: clock.clock)
            await #expect(throws: AppStoreUnreachable.self) {
                try await enrichment.completeCustomers(of: store)
            }
            #expect(transport.asked.count == 31 && clock.now == 1_800_000_000_000 + 30 * 60_000)
        }
    }

    @Test("A time of the App Store in the far future is no reason to wait for more than a day")
    func endlessRateLimit() async throws {
        let clock = SteppedClock(start: 1_800_000_000_000)
        try await playing(.init(wallClock: { clock.now })) { sandbox, store in
            _ = try await stocked(2, sandbox, store)
            let isFirst = Mutex(true)
            let transport = WatchedTransport { _ in
                let first = isFirst.withLock { first in
                    defer { first = false }
                    return first
                }
                return first ? .init(status: 429, retryAfter: "1800000000000000", body: []) : nil
            }
            let enrichment = CustomerEnrichment(
                apps: [.init(try reader(transport, sandbox, configuration: Self.shortTimeouts(clock, sandbox)))],
                store: store, clock: clock.clock)
            #expect(try await enrichment.completeCustomers(of: store).completed == 2)
            #expect(clock.now <= 1_800_000_000_000 + 86_400_000)
        }
    }

    @Test(
        "An app or a key that is not accepted ends the run at the first question",
        arguments: [(401, nil), (403, nil), (404, 4_040_003), (400, 4_000_002)] as [(Int, Int64?)])
    func refusedApp(status: Int, code: Int64?) async throws {
        try await playing { sandbox, store in
            let ids = try await stocked(40, sandbox, store)
            let body = code.map { #"{"errorCode": \#($0), "errorMessage": "No."}"# } ?? ""
            let transport = WatchedTransport { _ in .init(status: status, body: Array(body.utf8)) }
            let enrichment = CustomerEnrichment(apps: [.init(try reader(transport, sandbox))], store: store)
            let refused = AppStoreRefusal(
                bundleID: "com.example.app", environment: .sandbox, httpStatus: status,
                code: code.map { APIErrorCode(rawValue: $0) })
            let cause = code.map { "Apple's error \($0) (" } ?? "the key for com.example.app"
            #expect(refused.description.contains(cause))
            let thrown = await #expect(throws: AppStoreRefusal.self) {
                try await enrichment.completeCustomers(of: store)
            }
            #expect(thrown == refused && thrown?.description == refused.description)
            #expect(transport.asked.count == 1)
            await #expect(throws: refused) { try await enrichment.complete(ids: ids) }
            #expect(transport.asked.count == 2)
        }
    }

    @Test("A key that is revoked meanwhile ends the run, and completed customers stay")
    func revokedKey() async throws {
        try await playing { sandbox, store in
            _ = try await stocked(100, sandbox, store)
            let left = Mutex(40)
            let transport = WatchedTransport { _ in
                left.withLock { left in
                    left -= 1
                    return left < 0 ? .init(status: 401, body: []) : nil
                }
            }
            let enrichment = CustomerEnrichment(apps: [.init(try reader(transport, sandbox))], store: store)
            await #expect(throws: AppStoreRefusal.self) {
                try await enrichment.completeCustomers(of: store)
            }
            // Those that were under way, and no more.
            #expect(transport.asked.count <= 40 + 32)
            // A connection that was idle may be closed meanwhile.
            let retrying = APIClientConfiguration(
                baseURL: sandbox.url, timeout: .seconds(300), rateBudgets: .unlimited,
                retryPolicy: RetryPolicy(firstDelay: .milliseconds(10)))
            let again = CustomerEnrichment(
                apps: [.init(try reader(WatchedTransport(), sandbox, configuration: retrying))], store: store)
            var failures: [String] = []
            let counts = try await again.completeCustomers(
                of: store, events: .init(onFailure: { failures.append($0.reason) }))
            #expect(counts.known > 0 && counts.completed > 0)
            #expect(counts.known + counts.completed == 100, "\(failures)")
        }
    }

    @Test("Where the App Store takes no requests for two hours, the run waits visibly and loses no customer")
    func longRateLimit() async throws {
        let clock = SteppedClock(start: 1_800_000_000_000)
        try await playing(.init(wallClock: { clock.now })) { sandbox, store in
            _ = try await stocked(60, sandbox, store)
            let opens = clock.now + 7_200_000
            // The first 40 questions are answered; then there is a limit until the clock has gone on.
            let answered = Mutex(0)
            let early = Mutex(0)
            let transport = WatchedTransport { _ in
                let number = answered.withLock { count in
                    count += 1
                    return count
                }
                guard number > 40, clock.now < opens else { return nil }
                early.withLock { $0 += 1 }
                return .init(status: 429, retryAfter: String(opens), body: [])
            }
            var limits = APIClientConfiguration(
                baseURL: sandbox.url, timeout: .seconds(300), rateBudgets: RateBudgets(maximumWait: .seconds(60)))
            limits.retryPolicy = RetryPolicy(maximumRetryAfter: .seconds(1))
            limits.clock = clock.clock
            limits.rateBudgets.overrides = [.getTransactionHistory: 1_000, .getAllSubscriptionStatuses: 1_000]
            let held = Mutex<[Int64?]>([])
            let enrichment = CustomerEnrichment(
                apps: [.init(try reader(transport, sandbox, configuration: limits))], store: store, clock: clock.clock)
            let counts = try await enrichment.completeCustomers(
                of: store, events: .init(onHold: { date in held.withLock { $0.append(date) } }))
            #expect(counts.completed == 60 && counts.failed == 0 && counts.seen == 60 && counts.asked == 60)
            let dates = held.withLock { $0 }
            #expect(dates.count == 2 && dates.last == .some(nil))
            #expect((opens...opens + 1_000).contains(dates.first.flatMap { $0 } ?? 0))
            // No more than those that were under way together.
            #expect((1...32).contains(early.withLock { $0 }))
            #expect(clock.now >= opens)
        }
    }
}

/// A clock that advances when a task waits, and takes no time.
private final class SteppedClock: Sendable {
    private let start: Int64
    private let passed = Mutex(Duration.zero)

    init(start: Int64) { self.start = start }

    var now: Int64 { passed.withLock { start + Int64($0 / .milliseconds(1)) } }

    var clock: ServerClock {
        ServerClock(
            now: { self.now }, uptime: { self.passed.withLock { $0 } },
            sleep: { time in
                try Task.checkCancellation()
                self.passed.withLock { $0 += time }
            })
    }
}

/// Records the ids of requested histories, and answers some without the sandbox.
private final class WatchedTransport: APITransport {
    private let ids = Mutex<[String]>([])
    private let next = AsyncHTTPClientTransport()
    private let answer: @Sendable (_ id: String) -> APITransportResponse?

    var asked: [String] { ids.withLock { $0 } }

    init(_ answer: @escaping @Sendable (_ id: String) -> APITransportResponse? = { _ in nil }) { self.answer = answer }

    func send(_ request: APITransportRequest) async throws -> APITransportResponse {
        let path = request.url.split(separator: "?")[0].split(separator: "/")
        if path.contains("history"), let id = path.last.map(String.init) {
            ids.withLock { $0.append(id) }
            if let response = answer(id) { return response }
        }
        return try await next.send(request)
    }
}

extension APITransportResponse {
    /// 401, or 404 with 4040010.
    fileprivate static func refusal(_ status: Int) -> APITransportResponse {
        let body = status == 404 ? #"{"errorCode": 4040010, "errorMessage": "Transaction id not found."}"# : ""
        return APITransportResponse(status: status, body: Array(body.utf8))
    }
}
