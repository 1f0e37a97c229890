/// A JSON object whose members are all optional, and nil at first. A closure sets the members of a new value:
///
///     let transaction = JWSTransactionDecodedPayload {
///         $0.productId = "com.example.monthly"
///         $0.price = 9_990
///     }
///
/// The bodies of most requests have initializers with parameters instead, because Apple requires some of their members.
public protocol OptionalMembers: Codable, Hashable, Sendable {
    /// A value without members.
    init()
}

extension OptionalMembers {
    /// A value with the members that the closure sets.
    public init(_ set: (inout Self) throws -> Void) rethrows {
        self.init()
        try set(&self)
    }
}

/// A JSON object that the App Store sends: a payload, an object in a payload, or a response.
public protocol AppStoreModel: OptionalMembers {
    /// JSON members that this package does not know. They are preserved when the value is written.
    var unknownMembers: UnknownMembers { get set }
}
