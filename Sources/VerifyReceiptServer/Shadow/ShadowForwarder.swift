import AsyncHTTPClient
import Foundation
public import Logging
import NIOCore
import ReplyComparison
public import ServiceLifecycle
import Synchronization
public import VerifyReceipt

/// Shadow mode: sends each request also to a live verifyReceipt, in the background, and compares its reply with ours.
///
/// It does not delay answers: ``submit(request:environment:reply:marks:)`` puts the request into a bounded queue and
/// returns. Requests that do not fit are counted and dropped. If the live service is down, requests fail in the
/// background, at most ``ShadowConfiguration/maximumConcurrency`` at once.
///
/// Each endpoint is compared with the same endpoint: 21007 and 21008 are compared, not followed. The request is
/// forwarded byte for byte, including its password, because the live service needs it. Nothing of it is logged or
/// recorded.
public final class ShadowForwarder: Service {
    /// A header of forwarded requests: the random marks of the servers that forwarded them. A server does not forward a
    /// request with its own mark; otherwise two servers that shadow each other would loop. Any other value has no
    /// effect.
    public static let markHeader = "X-Legacy-Receipts-Shadow"

    private struct Job: Sendable {
        let request: [UInt8]
        let environment: EndpointEnvironment
        let reply: VerifyReceiptReply
        /// The value of ``ShadowForwarder/markHeader``.
        let marks: String
    }

    private struct State {
        var counters = ShadowCounters()
        var accepted = 0
        var finished = 0
        var waitingSize = 0
        /// Limits an outage to two log lines.
        var isFailing = false
        var isRecordFailing = false
    }

    private let configuration: ShadowConfiguration
    private let logger: Logger
    private let clock: @Sendable () -> Int64
    private let onComparison: @Sendable (ComparisonSummary) -> Void
    private let recorder: ShadowRecorder?
    private let marks = ShadowMarks()
    private let state = Mutex(State())
    private let jobs: AsyncStream<Job>
    private let continuation: AsyncStream<Job>.Continuation

    /// - Parameters:
    ///   - configuration: URLs and limits.
    ///   - logger: gets one line when the other server cannot be reached or the record cannot be written.
    ///   - clock: milliseconds since 1970-01-01T00:00:00Z.
    ///   - onComparison: called after each comparison, in the background.
    public init(
        configuration: ShadowConfiguration, logger: Logger, clock: (@Sendable () -> Int64)? = nil,
        onComparison: @escaping @Sendable (ComparisonSummary) -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.logger = logger
        self.clock = clock ?? { Int64(Date().timeIntervalSince1970 * 1000) }
        self.onComparison = onComparison
        recorder = configuration.recordPath.map {
            ShadowRecorder(path: $0, maximumSize: configuration.maximumRecordSize)
        }
        (jobs, continuation) = AsyncStream.makeStream(
            of: Job.self, bufferingPolicy: .bufferingOldest(max(1, configuration.maximumQueueLength)))
    }

    /// The counts so far.
    public var counters: ShadowCounters { state.withLock { $0.counters } }

    // MARK: Taking in

    /// Adds an answered request. Returns at once; the request may be dropped.
    ///
    /// `marks` is the request's own ``markHeader``, if it has one.
    public func submit(
        request: [UInt8], environment: EndpointEnvironment, reply: VerifyReceiptReply, marks received: String? = nil
    ) {
        guard !marks.areOwn(received) else { return state.withLock { $0.counters.returned += 1 } }
        let job = Job(
            request: request, environment: environment, reply: reply, marks: marks.next(after: received))
        let size = request.count + reply.body.count
        let hasRoom = state.withLock { state in
            state.counters.submitted += 1
            guard state.waitingSize + size <= configuration.maximumQueueSize else {
                state.counters.dropped += 1
                return false
            }
            state.waitingSize += size
            state.accepted += 1
            return true
        }
        guard hasRoom else { return }
        switch continuation.yield(job) {
        case .enqueued: return
        default:
            state.withLock { state in
                state.waitingSize -= size
                state.accepted -= 1
                state.counters.dropped += 1
            }
        }
    }

    // MARK: Running

    /// Forwards requests until graceful shutdown (swift-service-lifecycle) or cancellation. During a graceful shutdown, it
    /// accepts no more requests and finishes the waiting ones within ``ShadowConfiguration/drainTimeout``. Call it once.
    public func run() async throws {
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: clientConfiguration)
        await withGracefulShutdownHandler {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.forwardAll(client) }
                group.addTask { [drainTimeout = configuration.drainTimeout] in
                    try? await gracefulShutdown()
                    try? await Task.sleep(for: drainTimeout)
                }
                await group.next()
                group.cancelAll()
            }
        } onGracefulShutdown: {
            self.continuation.finish()
        }
        continuation.finish()
        state.withLock { $0.counters.abandoned = $0.accepted - $0.finished }
        recorder?.close()
        try await client.shutdown()
    }

    private var clientConfiguration: HTTPClient.Configuration {
        var client = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(
                connect: .nanoseconds(configuration.timeout.wholeNanoseconds),
                read: .nanoseconds(configuration.timeout.wholeNanoseconds)))
        // Do not retry: a retry would use a slot that the next requests need.
        client.connectionPool.retryConnectionEstablishment = false
        client.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = configuration.maximumConcurrency
        return client
    }

    private func forwardAll(_ client: HTTPClient) async {
        await withTaskGroup(of: Void.self) { group in
            var running = 0
            for await job in jobs {
                if running >= max(1, configuration.maximumConcurrency) {
                    await group.next()
                    running -= 1
                }
                group.addTask { await self.forward(job, client) }
                running += 1
            }
        }
    }

    private func forward(_ job: Job, _ client: HTTPClient) async {
        let size = job.request.count + job.reply.body.count
        state.withLock { $0.waitingSize -= size }
        do {
            let reply = try await reply(to: job, client)
            try compare(job, reply)
        } catch {
            guard !Task.isCancelled else { return }
            noteFailure(error)
        }
        state.withLock { $0.finished += 1 }
    }

    private func reply(to job: Job, _ client: HTTPClient) async throws -> [UInt8] {
        let url = job.environment == .production ? configuration.productionURL : configuration.sandboxURL
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.headers.add(name: Self.markHeader, value: job.marks)
        request.body = .bytes(ByteBuffer(bytes: job.request))
        // The client adds this to its clock: a day keeps the sum in range.
        let timeout = min(configuration.timeout, .seconds(86_400))
        let response = try await client.execute(request, timeout: .nanoseconds(timeout.wholeNanoseconds))
        guard response.status == .ok else { throw UnusableReply(status: response.status.code) }
        let body = try await response.body.collect(upTo: configuration.maximumReplySize)
        return Array(body.readableBytesView)
    }

    // MARK: Comparing

    private func compare(_ job: Job, _ reply: [UInt8]) throws {
        let now = clock()
        var context = ComparisonContext(now: now, maximumDifferences: 50)
        context.read(request: job.request)
        let comparison = try ReplyComparison(apples: reply, ours: job.reply.body, context: context)
        let isComparable = comparison.entitlement.obstacle != .temporaryFailure
        let recovered = state.withLock { state in
            if isComparable { state.counters.compared += 1 } else { state.counters.incomparable += 1 }
            defer { state.isFailing = false }
            return state.isFailing
        }
        if recovered { logger.notice("shadow: the live service answers again") }
        onComparison(
            ComparisonSummary(
                environment: job.environment, appleStatus: comparison.appleStatus, ourStatus: job.reply.status,
                counts: comparison.counts, entitlement: comparison.entitlement))
        guard isComparable else { return }
        record(comparison, job, now)
    }

    private func record(_ comparison: ReplyComparison, _ job: Job, _ now: Int64) {
        guard let recorder,
            let line = ShadowRecorder.line(comparison, job.reply.facts, job.environment, time: now)
        else { return }
        do {
            try recorder.append(line)
            state.withLock { state in
                state.counters.recorded += 1
                state.isRecordFailing = false
            }
        } catch {
            let isFirst = state.withLock { state in
                state.counters.recordFailures += 1
                defer { state.isRecordFailing = true }
                return !state.isRecordFailing
            }
            if isFirst { logger.error("shadow: the record cannot be written", metadata: ["error": "\(error)"]) }
        }
    }

    private func noteFailure(_ error: any Error) {
        let isFirst = state.withLock { state in
            state.counters.failed += 1
            defer { state.isFailing = true }
            return !state.isFailing
        }
        if isFirst { logger.warning("shadow: no usable reply of the live service", metadata: ["error": "\(error)"]) }
    }
}

/// The live service answered with an HTTP status other than 200.
private struct UnusableReply: Error, CustomStringConvertible {
    let status: UInt

    var description: String { "HTTP status \(status)" }
}
