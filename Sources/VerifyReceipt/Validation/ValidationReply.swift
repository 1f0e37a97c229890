/// An answer in the protocol of cordova-plugin-purchase: the bytes to send, and the facts that logs and metrics may contain.
public struct ValidationReply: Sendable {
    /// The HTTP status. A verdict has 200; with any other status, the plugin reports a failed communication and tries again.
    public let httpStatus: Int
    /// The plugin's error code (`code`); 0 for `ok: true`.
    public let code: Int
    /// The JSON text.
    public let body: [UInt8]
    /// The facts that logs may contain.
    public let facts: ReplyFacts

    /// An answer with the given members. `body` is sent unchanged.
    public init(httpStatus: Int, code: Int, body: [UInt8], facts: ReplyFacts) {
        self.httpStatus = httpStatus
        self.code = code
        self.body = body
        self.facts = facts
    }
}
