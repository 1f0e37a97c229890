package import AppStoreModels

/// A stored document from the verifyReceipt era: a whole reply, a version 1 notification, or rows of one (Reference.md
/// V3, V4 and V8).
///
/// It is unsigned. ``ReceiptMapper`` turns it into a ``RecordedMapping``, never into a ``MappedReceipt``. The document
/// may embed a receipt, which can be verified: see ``embeddedReceipts``.
public struct RecordedReply: Sendable {
    /// The kind of document.
    public enum Kind: String, Hashable, Sendable {
        /// A reply of verifyReceipt, app style or iOS 6 style.
        case reply
        /// An App Store Server Notification, version 1.
        case notificationV1
        /// Rows of `latest_receipt_info` or `in_app` without the reply around them.
        case rows
        /// StoreKit 2 JSON without its signature: transactions, renewal info, app transactions.
        case storeKit2
    }

    /// A receipt inside the document, as text, for verification.
    public struct EmbeddedReceipt: Hashable, Sendable {
        /// The key that contains it, for example `latest_receipt`.
        public let key: String
        /// The text, in base64 if it was stored as Apple sent it. Often a placeholder in edited documents.
        public let text: String
    }

    /// The maximum number of purchases in one document, and of elements in each of its lists. A customer has a few thousand at
    /// most. An element of three bytes needs hundreds of bytes of memory.
    public static let maximumPurchases = 100_000

    /// Detected from the members of the document.
    public let kind: Kind
    /// The `status` of the reply: 0, 21006 or, in rows and notifications, absent.
    public let status: Int64?
    /// `notification_type` of a notification.
    public let notificationType: String?
    /// The receipts that the document embeds, the newest first.
    public let embeddedReceipts: [EmbeddedReceipt]

    private(set) var rows: [RecordedRow]
    let renewals: [MappedRenewalInfo]
    let appTransaction: MappedAppTransaction?
    let context: RecordContext
    let notes: [MappingNote]
    /// Whether the document states when it was made, not only when its receipt was.
    let isDated: Bool
    /// The date of a change that the document as a whole states.
    let newestEvent: Int64?
    /// Rows that are purchases from another store.
    package let otherStoreRows: [JSONObject]
}

extension RecordedReply {
    /// Reads a recorded document.
    /// - Throws: ``RecordedReplyError`` if it is not JSON, is not such a document, grants nothing (a status other than
    ///   0 and 21006), or has a value that cannot be read.
    public init(json: [UInt8]) throws(RecordedReplyError) {
        let value: JSONValue
        do throws(JSONReadingError) {
            value = try JSONValue.parse(json)
        } catch {
            throw RecordedReplyError(.notJSON, offset: error.offset)
        }
        try self.init(value)
    }

    /// The reply as clients read it. If it lists the latest transactions, periods of the submitted receipt that are not
    /// in that list do not count. Apple's list contains everything that the customer still has (Reference.md V3.5).
    /// Clients read purchases without an end from both lists.
    var asRead: RecordedReply {
        guard rows.contains(where: { $0.age == .latest }) else { return self }
        var read = self
        read.rows.removeAll { $0.age != .latest && $0.facts.expiresDate != nil }
        return read
    }

    /// The receipts in a reply or notification, the newest first, also if another of its values cannot be read.
    package static func embeddedReceipts(in document: JSONValue) -> [EmbeddedReceipt] {
        document.object.flatMap { RecordedReplyBuilder(receiptsOf: $0)?.embedded } ?? []
    }

    /// Reads a recorded document from parsed JSON.
    /// - Parameters:
    ///   - value: the document.
    ///   - surroundings: what is known about the document from beside it.
    package init(
        _ value: JSONValue, beside surroundings: RecordedSurroundings = RecordedSurroundings()
    ) throws(RecordedReplyError) {
        var builder: RecordedReplyBuilder
        switch value {
        case .object(let object): builder = try RecordedReplyBuilder(document: object)
        case .array(let values): builder = try RecordedReplyBuilder(rows: values)
        default: throw RecordedReplyError(.notRecognized)
        }
        builder.complete(surroundings)
        self = try builder.reply()
    }
}
