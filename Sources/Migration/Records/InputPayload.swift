package import AppStoreModels
import LegacyReceipts

/// The content of a record (Reference.md C4).
package enum InputPayload: Sendable, Equatable {
    /// A receipt: base64 (white space inside allowed), property list text, or the bytes themselves. Not decoded yet.
    case receipt(ArraySlice<UInt8>)
    /// A recorded verifyReceipt reply, app or iOS 6 style.
    case reply(JSONValue)
    /// Several documents, for example a receipt and its reply. None of them is of this kind.
    case several([InputDocument])
    /// Rows of `latest_receipt_info`: an array of objects, or one object.
    case transactions(JSONValue)
    /// The body of an App Store Server Notification version 1.
    case notification(JSONValue)
    /// A compact JWS: three base64url parts. Not decoded yet.
    case jws(ArraySlice<UInt8>)
    /// StoreKit 2 JSON without its signature: a transaction, renewal info or app transaction.
    case storeKit2(JSONObject, StoreKit2Kind)
    /// A bare transaction id or original transaction id: one to twenty decimal digits.
    case transactionID(String)
    /// Nothing that can be migrated, and the reason.
    case unrecognized(InputProblem)
}

/// One of several documents in a record.
package struct InputDocument: Sendable, Equatable {
    package let payload: InputPayload
    /// The path in the record: names of members separated by full stops, `[]` for any element. Empty if the record itself is
    /// the document.
    package let path: String
    /// The caller's own columns beside this document.
    package let carried: [CarriedColumn]
    /// The text of the document as a record of its own; empty if `payload` contains it.
    let text: ArraySlice<UInt8>

    /// The document's bytes.
    var original: [UInt8] {
        switch payload {
        case _ where !text.isEmpty: return Array(text)
        case .receipt(let bytes), .jws(let bytes): return Array(bytes)
        case .reply(let value), .transactions(let value), .notification(let value): return value.json
        case .storeKit2(let object, _): return JSONValue.object(object).json
        case .transactionID(let id): return Array(id.utf8)
        case .several, .unrecognized: return []
        }
    }

    /// The document as one inside a container of the record.
    /// - Parameters:
    ///   - container: the name of the container.
    ///   - carried: the caller's own columns beside it there.
    func inside(_ container: String, beside carried: [CarriedColumn]) -> InputDocument {
        InputDocument(payload: payload, path: MemberPath.joined(container, path), carried: carried, text: text)
    }

    /// `FactOrigin.document` for the statements of an unsigned document.
    var hash: Fingerprint { Fingerprint(of: original) }
}

extension InputPayload {
    /// The documents; empty if none was recognized.
    package var documents: [InputDocument] {
        switch self {
        case .several(let documents): documents
        case .unrecognized: []
        default: [InputDocument(payload: self, path: "", carried: [], text: [])]
        }
    }

    /// The receipt and the reply, if the record contains one of each and nothing else.
    package var pair: (receipt: ArraySlice<UInt8>, reply: JSONValue)? {
        let documents = documents
        guard documents.count == 2 else { return nil }
        var (receipt, reply): (ArraySlice<UInt8>?, JSONValue?)
        for document in documents {
            switch document.payload {
            case .receipt(let bytes): receipt = bytes
            case .reply(let value): reply = value
            default: return nil
            }
        }
        guard let receipt, let reply else { return nil }
        return (receipt, reply)
    }

    var isReceipt: Bool {
        if case .receipt = self { true } else { false }
    }

    var isTransactionID: Bool {
        if case .transactionID = self { true } else { false }
    }

    /// Whether it has a signature of Apple, which is not verified yet.
    var isSigned: Bool {
        switch self {
        case .receipt, .jws: true
        default: false
        }
    }

    /// Whether JSON of any program can look like this: a reply without purchases, because other JSON has a status too,
    /// or a word in the alphabet of base64.
    var isVague: Bool {
        switch self {
        case .reply(let reply):
            return !(reply.object?.members ?? []).contains { member in
                WireVocabulary.containers.contains(member.key) || member.key == "latest_receipt"
                    || member.key == "latest_expired_receipt"
            }
        case .receipt(let receipt):
            return receipt.withUnsafeBufferPointer { bytes in
                let text = bytes[slice: bytes.trimmed()]
                return !StoredText.beginsSignedMessage(bytes) && !StoredText.beginsPropertyList(text)
                    && !StoredText.isUnmistakable(text)
            }
        default: return false
        }
    }

    /// The handling of its column.
    var fate: MemberFate {
        switch self {
        case .receipt: .readAsReceipt
        case .reply: .readAsReply
        case .transactions: .readAsRows
        case .notification: .readAsNotification
        case .jws: .readAsJWS
        case .storeKit2: .readAsStoreKit2JSON
        case .transactionID: .readAsTransactionId
        case .several: .carriedAlong
        case .unrecognized(let problem):
            switch problem.code {
            case .empty: .empty
            case .otherStore: .otherStore
            case .nestedTooDeep: .looksLikeDocument
            default: .notRecognized
            }
        }
    }
}

/// Why a record cannot be migrated.
package struct InputProblem: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Code: String, Sendable, Equatable, CaseIterable {
        /// The record is longer than the limit.
        case tooLarge
        /// The record, or the column for the receipt, is empty or null.
        case empty
        /// The record is not valid JSON.
        case invalidJSON
        /// Text that is not UTF-8.
        case invalidUTF8
        /// A quoted CSV field that never ends, or that has a quote escaped with a backslash. Or a row of an INSERT that
        /// is cut off, or has an unescaped quote.
        case unterminatedQuote
        /// A CSV row with more or fewer fields than the header.
        case columnCount
        /// The object has no member of the requested name.
        case missingColumn
        /// More nested wrappers than ``InputLimits/payloadNesting``.
        case nestedTooDeep
        /// Many documents or purchases, with many or long columns beside them; or far more documents than their length allows.
        case tooManyColumns
        /// gzip, zip, zstd and so on inside a record; or an unsupported compression of an input.
        case compressed
        /// UTF-16 text.
        case utf16
        /// A purchase of another store, such as Google Play.
        case otherStore
        /// The input ends inside a JSON array; elements may be missing.
        case truncatedInput
        /// A file, link or folder in a folder cannot be read, or its name is not UTF-8; or it is the file of a database.
        case unreadable
        /// None of the known forms.
        case unknownForm

        /// Whether a row of a table does not fit its dialect. It can fit another one.
        var isAboutForm: Bool { self == .columnCount || self == .unterminatedQuote }
    }

    /// The reason.
    package let code: Code
    /// One sentence for a person. It never quotes the record.
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Two errors are equal if their codes are equal. Messages are not compared.
    package static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    package var description: String { message }

    /// Too many documents, or columns that are too many or too long to repeat them beside each document or purchase.
    static let tooManyColumns = InputProblem(
        .tooManyColumns,
        """
        There are too many short documents, or the columns beside the documents are too many or too long to repeat them for \
        each document and purchase. Divide the record, or leave columns out.
        """)

    /// A record that is longer than the limit, of which only the beginning is kept.
    /// - Parameters:
    ///   - length: of the record, in bytes.
    ///   - kept: the bytes that are kept.
    ///   - place: where the record is in its input.
    static func tooLarge(_ length: Int, kept: Bytes, at place: RecordPlace) -> InputProblem {
        // A greater limit would not help.
        if place.unit == .file, let problem = RecordReader.encodingProblem(of: kept) { return problem }
        let beginning =
            "The record has \(length) bytes, more than the limit. Only its first \(kept.count) bytes are kept."
        // The limit of a record is twice that of a receipt.
        let size = length / 2 + length % 2
        guard size <= InputLimits.maximumSizeOfOption else {
            return InputProblem(.tooLarge, "\(beginning) No --max-size allows it; divide it at \(place).")
        }
        return InputProblem(
            .tooLarge,
            """
            \(beginning) --retry --max-size \(size) reads the rest from \(place), if that is an uncompressed file \
            that has not changed. Otherwise migrate this input again with --max-size \(size).
            """)
    }

    init(_ error: JSONReadingError) {
        self.init(error.code == .invalidUTF8 ? .invalidUTF8 : .invalidJSON, error.message)
    }
}
