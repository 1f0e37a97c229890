package import AppStoreModels

/// What people stored (Reference.md C4).
package enum InputPayload: Sendable, Equatable {
    /// What the receipt was wrapped in.
    package enum Wrapping: Sendable, Equatable {
        case none
        /// `{"Store":…,"TransactionID":…,"Payload":…}`.
        case unity
        /// The body of a verifyReceipt request: `{"receipt-data":…,"password":…}`.
        case requestBody
    }

    /// A receipt: base64 (white space inside allowed), property list text, or the bytes themselves. Nobody has
    /// looked inside yet.
    case receipt(ArraySlice<UInt8>, wrapping: Wrapping)
    /// A recorded verifyReceipt reply, app or iOS 6 style.
    case reply(JSONValue)
    /// A receipt and the reply to it side by side.
    case pair(receipt: ArraySlice<UInt8>, reply: JSONValue)
    /// Rows of `latest_receipt_info`: an array of objects, or one object.
    case transactions(JSONValue)
    /// The body of an App Store Server Notification version 1.
    case notification(JSONValue)
    /// A JWS in compact form, as StoreKit 2 gives it: three base64url parts.
    case jws(ArraySlice<UInt8>)
    /// A bare transaction id or original transaction id: one to twenty decimal digits.
    case transactionID(String)
    /// Nothing that can be migrated; the reason.
    case unrecognised(InputProblem)
}

/// Why a record cannot be migrated.
package struct InputProblem: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Code: String, Sendable, Equatable, CaseIterable {
        /// The record is longer than the limit.
        case tooLarge
        /// The record, or the column that should hold the receipt, is empty or null.
        case empty
        /// The record should be JSON and is not.
        case invalidJSON
        /// Text that is not UTF-8.
        case invalidUTF8
        /// A quoted CSV field that never ends.
        case unterminatedQuote
        /// A CSV row that has more or fewer fields than the header.
        case columnCount
        /// The object has no member of the name that was asked for.
        case missingColumn
        /// Several columns hold different receipts.
        case ambiguousColumns
        /// More wrappers around wrappers than ``InputLimits/payloadNesting``.
        case nestedTooDeep
        /// gzip, zip, zstd and so on.
        case compressed
        /// UTF-16 text.
        case utf16
        /// A purchase of another store, such as Google Play.
        case otherStore
        /// The input ends inside a JSON array; elements may be missing.
        case truncatedInput
        /// None of the forms known here.
        case unknownForm
    }

    package let code: Code
    /// Bytes from the start of the record, where the place is known.
    package let offset: Int?
    /// One sentence for a person. It never quotes the record.
    package let message: String

    package init(_ code: Code, offset: Int? = nil, _ message: String) {
        self.code = code
        self.offset = offset
        self.message = message
    }

    package var description: String { message }

    /// - Parameter start: bytes from the start of the record to the JSON text; nil when it was unwrapped from something.
    init(_ error: JSONReadingError, start: Int?) {
        self.init(
            error.code == .invalidUTF8 ? .invalidUTF8 : .invalidJSON, offset: start.map { $0 + error.offset },
            error.message)
    }
}
