import AppStoreModels
import Foundation

/// JSON of databases that write the type of each value around it: DynamoDB (`{"S":"u1"}`), MongoDB (`{"$oid":"…"}`), Firestore
/// (`{"stringValue":"u1"}`), Avro (`{"string":"u1"}`) and Parse (`{"__type":"Pointer",…}`). A record is read as the plain
/// JSON of the same values, so that a user is a text and a date is a number.
enum DatabaseJSON {
    /// The same values without types; nil if none has one, or if the text is not JSON.
    static func plain(_ text: Bytes) -> [UInt8]? {
        guard mayHaveTypes(text), let value = try? JSONValue.parse(text) else { return nil }
        // The record itself is no value of a member.
        let plain = inside(value)
        guard plain != value else { return nil }
        return (item(plain) ?? plain).json
    }

    /// The content of a line of an export of DynamoDB, `{"Item":{…}}`.
    private static func item(_ value: JSONValue) -> JSONValue? {
        guard let record = value.object, record.members.count == 1, let item = record["Item"], item.object != nil else {
            return nil
        }
        return item
    }

    /// Whether an object in the text begins with a member that states a type. Takes linear time.
    private static func mayHaveTypes(_ text: Bytes) -> Bool {
        text.contains(UInt8(ascii: "{")) { brace in
            guard let quote = text.firstNonWhiteSpace(from: brace + 1), text[quote] == UInt8(ascii: "\""),
                let end = text.position(of: UInt8(ascii: "\""), from: quote + 1)
            else { return false }
            // Nearly all names differ in their length already, which costs less than to compare their bytes.
            let name = text[slice: (quote + 1)..<end]
            return names.contains { $0.utf8CodeUnitCount == name.count && name.begins(with: $0) }
        }
    }

    private static let names: [StaticString] = [
        "S", "N", "B", "BOOL", "NULL", "M", "L", "SS", "NS", "BS", "$oid", "$uuid", "$symbol", "$date", "$binary",
        "$numberLong", "$numberInt", "$numberDouble", "$numberDecimal", "stringValue", "bytesValue", "referenceValue",
        "timestampValue", "integerValue", "doubleValue", "booleanValue", "nullValue", "mapValue", "arrayValue",
        "string", "int", "long", "float", "double", "boolean", "__type",
    ]

    // MARK: Values

    private static func plainValue(_ value: JSONValue) -> JSONValue { value.object.flatMap(typed) ?? inside(value) }

    /// The value with what is inside it made plain.
    private static func inside(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let values): .array(values.map(plainValue))
        case .object(let object): .object(inside(object))
        default: value
        }
    }

    private static func inside(_ object: JSONObject) -> JSONObject {
        JSONObject(members: object.members.map { JSONObject.Member(key: $0.key, value: plainValue($0.value)) })
    }

    /// The value that an object of one of the databases stands for; nil for another object.
    private static func typed(_ object: JSONObject) -> JSONValue? {
        if let type = object["__type"]?.string { return parse(type, object) }
        guard let member = object.members.first else { return nil }
        let value = member.value
        if object.members.count == 2, member.key == "$binary", value.string != nil, object["$type"] != nil {
            return value
        }
        guard object.members.count == 1 else { return nil }
        switch member.key {
        case "S", "B", "$oid", "$uuid", "$symbol", "stringValue", "bytesValue", "referenceValue", "timestampValue",
            "string":
            return value.string.map(JSONValue.string)
        case "N", "$numberLong", "$numberInt", "$numberDouble", "$numberDecimal", "integerValue", "doubleValue", "int",
            "long", "float", "double":
            return number(value)
        case "BOOL", "booleanValue", "boolean": return value.bool.map(JSONValue.bool)
        case "NULL": return value.bool == true ? .null : nil
        case "nullValue": return value.isNull ? .null : nil
        case "M": return value.object.map { JSONValue.object(inside($0)) }
        case "L": return value.array.map { JSONValue.array($0.map(plainValue)) }
        case "SS", "NS", "BS": return value.array.map(JSONValue.array)
        case "mapValue": return value["fields"]?.object.map { JSONValue.object(inside($0)) }
        case "arrayValue": return value["values"]?.array.map { JSONValue.array($0.map(plainValue)) }
        case "$date": return value["$numberLong"].flatMap(number) ?? (value.object == nil ? value : nil)
        case "$binary": return binary(value)
        default: return nil
        }
    }

    /// A number, which most databases write as text so that no digit is lost.
    private static func number(_ value: JSONValue) -> JSONValue? {
        switch value {
        case .integer, .number: return value
        case .string(let text):
            guard let number = try? JSONValue.parse(Array(text.utf8)) else { return value }
            switch number {
            case .integer, .number: return number
            default: return nil
            }
        default: return nil
        }
    }

    /// MongoDB's bytes: a UUID (subtype 4), or base64 of something else.
    private static func binary(_ value: JSONValue) -> JSONValue? {
        guard let base64 = value["base64"]?.string else { return nil }
        let subtype = value["subType"]?.string
        guard subtype == "04" || subtype == "4" else { return .string(base64) }
        let bytes = StoredText.decode(base64.utf8)
        guard bytes.count == 16 else { return .string(base64) }
        return .string(NSUUID(uuidBytes: bytes).uuidString.lowercased())
    }

    /// A value of Parse: a pointer is the id of what it points to.
    private static func parse(_ type: String, _ object: JSONObject) -> JSONValue? {
        switch type {
        case "Pointer": object["objectId"]
        case "Date": object["iso"]
        case "Bytes": object["base64"]
        default: nil
        }
    }
}
