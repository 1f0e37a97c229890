/// The type of an offer (App Store Server API, offerType).
public struct OfferType: OpenEnum {
    /// The value in the JSON.
    public let rawValue: Int32

    /// Any raw value, known to this package or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// An introductory offer, free trials included.
    public static let introductory = Self(rawValue: 1)
    /// A promotional offer.
    public static let promotional = Self(rawValue: 2)
    /// An offer code.
    public static let offerCode = Self(rawValue: 3)
    /// A win-back offer.
    public static let winBack = Self(rawValue: 4)

    /// The values this package knows.
    public static let knownValues: [Self] = [.introductory, .promotional, .offerCode, .winBack]
}

/// The payment mode of an offer (App Store Server API, offerDiscountType).
public struct OfferDiscountType: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Free for the whole offer.
    public static let freeTrial = Self(rawValue: "FREE_TRIAL")
    /// A lower price in each period of the offer.
    public static let payAsYouGo = Self(rawValue: "PAY_AS_YOU_GO")
    /// One price for the whole offer.
    public static let payUpFront = Self(rawValue: "PAY_UP_FRONT")
    /// One price, for products that do not renew.
    public static let oneTime = Self(rawValue: "ONE_TIME")

    /// The values this package knows.
    public static let knownValues: [Self] = [.freeTrial, .payAsYouGo, .payUpFront, .oneTime]
}
