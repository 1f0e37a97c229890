/// The seats of a multiseat subscription in one transaction (App Store Server API 1.23, multiSeatInfo).
///
/// The number of seats is ``JWSTransactionDecodedPayload/quantity``. A period may have several transactions, each with its
/// own seats; see ``AdditionalTransactionReason``.
public struct TransactionMultiSeatInfo: Codable, Hashable, Sendable {
    /// Who invites people to the seats.
    public var invitationManagement: InvitationManagement?

    /// The price of a seat by number of seats, in no guaranteed order.
    public var priceTiers: [SeatPriceTier]?

    /// The number of refunded seats of the transaction; only on the transaction of the group's purchaser. The
    /// transaction stays valid for the other seats. This number alone revokes no access.
    public var revokedSeatQuantity: Int32?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value with these fields. Each field is nil by default.
    public init(
        invitationManagement: InvitationManagement? = nil,
        priceTiers: [SeatPriceTier]? = nil,
        revokedSeatQuantity: Int32? = nil
    ) {
        self.invitationManagement = invitationManagement
        self.priceTiers = priceTiers
        self.revokedSeatQuantity = revokedSeatQuantity
    }
}

extension TransactionMultiSeatInfo {
    private enum CodingKeys: String, CodingKey {
        case invitationManagement, priceTiers, revokedSeatQuantity
    }

    /// Reads Apple's JSON; unknown members are kept and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        invitationManagement = try values.value(.invitationManagement)
        priceTiers = try values.value(.priceTiers)
        revokedSeatQuantity = try values.value(.revokedSeatQuantity)
        unknownMembers = try UnknownMembers(from: decoder, besides: CodingKeys.self)
    }

    /// Writes the members that are set, and the unknown ones as they were read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(invitationManagement, forKey: .invitationManagement)
        try values.encodeIfPresent(priceTiers, forKey: .priceTiers)
        try values.encodeIfPresent(revokedSeatQuantity, forKey: .revokedSeatQuantity)
        try unknownMembers.encode(to: encoder)
    }
}

extension TransactionMultiSeatInfo: JSONWritable, PayloadValue {
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("invitationManagement", invitationManagement)
        writer.member("priceTiers", priceTiers)
        writer.member("revokedSeatQuantity", revokedSeatQuantity)
        unknownMembers.write(to: &writer)
        writer.endObject()
    }
}

/// The seats of a multiseat subscription at its next renewal (App Store Server API 1.23, multiSeatInfo). The number of seats
/// is ``JWSRenewalInfoDecodedPayload/renewalQuantity``.
public struct RenewalMultiSeatInfo: Codable, Hashable, Sendable {
    /// The price of a seat at the next renewal by number of seats, in no guaranteed order.
    public var renewalPriceTiers: [SeatPriceTier]?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value with these fields. Each field is nil by default.
    public init(
        renewalPriceTiers: [SeatPriceTier]? = nil
    ) {
        self.renewalPriceTiers = renewalPriceTiers
    }
}

extension RenewalMultiSeatInfo {
    private enum CodingKeys: String, CodingKey {
        case renewalPriceTiers
    }

    /// Reads Apple's JSON; unknown members are kept and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        renewalPriceTiers = try values.value(.renewalPriceTiers)
        unknownMembers = try UnknownMembers(from: decoder, besides: CodingKeys.self)
    }

    /// Writes the members that are set, and the unknown ones as they were read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(renewalPriceTiers, forKey: .renewalPriceTiers)
        try unknownMembers.encode(to: encoder)
    }
}

extension RenewalMultiSeatInfo: JSONWritable, PayloadValue {
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("renewalPriceTiers", renewalPriceTiers)
        unknownMembers.write(to: &writer)
        writer.endObject()
    }
}

/// The price of a seat for a number of seats (App Store Server API 1.23, priceTiers).
public struct SeatPriceTier: Codable, Hashable, Sendable {
    /// The price of one seat. In milliunits of the currency: 10.99 is 10990.
    public var price: Int64?

    /// The number of seats.
    public var quantity: Int32?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value with these fields. Each field is nil by default.
    public init(
        price: Int64? = nil,
        quantity: Int32? = nil
    ) {
        self.price = price
        self.quantity = quantity
    }
}

extension SeatPriceTier {
    private enum CodingKeys: String, CodingKey {
        case price, quantity
    }

    /// Reads Apple's JSON; unknown members are kept and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        price = try values.value(.price)
        quantity = try values.value(.quantity)
        unknownMembers = try UnknownMembers(from: decoder, besides: CodingKeys.self)
    }

    /// Writes the members that are set, and the unknown ones as they were read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(price, forKey: .price)
        try values.encodeIfPresent(quantity, forKey: .quantity)
        try unknownMembers.encode(to: encoder)
    }
}

extension SeatPriceTier: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("price", price)
        writer.member("quantity", quantity)
        unknownMembers.write(to: &writer)
        writer.endObject()
    }
}
