/// An answer of the endpoint: bytes for the wire, and what may be said about it in logs and metrics.
public struct VerifyReceiptReply: Sendable {
    /// The `status` member (Reference.md V2).
    public let status: Int
    /// The JSON text.
    public let body: [UInt8]
    /// What logs may say.
    public let facts: ReplyFacts

    public init(status: Int, body: [UInt8], facts: ReplyFacts) {
        self.status = status
        self.body = body
        self.facts = facts
    }
}

/// What logs and metrics may say about a request: never a receipt, a secret or an account.
public struct ReplyFacts: Sendable {
    /// The first 12 hexadecimal digits of the SHA-256 of the receipt's bytes; absent if there was none to read.
    public var receiptName: String?
    public var bundleId: String?
    /// The reason of a refusal in words, for the operator. It is not part of the reply.
    public var reason: String?
    /// How long verifying took, in nanoseconds.
    public var verificationNanoseconds: Int64 = 0
    /// How long the store took, in nanoseconds; absent if it was not asked.
    public var storeNanoseconds: Int64?
    /// Whether the store failed, and the answer was given without it or refused because of it.
    public var storeFailed = false
    /// Whether the receipt waits in the spool for the store, which failed or was too slow.
    public var isSpooled = false
    /// Whether neither the store nor a spool took the receipt.
    public var isNotKept = false
    /// How many transactions the store contributed that the submitted receipt does not hold.
    public var transactionsFromStore = 0
    /// What the answer rests on beside the receipt; absent if it never came to that.
    public var source: AnswerSource?
    /// How long before the answer the App Store was asked about the purchases that it shows, in milliseconds: of several, the
    /// longest. Absent if it was never asked about one of them, or if nobody asked how current the answer is
    /// (``Freshness/Source/appStore``).
    public var ageMilliseconds: Int64?
    /// Whether the App Store was to be asked and could not be.
    public var appStoreFailed = false

    public init() {}
}
