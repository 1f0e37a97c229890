/// How current the answers for an app have to be.
public struct Freshness: Sendable, Hashable {
    /// What is asked beside the receipt.
    public enum Source: String, Sendable, CaseIterable {
        /// Nothing: the receipt answers for itself. The store still learns from it.
        case local
        /// What the store has learned, from whatever source.
        case store
        /// The store while it is current, else the App Store first.
        case appStore = "app-store"
    }

    public var source: Source
    /// How long ago the App Store may have been asked about the purchases that an answer shows, in milliseconds; what came by
    /// notification since is in the answer too. Only for ``Source/appStore``.
    public var maximumAge: Int64
    /// What is answered when the App Store cannot be asked and the store is older: 21005, or what the store knows with its
    /// age beside it.
    public var isRequired: Bool

    public init(source: Source = .store, maximumAge: Int64 = 3_600_000, isRequired: Bool = false) {
        self.source = source
        self.maximumAge = max(0, maximumAge)
        self.isRequired = isRequired
    }
}

/// What an answer rests on beside the receipt.
public enum AnswerSource: String, Sendable {
    case receipt
    case store
    /// The App Store was asked for this answer, or so lately that it counts.
    case appStore = "app-store"
}
