/// How current the answers for an app must be.
public struct Freshness: Sendable, Hashable {
    /// The source of a reply's data, in addition to the receipt.
    public enum Source: String, Sendable, CaseIterable {
        /// None: the reply comes from the receipt alone. The store still saves the receipt's facts.
        case local
        /// The store.
        case store
        /// The store if it is current enough; otherwise the App Store is queried first.
        case appStore = "app-store"
    }

    /// The data of a reply in addition to the receipt.
    public var source: Source
    /// The maximum age of the App Store query for a reply, in milliseconds. The reply also contains later notifications. Only
    /// for ``Source/appStore``.
    public var maximumAge: Int64
    /// The answer if the App Store cannot be queried and the store is older: 21005 if true, otherwise the store's data with its
    /// age.
    public var isRequired: Bool

    /// By default, replies use the store without queries to the App Store.
    ///
    /// - Parameters:
    ///   - source: the data of a reply in addition to the receipt.
    ///   - maximumAge: milliseconds. A negative number counts as 0.
    ///   - isRequired: whether a reply needs a current query.
    public init(source: Source = .store, maximumAge: Int64 = 3_600_000, isRequired: Bool = false) {
        self.source = source
        self.maximumAge = max(0, maximumAge)
        self.isRequired = isRequired
    }
}

/// The data that an answer used in addition to the receipt.
public enum AnswerSource: String, Sendable {
    /// None: the answer comes from the receipt alone. No store was read, or it has nothing about the customer.
    case receipt
    /// The store. The App Store was not queried for this answer, or its data could not be used for every purchase.
    case store
    /// The store, after the App Store was queried for this answer.
    case appStore = "app-store"
}
