/// The messages that were uploaded (Retention Messaging API, GetMessageListResponse).
public struct GetMessageListResponse: AppStoreModel, JSONModel {
    /// One element for each message.
    public var messageIdentifiers: [GetMessageListResponseItem]?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("messageIdentifiers", &messageIdentifiers)
    }
}

/// One message (Retention Messaging API, GetMessageListResponseItem).
public struct GetMessageListResponseItem: AppStoreModel, JSONModel {
    /// The UUID text that identifies the message.
    public var messageIdentifier: String?

    /// Whether Apple approved it.
    public var messageState: MessageState?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("messageIdentifier", &messageIdentifier)
        try visitor.member("messageState", &messageState)
    }
}

/// Whether Apple approved a message (Retention Messaging API, messageState).
public struct MessageState: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Not decided yet.
    public static let pending = Self(rawValue: "PENDING")
    /// Approved.
    public static let approved = Self(rawValue: "APPROVED")
    /// Rejected.
    public static let rejected = Self(rawValue: "REJECTED")

    /// The values this package knows.
    public static let knownValues: [Self] = [.pending, .approved, .rejected]
}

/// The message to show if the server returns none (Retention Messaging API, DefaultConfigurationRequest).
public struct DefaultConfigurationRequest: Codable, Hashable, Sendable {
    /// The UUID text that identifies the message.
    public var messageIdentifier: String?

    /// Nil values are omitted from the JSON.
    public init(messageIdentifier: String? = nil) {
        self.messageIdentifier = messageIdentifier
    }
}

/// The message that is shown if the server returns none (Retention Messaging API, DefaultConfigurationResponse).
public struct DefaultConfigurationResponse: AppStoreModel, JSONModel {
    /// The UUID text that identifies the message.
    public var messageIdentifier: String?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("messageIdentifier", &messageIdentifier)
    }
}
