/// The seats of a transaction and who claimed them (App Store Server API 1.23, Get Seat Info).
public struct GetSeatInfoResponse: AppStoreModel, JSONModel {
    /// The number of bought seats.
    public var totalSeatCount: Int32?

    /// The number of seats that can still be claimed.
    public var availableSeatCount: Int32?

    /// The claims, each a UUID. After a renewal with fewer seats there may be more claims than seats.
    public var assignedSeatClaimIds: [String]?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("totalSeatCount", &totalSeatCount)
        try visitor.member("availableSeatCount", &availableSeatCount)
        try visitor.member("assignedSeatClaimIds", &assignedSeatClaimIds)
    }
}

/// Claims one seat (App Store Server API 1.23, Claim Seat).
public struct ClaimSeatRequest: Codable, Hashable, Sendable {
    /// A UUID for this claim. Use the same one in a retry: the App Store then makes no second claim.
    public var requestIdentifier: String

    /// The app download of the person who gets the seat; nil if it is not known yet (see ``AssociateSeatRequest``).
    public var appTransactionId: String?

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(requestIdentifier: String, appTransactionId: String? = nil) {
        self.requestIdentifier = requestIdentifier
        self.appTransactionId = appTransactionId
    }
}

/// The claim that the App Store created (App Store Server API 1.23, Claim Seat).
public struct ClaimSeatResponse: AppStoreModel, JSONModel {
    /// The UUID of the claim, a new one for every claim.
    public var seatClaimId: String?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("seatClaimId", &seatClaimId)
    }
}

/// Assigns a claimed seat to an app download (App Store Server API 1.23, Associate Seat).
public struct AssociateSeatRequest: Codable, Hashable, Sendable {
    /// The app download of the person who gets the seat.
    public var appTransactionId: String

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(appTransactionId: String) {
        self.appTransactionId = appTransactionId
    }
}
