internal import AppStoreModels

/// The members of one JSON object that a request needs, as ranges of its text. Of repeated keys, the last one counts.
struct RequestMembers {
    private let text: ArraySlice<UInt8>
    /// At most one for each name. A list, because there are only a few names.
    private let members: [(name: StaticString, member: JSONMember)]

    /// - Parameters:
    ///   - text: the JSON object.
    ///   - names: the members. Others are skipped, and may be of any size.
    init(_ text: ArraySlice<UInt8>, _ names: [StaticString]) throws(JSONReadingError) {
        self.text = text
        let outcome = text.withUnsafeBufferPointer { bytes in
            Result { () throws(JSONReadingError) in try Self.scan(bytes, names) }
        }
        members = try outcome.get()
    }

    private static func scan(
        _ bytes: UnsafeBufferPointer<UInt8>, _ names: [StaticString]
    ) throws(JSONReadingError) -> [(name: StaticString, member: JSONMember)] {
        var members: [(name: StaticString, member: JSONMember)] = []
        var scanner = try JSONMemberScanner(bytes)
        guard scanner.isObject else { throw JSONReadingError(code: .notAContainer, offset: 0) }
        while let member = try scanner.next() {
            guard let key = member.key, let name = names.first(where: { key.matches($0, in: bytes) }) else { continue }
            members.removeAll { $0.name.isEqual(to: name) }
            members.append((name, member))
        }
        return members
    }

    /// The kind of a value; nil if there is no such member.
    func kind(_ name: StaticString) -> JSONKind? { member(name)?.kind }

    /// The whole value, as it was sent.
    func value(_ name: StaticString) -> ArraySlice<UInt8>? { member(name).map { text[moved($0.value)] } }

    /// The content of a string. If it has no escapes, it is a slice of the text, so that nothing is copied. Removing escapes
    /// only makes it shorter, so the body's limit bounds it.
    func string(_ name: StaticString) -> ArraySlice<UInt8>? {
        guard let member = member(name), member.kind == .string else { return nil }
        let content = text[moved(member.content)]
        guard member.hasEscapes else { return content }
        return content.withUnsafeBufferPointer { JSONStringScan.unescaped($0)[...] }
    }

    private func member(_ name: StaticString) -> JSONMember? { members.first { $0.name.isEqual(to: name) }?.member }

    /// A range of the object as one of the body.
    private func moved(_ range: Range<Int>) -> Range<Int> {
        (text.startIndex + range.lowerBound)..<(text.startIndex + range.upperBound)
    }
}

extension StaticString {
    fileprivate func isEqual(to other: StaticString) -> Bool {
        withUTF8Buffer { own in other.withUTF8Buffer { own.elementsEqual($0) } }
    }
}

extension JSONStringToken {
    /// Whether the text of a name or string token equals this one. The token may contain escapes.
    fileprivate func matches(_ name: StaticString, in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let content = UnsafeBufferPointer(rebasing: bytes[content])
        return name.withUTF8Buffer { name in
            hasEscapes ? JSONStringScan.unescaped(content).elementsEqual(name) : content.elementsEqual(name)
        }
    }
}
