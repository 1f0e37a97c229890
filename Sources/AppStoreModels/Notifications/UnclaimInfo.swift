/// The seats that an UNCLAIM_SEATS notification is about (App Store Server Notifications 2.23, unclaimInfo).
public struct UnclaimInfo: Codable, Hashable, Sendable {
    /// The claims, each a UUID. The App Store has already unclaimed them: revoke the access of these people.
    public var unclaimSeatIds: [String]?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value with these fields. Each field is nil by default.
    public init(
        unclaimSeatIds: [String]? = nil
    ) {
        self.unclaimSeatIds = unclaimSeatIds
    }
}

extension UnclaimInfo {
    private enum CodingKeys: String, CodingKey {
        case unclaimSeatIds
    }

    /// Reads Apple's JSON; unknown members are kept and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        unclaimSeatIds = try values.value(.unclaimSeatIds)
        unknownMembers = try UnknownMembers(from: decoder, besides: CodingKeys.self)
    }

    /// Writes the members that are set, and the unknown ones as they were read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(unclaimSeatIds, forKey: .unclaimSeatIds)
        try unknownMembers.encode(to: encoder)
    }
}
