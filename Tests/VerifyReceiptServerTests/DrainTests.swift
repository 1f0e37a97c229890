import Foundation
import Synchronization
import TestSupport
import Testing
import VerifyReceiptServer

extension ServerTests {
    /// What happens between the order to stop and the end of the listening socket.
    @Suite(.serialized) struct Drain {
        private static let draining = VerifyReceiptServerConfiguration.testing { $0.timeouts.drain = .seconds(3) }

        /// What is found between the order to stop and the end of the drain, and then checked. A round in which the machine was
        /// busy for longer than the drain says nothing.
        @inline(never)
        private static func whileDraining<Kept: Sendable, Found: Sendable>(
            _ configuration: VerifyReceiptServerConfiguration = Self.draining,
            prepare: @Sendable (TestServer) async throws -> Kept,
            find: @Sendable (TestServer, Kept) async throws -> Found,
            check: @Sendable (TestServer, Kept, Found) async throws -> Void
        ) async throws {
            try await eventually("all is found before the end of the drain") {
                try await TestServer.run(configuration) { server in
                    let kept = try await prepare(server)
                    let end = ContinuousClock.now + configuration.timeouts.drain
                    await server.stop()
                    let found: Found
                    do {
                        try await eventually("it is not ready") {
                            try await Wire.ask(server.adminPort, Sent.get("/readyz")).status == 503
                        }
                        found = try await find(server, kept)
                    } catch {
                        guard .now < end else { return false }
                        throw error
                    }
                    guard .now < end else { return false }
                    try await check(server, kept, found)
                    return true
                }
            }
        }

        /// A connection that has had an answer.
        @inline(never)
        private static func kept(_ server: TestServer) async throws -> UncheckedBox<Wire> {
            try await Wire.run {
                let wire = try Wire(port: server.port)
                wire.send(Sent.post("{}"))
                #expect(try wire.readResponse().headers["connection"] == nil)
                return UncheckedBox(wire)
            }
        }

        @Test func theListenerGoesOnAcceptingWhileReadinessIsFalse() async throws {
            try await Self.whileDraining { server in
                try await Self.kept(server)
            } find: { server, kept -> [String] in
                // A new connection and one that was there: both get their answer, and learn that it is the last.
                try await Wire.run {
                    let wire = try Wire(port: server.port)
                    wire.send(Sent.post(Sent.body()))
                    let first = try wire.readToEnd()
                    kept.value.send(Sent.post(Sent.body()))
                    return [first, try kept.value.readToEnd()]
                }
            } check: { server, _, texts in
                for text in texts {
                    #expect(text.hasPrefix("HTTP/1.1 200 ") && text.contains("\"status\":0"))
                    #expect(text.lowercased().contains("connection: close\r\n"))
                }
                // At the end of the drain it closes.
                try await eventually("no connection is taken") {
                    (try? await Wire.ask(server.port, Sent.post("{}"))) == nil
                }
            }
        }

        @Test func anIdleConnectionStaysForTheDrainAndIsClosedAtItsEnd() async throws {
            try await Self.whileDraining { server in
                try await Self.kept(server)
            } find: { _, kept -> Bool in
                kept.value.isClosedByPeer
            } check: { _, kept, isClosed in
                #expect(!isClosed)
                let rest = try await Wire.run { try kept.value.readToEnd() }
                #expect(rest.isEmpty)
            }
        }

        /// RFC 9113, 6.8: what `Connection: close` is in HTTP/1.
        @Test func http2ClientsGetGOAWAYWithTheirAnswer() async throws {
            let files = try TestCertificate()
            let configuration = VerifyReceiptServerConfiguration.testing {
                $0.timeouts.drain = .seconds(6)
                $0.listeners[0].tls = files.tls
            }
            try await Self.whileDraining(configuration) { server -> SilentHTTP2Client in
                let client = try await SilentHTTP2Client(port: server.port, trusting: files)
                try await client.send(SilentHTTP2Client.preface)
                return client
            } find: { server, client -> Bool in
                let isEarly = client.hasFarewell
                try await client.send(SilentHTTP2Client.request("{}"))
                try await eventually("GOAWAY is there") { client.hasFarewell }
                // That was not the end of the drain: the socket still takes connections.
                _ = try Wire(port: server.port)
                return isEarly
            } check: { _, client, isEarly in
                #expect(!isEarly)
                await client.close()
            }
        }

        // MARK: A rolling restart

        /// Two servers behind a balancer that looks at `/readyz`, keeps connections, and sends each request once.
        @Test func tenRollingRestartsBehindABalancerLoseNoRequest() async throws {
            let configuration = VerifyReceiptServerConfiguration.testing { $0.timeouts.drain = .seconds(1) }
            let balancer = Balancer(drain: configuration.timeouts.drain)
            var instances = [try await Instance.start(configuration), try await Instance.start(configuration)]
            for instance in instances { balancer.add(instance) }
            async let watching: Void = Wire.run { balancer.watch() }
            try await eventually("both are ready") { balancer.ready == 2 }
            async let working: [Void] = withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 { group.addTask { try await Wire.run { balancer.work() } } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for round in 0..<10 {
                let old = instances.removeFirst()
                try await old.stop()
                balancer.remove(old)
                let new = try await Instance.start(configuration)
                balancer.add(new)
                instances.append(new)
                try await eventually("both are ready in round \(round)") { balancer.ready == 2 }
            }
            balancer.end()
            _ = try await working
            try await watching
            for instance in instances { try await instance.stop() }
            #expect(balancer.failures == [])
            #expect(balancer.answered > 100, "\(balancer.answered)")
        }
    }
}

/// A server that the test stops.
private struct Instance: Sendable {
    let port: Int
    let adminPort: Int
    private let order: AsyncStream<Void>.Continuation
    private let task: Task<Void, any Error>

    static func start(_ configuration: VerifyReceiptServerConfiguration) async throws -> Instance {
        let (orders, order) = AsyncStream<Void>.makeStream()
        let (ports, port) = AsyncStream<(Int, Int)>.makeStream()
        let task = Task {
            defer { port.finish() }
            try await TestServer.run(configuration) { server in
                port.yield((server.port, server.adminPort))
                for await _ in orders { break }
            }
        }
        for await (port, adminPort) in ports {
            return Instance(port: port, adminPort: adminPort, order: order, task: task)
        }
        try await task.value
        throw TestFailure("the server did not listen")
    }

    /// Returns when the server has gone.
    func stop() async throws {
        order.finish()
        try await task.value
    }
}

/// Sends requests to the servers that are ready, each once.
private final class Balancer: Sendable {
    private struct State {
        /// Whether it is ready, by the port of health, with the port for requests and the beginning of the last look at it.
        var servers: [Int: (port: Int, isReady: Bool, lookedAt: ContinuousClock.Instant)] = [:]
        var next = 0
        var isDone = false
        var answered = 0
        var failures: [String] = []
    }

    private let drain: Duration
    private let state = Mutex(State())

    /// - Parameter drain: how long the servers continue after readiness fails.
    init(drain: Duration) { self.drain = drain }

    var ready: Int { state.withLock { $0.servers.values.count { $0.isReady } } }
    var answered: Int { state.withLock { $0.answered } }
    var failures: [String] { state.withLock { $0.failures } }
    private var isDone: Bool { state.withLock { $0.isDone } }

    func add(_ instance: Instance) {
        state.withLock { $0.servers[instance.adminPort] = (instance.port, false, ContinuousClock.now) }
    }

    func remove(_ instance: Instance) {
        state.withLock { $0.servers[instance.adminPort] = nil }
    }

    func end() { state.withLock { $0.isDone = true } }

    /// Asks each server every 20 milliseconds whether it is ready.
    func watch() {
        while !isDone {
            for place in state.withLock({ Array($0.servers.keys) }) {
                let lookedAt = ContinuousClock.now
                let isReady = (try? Self.isReady(place)) ?? false
                state.withLock { state in
                    guard let server = state.servers[place] else { return }
                    state.servers[place] = (server.port, isReady, lookedAt)
                }
            }
            usleep(20_000)
        }
    }

    private static func isReady(_ port: Int) throws -> Bool {
        let wire = try Wire(port: port)
        wire.send(Sent.get("/readyz"))
        return try wire.readResponse().status == 200
    }

    /// One client's requests, one after the other.
    func work() {
        var kept: [Int: Wire] = [:]
        while !isDone {
            let server = state.withLock { state -> (port: Int, lookedAt: ContinuousClock.Instant)? in
                let ready = state.servers.values.filter(\.isReady).sorted { $0.port < $1.port }
                state.next += 1
                guard !ready.isEmpty else { return nil }
                let next = ready[state.next % ready.count]
                return (next.port, next.lookedAt)
            }
            do {
                guard let port = server?.port else { throw TestFailure("no server is ready") }
                let wire = try kept.removeValue(forKey: port) ?? Wire(port: port)
                guard wire.send(Sent.post(Sent.body())) else { throw TestFailure("the request cannot be sent") }
                let answer = try wire.readResponse()
                guard answer.verifyStatus == 0 else { throw TestFailure("HTTP \(answer.status) \(answer.body)") }
                if answer.headers["connection"] != "close" { kept[port] = wire }
                state.withLock { $0.answered += 1 }
            } catch {
                // On a busy machine the last look may be longer ago than the drain lasts. Then the server may have gone.
                let isLate = server.map { $0.lookedAt.duration(to: .now) >= drain } ?? false
                if !isLate { state.withLock { $0.failures.append("\(error)") } }
            }
            usleep(2_000)
        }
    }
}
