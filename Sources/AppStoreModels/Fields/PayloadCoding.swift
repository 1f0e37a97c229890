extension Payload {
    /// Reads Apple's JSON. Unknown members are preserved, and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    init(members decoder: any Decoder) throws {
        self.init()
        let names = Self.names
        var visitor = Decoding(values: try decoder.container(keyedBy: PayloadKey.self), names: names)
        try visit(&visitor)
        unknownMembers = try UnknownMembers(from: decoder) { names.contains($0) }
    }

    /// Writes the members that are set, and the unknown members unchanged.
    func encodeMembers(to encoder: any Encoder) throws {
        var visitor = Encoding(values: encoder.container(keyedBy: PayloadKey.self), names: Self.names)
        var copy = self
        try copy.visit(&visitor)
        try unknownMembers.encode(to: encoder)
    }

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
    let names: PayloadNames

    mutating func member<Value: PayloadValue>(
        _ name: StaticString, _ field: some PayloadField, _ value: inout Value?
    ) throws {
        value = try values.value(PayloadKey(stringValue: names.key(field)))
    }

    mutating func date(_ name: StaticString, _ field: some PayloadField, _ value: inout Int64?) throws {
        value = try values.milliseconds(PayloadKey(stringValue: names.key(field)))
    }
}

private struct Encoding: PayloadVisitor {
    var values: KeyedEncodingContainer<PayloadKey>
    let names: PayloadNames

    mutating func member<Value: PayloadValue>(
        _ name: StaticString, _ field: some PayloadField, _ value: inout Value?
    ) throws {
        try values.encodeIfPresent(value, forKey: PayloadKey(stringValue: names.key(field)))
    }
}
