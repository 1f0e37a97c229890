import HTTPTypes
import HummingbirdCore
import NIOCore

/// Answers on the listener for health and metrics.
///
/// | path | answer |
/// |---|---|
/// | `/livez` | 200 while the process answers at all |
/// | `/readyz` | 200 if requests can be answered; 503 during shutdown, while the store cannot be read and answers need it, or while neither the store nor the spool accepts receipts and the answer is 21005. The text describes the problem of the store |
/// | `/metrics` | Prometheus text; the server tests for it whether the store accepts writes |
/// | `/openapi.json` | the description of all listeners but this one, from the file of this folder |
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
            let (status, text) = await readyAnswer()
            try await send(status, "text/plain; charset=utf-8", Self.lines([text, readiness.backlog]), request, writer)
        case "/metrics":
            let type = "text/plain; version=0.0.4; charset=utf-8"
            await readiness.tryWriting()
            try await send(.ok, type, state.metrics.registry.text(), request, writer)
        default:
            let description = String(decoding: PackageResources.openapi_json, as: UTF8.self)
            try await send(.ok, "application/json", description, request, writer)
        }
    }

    /// How long `/readyz` waits for a store that answers do not need.
    private static let shortTimeout = Duration.milliseconds(250)

    /// An endpoint that can answer without its store is ready without it. Otherwise a failed store would take all
    /// replicas out of service at once, although they can answer. The text states the problem of the store.
    private func readyAnswer() async -> (HTTPResponse.Status, String) {
        if state.isDraining { return (.serviceUnavailable, "stopping") }
        let endpoint = state.current.endpoint.configuration
        if endpoint.learnsFromReceipts, endpoint.whenSpoolIsFull == .unavailable,
            let problem = await readiness.keepingProblem()
        {
            return (.serviceUnavailable, problem)
        }
        guard endpoint.needsStore else {
            let problem = await readiness.problem(within: Self.shortTimeout)
            return (.ok, problem.map { "ok without the store: \($0)" } ?? "ok")
        }
        guard let problem = await readiness.problem() else { return (.ok, "ok") }
        return (.serviceUnavailable, problem)
    }

    private static func lines(_ lines: [String?]) -> String { lines.compactMap { $0.map { $0 + "\n" } }.joined() }

    private func send(
        _ status: HTTPResponse.Status, _ contentType: String, _ text: String, _ request: Request,
        _ writer: consuming ResponseWriter
    ) async throws {
        var head = state.head(status, contentType, bytes: text.utf8.count)
        if status == .methodNotAllowed { head.headerFields[.allow] = "GET, HEAD" }
        try await request.write(head, ByteBuffer(string: text), to: writer)
    }
}
