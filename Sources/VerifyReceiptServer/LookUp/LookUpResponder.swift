import AppStoreModels
import AppStoreServer
import AppStoreSync
import AppStoreTrust
import CoreMetrics
import Encodings
import Foundation
import HTTPTypes
import HummingbirdCore
import LegacyReceipts
import Logging
import NIOCore
import Synchronization
import TransactionStore
import VerifyReceipt

/// Answers on the look-up listener. Every request needs the bearer token (RFC 6750, 2.1). A browser sends it as the password
/// of HTTP Basic authentication (RFC 7617), with any user name.
///
/// | path | answer |
/// |---|---|
/// | `GET /v1/customers/{id}` | the customers with an id, as `customer --json` prints them; 404 if there is none |
/// | `GET /v1/customers/{id}/entitlements` | their entitlements |
/// | `POST /v1/inspect` | what the body is, as `inspect --json` prints it |
/// | `POST /v1/signatures/{kind}` | a signature for an app (``LookUpSignature``) |
/// | `GET /`, `POST /` | the page of the inspector; the form has `document` or `id` |
final class LookUpResponder: Sendable {
    /// How many questions that the store answers are worked on at once. A question that is given up counts until it ends.
    static let maximumLookUps = 8
    /// How many questions that the App Store may have to answer are worked on at once, in addition.
    static let maximumAppStoreLookUps = 4
    /// How long a client waits for an answer.
    static let timeLimit = Duration.seconds(30)
    static let maximumIdBytes = 1_024

    private let answers: any LookUpAnswers
    /// Has the tokens, the keys and the trusted roots. A reload replaces it.
    private let configuration: Mutex<VerifyReceiptServerConfiguration>
    private let maximumBody: Int
    private let questions = Mutex<[Source: Int]>([:])
    private let responses: LabeledCounter
    private let logger: Logger
    private let state: ServerState

    init(_ answers: any LookUpAnswers, _ configuration: VerifyReceiptServerConfiguration, _ state: ServerState) {
        self.answers = answers
        self.configuration = Mutex(configuration)
        maximumBody = configuration.limits.bodyBytes
        responses = state.metrics.lookUps
        logger = state.logger
        self.state = state
    }

    /// Accepts the tokens, signs with the keys and trusts the roots of this configuration from now on.
    func replace(_ new: VerifyReceiptServerConfiguration) { configuration.withLock { $0 = new } }

    private struct Question {
        /// For the log: the digest of a document, or of an id, because an id names a person.
        var name = ""
        var source = Source.store
        /// Nil if no customer has the id.
        let ask: @Sendable () async throws -> Answer?

        /// - Parameters:
        ///   - subject: a document, or the bytes of an id.
        ///   - source: where the answer comes from.
        ///   - ask: finds the answer; nil if there is none.
        init(about subject: [UInt8]?, of source: Source = .store, ask: @escaping @Sendable () async throws -> Answer?) {
            if let subject { name = Fingerprint(of: subject).description }
            self.source = source
            self.ask = ask
        }
    }

    /// The source that a question may wait for. Each source has its own places, so an App Store that hangs does not block the store's.
    private enum Source {
        case store
        case appStore

        var places: Int {
            switch self {
            case .store: LookUpResponder.maximumLookUps
            case .appStore: LookUpResponder.maximumAppStoreLookUps
            }
        }
    }

    private struct Answer {
        var body: [UInt8]
        var type = "application/json"
        var fields: HTTPFields = [:]
    }

    /// An answer without a result.
    private struct Refusal: Error {
        let status: HTTPResponse.Status
        let reason: String
        var fields: HTTPFields = [:]
        /// Whether the reason is on the page too. Only who has the token gets the page.
        var isOnPage = true
    }

    func respond(_ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel) async throws {
        let start = ContinuousClock.now
        let requestId = RequestName.of(request.head)
        var name: String?
        let status: HTTPResponse.Status
        var answer: Answer
        do throws(Refusal) {
            if let problem = RequestRules.problem(of: request) {
                throw Refusal(status: problem.status, reason: problem.detail, isOnPage: false)
            }
            try checkToken(request)
            // If the client has disconnected, reading the body fails.
            if awaitsContinue(request) { try? await writer.writeInformationalHead(HTTPResponse(status: .continue)) }
            let question = try await question(request)
            name = question.name
            answer = try await self.answer(question, requestId)
            status = .ok
        } catch {
            status = error.status
            answer = await refused(error, request)
        }
        responses.add(String(status.code))
        var fields: Logger.Metadata = [
            "route": "\(Self.route(request))", "status": .stringConvertible(status.code),
            "sha256": "\(name.map { String($0.prefix(12)) } ?? "")",
            "milliseconds": .stringConvertible((ContinuousClock.now - start) / .milliseconds(1)),
        ]
        fields["requestId"] = .string(requestId)
        fields["traceId"] = RequestName.traceId(of: request.head).map { .string($0) }
        logger.info("look-up", metadata: fields)
        var head = state.head(status, answer.type, bytes: answer.body.count)
        for field in answer.fields { head.headerFields.append(field) }
        head.headerFields[.xContentTypeOptions] = "nosniff"
        if let header = RequestName.header { head.headerFields[header] = requestId }
        try await request.write(head, ByteBuffer(bytes: answer.body), to: writer)
    }

    /// A person gets the page with the reason; a stranger does not.
    private func refused(_ refusal: Refusal, _ request: Request) async -> Answer {
        let alone = Answer(body: Self.json(refusal), fields: refusal.fields)
        guard Self.route(request) == "page", refusal.isOnPage,
            var answer = try? await page(.failure(refusal.reason), at: state.clock())
        else { return alone }
        for field in refusal.fields { answer.fields.append(field) }
        return answer
    }

    private static func json(_ refusal: Refusal) -> [UInt8] {
        JSONWriter.object(reservingCapacity: 256, endsLine: true) { $0.member("error", refusal.reason) }
    }

    /// The token is compared in constant time, and before anything else is read.
    private func checkToken(_ request: Request) throws(Refusal) {
        let given = request.headers[.authorization] ?? ""
        let known = configuration.withLock { $0.lookUp?.tokens ?? [] }
        guard let token = Self.token(given), SharedSecret.matches(token, anyOf: [known]) else {
            let bearer = given.isEmpty ? "Bearer" : #"Bearer error="invalid_token""#
            let challenge =
                Self.route(request) == "page" ? #"Basic realm="legacy-receipts", charset="UTF-8""# : bearer
            throw Refusal(
                status: .unauthorized, reason: "the bearer token is missing or wrong",
                fields: [.wwwAuthenticate: challenge], isOnPage: false)
        }
    }

    /// The token of a bearer, or the password of HTTP Basic authentication; nil for anything else.
    private static func token(_ authorization: String) -> String? {
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        switch parts[0].lowercased() {
        case "bearer": return String(parts[1])
        case "basic":
            guard let credentials = try? Base64.decodeStrictly(Array(parts[1].utf8).span),
                let colon = credentials.firstIndex(of: UInt8(ascii: ":"))
            else { return nil }
            return String(validating: credentials[(colon + 1)...], as: UTF8.self)
        default: return nil
        }
    }

    /// For metrics and the log: without the id.
    private static func route(_ request: Request) -> String {
        let parts = path(request)
        switch (parts.count, parts.first, parts.dropFirst().first) {
        case (1, "", nil): return "page"
        case (2, "v1", "inspect"): return "inspect"
        case (3, "v1", "customers"): return "customers"
        case (4, "v1", "customers") where parts[3] == "entitlements": return "entitlements"
        case (3, "v1", "signatures") where LookUpSignature(rawValue: String(parts[2])) != nil: return "signatures"
        default: return "unknown"
        }
    }

    private static func path(_ request: Request) -> [Substring] {
        let path = request.head.path.map { $0.prefix { $0 != "?" } } ?? ""
        guard path.hasPrefix("/") else { return [] }
        return path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    }

    private func question(_ request: Request) async throws(Refusal) -> Question {
        let route = Self.route(request)
        let isReading = request.method == .get || request.method == .head
        guard isReading || Self.isOfThisPage(request) else {
            throw Refusal(status: .forbidden, reason: "the request was sent by a page of another site")
        }
        switch route {
        case "inspect":
            guard request.method == .post else { throw Self.wrongMethod("POST") }
            let document = try await body(request)
            return Question(about: document) { [self] in
                let trust = configuration.withLock { $0.signedDataTrust }
                return Answer(body: try await answers.inspection(of: document, endpoint, signedData: trust))
            }
        case "signatures":
            guard request.method == .post else { throw Self.wrongMethod("POST") }
            let kind = LookUpSignature(rawValue: String(Self.path(request)[2])) ?? .promotionalOffer
            let body = try await body(request)
            return Question(about: body, of: kind == .introductoryEligibility ? .appStore : .store) { [self] in
                let credentials = configuration.withLock { $0.appStore }
                return Answer(body: try await answers.sign(kind, body, endpoint, credentials))
            }
        case "page":
            guard isReading || request.method == .post else { throw Self.wrongMethod("GET, HEAD, POST") }
            let lookUp: InspectorLookUp =
                try await isReading ? .nothing : Self.inspectorLookUp(body(request))
            let date = state.clock()
            return Question(about: lookUp.subject) { [self] in try await page(lookUp, at: date) }
        case "customers", "entitlements":
            guard isReading else { throw Self.wrongMethod("GET, HEAD") }
            guard let id = String(Self.path(request)[2]).removingPercentEncoding, !id.isEmpty,
                id.utf8.count <= Self.maximumIdBytes
            else {
                throw Refusal(status: .badRequest, reason: "the id has 1 to \(Self.maximumIdBytes) bytes of UTF-8")
            }
            let date = try Self.date(request) ?? state.clock()
            let tables: Set<String>? = route == "entitlements" ? ["entitlements"] : nil
            return Question(about: Array(id.utf8)) { [self] in
                try await answers.customers(with: id, tables: tables, at: date, endpoint).map { Answer(body: $0) }
            }
        default: throw Refusal(status: .notFound, reason: "unknown path")
        }
    }

    private var endpoint: EndpointConfiguration { state.current.endpoint.configuration }

    private func page(_ lookUp: InspectorLookUp, at date: Int64) async throws -> Answer {
        let trust = configuration.withLock { $0.signedDataTrust }
        let page = try await answers.page(lookUp, at: date, endpoint, signedData: trust)
        var answer = Answer(body: page.html, type: "text/html; charset=utf-8")
        answer.fields[.contentSecurityPolicy] = page.contentSecurityPolicy
        // Not no-referrer: with it, browsers send "Origin: null" with the forms of this page (Fetch, "append a request
        // Origin header"). Over HTTP they send nothing else.
        answer.fields[.referrerPolicy] = "same-origin"
        return answer
    }

    /// Whether a request comes from the page itself, or from no page. Browsers send the password with forms of any
    /// site, to any path (Fetch Metadata, `Sec-Fetch-Site`; RFC 6454, `Origin`).
    private static func isOfThisPage(_ request: Request) -> Bool {
        if let site = request.headers[.fetchSite] { return site == "same-origin" || site == "none" }
        guard let origin = request.headers[.origin] else { return true }
        guard let authority = request.head.authority else { return false }
        return origin == "http://\(authority)" || origin == "https://\(authority)"
    }

    /// The fields of a form (URL Living Standard, application/x-www-form-urlencoded).
    private static func inspectorLookUp(_ body: [UInt8]) throws(Refusal) -> InspectorLookUp {
        var document: [UInt8] = []
        var id = ""
        for pair in body.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            // A document may be bytes, such as a receipt in DER.
            let value = [UInt8](percentEncoded: parts[1], plusIsBlank: true)
            switch String(decoding: parts[0], as: UTF8.self) {
            case "document": document = value
            case "id": id = String(decoding: value, as: UTF8.self)
            default: break
            }
        }
        if !document.isEmpty { return .document(document) }
        guard id.utf8.count <= maximumIdBytes else {
            throw Refusal(status: .badRequest, reason: "the id has 1 to \(maximumIdBytes) bytes of UTF-8")
        }
        return id.isEmpty ? .nothing : .customers(id)
    }

    private static func wrongMethod(_ allowed: String) -> Refusal {
        Refusal(status: .methodNotAllowed, reason: "use \(allowed)", fields: [.allow: allowed])
    }

    /// `at`, in milliseconds since 1970.
    private static func date(_ request: Request) throws(Refusal) -> Int64? {
        guard let path = request.head.path, let mark = path.firstIndex(of: "?") else { return nil }
        let pairs = path[path.index(after: mark)...].split(separator: "&")
        guard let pair = pairs.first, pairs.count == 1, pair.hasPrefix("at="), let date = Int64(pair.dropFirst(3)),
            (0...253_402_300_799_999).contains(date)
        else {
            throw Refusal(
                status: .badRequest, reason: "the only parameter is at, in milliseconds since 1970")
        }
        return date
    }

    /// Whether the client waits for 100 (Continue) before it sends a body that is read (RFC 9110, 10.1.1).
    private func awaitsContinue(_ request: Request) -> Bool {
        request.method == .post && request.headers[.expect]?.lowercased() == "100-continue"
            && !isTooLarge(request) && RequestRules.problem(ofBodyOf: request) == nil
    }

    private func isTooLarge(_ request: Request) -> Bool {
        request.headers[.contentLength].flatMap { Int($0) }.map { $0 > maximumBody } ?? false
    }

    private func body(_ request: Request) async throws(Refusal) -> [UInt8] {
        let tooLarge = Refusal(status: .contentTooLarge, reason: "the document has more than \(maximumBody) bytes")
        if isTooLarge(request) { throw tooLarge }
        if let problem = RequestRules.problem(ofBodyOf: request) {
            throw Refusal(status: .unsupportedMediaType, reason: problem, fields: [.acceptEncoding: "identity"])
        }
        do {
            let buffer = try await request.body.collect(upTo: maximumBody)
            return Array(buffer.readableBytesView)
        } catch is NIOTooManyBytesError {
            throw tooLarge
        } catch {
            throw Refusal(status: .badRequest, reason: "the document did not arrive")
        }
    }

    private func answer(_ question: Question, _ requestId: String) async throws(Refusal) -> Answer {
        let source = question.source
        let isTaken = questions.withLock { counts in
            guard counts[source, default: 0] < source.places else { return false }
            counts[source, default: 0] += 1
            return true
        }
        guard isTaken else { throw Self.unavailable("too many requests at once") }
        let task = Task { [self] () -> Result<Answer?, any Error> in
            defer { questions.withLock { $0[source, default: 0] -= 1 } }
            do { return .success(try await question.ask()) } catch { return .failure(error) }
        }
        switch await withTimeout(Self.timeLimit, waitingFor: task) {
        case .success(let answer?): return answer
        case .success(nil): throw Refusal(status: .notFound, reason: "no customer has the id")
        case .failure(let refusal as LookUpRefusal):
            switch refusal {
            case .badRequest(let reason): throw Refusal(status: .badRequest, reason: reason)
            case .notFound(let reason): throw Refusal(status: .notFound, reason: reason)
            case .notEligible(let reason): throw Refusal(status: .conflict, reason: reason)
            case .notNow(let reason): throw Self.unavailable(reason)
            }
        case .failure(let error as TransactionStoreError):
            logger.warning("a look-up failed", metadata: ["error": "\(error)", "requestId": "\(requestId)"])
            throw Self.unavailable("the store cannot be read: \(error.code.rawValue)")
        case .failure(let error):
            logger.error("a look-up failed", metadata: ["error": "\(error)", "requestId": "\(requestId)"])
            throw Refusal(
                status: .internalServerError, reason: "the request cannot be answered; the log states the reason")
        case nil: throw Self.unavailable("the answer takes too long")
        }
    }

    private static func unavailable(_ reason: String) -> Refusal {
        Refusal(status: .serviceUnavailable, reason: reason, fields: [.retryAfter: "1"])
    }
}

extension InspectorLookUp {
    /// The document, or the bytes of the id, that the page is about.
    fileprivate var subject: [UInt8]? {
        switch self {
        case .document(let document): document
        case .customers(let id): Array(id.utf8)
        case .nothing, .failure: nil
        }
    }
}

extension HTTPField.Name {
    fileprivate static let referrerPolicy = HTTPField.Name("Referrer-Policy") ?? .date
    fileprivate static let fetchSite = HTTPField.Name("Sec-Fetch-Site") ?? .date
}
