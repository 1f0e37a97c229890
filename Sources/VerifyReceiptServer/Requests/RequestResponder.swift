import AppStoreSync
import Foundation
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import VerifyReceipt

enum Processors {
    static let count = max(1, ProcessInfo.processInfo.activeProcessorCount)
}

/// Ends a connection after its answer.
struct ConnectionMustClose: Error {}

/// Answers the requests of one listener.
///
/// Runs on `BlockingThreads`, never on a thread of the event loops, because verifying a receipt or reading from the
/// store would delay other connections.
struct RequestResponder: Sendable {
    let state: ServerState
    let role: VerifyReceiptServerConfiguration.Role

    func respond(_ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel) async throws {
        let current = state.current
        let route = Route(
            path: request.head.path, authority: request.head.authority, role: role,
            sandboxHosts: current.sandboxHosts)
        let sender = self.sender(request, channel)
        let exchange = Exchange(
            name: RequestName.of(request.head), traceId: RequestName.traceId(of: request.head), route: route,
            begin: .now, isHTTP2: channel.parent?.parent != nil,
            client: sender.client, bounded: sender.bounded)
        let declared = request.headers.value(of: .contentLength).flatMap { Int($0) }
        let isExpecting = request.headers.value(of: .expect)?.lowercased() == "100-continue"
        var reader = RequestBodyReader(request.body, declared: declared, budget: state.budget)
        if let refusal = RequestRules.refusal(of: request, isHTTP2: exchange.isHTTP2) {
            try await send(refusal, request, writer, channel, exchange)
            // CONNECT has no body.
            if !isExpecting, request.method != .connect { try await reader.discard() }
            throw ConnectionMustClose()
        }
        guard let work = Work(route, current) else {
            let answer = Answer.problem(.notFound, "Unknown path.")
            return try await send(answer, request, writer, channel, exchange)
        }
        if request.method == .options, case .validate = work {
            return try await send(.preflight, request, writer, channel, exchange)
        }
        guard request.method == .post else { return try await send(work.notAPost, request, writer, channel, exchange) }
        let outcome: Outcome
        if let refusal = RequestRules.refusal(ofBodyOf: request) {
            outcome = Outcome(answer: refusal)
        } else {
            if isExpecting, declared ?? 0 <= state.limits.bodyBytes, !exchange.isHTTP2 {
                try await writer.writeInformationalHead(HTTPResponse(status: .continue))
            }
            outcome = try await self.outcome(&reader, work, channel, exchange)
        }
        // The budget is released after the answer is written and observed.
        defer { state.budget.release(outcome.held) }
        try await send(outcome.answer, request, writer, channel, exchange)
        if let body = outcome.body, case .verifyReceipt(let environment, _) = work {
            observe(body, request, environment, outcome.answer.reply)
        }
        guard outcome.answer.closes else { return }
        // A client that waits for 100 (Continue) does not send the body.
        if !isExpecting { try await reader.discard() }
        throw ConnectionMustClose()
    }

    /// The client of a request from a trusted proxy, and the address to which the request counts.
    ///
    /// If the headers do not identify the client, the request counts to the proxy. So a client cannot avoid its limit
    /// with a header that contradicts the proxy's.
    private func sender(_ request: Request, _ channel: any Channel) -> (client: IPAddress?, bounded: IPAddress?) {
        guard !state.trustedProxies.isEmpty, let peer = IPAddress(channel.remoteAddress), state.isTrustedProxy(peer)
        else { return (nil, nil) }
        switch ForwardedAddress(request.headers, trusted: state.trustedProxies) {
        case .client(let client): return (client, client)
        case .onlyProxies: return (nil, nil)
        case .unclear: return (nil, peer)
        }
    }

    /// Passes an answered request to shadow mode.
    private func observe(
        _ body: [UInt8], _ request: Request, _ environment: EndpointEnvironment, _ reply: VerifyReceiptReply
    ) {
        guard let shadow = state.shadow else { return }
        let received = HTTPField.Name(ShadowForwarder.markHeader).flatMap { request.headers[$0] }
        shadow.submit(request: body, environment: environment, reply: reply, marks: received)
    }

    /// The result of a POST.
    private struct Outcome {
        let answer: Answer
        /// The request's body, if the endpoint read it and shadow mode needs it.
        var body: [UInt8]?
        /// Bytes of the budget.
        var held = 0
    }

    /// The answer to a POST.
    ///
    /// - Throws: an error if the client has disconnected.
    private func outcome(
        _ reader: inout RequestBodyReader, _ work: Work, _ channel: any Channel, _ exchange: Exchange
    ) async throws -> Outcome {
        // The App Store's notifications are not limited per client.
        let bounded = if case .notifications = work { IPAddress?.none } else { exchange.bounded }
        guard state.clients.enter(bounded) else {
            var answer = work.unavailable(closes: true)
            answer.status = .tooManyRequests
            return Outcome(answer: answer)
        }
        defer { state.clients.leave(bounded) }
        var held = 0
        defer { state.budget.release(reader.taken - held) }
        do {
            let body = try await reader.collect(limit: state.limits.bodyBytes)
            guard let answer = await answer(to: body, work, channel) else {
                throw RequestBodyReader.Failure.incomplete
            }
            guard answer.isVerified else { return Outcome(answer: answer) }
            let size = answer.reply.body.count
            guard state.budget.take(size, of: size) else { return Outcome(answer: work.unavailable(closes: false)) }
            guard state.shadow != nil, case .verifyReceipt = work else { return Outcome(answer: answer, held: size) }
            held = reader.taken
            return Outcome(answer: answer, body: body, held: size + held)
        } catch RequestBodyReader.Failure.tooLarge {
            let detail = "The body has more than \(state.limits.bodyBytes) bytes."
            return Outcome(answer: .problem(.contentTooLarge, detail, closes: true))
        } catch RequestBodyReader.Failure.noRoom {
            return Outcome(answer: work.unavailable(closes: true))
        } catch {
            state.metrics.abandoned.increment()
            throw error
        }
    }

    /// The answer of the endpoint or the store, or 503 if the queue has no room; nil if the client has disconnected.
    private func answer(to body: [UInt8], _ work: Work, _ channel: any Channel) async -> Answer? {
        guard channel.isActive else { return nil }
        guard await state.queue.enter() else { return work.unavailable(closes: false) }
        let place = WorkPlace(state.queue, hasClient: { channel.isActive })
        defer { place.leave() }
        guard channel.isActive, !Task.isCancelled else { return nil }
        return await WorkPlace.$current.withValue(place) { () async -> Answer in
            switch work {
            case .verifyReceipt(let environment, let endpoint):
                let reply = await endpoint.reply(to: body, at: environment, now: state.clock())
                return Answer(status: .ok, reply: reply, isVerified: true)
            case .validate(let environment, let endpoint):
                var answer = Answer.validation(await endpoint.validate(body, at: environment, now: state.clock()))
                answer.isVerified = true
                return answer
            case .notifications(let version, let intake):
                let cost = NotificationIntake.memory(for: body)
                guard state.budget.take(cost, of: cost) else { return work.unavailable(closes: false) }
                defer { state.budget.release(cost) }
                return .notification(await intake.receive(body, version, now: state.clock()))
            }
        }
    }

    private func send(
        _ answer: Answer, _ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel,
        _ exchange: Exchange
    ) async throws {
        let clientCloses = request.headers.value(of: .connection)?.lowercased() == "close"
        let isDraining = state.isDraining
        let closes = (answer.closes || clientCloses || isDraining) && !exchange.isHTTP2
        var head = state.head(answer.status, answer.contentType, bytes: answer.reply.body.count)
        if let name = RequestName.header { head.headerFields[name] = exchange.name }
        Self.state(answer.reply.facts, in: &head)
        if answer.status == .serviceUnavailable || answer.status == .tooManyRequests {
            head.headerFields[.retryAfter] = "1"
        }
        if case .validate = exchange.route { Self.allowOtherOrigins(in: &head) }
        if answer.status == .methodNotAllowed { head.headerFields[.allow] = "POST" }
        if answer.status == .unsupportedMediaType { head.headerFields[.acceptEncoding] = "identity" }
        if closes { head.headerFields[.connection] = "close" }
        record(answer, request, channel, exchange)
        try await request.write(head, ByteBuffer(bytes: answer.reply.body), to: writer)
        // HTTP/2 has GOAWAY instead of `Connection: close`. The handler of the connection sends it.
        if isDraining, exchange.isHTTP2 {
            channel.parent?.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        }
        // Hummingbird recognizes only the lower-case form.
        if closes, !answer.closes, request.headers.value(of: .connection) != "close" { throw ConnectionMustClose() }
    }

    /// Adds the source of an answer with a freshness requirement: `Age` (RFC 9111, 5.1), the seconds since the App Store query,
    /// and our own `Legacy-Receipts-Source`.
    private static func state(_ facts: ReplyFacts, in head: inout HTTPResponse) {
        if let age = facts.ageMilliseconds { head.headerFields[.age] = String(age / 1_000) }
        if let source = facts.source, let name = sourceHeader { head.headerFields[name] = source.rawValue }
    }

    /// Hybrid apps send validations from a web view with the app's own origin, so the web view sends a preflight
    /// request first (Fetch standard, CORS protocol). Every origin is allowed: a request has no cookies, and its
    /// content is the proof.
    private static func allowOtherOrigins(in head: inout HTTPResponse) {
        head.headerFields[.accessControlAllowOrigin] = "*"
        head.headerFields[.accessControlAllowMethods] = "POST"
        // The wildcard does not include Authorization, and old web views do not know it.
        head.headerFields[.accessControlAllowHeaders] = "Accept, Authorization, Content-Type, *"
        head.headerFields[.accessControlMaxAge] = "86400"
    }

    private static let sourceHeader = HTTPField.Name("Legacy-Receipts-Source")

    // MARK: Logs and metrics

    private func record(_ answer: Answer, _ request: Request, _ channel: any Channel, _ exchange: Exchange) {
        let duration = exchange.begin.duration(to: .now)
        let facts = answer.reply.facts
        let metrics = state.metrics
        metrics.responses.add(String(answer.status.code))
        let counters: (requests: LabeledCounter, environment: EndpointEnvironment)? =
            switch exchange.route {
            case .verifyReceipt(let environment): (metrics.requests, environment)
            case .validate(let environment) where answer.contentType == Answer.json: (metrics.validations, environment)
            case .validate, .notifications, .unknown: nil
            }
        if let (requests, environment) = counters {
            if answer.contentType == Answer.json {
                let app = facts.isConfiguredApp ? facts.bundleId : nil
                requests.add(
                    environment.rawValue.lowercased(), String(answer.reply.status),
                    app ?? (facts.bundleId == nil ? "none" : "other"))
            }
            metrics.observe(duration, at: environment)
        }
        if case .notifications(let version) = exchange.route { metrics.count(answer, version, duration) }
        if answer.isVerified {
            metrics.verification.recordNanoseconds(facts.verificationNanoseconds)
            if let store = facts.storeNanoseconds { metrics.store.recordNanoseconds(store) }
            if facts.storeFailed { metrics.storeFailures.increment() }
            metrics.transactionsFromStore.increment(by: max(0, facts.transactionsFromStore))
        }
        guard state.logsRequests, state.logger.logLevel <= .info || answer.isFailure else { return }
        log(answer, request, channel, exchange, duration)
    }

    private func log(
        _ answer: Answer, _ request: Request, _ channel: any Channel, _ exchange: Exchange, _ duration: Duration
    ) {
        let facts = answer.reply.facts
        let hasStatus =
            switch exchange.route {
            case .verifyReceipt, .validate: answer.contentType == Answer.json
            case .notifications, .unknown: false
            }
        var fields = Logger.Metadata(minimumCapacity: 16)
        fields["ageMs"] = facts.ageMilliseconds.map { .stringConvertible($0) }
        fields["bundleId"] = facts.bundleId.map { .string($0) }
        fields["client"] = exchange.client.map { .string($0.description) }
        fields["durationMs"] = .stringConvertible(duration.milliseconds)
        fields["httpStatus"] = .stringConvertible(answer.status.code)
        fields["method"] = .string(LogName.method(request.method))
        fields["path"] = .string(LogName.path(exchange.route))
        fields["peer"] = (channel.remoteAddress?.ipAddress).map { .string($0) }
        fields["reason"] = facts.reason.map { .string($0) }
        fields["receipt"] = facts.receiptName.map { .string($0) }
        fields["requestId"] = .string(exchange.name)
        fields["source"] = facts.source.map { .string($0.rawValue) }
        if hasStatus { fields["status"] = .stringConvertible(answer.reply.status) }
        fields["storeMs"] = facts.storeNanoseconds.map { .stringConvertible(Duration.nanoseconds($0).milliseconds) }
        fields["traceId"] = exchange.traceId.map { .string($0) }
        if facts.verificationNanoseconds > 0 {
            fields["verificationMs"] = .stringConvertible(
                Duration.nanoseconds(facts.verificationNanoseconds).milliseconds)
        }
        let flags = [
            ("appStoreFailed", facts.appStoreFailed), ("notKept", facts.isNotKept), ("spooled", facts.isSpooled),
            ("storeFailed", facts.storeFailed),
        ]
        for (name, isTrue) in flags where isTrue { fields[name] = .stringConvertible(true) }
        answer.notification?.describe(in: &fields)
        let isTrouble = answer.isFailure || facts.storeFailed || facts.appStoreFailed || facts.isNotKept
        let level: Logger.Level = isTrouble ? .warning : .info
        state.logger.log(level: level, "request", metadata: fields)
    }
}

/// The metadata of a request.
struct Exchange {
    let name: String
    /// The trace id of a `traceparent` header (W3C Trace Context, 3.2.2); nil without a valid one.
    let traceId: String?
    let route: Route
    let begin: ContinuousClock.Instant
    let isHTTP2: Bool
    /// The client of a request from a trusted proxy.
    let client: IPAddress?
    /// The address to which the request counts for `limits.connections-per-address`.
    let bounded: IPAddress?
}

/// An answer before it is written.
struct Answer {
    static let json = "application/json"
    static let text = "text/plain"
    /// RFC 9457.
    static let problemType = "application/problem+json"

    var status: HTTPResponse.Status
    var reply: VerifyReceiptReply
    var contentType = Answer.json
    /// Whether the connection is closed after it.
    var closes = false
    /// Whether the endpoint itself answered.
    var isVerified = false
    /// The result of a notification.
    var notification: NotificationReport?

    /// Whether the server failed. The request alone causes 501.
    var isFailure: Bool { status.code >= 500 && status != .notImplemented }

    /// There is no room for the request: 503 for load balancers, with 21005 for clients.
    static func unavailable(closes: Bool) -> Answer {
        Answer(status: .serviceUnavailable, reply: VerifyReceiptEndpoint.unavailable, closes: closes)
    }

    /// The answer to a preflight request of a web view; its headers give the permission.
    static var preflight: Answer {
        Answer(
            status: .ok, reply: VerifyReceiptReply(status: 0, body: [], facts: ReplyFacts()), contentType: text)
    }

    /// An answer that is not a verifyReceipt reply. The detail is one of our own sentences, so it needs no escapes.
    static func problem(_ status: HTTPResponse.Status, _ detail: String, closes: Bool = false) -> Answer {
        let text =
            #"{"type":"about:blank","title":"\#(status.reasonPhrase)","status":\#(status.code),"detail":"\#(detail)"}"#
        return Answer(
            status: status, reply: VerifyReceiptReply(status: 0, body: Array(text.utf8), facts: ReplyFacts()),
            contentType: problemType, closes: closes)
    }
}
