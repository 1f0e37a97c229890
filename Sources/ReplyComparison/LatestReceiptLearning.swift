/// The receipts from Apple's recorded replies that our endpoint stores before a comparison.
public enum LatestReceiptLearning: String, Sendable, CaseIterable {
    /// None. The endpoint has only the submitted receipts and the store.
    case none
    /// The receipt inside the reply under comparison. The result is an upper bound.
    case sameReply
    /// The receipts of earlier pairs.
    case earlierPairs

    /// Whether a real server may have given worse answers than the comparison shows.
    func isUpperBound(pairsOutOfOrder: Int) -> Bool {
        switch self {
        case .none: false
        case .sameReply: true
        case .earlierPairs: pairsOutOfOrder > 0
        }
    }

    /// The notes below the table.
    func lines(pairsOutOfOrder: Int) -> [String] {
        switch self {
        case .none: return []
        case .sameReply:
            return [
                "",
                "upper bound: the store already had the receipt inside each reply. A server reaches this result only if a",
                "notification, the App Store Server API or a later receipt delivers everything that Apple has. Learn from",
                "earlier pairs only to get the result of the records alone.",
            ]
        case .earlierPairs:
            let text = ["", "learned from earlier pairs only, in the order of the input."]
            guard pairsOutOfOrder > 0 else { return text }
            return text + [
                "upper bound for \(pairsOutOfOrder) of the pairs: they have no date or are older than an earlier pair, so the",
                "store already had later replies. Sort the records by date.",
            ]
        }
    }
}
