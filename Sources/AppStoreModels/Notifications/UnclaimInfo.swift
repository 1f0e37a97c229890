/// The seats that an UNCLAIM_SEATS notification is about (App Store Server Notifications 2.23, unclaimInfo).
public struct UnclaimInfo: AppStoreModel, JSONModel {
    /// The claims, each a UUID. The App Store has already unclaimed them: revoke the access of these people.
    public var unclaimSeatIds: [String]?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("unclaimSeatIds", &unclaimSeatIds)
    }
}
