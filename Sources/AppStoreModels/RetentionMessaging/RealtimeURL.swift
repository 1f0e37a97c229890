/// Where Apple shall ask for a message (Retention Messaging API, RealtimeUrlRequest).
public struct RealtimeUrlRequest: Codable, Hashable, Sendable {
    /// The URL, at most 256 characters.
    public var realtimeURL: String

    /// What has no default must be given; what is nil is left out of the JSON.
    public init(
        realtimeURL: String
    ) {
        self.realtimeURL = realtimeURL
    }
}

/// Where Apple asks for a message (Retention Messaging API, RealtimeUrlResponse).
public struct RealtimeUrlResponse: Codable, Hashable, Sendable {
    /// The URL.
    public var realtimeURL: String?

    /// Members of the JSON object that this package does not know. They are kept and written again.
    public var unknownMembers = UnknownMembers()

    /// Every field is absent unless given.
    public init(
        realtimeURL: String? = nil
    ) {
        self.realtimeURL = realtimeURL
    }
}

extension RealtimeUrlResponse {
    private enum CodingKeys: String, CodingKey {
        case realtimeURL
    }

    /// Reads Apple's JSON; unknown members are kept and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        realtimeURL = try values.value(.realtimeURL)
        unknownMembers = try UnknownMembers(from: decoder, besides: CodingKeys.self)
    }

    /// Writes the members that are set, and the unknown ones as they were read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(realtimeURL, forKey: .realtimeURL)
        try unknownMembers.encode(to: encoder)
    }
}
