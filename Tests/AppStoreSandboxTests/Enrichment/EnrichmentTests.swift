import AppStoreModels
import AppStoreSandbox
import AppStoreServer
import Foundation
import ReceiptForge
import SQLiteTransactionStore
import Synchronization
import Testing
import TransactionStore
import VerifyReceiptServer

/// Completing customers and bare ids against the App Store that the sandbox plays.
struct EnrichmentTests {
    private static let scope = StoreScope(environment: .sandbox, bundleId: "com.example.app")
    private static let nowhere = "9000000000000009"

    @inline(never)
    private func playing(
        _ body: @Sendable (RunningSandbox, SQLiteTransactionStore) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "enrichment-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try SQLiteTransactionStore.open(path: folder.appending(path: "store.sqlite").path)
        try await RunningSandbox.run { try await body($0, store) }
        try await store.close()
    }

    private func reader(
        _ transport: any APITransport, _ sandbox: RunningSandbox, _ environment: AppStoreModels.Environment = .sandbox,
        bundleID: String = "com.example.app"
    ) throws -> CustomerHistoryReader {
        var configuration = APIClientConfiguration(baseURL: sandbox.url, rateBudgets: .unlimited)
        configuration.retryPolicy = .never
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
            let first = try await enrichment.completeCustomers(of: store)
            #expect(first.seen == 1 && first.completed == 1 && first.failed == 0)
            // The newest first; the coins are ada's, of whom that answer was.
            #expect(transport.asked == [coins, ids[1]])
            let customer = try #require(try await store.customer([token], in: Self.scope))
            #expect(customer.transactions.count == 3)
            #expect(customer.transactions.allSatisfy { $0.origins.contains { $0.source == .appStoreServerAPI } })
            let second = try await enrichment.completeCustomers(of: store)
            #expect(second.known == 1 && second.completed == 0 && transport.asked.count == 2)
        }
    }

    @Test("A customer is unknown only if the App Store knows none of the ids; signed ones are asked about first")
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
            #expect(second.known == 1 && second.unknown == 1 && second.completed == 0)
        }
    }

    @Test("A failure after a good answer is told, and what was learned stays")
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
                of: store, onFailure: { failure in failed.withLock { $0.append(failure.transactionId) } })
            #expect(first.failed == 1 && first.completed == 0 && first.changedFacts > 0)
            #expect(failed.withLock { $0 } == [ids[0]])
            let again = CustomerEnrichment(apps: [.init(try reader(WatchedTransport(), sandbox))], store: store)
            #expect(try await again.completeCustomers(of: store).completed == 1)
        }
    }

    @Test(
        "A bare id that production does not know, or refuses because the app has no release, is looked for in the sandbox",
        arguments: [401, 404])
    func fallback(status: Int) async throws {
        try await playing { sandbox, store in
            let bought = try await sandbox.buy(Sold.basic)
            let production = WatchedTransport { _ in .refusal(status) }
            let app = CustomerEnrichment.App(
                try reader(production, sandbox, .production), fallback: try reader(WatchedTransport(), sandbox))
            let counts = try await CustomerEnrichment(apps: [app], store: store).complete(ids: [bought, Self.nowhere])
            #expect(counts.seen == 2 && counts.completed == 1)
            // Whom production refuses it may know: the sandbox cannot say that nobody does.
            #expect(counts.unknown == (status == 404 ? 1 : 0) && counts.failed == (status == 401 ? 1 : 0))
            let known = try await CustomerEnrichment(apps: [app], store: store).complete(ids: [bought])
            #expect(known.known == 1 && production.asked.filter { $0 == bought }.count == 1)
        }
    }

    @Test("Of several apps the ones after the app that has an id are not asked, and each id counts once")
    func severalApps() async throws {
        try await playing { sandbox, store in
            let bought = try await sandbox.buy(Sold.basic)
            let strange = WatchedTransport { _ in .refusal(404) }
            let refused = WatchedTransport { _ in .refusal(401) }
            let apps = [
                CustomerEnrichment.App(try reader(refused, sandbox, bundleID: "com.example.refused")),
                CustomerEnrichment.App(try reader(WatchedTransport(), sandbox)),
                CustomerEnrichment.App(try reader(strange, sandbox, bundleID: "com.example.strange")),
            ]
            let counts = try await CustomerEnrichment(apps: apps, store: store).complete(ids: [bought])
            #expect(counts.seen == 1 && counts.completed == 1 && counts.failed == 0 && counts.unknown == 0)
            #expect(refused.asked == [bought] && strange.asked.isEmpty)
            let known = try await CustomerEnrichment(apps: apps, store: store).complete(ids: [bought])
            #expect(known.known == 1 && refused.asked.count == 1)
            let rest = CustomerEnrichment(apps: Array(apps.dropFirst()), store: store)
            let unknown = try await rest.complete(ids: [Self.nowhere])
            #expect(unknown.seen == 1 && unknown.unknown == 1 && strange.asked == [Self.nowhere])
            #expect(try await CustomerEnrichment(apps: apps, store: store).complete(ids: [Self.nowhere]).failed == 1)
        }
    }
}

/// Remembers about which ids a history was asked for, and answers some by itself.
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
