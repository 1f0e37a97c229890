package import AppStoreModels

/// Whether Apple's reply and ours grant the same access, purchase by purchase.
///
/// The cause of a difference (``DifferenceKind``) does not matter: a refund that only Apple's database has is still a wrong
/// grant. Product and original transaction id identify a purchase. `ReplyPurchases` decides by the rules of entitlements which
/// purchases each reply grants at the date of Apple's reply. With a status other than 0, no purchase is granted.
public struct EntitlementComparison: Sendable, Hashable {
    /// The reason why the two cannot be compared; nil if they can.
    public let obstacle: EntitlementObstacle?
    /// The number of purchases that only our reply grants.
    public let grantedByOursOnly: Int
    /// The number of purchases that only Apple's reply grants.
    public let grantedByAppleOnly: Int
    /// The purchases that only our reply grants come first. At most ``ComparisonContext/maximumDifferences``.
    public let differences: [EntitlementDifference]

    /// Whether a client would grant different access after the two replies.
    public var isDifferent: Bool { grantedByOursOnly + grantedByAppleOnly > 0 }

    init(apples: JSONObject, ours: JSONObject, _ purchases: ListedPurchases, maximumDifferences: Int) {
        guard let appleStatus = ReplyStatus.number(apples), let ourStatus = ReplyStatus.number(ours) else {
            self.init(obstacle: .noStatus)
            return
        }
        guard !ReplyStatus.isTemporary(appleStatus, apples) else {
            self.init(obstacle: .temporaryFailure)
            return
        }
        guard let applePurchases = purchases.apples, let ourPurchases = purchases.ours else {
            self.init(obstacle: .unreadablePurchases)
            return
        }
        let apple = ReplyGrants(applePurchases, status: appleStatus)
        let our = ReplyGrants(ourPurchases, status: ourStatus)
        guard purchases.moment != nil || !(apple.hasPeriods || our.hasPeriods) else {
            self.init(obstacle: .unknownMoment)
            return
        }
        var byOurs = our.notGranted(by: apple, side: .ours)
        var byApple = apple.notGranted(by: our, side: .apple)
        if byOurs.isEmpty, byApple.isEmpty {
            if our.verdict > apple.verdict { byOurs = [apple.refusal(of: .ours)] }
            if apple.verdict > our.verdict { byApple = [our.refusal(of: .apple)] }
        }
        self.init(byOurs: byOurs, byApple: byApple, maximumDifferences: maximumDifferences)
    }

    private init(
        obstacle: EntitlementObstacle? = nil, byOurs: [EntitlementDifference] = [],
        byApple: [EntitlementDifference] = [], maximumDifferences: Int = 0
    ) {
        self.obstacle = obstacle
        grantedByOursOnly = byOurs.count
        grantedByAppleOnly = byApple.count
        differences = Array((byOurs + byApple).prefix(max(0, maximumDifferences)))
    }

    /// Writes the members of one JSON object.
    package func write(to writer: inout JSONWriter) {
        writer.member("obstacle", obstacle?.rawValue)
        writer.member("grantedByOursOnly", grantedByOursOnly)
        writer.member("grantedByAppleOnly", grantedByAppleOnly)
        writer.objects("differences", differences) { writer, difference in difference.write(to: &writer) }
    }
}

/// The meaning of a reply's status for a client.
enum ReplyStatus {
    /// The status; 0 for a recorded reply with a receipt whose status was removed.
    static func number(_ reply: JSONObject) -> Int64? {
        reply["status"]?.wholeNumber ?? (reply["receipt"] == nil ? nil : 0)
    }

    /// Whether a retry can give another answer (Reference.md V2). 21002 is not temporary: it occurred once in an
    /// outage, and otherwise is final.
    static func isTemporary(_ status: Int64, _ reply: JSONObject) -> Bool {
        switch status {
        case 21005, 21009, 500...599: return true
        case 21100...21199:
            let stated = reply["is_retryable"] ?? reply["is-retryable"]
            return ![.bool(false), .integer(0), .string("false"), .string("0")].contains(stated)
        default: return false
        }
    }
}
