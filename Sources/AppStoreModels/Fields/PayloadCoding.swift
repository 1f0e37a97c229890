extension JSONModel {
    /// Reads Apple's JSON. Unknown members are preserved, and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        self.init()
        var visitor = Decoding(values: try decoder.container(keyedBy: PayloadKey.self), keys: Self.keys)
        try visit(&visitor)
        unknownMembers = try UnknownMembers(from: decoder) {
            visitor.keys?.contains($0) ?? visitor.visited.contains($0)
        }
    }

    /// Writes the members that are set, and the unknown members unchanged.
    public func encode(to encoder: any Encoder) throws {
        var visitor = Encoding(values: encoder.container(keyedBy: PayloadKey.self), keys: Self.keys)
        var copy = self
        try copy.visit(&visitor)
        try unknownMembers.encode(to: encoder)
    }

    package func write(to writer: inout JSONWriter) { writeMembers(to: &writer) }

    func writeMembers(to writer: inout JSONWriter) {
        writer.beginObject()
        var copy = self
        copy.visit(&writer)
        unknownMembers.write(to: &writer)
        writer.endObject()
    }
}

extension JSONWriter: PayloadVisitor {
    @inline(__always)
    package mutating func member<Value: PayloadValue>(
        _ name: StaticString, _ field: some PayloadField, _ value: inout Value?
    ) {
        guard value != nil else { return }
        key(name)
        value?.write(to: &self)
    }

    @inline(__always)
    package mutating func member<Value: OpenEnum>(
        _ name: StaticString, _ field: some PayloadField, _ value: inout Value?
    ) where Value.RawValue: PayloadValue {
        guard var raw = value?.rawValue else { return }
        key(name)
        raw.write(to: &self)
    }
}

/// The JSON key of a member of a payload.
private struct PayloadKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) {
        self.stringValue = stringValue
    }

    init?(intValue: Int) { nil }
}

private struct Decoding: PayloadVisitor {
    let values: KeyedDecodingContainer<PayloadKey>
    let keys: PayloadNames?
    /// The names in the table so far. Empty if there are `keys`.
    var visited: [String] = []

    mutating func member<Value: PayloadValue>(
        _ name: StaticString, _ field: some PayloadField, _ value: inout Value?
    ) throws {
        value = try values.value(key(name, field))
    }

    mutating func date(_ name: StaticString, _ field: some PayloadField, _ value: inout Int64?) throws {
        value = try values.milliseconds(key(name, field))
    }

    private mutating func key(_ name: StaticString, _ field: some PayloadField) -> PayloadKey {
        if let keys { return PayloadKey(stringValue: keys.key(field)) }
        visited.append(name.description)
        return PayloadKey(stringValue: name.description)
    }
}

private struct Encoding: PayloadVisitor {
    var values: KeyedEncodingContainer<PayloadKey>
    let keys: PayloadNames?

    mutating func member<Value: PayloadValue>(
        _ name: StaticString, _ field: some PayloadField, _ value: inout Value?
    ) throws {
        let key = PayloadKey(stringValue: keys?.key(field) ?? name.description)
        try values.encodeIfPresent(value, forKey: key)
    }
}
