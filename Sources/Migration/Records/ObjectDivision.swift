import AppStoreModels

/// The objects around the members of a JSON object that is too long for a record.
///
/// Each of its members is a record instead, in the same objects: `{"users":{"u1":{…}}}`. So it is read as if the others were not
/// there, and so is its line in the quarantine.
struct ObjectDivision {
    /// How many bytes may stand before each member, so that small members do not become large records.
    private static let maximumBytes = 256
    /// How deep objects are divided whose keys no option names: the object itself, and those in it.
    private static let maximumDepth = 2

    private let reader: RecordReader
    private var objects: [(reader: RecordReader, start: Int)] = []
    /// The text before the next member, such as `{"users":{`.
    private(set) var before: [UInt8] = []

    init(_ reader: RecordReader) {
        self.reader = reader
    }

    /// Whether the next member is in an object that is divided.
    var isOpen: Bool { !objects.isEmpty }
    var after: [UInt8] { [UInt8](repeating: UInt8(ascii: "}"), count: objects.count) }

    /// Enters an object that is too long. Returns the length up to its members; nil if it may be one document or the caller's
    /// own record, which must not be torn apart.
    ///
    /// - Parameters:
    ///   - member: the object, or the member whose value it is.
    ///   - bytes: the beginning of the member, as long as a record may be.
    mutating func enter(_ member: JSONMemberEnd, of bytes: Bytes) -> Int? {
        guard let start = member.valueStart, start < bytes.count, before.count + start < Self.maximumBytes,
            bytes[start] == UInt8(ascii: "{")
        else { return nil }
        var reader = self.reader
        if let object = objects.last {
            guard let name = (try? JSONValue.parse(bytes[slice: 0..<member.nameEnd]))?.string else { return nil }
            reader = object.reader.inside(name)
        }
        let mayDivide =
            reader.leadsToKeys
            || (objects.count < Self.maximumDepth && Self.isContainer(bytes[slice: start..<bytes.count]))
        guard mayDivide else { return nil }
        objects.append((reader, before.count))
        before += bytes[0...start]
        return start + 1
    }

    /// Leaves the last object that was entered.
    mutating func leave() {
        guard let object = objects.popLast() else { return }
        before.removeLast(before.count - object.start)
    }

    /// Whether an object contains only objects, as far as its beginning shows, and none of them is one that only Apple's documents
    /// have. If there are many objects, some of them must seem to contain a document.
    private static func isContainer(_ bytes: Bytes) -> Bool {
        var (index, count) = (1, 0)
        while let start = bytes.firstNonSeparator(from: index) {
            var member = JSONMemberEnd(first: bytes[start], isNamed: true, at: start)
            let end = member.scan(bytes, from: start)
            guard let value = member.valueStart else {
                if end == nil { break }
                return false
            }
            guard bytes[value] == UInt8(ascii: "{"),
                let name = (try? JSONValue.parse(bytes[slice: start..<member.nameEnd]))?.string,
                !WireVocabulary.containers.contains(name)
            else { return false }
            count += 1
            guard let end else { break }
            index = end
        }
        return count > 0 && (count < InputLimits.detectionRows || DocumentTraces.areLikely(in: bytes))
    }
}
