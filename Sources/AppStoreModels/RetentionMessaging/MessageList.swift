/// The messages that were uploaded (Retention Messaging API, GetMessageListResponse).
public struct GetMessageListResponse: Codable, Hashable, Sendable {
    /// One element for each message.
    public var messageIdentifiers: [GetMessageListResponseItem]?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value with these fields. Each field is nil by default.
    public init(
        messageIdentifiers: [GetMessageListResponseItem]? = nil
    ) {
        self.messageIdentifiers = messageIdentifiers
    }
}

extension GetMessageListResponse {
    private enum CodingKeys: String, CodingKey {
        case messageIdentifiers
    }

    /// Reads Apple's JSON; unknown members are kept and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        messageIdentifiers = try values.value(.messageIdentifiers)
        unknownMembers = try UnknownMembers(from: decoder, besides: CodingKeys.self)
    }

    /// Writes the members that are set, and the unknown ones as they were read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(messageIdentifiers, forKey: .messageIdentifiers)
        try unknownMembers.encode(to: encoder)
    }
}

/// One message (Retention Messaging API, GetMessageListResponseItem).
public struct GetMessageListResponseItem: Codable, Hashable, Sendable {
    /// The UUID text that identifies the message.
    public var messageIdentifier: String?

    /// Whether Apple approved it.
    public var messageState: MessageState?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value with these fields. Each field is nil by default.
    public init(
        messageIdentifier: String? = nil,
        messageState: MessageState? = nil
    ) {
        self.messageIdentifier = messageIdentifier
        self.messageState = messageState
    }
}

extension GetMessageListResponseItem {
    private enum CodingKeys: String, CodingKey {
        case messageIdentifier, messageState
    }

    /// Reads Apple's JSON; unknown members are kept and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        messageIdentifier = try values.value(.messageIdentifier)
        messageState = try values.value(.messageState)
        unknownMembers = try UnknownMembers(from: decoder, besides: CodingKeys.self)
    }

    /// Writes the members that are set, and the unknown ones as they were read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(messageIdentifier, forKey: .messageIdentifier)
        try values.encodeIfPresent(messageState, forKey: .messageState)
        try unknownMembers.encode(to: encoder)
    }
}

/// Whether Apple approved a message (Retention Messaging API, messageState).
public struct MessageState: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Not decided yet.
    public static let pending = Self(rawValue: "PENDING")
    /// Approved.
    public static let approved = Self(rawValue: "APPROVED")
    /// Rejected.
    public static let rejected = Self(rawValue: "REJECTED")

    /// The values this package knows.
    public static let knownValues: [Self] = [
        .pending, .approved, .rejected,
    ]
}

/// The message to show if the server returns none (Retention Messaging API, DefaultConfigurationRequest).
public struct DefaultConfigurationRequest: Codable, Hashable, Sendable {
    /// The UUID text that identifies the message.
    public var messageIdentifier: String?

    /// Nil values are omitted from the JSON.
    public init(
        messageIdentifier: String? = nil
    ) {
        self.messageIdentifier = messageIdentifier
    }
}

/// The message that is shown if the server returns none (Retention Messaging API, DefaultConfigurationResponse).
public struct DefaultConfigurationResponse: Codable, Hashable, Sendable {
    /// The UUID text that identifies the message.
    public var messageIdentifier: String?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value with these fields. Each field is nil by default.
    public init(
        messageIdentifier: String? = nil
    ) {
        self.messageIdentifier = messageIdentifier
    }
}

extension DefaultConfigurationResponse {
    private enum CodingKeys: String, CodingKey {
        case messageIdentifier
    }

    /// Reads Apple's JSON; unknown members are kept and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        messageIdentifier = try values.value(.messageIdentifier)
        unknownMembers = try UnknownMembers(from: decoder, besides: CodingKeys.self)
    }

    /// Writes the members that are set, and the unknown ones as they were read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(messageIdentifier, forKey: .messageIdentifier)
        try unknownMembers.encode(to: encoder)
    }
}
