import AppStoreModels

/// Reads the values of one object of a recorded document. Apple wrote nearly everything as strings, but backends that
/// stored the documents did not always keep it so: strings and numbers are accepted for each other.
struct RecordedObjectReader {
    let object: JSONObject
    /// The place in the document, for errors: `latest_receipt_info[3]`.
    let path: String

    func error(_ code: RecordedReplyError.Code, _ key: String, lacksTimeZone: Bool = false) -> RecordedReplyError {
        RecordedReplyError(code, at: path.isEmpty ? key : "\(path).\(key)", lacksTimeZone: lacksTimeZone)
    }

    /// The value; nil if the key is missing, null or an empty string.
    private func value(_ key: String) -> JSONValue? {
        switch object[key] {
        case nil, .null?, .string("")?: nil
        case let value?: value
        }
    }

    func has(_ key: String) -> Bool { value(key) != nil }

    /// Whether the object has the members of a purchase. It may have others.
    var isPurchase: Bool { has("product_id") || has("transaction_id") }

    /// A string, or a number as it was written.
    func text(_ key: String) throws(RecordedReplyError) -> String? {
        switch value(key) {
        case nil: return nil
        case .string(let text)?: return text
        case .integer(let number)?: return String(number)
        case .number(let digits)? where digits.isDecimal: return digits
        default: throw error(.wrongType, key)
        }
    }

    /// A whole number of 64 bits, or its text.
    func integer(_ key: String) throws(RecordedReplyError) -> Int64? {
        switch value(key) {
        case nil: return nil
        case .integer(let number)?: return number
        case .string(let text)?:
            guard let number = Int64(text) else { throw error(.badNumber, key) }
            return number
        case .number?: throw error(.badNumber, key)
        default: throw error(.wrongType, key)
        }
    }

    /// true, false, 1, 0, or its text.
    func flag(_ key: String) throws(RecordedReplyError) -> Bool? {
        switch value(key) {
        case nil: return nil
        case .bool(let flag)?: return flag
        case .integer(0)?, .string("0")?: return false
        case .integer(1)?, .string("1")?: return true
        case .string(let text)?:
            guard let flag = Self.flag(written: text) else { throw error(.badFlag, key) }
            return flag
        case .integer?, .number?: throw error(.badFlag, key)
        default: throw error(.wrongType, key)
        }
    }

    /// A word for a flag: Apple's, or `TRUE` and `t` of a spreadsheet or a database that stored it as a flag.
    private static func flag(written text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "t": true
        case "false", "f": false
        default: nil
        }
    }

    /// A whole number, or a flag as 1 or 0: `auto_renew_status` is one in replies and the other in notifications.
    func integerOrFlag(_ key: String) throws(RecordedReplyError) -> Int64? {
        switch value(key) {
        case .bool(let flag)?: return flag ? 1 : 0
        case .string(let text)?:
            if let flag = Self.flag(written: text) { return flag ? 1 : 0 }
            return try integer(key)
        default: return try integer(key)
        }
    }

    /// A date and the key that contains it: `X_ms`, else `X` (text, or milliseconds as iOS 6 replies have in
    /// `expires_date`), else `X_formatted`, else the Los Angeles forms. The first key that exists decides; if its value
    /// cannot be read, that is an error. The number 0 is what databases write for no date.
    func date(_ name: String) throws(RecordedReplyError) -> (date: RecordedDate, key: String)? {
        for suffix in Self.dateSuffixes {
            let key = name + suffix
            guard let value = value(key), value != .integer(0), value != .string("0") else { continue }
            guard let date = Self.date(value) else {
                throw error(.badDate, key, lacksTimeZone: value.string.map(RecordedDate.lacksTimeZone) == true)
            }
            return (date, key)
        }
        return nil
    }

    private static let dateSuffixes = ["_ms", "", "_formatted", "_pst", "_formatted_pst"]

    private static func date(_ value: JSONValue) -> RecordedDate? {
        let milliseconds: Int64
        switch value {
        case .integer(let number): milliseconds = number
        case .string(let text):
            guard let number = Int64(text) else { return RecordedDate.text(text) }
            milliseconds = number
        default: return nil
        }
        guard RecordedDate.range.contains(milliseconds), !RecordedDate.seconds.contains(milliseconds) else {
            return nil
        }
        return RecordedDate(milliseconds: milliseconds, isAmbiguous: false)
    }

    /// The objects under a key that can contain one object or an array of them.
    func objects(_ key: String) throws(RecordedReplyError) -> [RecordedObjectReader] {
        switch value(key) {
        case nil: return []
        case .object(let object)?: return [RecordedObjectReader(object: object, path: child(key))]
        case .array(let values)?:
            guard values.count <= RecordedReply.maximumPurchases else { throw error(.tooManyPurchases, key) }
            var readers: [RecordedObjectReader] = []
            readers.reserveCapacity(values.count)
            for (index, value) in values.enumerated() {
                let path = "\(child(key))[\(index)]"
                guard let object = value.object else { throw RecordedReplyError(.wrongType, at: path) }
                readers.append(RecordedObjectReader(object: object, path: path))
            }
            return readers
        default: throw error(.wrongType, key)
        }
    }

    private func child(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }
}
