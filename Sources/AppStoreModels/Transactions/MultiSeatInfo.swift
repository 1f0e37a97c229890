/// The seats of a multiseat subscription in one transaction (App Store Server API 1.23, multiSeatInfo).
///
/// The number of seats is ``JWSTransactionDecodedPayload/quantity``. A period may have several transactions, each with its
/// own seats; see ``AdditionalTransactionReason``.
public struct TransactionMultiSeatInfo: AppStoreModel, JSONModel {
    /// The party that invites people to the seats.
    public var invitationManagement: InvitationManagement?

    /// The price of a seat by number of seats, in no guaranteed order.
    public var priceTiers: [SeatPriceTier]?

    /// The number of refunded seats of the transaction; only on the transaction of the group's purchaser. The
    /// transaction stays valid for the other seats. This number alone revokes no access.
    public var revokedSeatQuantity: Int32?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("invitationManagement", &invitationManagement)
        try visitor.member("priceTiers", &priceTiers)
        try visitor.member("revokedSeatQuantity", &revokedSeatQuantity)
    }
}

/// The seats of a multiseat subscription at its next renewal (App Store Server API 1.23, multiSeatInfo). The number of seats
/// is ``JWSRenewalInfoDecodedPayload/renewalQuantity``.
public struct RenewalMultiSeatInfo: AppStoreModel, JSONModel {
    /// The price of a seat at the next renewal by number of seats, in no guaranteed order.
    public var renewalPriceTiers: [SeatPriceTier]?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("renewalPriceTiers", &renewalPriceTiers)
    }
}

/// The price of a seat for a number of seats (App Store Server API 1.23, priceTiers).
public struct SeatPriceTier: AppStoreModel, JSONModel {
    /// The price of one seat. In milliunits of the currency: 10.99 is 10990.
    public var price: Int64?

    /// The number of seats.
    public var quantity: Int32?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("price", &price)
        try visitor.member("quantity", &quantity)
    }
}
