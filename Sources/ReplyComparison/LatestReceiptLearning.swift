/// The receipts from Apple's recorded replies that our endpoint stores before a comparison.
public enum LatestReceiptLearning: String, Sendable, CaseIterable {
    /// None: only the submitted receipts and the store.
    case none
    /// That of the very reply that ours is compared with. The result is an upper bound.
    case sameReply
    /// Those of the pairs that were compared before.
    case earlierPairs

    /// Whether a real server could have answered worse than the comparison shows.
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
                "upper bound: our store was shown the answer out of the same replies. A server answers so only if",
                "everything that Apple knew at that moment had reached it: by a notification, the App Store Server API",
                "or a later receipt. Learn from earlier pairs only to see what the records alone would have taught it.",
            ]
        case .earlierPairs:
            let text = ["", "learned from earlier pairs only, in the order of the input."]
            guard pairsOutOfOrder > 0 else { return text }
            return text + [
                "upper bound for \(pairsOutOfOrder) of the pairs: they are older than a pair before them, or undated, and",
                "so have seen later replies. Sort the records by date.",
            ]
        }
    }
}
