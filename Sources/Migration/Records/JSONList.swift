import AppStoreModels

/// The array of records in an object that is the whole input: `{"RECORDS":[{…},{…}]}`.
///
/// Each element is a record, as in an input that is an array. So options name its members.
struct JSONList {
    /// The length of what is before the first element.
    let headerLength: Int
    /// The members after the array with which a program describes its own output. They are not records.
    let closing: Set<String>

    /// The members that programs write after the array, by its name: `RECORDS` of Navicat, `Items` of a scan of DynamoDB.
    private static let exports: [String: Set<String>] = [
        "RECORDS": [], "Items": ["Count", "ScannedCount", "ConsumedCapacity", "LastEvaluatedKey", "NextToken"],
    ]
    /// Members that show that the output is not complete. They become records, so that the quarantine shows them.
    private static let continuations: Set<String> = ["LastEvaluatedKey", "NextToken"]

    /// The array in the output of a known program. Nil for other objects, which may be one record of the caller.
    /// - Parameter head: the beginning of the input.
    init?(exportIn head: Bytes) {
        guard let array = Self.firstArray(of: head), let members = Self.exports[array.name] else { return nil }
        var index = array.end ?? head.count
        while let start = head.firstNonSeparator(from: index) {
            if head[start] == UInt8(ascii: "}") {
                // If other objects follow, each object is a record, unless the first one is long.
                guard start >= InputLimits.detectionWindow || head.firstNonWhiteSpace(from: start + 1) == nil
                else { return nil }
                break
            }
            var member = JSONMemberEnd(first: head[start], isNamed: true, at: start)
            let end = member.scan(head, from: start)
            if member.nameEnd > start {
                guard let name = Self.name(head[slice: start..<member.nameEnd]), members.contains(name) else {
                    return nil
                }
            }
            guard let end else { break }
            index = end
        }
        headerLength = array.start + 1
        closing = members.subtracting(Self.continuations)
    }

    /// The array of an object that is too long for a record. Nil if the object may be one document or the caller's own record.
    /// - Parameter bytes: the beginning of the object, as long as a record may be.
    init?(inLongObject bytes: Bytes) {
        guard let array = Self.firstArray(of: bytes), array.end == nil, !WireVocabulary.containers.contains(array.name),
            Self.areRecords(bytes, from: array.start + 1)
        else { return nil }
        headerLength = array.start + 1
        closing = []
    }

    /// Whether a member after the array describes the output.
    func isClosing(_ name: Bytes) -> Bool {
        Self.name(name).map { closing.contains($0) } ?? false
    }

    /// The text of a JSON string; nil for any other value.
    static func name(_ text: Bytes) -> String? { (try? JSONValue.parse(text))?.string }

    /// The array that is the first member of an object and begins with an object. Its end is nil if it is after the given bytes.
    private static func firstArray(of bytes: Bytes) -> (name: String, start: Int, end: Int?)? {
        guard let brace = bytes.firstNonWhiteSpace(), bytes[brace] == UInt8(ascii: "{"),
            let start = bytes.firstNonWhiteSpace(from: brace + 1), bytes[start] == UInt8(ascii: "\"")
        else { return nil }
        var member = JSONMemberEnd(first: bytes[start], isNamed: true, at: start)
        let end = member.scan(bytes, from: start)
        guard let value = member.valueStart, bytes[value] == UInt8(ascii: "["),
            let first = bytes.firstNonWhiteSpace(from: value + 1), bytes[first] == UInt8(ascii: "{"),
            let name = Self.name(bytes[slice: start..<member.nameEnd])
        else { return nil }
        return (name, value, end)
    }

    /// Whether the given beginning of an array has only objects, at least two, and some seem to contain a document.
    private static func areRecords(_ bytes: Bytes, from start: Int) -> Bool {
        var (index, count) = (start, 0)
        while let next = bytes.firstNonSeparator(from: index) {
            guard bytes[next] == UInt8(ascii: "{") else { return false }
            var element = JSONValueEnd(first: bytes[next])
            guard let end = element.scan(bytes, from: next) else { break }
            count += 1
            index = end
        }
        // A single long element is not a list of records.
        return count > 1 && DocumentTraces.areLikely(in: bytes)
    }
}
