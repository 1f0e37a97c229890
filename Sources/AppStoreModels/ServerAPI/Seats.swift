/// The seats of a transaction and who claimed them (App Store Server API 1.23, Get Seat Info).
public struct GetSeatInfoResponse: Codable, Hashable, Sendable {
    /// How many seats were bought.
    public var totalSeatCount: Int32?

    /// How many seats can still be claimed.
    public var availableSeatCount: Int32?

    /// The claims, each a UUID. There may be more of them than seats after a renewal with fewer seats.
    public var assignedSeatClaimIds: [String]?

    /// Members of the JSON object that this package does not know. They are kept and written again.
    public var unknownMembers = UnknownMembers()

    /// Every field is absent unless given.
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
    /// A UUID for this claim. Send the same one when you send the request again: the App Store then makes no second claim.
    public var requestIdentifier: String

    /// The app download of the person who gets the seat; nil if it is not known yet (see ``AssociateSeatRequest``).
    public var appTransactionId: String?

    /// What has no default must be given; what is nil is left out of the JSON.
    public init(
        requestIdentifier: String,
        appTransactionId: String? = nil
    ) {
        self.requestIdentifier = requestIdentifier
        self.appTransactionId = appTransactionId
    }
}

/// The claim that the App Store made (App Store Server API 1.23, Claim Seat).
public struct ClaimSeatResponse: Codable, Hashable, Sendable {
    /// The UUID of the claim, a new one for every claim.
    public var seatClaimId: String?

    /// Members of the JSON object that this package does not know. They are kept and written again.
    public var unknownMembers = UnknownMembers()

    /// Every field is absent unless given.
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

/// Gives a claimed seat to an app download (App Store Server API 1.23, Associate Seat).
public struct AssociateSeatRequest: Codable, Hashable, Sendable {
    /// The app download of the person who gets the seat.
    public var appTransactionId: String

    /// What has no default must be given; what is nil is left out of the JSON.
    public init(
        appTransactionId: String
    ) {
        self.appTransactionId = appTransactionId
    }
}
