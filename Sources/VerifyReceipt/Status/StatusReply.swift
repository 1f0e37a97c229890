internal import AppStoreModels

/// Replies without a receipt, as ``StatusTable`` defines them.
enum StatusReply {
    /// - Parameters:
    ///   - refusal: why the request is rejected.
    ///   - environment: the environment of the endpoint. A receipt of the other environment gets a reply without it.
    ///   - facts: what the log states about the request.
    static func reply(
        _ refusal: Refusal, at environment: EndpointEnvironment, facts: ReplyFacts = ReplyFacts()
    ) -> VerifyReceiptReply {
        let row = StatusTable.row(refusal.condition)
        let status = refusal.code.map { row.status.contains($0) ? $0 : row.status.lowerBound } ?? row.status.lowerBound
        return VerifyReceiptReply(
            status: status, body: body(row, status, isRetryable: refusal.isRetryable, environment),
            facts: facts.adding(reason: refusal.reason))
    }

    private static func body(
        _ row: StatusTable.Row, _ status: Int, isRetryable: Bool?, _ environment: EndpointEnvironment
    ) -> [UInt8] {
        JSONWriter.object(reservingCapacity: 96) { writer in
            writer.member("status", status)
            if row.members.contains("environment") { writer.member("environment", environment.rawValue) }
            let retryable: Bool? =
                switch row.retryable {
                case .notStated: nil
                case .fixed(let value): value
                case .asReported: isRetryable ?? false
                }
            // Apple sends one key and documents the other, and clients differ in which one they read (Reference.md C2, rule
            // 4).
            writer.member("is_retryable", retryable)
            writer.member("is-retryable", retryable)
        }
    }
}

extension Refusal {
    init(_ failure: BackendFailure) {
        switch failure {
        case .accountNotFound: self.init(.accountNotFound, "The account was not found or deleted.")
        case .internalDataAccess(let code, let isRetryable) where (21100...21199).contains(code):
            self.init(
                .internalDataAccess, "The backend reports internal data access error \(code).", code: code,
                isRetryable: isRetryable)
        case .internalDataAccess(let code, _):
            self.init(.storedDataUnreadable, "The backend reports error \(code).")
        }
    }
}
