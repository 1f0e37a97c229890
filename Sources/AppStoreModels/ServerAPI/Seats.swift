/// The seats of a transaction and who claimed them (App Store Server API 1.23, Get Seat Info).
public struct GetSeatInfoResponse: Codable, Hashable, Sendable {
    /// The number of bought seats.
    public var totalSeatCount: Int32?

    /// The number of seats that can still be claimed.
    public var availableSeatCount: Int32?

    /// The claims, each a UUID. After a renewal with fewer seats there may be more claims than seats.
    public var assignedSeatClaimIds: [String]?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value with these fields. Each field is nil by default.
    public init(
        totalSeatCount: Int32? = nil,
        availableSeatCount: Int32? = nil,
        assignedSeatClaimIds: [String]? = nil
    ) {
        self.totalSeatCount = totalSeatCount
        self.availableSeatCount = availableSeatCount
        self.assignedSeatClaimIds = assignedSeatClaimIds
    }
}

extension GetSeatInfoResponse {
    private enum CodingKeys: String, CodingKey {
        case totalSeatCount, availableSeatCount, assignedSeatClaimIds
    }

    /// Reads Apple's JSON; unknown members are kept and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        totalSeatCount = try values.value(.totalSeatCount)
        availableSeatCount = try values.value(.availableSeatCount)
        assignedSeatClaimIds = try values.value(.assignedSeatClaimIds)
        unknownMembers = try UnknownMembers(from: decoder, besides: CodingKeys.self)
    }

    /// Writes the members that are set, and the unknown ones as they were read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(totalSeatCount, forKey: .totalSeatCount)
        try values.encodeIfPresent(availableSeatCount, forKey: .availableSeatCount)
        try values.encodeIfPresent(assignedSeatClaimIds, forKey: .assignedSeatClaimIds)
        try unknownMembers.encode(to: encoder)
    }
}

/// Claims one seat (App Store Server API 1.23, Claim Seat).
public struct ClaimSeatRequest: Codable, Hashable, Sendable {
    /// A UUID for this claim. Use the same one in a retry: the App Store then makes no second claim.
    public var requestIdentifier: String

    /// The app download of the person who gets the seat; nil if it is not known yet (see ``AssociateSeatRequest``).
    public var appTransactionId: String?

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(
        requestIdentifier: String,
        appTransactionId: String? = nil
    ) {
        self.requestIdentifier = requestIdentifier
        self.appTransactionId = appTransactionId
    }
}

/// The claim that the App Store created (App Store Server API 1.23, Claim Seat).
public struct ClaimSeatResponse: Codable, Hashable, Sendable {
    /// The UUID of the claim, a new one for every claim.
    public var seatClaimId: String?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value with these fields. Each field is nil by default.
    public init(
        seatClaimId: String? = nil
    ) {
        self.seatClaimId = seatClaimId
    }
}

extension ClaimSeatResponse {
    private enum CodingKeys: String, CodingKey {
        case seatClaimId
    }

    /// Reads Apple's JSON; unknown members are kept and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        seatClaimId = try values.value(.seatClaimId)
        unknownMembers = try UnknownMembers(from: decoder, besides: CodingKeys.self)
    }

    /// Writes the members that are set, and the unknown ones as they were read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(seatClaimId, forKey: .seatClaimId)
        try unknownMembers.encode(to: encoder)
    }
}

/// Assigns a claimed seat to an app download (App Store Server API 1.23, Associate Seat).
public struct AssociateSeatRequest: Codable, Hashable, Sendable {
    /// The app download of the person who gets the seat.
    public var appTransactionId: String

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(
        appTransactionId: String
    ) {
        self.appTransactionId = appTransactionId
    }
}
