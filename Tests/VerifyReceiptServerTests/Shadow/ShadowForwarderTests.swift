import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing
import VerifyReceipt
import VerifyReceiptServer

/// Log lines of one test.
final class LogLines: LogHandler, Sendable {
    private let text = Mutex<[String]>([])

    var lines: [String] { text.withLock { $0 } }
    var logger: Logger { Logger(label: "shadow") { _ in self } }
    var metadata: Logger.Metadata {
        get { [:] }
        // swiftlint:disable:next unused_setter_value
        set {}
    }
    var logLevel: Logger.Level {
        get { .trace }
        set {}
    }
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) {
        text.withLock { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
    }
}

/// A port that refuses every connection. It stays bound, so that no other test's server can take it meanwhile.
private struct DeafPort {
    private let descriptor: Int32
    let url: String

    init() throws {
        #if canImport(Glibc)
            let type = Int32(SOCK_STREAM.rawValue)
        #else
            let type = SOCK_STREAM
        #endif
        let descriptor = socket(AF_INET, type, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 ? getsockname(descriptor, address, &length) : -1
            }
        }
        guard result == 0 else {
            close(descriptor)
            throw POSIXError(.EADDRNOTAVAIL)
        }
        self.descriptor = descriptor
        url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
    }

    func release() { close(descriptor) }
}

@Suite("Shadow mode", .timeLimit(.minutes(10))) struct ShadowForwarderTests {
    private static let secret = "0123456789abcdef0123456789abcdef"
    private static let receipt = "TUlJVFNFQ1JFVFJFQ0VJUFQ="
    private static let request = Array(#"{"receipt-data":"\#(receipt)","password":"\#(secret)"}"#.utf8)
    private static let ours = #"{"status":0,"environment":"Production","receipt":{"bundle_id":"b","in_app":[]}}"#

    private let folder: TemporaryFolder

    @inline(never)
    init() throws { folder = try TemporaryFolder() }

    private var recordPath: String { folder.file("differences.ndjson") }

    private func configuration(
        _ url: String, _ change: (inout ShadowConfiguration) -> Void = { _ in }
    ) throws -> ShadowConfiguration {
        var configuration = try ShadowConfiguration(base: url)
        configuration.recordPath = recordPath
        configuration.timeout = .seconds(120)
        configuration.drainTimeout = .seconds(120)
        change(&configuration)
        return configuration
    }

    private func reply(_ text: String = ours, status: Int = 0) -> VerifyReceiptReply {
        var facts = ReplyFacts()
        facts.receiptName = "3f1c00ff3f1c"
        facts.bundleId = "b"
        return VerifyReceiptReply(status: status, body: Array(text.utf8), facts: facts)
    }

    /// Runs a forwarder while `body` works with it, then shuts it down gracefully.
    private func with(
        _ configuration: ShadowConfiguration, logs: LogLines = LogLines(),
        onComparison: @escaping @Sendable (ComparisonSummary) -> Void = { _ in },
        _ body: (ShadowForwarder) async throws -> Void
    ) async throws -> ShadowCounters {
        let forwarder = ShadowForwarder(
            configuration: configuration, logger: logs.logger, clock: { 1_717_243_200_789 }, onComparison: onComparison)
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: forwarder)], logger: Logger(label: "group") { _ in LogLines() }))
        let running = Task { try await group.run() }
        do {
            try await body(forwarder)
        } catch {
            running.cancel()
            throw error
        }
        await group.triggerGracefulShutdown()
        try await running.value
        return forwarder.counters
    }

    private func record() -> String { (try? String(contentsOfFile: recordPath, encoding: .utf8)) ?? "" }

    @Test("The request goes out byte for byte, marked, to the path of its environment")
    func forwards() async throws {
        let live = try await LiveServiceStub(.answer(Self.ours))
        let counters = try await with(configuration(live.url)) { forwarder in
            forwarder.submit(request: Self.request, environment: .production, reply: reply())
            forwarder.submit(request: Self.request, environment: .sandbox, reply: reply())
            try await live.waitForRequests(2)
        }
        #expect(counters.submitted == 2 && counters.compared == 2 && counters.failed == 0)
        #expect(Set(live.received.map(\.path)) == ["/verifyReceipt", "/sandbox/verifyReceipt"])
        for request in live.received {
            #expect(request.body == Self.request)
            #expect(request.head.hasPrefix("POST "))
            #expect(request.head.lowercased().contains(ShadowForwarder.markHeader.lowercased()))
        }
        #expect(record() == "")
        try await live.stop()
    }

    @Test("A difference is counted, reported to metrics and written as one line")
    func records() async throws {
        let apples = #"{"status":0,"environment":"Sandbox","receipt":{"bundle_id":"b","in_app":[]}}"#
        let live = try await LiveServiceStub(.answer(apples))
        let summaries = Mutex<[ComparisonSummary]>([])
        let collect: @Sendable (ComparisonSummary) -> Void = { summary in summaries.withLock { $0.append(summary) } }
        let counters = try await with(configuration(live.url), onComparison: collect) { forwarder in
            forwarder.submit(request: Self.request, environment: .production, reply: reply())
            try await eventually("it is counted") { forwarder.counters.compared == 1 }
        }
        #expect(counters.recorded == 1 && counters.recordFailures == 0)
        let summary = try #require(summaries.withLock { $0 }.first)
        #expect(summary.counts.mismatch == 1 && summary.appleStatus == 0 && summary.ourStatus == 0)
        let lines = record().split(separator: "\n")
        let first = try #require(lines.first)
        let object = try JSONSerialization.jsonObject(with: Data(first.utf8))
        let line = try #require(object as? [String: Any])
        #expect(lines.count == 1)
        #expect(line["time"] as? Int64 == 1_717_243_200_789 && line["receipt"] as? String == "3f1c00ff3f1c")
        let difference = try #require((line["differences"] as? [[String: Any]])?.first)
        #expect(difference["path"] as? String == "environment" && difference["kind"] as? String == "mismatch")
        #expect(difference["apple"] as? String == "Sandbox" && difference["ours"] as? String == "Production")
        try await live.stop()
    }

    @Test("A purchase that only our answer grants is reported to metrics and written")
    func entitlement() async throws {
        let live = try await LiveServiceStub(.answer(#"{"status":21010,"environment":"Production"}"#))
        let summaries = Mutex<[ComparisonSummary]>([])
        let collect: @Sendable (ComparisonSummary) -> Void = { summary in summaries.withLock { $0.append(summary) } }
        let counters = try await with(configuration(live.url), onComparison: collect) { forwarder in
            forwarder.submit(request: Self.request, environment: .production, reply: reply())
            try await eventually("it is counted") { forwarder.counters.compared == 1 }
        }
        #expect(counters.incomparable == 0)
        let summary = try #require(summaries.withLock { $0 }.first)
        #expect(summary.entitlement.grantedByOursOnly == 1 && summary.entitlement.grantedByAppleOnly == 0)
        #expect(summary.counts.mismatch == 0)
        let object = try JSONSerialization.jsonObject(with: Data(record().utf8))
        let entitlement = try #require((object as? [String: Any])?["entitlement"] as? [String: Any])
        #expect(entitlement["grantedByOursOnly"] as? Int == 1)
        let difference = try #require((entitlement["differences"] as? [[String: Any]])?.first)
        #expect(difference["grantedBy"] as? String == "ours" && difference["reason"] as? String == "status")
        #expect(difference["status"] as? Int == 21010)
        try await live.stop()
    }

    @Test(
        "A temporary failure of the live service is counted as such, not as compared", arguments: [21005, 21009, 21104])
    func temporaryFailure(status: Int) async throws {
        let live = try await LiveServiceStub(.answer(#"{"status":\#(status)}"#))
        let counters = try await with(configuration(live.url)) { forwarder in
            forwarder.submit(request: Self.request, environment: .production, reply: reply())
            try await eventually("it is counted") { forwarder.counters.incomparable == 1 }
        }
        #expect(counters.compared == 0 && counters.failed == 0 && counters.recorded == 0)
        #expect(record() == "")
        try await live.stop()
    }

    @Test("Metrics state which side grants")
    func metrics() async throws {
        let live = try await LiveServiceStub(.answer(#"{"status":21010,"environment":"Production"}"#))
        var shadow = try ShadowConfiguration(base: live.url)
        shadow.timeout = .seconds(120)
        let configuration = VerifyReceiptServerConfiguration.testing { $0.shadow = shadow }
        try await TestServer.run(configuration) { server in
            #expect(try await Wire.ask(server.port, Sent.post(Sent.body())).verifyStatus == 0)
            try await eventually("the comparison is counted") {
                try await Wire.ask(server.adminPort, Sent.get("/metrics")).body.contains(
                    #"legacy_receipts_shadow_entitlements_total{granted="ours_only"} 1"#)
            }
        }
        try await live.stop()
    }

    @Test("Fields that differ at every request are counted and not written")
    func expectedDifferences() async throws {
        let apples =
            #"{"status":0,"environment":"Production","latest_receipt":"QUE=","receipt":{"bundle_id":"b","in_app":[],"request_date_ms":"2"}}"#
        let ours =
            #"{"status":0,"environment":"Production","latest_receipt":"QkI=","receipt":{"bundle_id":"b","in_app":[],"request_date_ms":"1"}}"#
        let live = try await LiveServiceStub(.answer(apples))
        let counters = try await with(configuration(live.url)) { forwarder in
            forwarder.submit(request: Self.request, environment: .production, reply: reply(ours))
            try await eventually("it is counted") { forwarder.counters.compared == 1 }
        }
        #expect(counters.recorded == 0)
        #expect(record() == "")
        try await live.stop()
    }

    @Test("No secret and no receipt is in the record or in the log")
    func noSecrets() async throws {
        let apples = #"{"status":21004,"latest_receipt":"\#(Self.receipt)","echo":"\#(Self.secret)"}"#
        let logs = LogLines()
        let answering = try await LiveServiceStub(.answer(apples))
        let broken = try await LiveServiceStub(.answer("<html>\(Self.secret)</html>"))
        for live in [answering, broken] {
            _ = try await with(configuration(live.url), logs: logs) { forwarder in
                let text = #"{"status":21004,"environment":"Production","latest_receipt":"QUE="}"#
                forwarder.submit(request: Self.request, environment: .production, reply: reply(text, status: 21004))
                try await eventually("it is counted") { forwarder.counters.compared + forwarder.counters.failed == 1 }
            }
            try await live.stop()
        }
        let written = record()
        #expect(!written.isEmpty && !logs.lines.isEmpty)
        for text in [written] + logs.lines {
            #expect(!text.contains(Self.secret) && !text.contains(Self.receipt), "\(text)")
        }
    }

    @Test(
        "A live service that fails is counted and changes nothing else",
        arguments: [
            LiveServiceStub.Behavior.close, .answer("no JSON"), .answer(ours, status: 503), .answer("[]"), .answer(""),
            .bytes(70_000),
        ])
    func failures(behavior: LiveServiceStub.Behavior) async throws {
        let live = try await LiveServiceStub(behavior)
        let logs = LogLines()
        let counters = try await with(configuration(live.url) { $0.maximumReplySize = 65_536 }, logs: logs) {
            forwarder in
            for _ in 0..<3 { forwarder.submit(request: Self.request, environment: .production, reply: reply()) }
            try await eventually("it is counted") { forwarder.counters.failed == 3 }
        }
        #expect(counters.compared == 0 && counters.abandoned == 0)
        #expect(logs.lines.count == 1, "an outage is one line")
        #expect(record() == "")
        try await live.stop()
    }

    @Test("A live service that is not there")
    func unreachable() async throws {
        let deaf = try DeafPort()
        let counters = try await with(configuration(deaf.url)) { forwarder in
            forwarder.submit(request: Self.request, environment: .production, reply: reply())
            try await eventually("it is counted") { forwarder.counters.failed == 1 }
        }
        #expect(counters.failed == 1)
        deaf.release()
    }

    @Test("A reply that never comes, or never ends, is given up after the timeout", arguments: [true, false])
    func timeout(isSilent: Bool) async throws {
        let live = try await LiveServiceStub(isSilent ? .silence : .half)
        let counters = try await with(configuration(live.url) { $0.timeout = .milliseconds(200) }) { forwarder in
            forwarder.submit(request: Self.request, environment: .production, reply: reply())
            try await eventually("it is counted") { forwarder.counters.failed == 1 }
        }
        #expect(counters.failed == 1)
        try await live.stop()
    }

    @Test("Queue and concurrency are bounded: what does not fit is dropped and counted")
    func bounded() async throws {
        let live = try await LiveServiceStub(.silence)
        let configuration = try configuration(live.url) {
            $0.maximumConcurrency = 2
            $0.maximumQueueLength = 3
            $0.drainTimeout = .milliseconds(100)
        }
        let counters = try await with(configuration) { forwarder in
            for _ in 0..<2 { forwarder.submit(request: Self.request, environment: .production, reply: reply()) }
            try await live.waitForRequests(2)
            for _ in 0..<100 { forwarder.submit(request: Self.request, environment: .production, reply: reply()) }
            // One more than the queue may already be in the hands of the loop, which waits for a free place.
            #expect((96...97).contains(forwarder.counters.dropped))
            #expect(live.received.count == 2)
        }
        #expect(counters.submitted == 102)
        #expect(counters.abandoned + counters.dropped == 102 && counters.compared == 0)
        try await live.stop()
    }

    @Test("The bodies that wait are bounded by their size")
    func boundedSize() async throws {
        let live = try await LiveServiceStub(.answer(Self.ours))
        let configuration = try configuration(live.url) { $0.maximumQueueSize = 1_000 }
        let counters = try await with(configuration) { forwarder in
            let large = Self.request + [UInt8](repeating: 0x20, count: 1_000)
            forwarder.submit(request: large, environment: .production, reply: reply())
            #expect(forwarder.counters.dropped == 1)
            // The room of what was dropped and of what was sent is given back.
            for index in 1...20 {
                forwarder.submit(request: Self.request, environment: .production, reply: reply())
                try await eventually("it is counted") { forwarder.counters.compared == index }
            }
        }
        #expect(counters.dropped == 1 && counters.compared == 20)
        try await live.stop()
    }

    @Test("A graceful shutdown finishes what waits and takes nothing more")
    func drains() async throws {
        let live = try await LiveServiceStub(.answer(Self.ours))
        let forwarder = ShadowForwarder(
            configuration: try configuration(live.url) {
                $0.maximumConcurrency = 1
            }, logger: LogLines().logger)
        for _ in 0..<20 { forwarder.submit(request: Self.request, environment: .production, reply: reply()) }
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: forwarder)], logger: Logger(label: "group") { _ in LogLines() }))
        let running = Task { try await group.run() }
        try await live.waitForRequests(1)
        await group.triggerGracefulShutdown()
        try await running.value
        #expect(forwarder.counters.compared == 20 && forwarder.counters.abandoned == 0)
        forwarder.submit(request: Self.request, environment: .production, reply: reply())
        #expect(forwarder.counters.dropped == 1)
        try await live.stop()
    }

    @Test("A shutdown does not wait longer than the drain's time for a live service that hangs")
    func drainTimeout() async throws {
        let live = try await LiveServiceStub(.silence)
        let configuration = try configuration(live.url) { $0.drainTimeout = .milliseconds(50) }
        let counters = try await with(configuration) { forwarder in
            for _ in 0..<10 { forwarder.submit(request: Self.request, environment: .production, reply: reply()) }
            try await live.waitForRequests(1)
        }
        #expect(counters.abandoned == 10)
        try await live.stop()
    }

    @Test("Redirects are not followed")
    func redirects() async throws {
        let target = try await LiveServiceStub(.answer(Self.ours))
        let live = try await LiveServiceStub(.answer("", status: 307))
        let counters = try await with(configuration(live.url)) { forwarder in
            forwarder.submit(request: Self.request, environment: .production, reply: reply())
            try await eventually("it is counted") { forwarder.counters.failed == 1 }
        }
        #expect(counters.failed == 1 && target.received.isEmpty)
        try await live.stop()
        try await target.stop()
    }

    @Test("A record that cannot be written is counted and logged once")
    func unwritable() async throws {
        let live = try await LiveServiceStub(.answer(#"{"status":21003}"#))
        let logs = LogLines()
        let configuration = try configuration(live.url) { $0.recordPath = "/nowhere/at/all.ndjson" }
        let counters = try await with(configuration, logs: logs) { forwarder in
            for _ in 0..<5 { forwarder.submit(request: Self.request, environment: .production, reply: reply()) }
            try await eventually("it is counted") { forwarder.counters.recordFailures == 5 }
        }
        #expect(counters.compared == 5 && counters.recorded == 0)
        #expect(logs.lines.count == 1)
        try await live.stop()
    }

    @Test("The record is two files of bounded size, of whole lines, for its owner only")
    func rotation() async throws {
        let live = try await LiveServiceStub(.answer(#"{"status":21003}"#))
        let configuration = try configuration(live.url) { $0.maximumRecordSize = 2_000 }
        let counters = try await with(configuration) { forwarder in
            for index in 1...30 {
                forwarder.submit(request: Self.request, environment: .production, reply: reply())
                try await eventually("it is counted") { forwarder.counters.recorded == index }
            }
        }
        #expect(counters.recorded == 30)
        for path in [recordPath, recordPath + ".1"] {
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(!text.isEmpty && text.utf8.count <= 2_000 && text.hasSuffix("\n"))
            for line in text.split(separator: "\n") {
                #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(line.utf8)) }
            }
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode.map { $0 & 0o077 } == 0)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
        try await live.stop()
    }
}
