package import AppStoreModels
internal import Encodings
internal import LegacyReceipts

/// A recorded request and Apple's reply to it.
package struct RecordedPair: Sendable {
    /// The request's body: JSON.
    package let request: [UInt8]
    package let reply: JSONValue
    /// The date of Apple's reply, if the record contains it; milliseconds since 1970-01-01T00:00:00Z.
    package let recordedAt: Int64?
    /// The place of the record, for messages.
    package let place: String

    package init(request: [UInt8], reply: JSONValue, recordedAt: Int64? = nil, place: String) {
        self.request = request
        self.reply = reply
        self.recordedAt = recordedAt
        self.place = place
    }

    /// Reads `{"request": {…}, "response": {…}}`, and `{"receipt-data": …, "response": {…}}`. Request and reply may also
    /// be strings that contain JSON. `reply` is a synonym of `response`. `request_date_ms` is the date of the request.
    ///
    /// Nil if the text is neither.
    package init?(_ text: ArraySlice<UInt8>, place: String) {
        guard JSONBounds.allows(Array(text)), let record = (try? JSONValue.parse(text))?.object,
            let reply = Self.json(record["response"] ?? record["reply"]), reply.object != nil
        else { return nil }
        let body: [UInt8]
        if let request = record["request"] {
            guard let written = Self.requestBody(request) else { return nil }
            body = written
        } else {
            guard let receipt = record["receipt-data"] else { return nil }
            body = Self.requestBody(
                receipt: receipt, password: record["password"], excludes: record["exclude-old-transactions"])
        }
        self.init(request: body, reply: reply, recordedAt: record["request_date_ms"]?.wholeNumber, place: place)
    }

    /// Makes a client's request from a stored receipt.
    package init(receipt: ArraySlice<UInt8>, reply: JSONValue, place: String) {
        self.init(
            request: Self.requestBody(
                receipt: .string(Self.transportText(receipt)), password: nil, excludes: nil), reply: reply, place: place
        )
    }

    /// Base64 in the form of Apple's endpoint. Other input is unchanged, so the endpoint rejects it.
    private static func transportText(_ receipt: ArraySlice<UInt8>) -> String {
        let bytes = Array(receipt)
        if (try? ReceiptContainer(requestText: bytes)) != nil { return String(decoding: bytes, as: UTF8.self) }
        guard let container = try? ReceiptContainer(stored: bytes) else {
            return String(decoding: bytes, as: UTF8.self)
        }
        return Base64.encode(container.bytes)
    }

    /// The value itself, or the JSON in a string, because recorders often store bodies as text.
    private static func json(_ value: JSONValue?) -> JSONValue? {
        guard let text = value?.string else { return value }
        let bytes = Array(text.utf8)
        return JSONBounds.allows(bytes) ? try? JSONValue.parse(bytes) : nil
    }

    private static func requestBody(_ request: JSONValue) -> [UInt8]? {
        if let text = request.string { return Array(text.utf8) }
        guard let object = request.object else { return nil }
        return requestBody(
            receipt: object["receipt-data"], password: object["password"], excludes: object["exclude-old-transactions"])
    }

    /// The body with the three members that the endpoint reads.
    private static func requestBody(receipt: JSONValue?, password: JSONValue?, excludes: JSONValue?) -> [UInt8] {
        let members: [(StaticString, JSONValue?)] = [
            ("receipt-data", receipt), ("password", password), ("exclude-old-transactions", excludes),
        ]
        return JSONWriter.object { writer in
            for (name, value) in members {
                guard let value else { continue }
                writer.key(name)
                switch value {
                // A value of a wrong type. The endpoint rejects all wrong types with the same status.
                case .array, .object: writer.raw("[]".utf8)
                default: writer.value(value)
                }
            }
        }
    }
}
