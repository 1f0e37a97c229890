/// An answer of the endpoint: the bytes to send, and the facts that logs and metrics may contain.
public struct VerifyReceiptReply: Sendable {
    /// The `status` member (Reference.md V2).
    public let status: Int
    /// The JSON text.
    public let body: [UInt8]
    /// The facts that logs may contain.
    public let facts: ReplyFacts

    /// An answer with the given members. `body` is sent unchanged.
    public init(status: Int, body: [UInt8], facts: ReplyFacts) {
        self.status = status
        self.body = body
        self.facts = facts
    }
}

/// The facts about a request that logs and metrics may contain: never a receipt, a secret or an account.
public struct ReplyFacts: Sendable {
    /// The first 12 hexadecimal digits of the SHA-256 of the receipt's bytes; nil if no receipt could be read.
    public var receiptName: String?
    /// The bundle id in the receipt; nil if no receipt could be read or it has none.
    public var bundleId: String?
    /// Whether the configuration names the app. Only then may its bundle id be the label of a metric, because any client
    /// can send receipts of any number of other apps.
    public var isConfiguredApp = false
    /// The reason of a refusal, for the operator. It is not part of the reply.
    public var reason: String?
    /// The duration of the verification, in nanoseconds.
    public var verificationNanoseconds: Int64 = 0
    /// The duration of the store's work, in nanoseconds; nil if the store was not used.
    public var storeNanoseconds: Int64?
    /// Whether the store failed, so that the answer was given without it or was an error.
    public var storeFailed = false
    /// Whether the receipt waits in the spool, because the store failed or was too slow.
    public var isSpooled = false
    /// Whether neither the store nor a spool accepted the receipt.
    public var isNotKept = false
    /// How many transactions of the answer came from the store and are not in the submitted receipt.
    public var transactionsFromStore = 0
    /// The data that the answer used in addition to the receipt; nil if the request failed before that.
    public var source: AnswerSource?
    /// How long before the answer the App Store was queried about its purchases, in milliseconds; the longest time if
    /// there are several. Nil if one of them was never queried, or if the app's ``Freshness`` does not use the App
    /// Store (``Freshness/Source/appStore``).
    public var ageMilliseconds: Int64?
    /// Whether an App Store query was needed and failed.
    public var appStoreFailed = false

    /// The facts of a request about which nothing is known yet.
    public init() {}

    /// The facts with a further reason, which comes first: a store failure that happened before may have set its own.
    func adding(reason: String) -> ReplyFacts {
        var facts = self
        let earlier = facts.reason.flatMap { $0 == reason ? nil : $0 }
        facts.reason = earlier.map { "\(reason) \($0)" } ?? reason
        return facts
    }
}
