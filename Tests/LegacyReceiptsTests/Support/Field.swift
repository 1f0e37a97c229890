import Testing

/// An attribute and the property that it must land in.
struct Field<Root, Value>: Sendable, CustomTestStringConvertible {
    let type: Int64
    let read: @Sendable (Root) -> Value?

    init(_ type: Int64, _ read: @escaping @Sendable (Root) -> Value?) {
        self.type = type
        self.read = read
    }

    var testDescription: String { "attribute \(type)" }
}
