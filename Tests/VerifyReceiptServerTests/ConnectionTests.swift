import Foundation
import HTTPTypes
import NIOCore
import Synchronization
import TestSupport
import Testing
import VerifyReceiptServer

/// Which connections stay open when there are too many.
@Suite struct ConnectionTableTests {
    /// The names of closed connections, in their order.
    private final class Closed: Sendable {
        private let names = Mutex<[Int]>([])
        var all: [Int] { names.withLock { $0 } }
        func add(_ name: Int) { names.withLock { $0.append(name) } }
    }

    private let closed = Closed()

    private func open(_ name: Int, in table: ConnectionTable, _ address: String? = nil) -> ConnectionTable.Place? {
        let closed = closed
        switch table.open(address.flatMap { IPAddress($0) }, close: { closed.add(name) }) {
        case .admitted(let place, let displaced):
            displaced?()
            return place
        case .refused: return nil
        }
    }

    private func table(_ maximum: Int, perAddress: Int = 0) -> ConnectionTable {
        ConnectionTable(maximum: maximum, addresses: AddressCounter(maximum: perAddress))
    }

    @Test func theConnectionThatIsIdleForTheLongestTimeGoesFirst() throws {
        let table = table(3)
        let places = try (0..<3).map { try #require(open($0, in: table)) }
        // The first has answered a request meanwhile, so that the second is idle for longer.
        table.set(.answering, of: places[0])
        table.set(.idle, of: places[0])
        for name in 3..<6 { #expect(open(name, in: table) != nil) }
        #expect(closed.all == [1, 2, 0])
    }

    @Test func aConnectionThatIsBeingAnsweredStays() throws {
        let table = table(2)
        let places = try (0..<2).map { try #require(open($0, in: table)) }
        for place in places { table.set(.answering, of: place) }
        #expect(open(2, in: table) == nil)
        #expect(closed.all.isEmpty && table.current == 2)
        table.set(.idle, of: places[1])
        #expect(open(3, in: table) != nil)
        #expect(closed.all == [1])
    }

    /// The table chooses on one thread, and the connection is closed on its own: a request may come in between.
    @Test func aConnectionThatAnswersClosesWhenItIsIdle() throws {
        let table = table(1)
        let place = ConnectionPlace(try #require(open(0, in: table)), of: table)
        place.change(from: .idle, to: .answering)
        place.leave { [closed] in closed.add(7) }
        #expect(closed.all.isEmpty)
        place.change(from: .answering, to: .idle)
        #expect(closed.all == [7])
        place.change(from: .idle, to: .answering)
        place.change(from: .answering, to: .idle)
        #expect(closed.all == [7])
        place.leave { [closed] in closed.add(8) }
        #expect(closed.all == [7, 8])
    }

    /// A new connection is idle: it must not go before those whose bodies do not come.
    @Test func theLongestWaitingConnectionClosesFirst() throws {
        let table = table(3)
        let places = try (0..<3).map { try #require(open($0, in: table)) }
        for place in places { table.set(.waitingForClient, of: place) }
        table.set(.answering, of: places[0])
        for name in 3..<6 { #expect(open(name, in: table) != nil) }
        #expect(closed.all == [1, 2, 3])
    }

    /// A connection closes some time after the request; until then it must not be closed again, nor be reused.
    @Test func aConnectionThatHasToGoCountsNoMore() throws {
        let table = table(1)
        let first = try #require(open(0, in: table))
        let second = try #require(open(1, in: table))
        #expect(closed.all == [0] && table.current == 2)
        table.set(.answering, of: first)
        table.set(.idle, of: first)
        table.close(first)
        #expect(table.current == 1)
        #expect(open(2, in: table) != nil)
        #expect(closed.all == [0, 1])
        table.close(second)
        #expect(table.current == 1)
    }

    @Test func oneClientHasItsBound() throws {
        let table = table(100, perAddress: 2)
        let first = try #require(open(0, in: table, "192.0.2.1"))
        #expect(open(1, in: table, "::ffff:192.0.2.1") != nil)
        #expect(open(2, in: table, "192.0.2.1") == nil)
        #expect(open(3, in: table, "192.0.2.2") != nil)
        // Of IPv6 a client has a whole network.
        #expect(open(4, in: table, "2001:db8::1") != nil)
        #expect(open(5, in: table, "2001:db8::2") != nil)
        #expect(open(6, in: table, "2001:db8::ffff:0:0:3") == nil)
        #expect(open(7, in: table, "2001:db8:0:1::1") != nil)
        // Those of a proxy are not counted.
        for name in 8..<20 { #expect(open(name, in: table) != nil) }
        table.close(first)
        #expect(open(20, in: table, "192.0.2.1") != nil)
        #expect(closed.all.isEmpty)
    }

    @Test func manyThatComeAndGoLeaveNothingBehind() throws {
        let table = table(50, perAddress: 1_000)
        var places: [ConnectionTable.Place] = []
        for name in 0..<10_000 {
            let place = try #require(open(name, in: table, "192.0.2.1"))
            if name % 3 == 0 { table.set(.waitingForClient, of: place) }
            if name % 5 == 0 { table.set(.answering, of: place) }
            if name % 5 == 0 { table.set(.idle, of: place) }
            places.append(place)
            if places.count > 40 { table.close(places.remove(at: name * 7 % 40)) }
        }
        for place in places { table.close(place) }
        #expect(table.current == 0 && closed.all.isEmpty)
    }
}

@Suite struct IPAddressTests {
    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false), ("10.0.0.0/8", "::ffff:10.1.2.3", true),
        ("192.0.2.7", "192.0.2.7", true), ("192.0.2.7", "192.0.2.8", false), ("0.0.0.0/0", "1.2.3.4", true),
        ("0.0.0.0/0", "::1", false), ("2001:db8::/32", "2001:db8:ffff::1", true),
        ("2001:db8::/32", "2001:db9::", false),
        ("::/0", "2001:db8::1", true), ("2001:db8::/65", "2001:db8::8000:0:0:0", false), ("::1", "::1", true),
    ])
    func aNetworkContainsItsAddresses(network: String, address: String, isInside: Bool) throws {
        let network = try #require(IPNetwork(network))
        let address = try #require(IPAddress(address))
        #expect(network.contains(address) == isInside)
    }

    @Test(arguments: [
        "", "/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/08", "10.0.0.0/", "10.0.0.1/8", "10.0.0", "::/129",
        "example.com",
        "10.0.0.0/8/8", "2001:db8::1/32", "1.2.3.4 ", "[::1]",
    ])
    func anInvalidNetworkIsRefused(text: String) {
        #expect(IPNetwork(text) == nil)
        #expect(Configuration.problems("trusted-proxies: ['\(text)']").map(\.key) == ["trusted-proxies"])
    }

    @Test(arguments: ["192.0.2.1", "2001:db8::1", "::", "::1", "255.255.255.255"])
    func anAddressIsWrittenAsItIsRead(text: String) { #expect(IPAddress(text)?.description == text) }

    // MARK: Forwarded addresses

    @Test(arguments: [
        (["192.0.2.1"], "192.0.2.1"), (["192.0.2.1, 10.0.0.2"], "192.0.2.1"),
        (["192.0.2.1", "10.0.0.2, 10.0.0.3"], "192.0.2.1"),
        // What stands before the client's address is the client's invention.
        (["203.0.113.9, 192.0.2.1"], "192.0.2.1"), (["192.0.2.1:4711"], "192.0.2.1"),
        (["[2001:db8::1]:80"], "2001:db8::1"),
        (["2001:db8::1"], "2001:db8::1"), (["unknown"], nil), (["192.0.2.1, unknown"], nil), (["192.0.2.1, "], nil),
        (["10.0.0.2"], nil), ([""], nil), (["192.0.2.1" + String(repeating: ", 10.0.0.2", count: 40)], nil),
    ])
    func theClientIsTheLastThatIsNoTrustedProxy(values: [String], client: String?) throws {
        let trusted = try [#require(IPNetwork("10.0.0.0/8"))]
        var fields = HTTPFields()
        for value in values { fields.append(HTTPField(name: try #require(.init("X-Forwarded-For")), value: value)) }
        #expect(ForwardedAddress(fields, trusted: trusted).client?.description == client)
    }

    @Test(arguments: [
        ("for=192.0.2.1", "192.0.2.1"), ("proto=https;For=192.0.2.1;by=10.0.0.1", "192.0.2.1"),
        (#"for="[2001:db8::1]:4711""#, "2001:db8::1"), ("for=203.0.113.9, for=192.0.2.1, for=10.0.0.2", "192.0.2.1"),
        ("for=_hidden", nil), ("for=unknown, for=10.0.0.2", nil), ("proto=https", nil), ("192.0.2.1", nil),
    ])
    func forwardedNamesTheClientToo(value: String, client: String?) throws {
        let trusted = try [#require(IPNetwork("10.0.0.0/8"))]
        let forwarded = try #require(HTTPField.Name("Forwarded"))
        let other = try #require(HTTPField.Name("X-Forwarded-For"))
        #expect(ForwardedAddress([forwarded: value], trusted: trusted).client?.description == client)
        // Of two headers one is likely to be the client's own.
        #expect(ForwardedAddress([forwarded: value, other: "198.51.100.1"], trusted: trusted) == .unclear)
        if let client {
            #expect(
                ForwardedAddress([forwarded: value, other: client], trusted: trusted).client?.description == client)
        }
    }

    /// A client can make the header unclear, but not look like a proxy: the proxy appends the client's address.
    @Test(arguments: [
        ("unknown", true), ("", true), ("10.0.0.2, ", true),
        ("10.0.0.2" + String(repeating: ", 10.0.0.2", count: 40), true), ("10.0.0.2", false),
        ("10.0.0.2, 10.0.0.3", false),
    ])
    func anUnclearAddressIsDistinguishedFromProxiesOnly(value: String, isUnclear: Bool) throws {
        let trusted = try [#require(IPNetwork("10.0.0.0/8"))]
        let name = try #require(HTTPField.Name("X-Forwarded-For"))
        #expect(ForwardedAddress([name: value], trusted: trusted) == (isUnclear ? .unclear : .onlyProxies))
        #expect(ForwardedAddress([:], trusted: trusted) == .onlyProxies)
    }
}

extension ServerTests {
    @Suite(.serialized) struct Connections {
        @Test func silentConnectionsBlockNoClient() async throws { try await attack(40) }

        /// In a process of its own (tools/test.sh), as `aThousandConnectionsAreServed` is.
        @Test(.enabled(if: ProcessInfo.processInfo.environment["LEGACY_RECEIPTS_MANY_CONNECTIONS"] != nil))
        func tenThousandSilentConnectionsBlockNoClient() async throws {
            var limit = rlimit()
            #if os(Linux)
                let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            #else
                let resource = RLIMIT_NOFILE
            #endif
            try #require(getrlimit(resource, &limit) == 0)
            limit.rlim_cur = min(limit.rlim_max, 20_000)
            try #require(setrlimit(resource, &limit) == 0)
            // Both ends are in this process, and the server's is at most a quarter.
            let possible = (Int(limit.rlim_cur) - 1_000) * 3 / 4
            try await attack(min(10_000, possible / 20 * 20))
        }

        /// Silent connections in all their forms, more than there is room for, and honest requests between them.
        private func attack(_ hostile: Int) async throws {
            let configuration = VerifyReceiptServerConfiguration.testing { $0.limits.connections = hostile / 4 }
            let begin = ContinuousClock.now
            try await TestServer.run(configuration) { server in
                let statuses = try await Wire.run {
                    let head = "POST /verifyReceipt HTTP/1.1\r\nHost: x\r\n"
                    var wires: [Wire] = []
                    var statuses: [Int?] = []
                    for index in 0..<hostile {
                        let wire = try Wire(port: server.port)
                        wire.send(["", "POST", head, head + "Content-Length: 9\r\n\r\n{", Sent.post("{}")][index % 5])
                        wires.append(wire)
                        guard index % (hostile / 20) == 0 else { continue }
                        let honest = try Wire(port: server.port)
                        honest.send(Sent.post(Sent.body()))
                        statuses.append(try honest.readResponse().verifyStatus)
                    }
                    return statuses
                }
                #expect(statuses.count == 20 && statuses.allSatisfy { $0 == 0 }, "\(statuses)")
                let metrics = server.server.metricsText
                let name = "legacy_receipts_connections_displaced_total "
                let displaced = metrics.split(separator: "\n").first { $0.hasPrefix(name) }.flatMap {
                    Int($0.dropFirst(name.count))
                }
                #expect((displaced ?? 0) > hostile / 2, "\(metrics)")
                #expect(!metrics.contains("legacy_receipts_connections_refused_total{"))
                // The log has one line each ten seconds, and is not flooded.
                let lines = server.log.text.split(separator: "\n").filter {
                    $0.contains("limits.connections is reached")
                }
                let most = 1 + Int(begin.duration(to: .now) / .seconds(10))
                #expect((1...most).contains(lines.count), "\(lines)")
            }
        }

        /// New connections do not push one another out while those that have sent one byte of a body stay.
        @Test func bodiesThatDoNotComeGoBeforeNewConnections() async throws {
            let configuration = VerifyReceiptServerConfiguration.testing { $0.limits.connections = 4 }
            try await TestServer.run(configuration) { server in
                let statuses = try await Wire.run {
                    let stuck = try (0..<4).map { _ in
                        let wire = try Wire(port: server.port)
                        wire.send(
                            "POST /verifyReceipt HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n"
                        )
                        // 100 (Continue): the header was read.
                        try wire.more()
                        wire.send("{")
                        return wire
                    }
                    let honest = try (0..<3).map { index in
                        let wire = try Wire(port: server.port)
                        // Until it is taken in: the one that had to go is closed.
                        #expect(try stuck[index].readToEnd().hasPrefix("HTTP/1.1 100 "))
                        return wire
                    }
                    return try honest.map { wire in
                        wire.send(Sent.post(Sent.body()))
                        return try wire.readResponse().verifyStatus
                    }
                }
                #expect(statuses == [0, 0, 0])
            }
        }

        /// With HTTP/2 a client can forbid its answer with a window of nothing, so that it is never taken.
        @Test func unreadAnswersBlockNoClient() async throws {
            let files = try TestCertificate()
            let configuration = VerifyReceiptServerConfiguration.testing {
                $0.limits.connections = 3
                $0.listeners = [.init(port: 0, tls: files.tls), .init(port: 0)]
            }
            try await TestServer.run(configuration) { server in
                // SETTINGS_INITIAL_WINDOW_SIZE = 0
                let noWindow = SilentHTTP2Client.frame(type: 4, [0, 4, 0, 0, 0, 0])
                var clients: [SilentHTTP2Client] = []
                for _ in 0..<3 {
                    let client = try await SilentHTTP2Client(port: server.port, trusting: files)
                    try await client.send(SilentHTTP2Client.preface + noWindow + SilentHTTP2Client.request("{}"))
                    try await eventually("the answer begins") { client.frames.contains { $0.type == 1 } }
                    #expect(!client.hasAnswer)
                    clients.append(client)
                }
                let answer = try await Wire.ask(server.addresses.ports[1], Sent.post(Sent.body()))
                #expect(answer.verifyStatus == 0)
                try await eventually("the first had to go") { !clients[0].isOpen }
                #expect(clients[1].isOpen && clients[2].isOpen)
                #expect(!server.server.metricsText.contains("legacy_receipts_connections_refused_total{"))
                for client in clients { await client.close() }
            }
        }

        @Test func aRequestThatIsBeingAnsweredIsNotClosedForAnother() async throws {
            let store = PuppetStore()
            store.become(.waits)
            let configuration = VerifyReceiptServerConfiguration.testing { $0.limits.connections = 1 }
            try await TestServer.run(configuration, store: store) { server in
                async let answer = Wire.ask(server.port, Sent.post(Sent.body()))
                try await eventually("the request works") { store.calls > 0 }
                let refused = try await Wire.run {
                    let wire = try Wire(port: server.port)
                    return try wire.readToEnd()
                }
                #expect(refused.isEmpty)
                store.become(.works)
                #expect(try await answer.verifyStatus == 0)
                #expect(server.server.metricsText.contains(#"connections_refused_total{reason="limit"} 1"#))
                #expect(server.log.text.contains("connections are refused: limits.connections is reached"))
            }
        }

        /// Under TLS too, where a connection is silent before and after its handshake.
        @Test func silentTLSConnectionsBlockNoClient() async throws {
            let files = try TestCertificate()
            let configuration = VerifyReceiptServerConfiguration.testing {
                $0.limits.connections = 5
                $0.listeners = [.init(port: 0, tls: files.tls), .init(port: 0)]
            }
            try await TestServer.run(configuration) { server in
                let statuses = try await Wire.run {
                    let silent = try (0..<20).map { _ in try Wire(port: server.port) }
                    // A burst that is still being accepted would push an honest connection out before its header is read.
                    let deadline = ContinuousClock.now + .seconds(60)
                    while !server.server.metricsText.contains("connections_accepted_total 20\n") {
                        try #require(ContinuousClock.now < deadline, "not all are accepted")
                        Thread.sleep(forTimeInterval: 0.01)
                    }
                    let statuses = try (0..<5).map { _ in
                        let honest = try Wire(port: server.addresses.ports[1])
                        honest.send(Sent.post(Sent.body()))
                        return try honest.readResponse().verifyStatus
                    }
                    for wire in silent { wire.close() }
                    return statuses
                }
                #expect(statuses == [0, 0, 0, 0, 0])
            }
        }

        @Test func oneClientHasNoMoreThanItsConnections() async throws {
            let configuration = VerifyReceiptServerConfiguration.testing { $0.limits.connectionsPerAddress = 2 }
            try await TestServer.run(configuration) { server in
                try await Wire.run {
                    let kept = try (0..<2).map { _ in try Wire(port: server.port) }
                    for wire in kept {
                        wire.send(Sent.post("{}"))
                        #expect(try wire.readResponse().verifyStatus == 21002)
                    }
                    let third = try Wire(port: server.port)
                    #expect(try third.readToEnd().isEmpty)
                    for wire in kept { wire.close() }
                }
                try await eventually("there is room again") { server.metric("connections") == 0 }
                #expect(try await Wire.ask(server.port, Sent.post(Sent.body())).verifyStatus == 0)
                #expect(server.server.metricsText.contains(#"connections_refused_total{reason="address"} 1"#))
            }
        }

        /// This machine is a trusted proxy, and a client has one connection.
        private func behindAProxy() throws -> VerifyReceiptServerConfiguration {
            let loopback = try #require(IPNetwork("127.0.0.0/8"))
            return .testing {
                $0.limits.connectionsPerAddress = 1
                $0.trustedProxies = [loopback]
            }
        }

        /// A proxy's connections are those of many clients; the clients that it names have the bound.
        @Test func clientsBehindATrustedProxyHaveTheBoundOfTheirOwn() async throws {
            let store = PuppetStore()
            store.become(.waits)
            try await TestServer.run(behindAProxy(), store: store) { server in
                let from = { @Sendable (client: String) in
                    Sent.post(Sent.body(), headers: ["X-Forwarded-For: 198.51.100.7, \(client)"])
                }
                async let first = Wire.ask(server.port, from("192.0.2.1"))
                try await eventually("the first works") { store.calls > 0 }
                let second = try await Wire.ask(server.port, from("192.0.2.1"))
                #expect(second.status == 429)
                #expect(second.body == #"{"status":21005}"#)
                #expect(second.headers["retry-after"] != nil)
                async let other = Wire.ask(server.port, from("192.0.2.2"))
                try await eventually("another client works") { store.calls > 1 }
                store.become(.works)
                #expect(try await first.verifyStatus == 0)
                #expect(try await other.verifyStatus == 0)
                #expect(try await Wire.ask(server.port, from("192.0.2.1")).verifyStatus == 0)
                #expect(server.log.text.contains(#""client":"192.0.2.2""#))
            }
        }

        /// Otherwise a client would switch its bound off with a header of its own.
        @Test func clientsThatContradictTheirProxyShareItsBound() async throws {
            let store = PuppetStore()
            store.become(.waits)
            try await TestServer.run(behindAProxy(), store: store) { server in
                let with = { @Sendable (headers: [String]) in Sent.post(Sent.body(), headers: headers) }
                let own = "X-Forwarded-For: 192.0.2.1"
                async let first = Wire.ask(server.port, with([own, "Forwarded: for=198.51.100.7"]))
                try await eventually("the first works") { store.calls > 0 }
                for invented in ["for=198.51.100.8", "x", "for=127.0.0.1"] {
                    let answer = try await Wire.ask(server.port, with([own, "Forwarded: \(invented)"]))
                    #expect(answer.status == 429, "\(invented)")
                }
                // What comes from the trusted networks themselves has no bound.
                async let second = Wire.ask(server.port, with(["X-Forwarded-For: 127.0.0.2"]))
                try await eventually("the second works") { store.calls > 1 }
                async let third = Wire.ask(server.port, with(["X-Forwarded-For: 127.0.0.2"]))
                try await eventually("the third works") { store.calls > 2 }
                store.become(.works)
                for answer in try await [first, second, third] { #expect(answer.verifyStatus == 0) }
                // Its place is free again.
                let last = try await Wire.ask(server.port, with([own, "Forwarded: x"]))
                #expect(last.verifyStatus == 0)
            }
        }

        @Test func onlyTrustedProxiesNameTheClient() async throws {
            try await TestServer.run { server in
                let answer = try await Wire.ask(
                    server.port,
                    Sent.post(Sent.body(), headers: ["X-Forwarded-For: 192.0.2.1", "Forwarded: for=192.0.2.1"]))
                #expect(answer.verifyStatus == 0)
                #expect(!server.log.text.contains("192.0.2.1"))
            }
        }
    }
}
