/// Why a recorded document could not be read.
public struct RecordedReplyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason, for a program to branch on.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// The bytes are not JSON; ``RecordedReplyError/offset`` is the position. Look for a complete copy.
        case notJSON
        /// JSON, but neither a verifyReceipt reply, nor a version 1 notification, nor rows of one. Check that the right
        /// column or member was read.
        case notRecognized
        /// A reply that granted nothing; see ``RecordedReplyError/status``. It proves no purchase: leave it out, or
        /// migrate the receipt that was sent.
        case statusNotAccepted
        /// A reply of the right form without a purchase, an app or renewal information. Leave it out.
        case nothingInside
        /// Every purchase in the document is from another store than Apple's. Leave it out.
        case otherStore
        /// A value has a JSON type that its key cannot have; ``RecordedReplyError/keyPath`` names it. Correct the
        /// recorded document.
        case wrongType
        /// Text where a whole number belongs, or a number beyond 64 bits; ``RecordedReplyError/keyPath`` names it.
        /// Correct the recorded document.
        case badNumber
        /// Text where a flag belongs; ``RecordedReplyError/keyPath`` names it. Correct the recorded document.
        case badFlag
        /// A date in an unknown form, without its time zone, or outside the years 1 to 9999; ``RecordedReplyError/keyPath``
        /// names it. Correct the recorded document.
        case badDate
        /// A purchase without a product, or with neither a transaction id nor an original transaction id. Look for
        /// another copy.
        case missingIdentifier
        /// More than ``RecordedReply/maximumPurchases`` purchases or renewals. Divide the document.
        case tooManyPurchases
    }

    /// The reason.
    public let code: Code
    /// The place in the document, for example `latest_receipt_info[3].purchase_date_ms`; empty for the whole of it.
    public let keyPath: String
    /// The `status` of the reply, for ``Code/statusNotAccepted`` (Reference.md V2).
    public let status: Int64?
    /// The byte offset, for ``Code/notJSON``.
    public let offset: Int?
    /// Whether only the time zone of a date is missing, for ``Code/badDate``.
    private let lacksTimeZone: Bool

    package init(
        _ code: Code, at keyPath: String = "", status: Int64? = nil, offset: Int? = nil, lacksTimeZone: Bool = false
    ) {
        self.lacksTimeZone = lacksTimeZone
        self.code = code
        self.keyPath = keyPath
        self.status = status
        self.offset = offset
    }

    /// Two errors are equal if their codes are equal. Places and messages are not compared.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    /// One sentence for a person.
    public var message: String {
        let place = keyPath.isEmpty ? "" : " (\(keyPath))"
        switch code {
        case .notJSON: return "The recorded document is not JSON (byte \(offset ?? 0))."
        case .notRecognized:
            return
                "The document is neither a verifyReceipt reply, nor a version 1 notification, nor a row of one\(place)."
        case .statusNotAccepted: return "The reply has status \(status ?? -1), so it grants nothing\(place)."
        case .nothingInside: return "The reply contains no purchase, no app and no renewal information\(place)."
        case .otherStore: return "The purchases are from another store than Apple's\(place)."
        case .wrongType: return "The value has a type that its key cannot have\(place)."
        case .badNumber: return "The value is not a whole number of 64 bits\(place)."
        case .badFlag: return "The value is not true, false, 1 or 0\(place)."
        case .badDate where lacksTimeZone:
            return """
                The date has no time zone, so it can be wrong by hours. Export it with its zone (2020-07-22 17:39:08+00), or as \
                milliseconds\(place).
                """
        case .badDate:
            return "The value is not a date in a known form; numbers must be milliseconds\(place)."
        case .missingIdentifier: return "The purchase lacks a product or a transaction id\(place)."
        case .tooManyPurchases:
            return "The document has more than \(RecordedReply.maximumPurchases) purchases or renewals\(place)."
        }
    }

    public var description: String { message }
}
