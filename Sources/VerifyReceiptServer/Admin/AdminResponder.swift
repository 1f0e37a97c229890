import HTTPTypes
import HummingbirdCore
import NIOCore
import TransactionStore

/// Answers on the listener for health and metrics.
///
/// | path | answer |
/// |---|---|
/// | `/livez` | 200 while the process answers at all |
/// | `/readyz` | 200 if requests can be answered; 503 while stopping or without the store |
/// | `/metrics` | Prometheus text |
/// | `/openapi.json` | the description of the verifyReceipt listeners |
struct AdminResponder: Sendable {
    let state: ServerState
    let readiness: Readiness

    func respond(_ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel) async throws {
        let path = request.head.path.map { String($0.prefix { $0 != "?" }) } ?? ""
        let known = ["/livez", "/readyz", "/metrics", "/openapi.json"]
        guard known.contains(path) else {
            return try await send(.notFound, "text/plain; charset=utf-8", "not found\n", request, writer)
        }
        guard request.method == .get || request.method == .head else {
            return try await send(.methodNotAllowed, "text/plain; charset=utf-8", "use GET\n", request, writer)
        }
        switch path {
        case "/livez": try await send(.ok, "text/plain; charset=utf-8", "ok\n", request, writer)
        case "/readyz":
            let problem = state.isDraining ? "stopping" : await readiness.problem()
            let status: HTTPResponse.Status = problem == nil ? .ok : .serviceUnavailable
            try await send(status, "text/plain; charset=utf-8", (problem ?? "ok") + "\n", request, writer)
        case "/metrics":
            let type = "text/plain; version=0.0.4; charset=utf-8"
            try await send(.ok, type, state.metrics.registry.text(), request, writer)
        default: try await send(.ok, "application/json", OpenAPIDescription.text, request, writer)
        }
    }

    private func send(
        _ status: HTTPResponse.Status, _ contentType: String, _ text: String, _ request: Request,
        _ writer: consuming ResponseWriter
    ) async throws {
        var head = HTTPResponse(status: status)
        head.headerFields[.contentType] = contentType
        head.headerFields[.contentLength] = String(text.utf8.count)
        head.headerFields[.cacheControl] = "no-store"
        head.headerFields[.date] = state.httpDate()
        if status == .methodNotAllowed { head.headerFields[.allow] = "GET, HEAD" }
        guard request.method != .head else { return try await writer.writeResponse(head) }
        try await writer.write(response: head, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}

/// Asks the store whether it can work: at most once a second however often one asks, and never longer than two seconds.
actor Readiness {
    private static let validity = Duration.seconds(1)
    private static let patience = Duration.seconds(2)

    private let store: (any TransactionStore)?
    private var last: (instant: ContinuousClock.Instant, problem: String?)?
    private var running: Task<String?, Never>?

    init(store: (any TransactionStore)?) { self.store = store }

    /// What is wrong, in words that hold no address; nil if nothing is.
    func problem() async -> String? {
        guard let store else { return nil }
        if let last, last.instant.duration(to: .now) < Self.validity { return last.problem }
        // One check at a time: a store that hangs must not collect questions.
        let check = running ?? Task { await Self.check(store) }
        running = check
        let problem = await Patience.value(of: check, within: Self.patience) ?? Self.slow
        last = (.now, problem)
        if problem != Self.slow { running = nil }
        return problem
    }

    private static let slow = "the store does not answer in time"

    private static func check(_ store: any TransactionStore) async -> String? {
        do {
            try await store.checkReadiness()
            return nil
        } catch let error as TransactionStoreError {
            return "the store is not ready: \(error.code.rawValue)"
        } catch {
            return "the store is not ready"
        }
    }
}
