import AppStoreModels
import Foundation

/// One text per JSON value: sorted members, so that equal values compare equal and `true` differs from 1.
func canonical(_ json: some Sequence<UInt8>) throws -> String {
    let value = try JSONSerialization.jsonObject(with: Data(json), options: .fragmentsAllowed)
    let data = try JSONSerialization.data(withJSONObject: value, options: [.sortedKeys, .fragmentsAllowed])
    return String(decoding: data, as: UTF8.self)
}

/// The bytes that `body` writes.
func written(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter(reservingCapacity: 256)
    body(&writer)
    return writer.bytes
}

func written(_ model: some JSONModel) -> [UInt8] { written { $0.model(model) } }

extension JSONWriter {
    mutating func string(bytes: [UInt8]) { bytes.withUnsafeBufferPointer { string(utf8: $0) } }
}

func writtenText(_ body: (inout JSONWriter) -> Void) -> String {
    String(decoding: written(body), as: UTF8.self)
}

func writtenText(_ model: some JSONModel) -> String { writtenText { $0.model(model) } }

func decode<Value: Decodable>(_ type: Value.Type, _ json: String) throws -> Value {
    try JSONDecoder().decode(Value.self, from: Data(json.utf8))
}

/// The names of all members anywhere in a JSON value, as dotted paths; elements of an array share the path.
func memberPaths(_ json: some Sequence<UInt8>) throws -> Set<String> {
    var paths: Set<String> = []
    var open: [(String, Any)] = [("", try JSONSerialization.jsonObject(with: Data(json)))]
    while let (path, value) = open.popLast() {
        if let object = value as? [String: Any] {
            for (name, member) in object {
                let here = path.isEmpty ? name : "\(path).\(name)"
                paths.insert(here)
                open.append((here, member))
            }
        } else if let array = value as? [Any] {
            open += array.map { (path, $0) }
        }
    }
    return paths
}
