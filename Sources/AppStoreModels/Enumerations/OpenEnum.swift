/// A set of values that may grow without notice: Apple adds raw values between versions of its API.
///
/// A conforming type is a structure with a constant for each value that is known today. Unknown raw values are
/// preserved and written unchanged, so data passes through an old program intact. In JSON, an open enum is its raw
/// value.
///
///     switch payload.offerType {
///     case .introductory?: …
///     case .some(let other) where !other.isKnown: // newer than this package
///     default: …
///     }
public protocol OpenEnum: RawRepresentable, Hashable, Codable, Sendable, CustomStringConvertible
where RawValue: Hashable & Codable & Sendable {
    /// Accepts every raw value, unlike the initializer of an `enum`.
    init(rawValue: RawValue)

    /// The values that this package knows.
    static var knownValues: [Self] { get }
}

extension OpenEnum {
    /// Whether this package knows the value.
    public var isKnown: Bool { Self.knownValues.contains(self) }

    /// The raw value as text.
    public var description: String { String(describing: rawValue) }
}
