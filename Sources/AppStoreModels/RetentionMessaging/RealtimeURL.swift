/// The URL from which Apple requests a message (Retention Messaging API, RealtimeUrlRequest).
public struct RealtimeUrlRequest: Codable, Hashable, Sendable {
    /// The URL, at most 256 characters.
    public var realtimeURL: String

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(realtimeURL: String) {
        self.realtimeURL = realtimeURL
    }
}

/// The URL from which Apple requests a message (Retention Messaging API, RealtimeUrlResponse).
public struct RealtimeUrlResponse: AppStoreModel, JSONModel {
    /// The URL.
    public var realtimeURL: String?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("realtimeURL", &realtimeURL)
    }
}
