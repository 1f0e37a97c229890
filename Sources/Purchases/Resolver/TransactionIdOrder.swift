package import AppStoreModels

/// The order of transaction ids, which are decimal numbers of any length: 99 comes before 100 (Reference.md V12, "Sort
/// key for newest").
package enum TransactionIdOrder {
    case before, same, after

    /// An absent id comes first, then decimal ids by value, then all other ids by their bytes.
    package static func compare(_ left: String?, _ right: String?) -> TransactionIdOrder {
        switch (left, right) {
        case (nil, nil): return .same
        case (nil, _): return .before
        case (_, nil): return .after
        case (let left?, let right?):
            if let order = compareOfOneLength(left, right) { return order }
            if left == right { return .same }
            switch (digits(left), digits(right)) {
            case (let left?, let right?): return compareDecimal(left, right)
            case (_?, nil): return .before
            case (nil, _?): return .after
            case (nil, nil): return left < right ? .before : .after
            }
        }
    }

    /// Whether an id comes before another one in a total order: ids with the same value, 07 and 7, by their bytes.
    package static func precedes(_ left: String, _ right: String) -> Bool {
        switch compare(left, right) {
        case .before: true
        case .after: false
        case .same: left < right
        }
    }

    /// A fast path: decimal numbers of the same length compare like their bytes. Nil for other ids.
    private static func compareOfOneLength(_ left: String, _ right: String) -> TransactionIdOrder? {
        guard left.utf8.count == right.utf8.count else { return nil }
        let order = left.utf8.withContiguousStorageIfAvailable { left in
            right.utf8.withContiguousStorageIfAvailable { right -> TransactionIdOrder? in
                var order = TransactionIdOrder.same
                for place in left.indices {
                    let (one, other) = (left[place], right[place])
                    guard one &- 0x30 < 10, other &- 0x30 < 10 else { return nil }
                    if order == .same, one != other { order = one < other ? .before : .after }
                }
                // An empty text is not a number.
                return left.isEmpty ? nil : order
            }
        }
        return (order ?? nil) ?? nil
    }

    /// The digits without leading zeros; nil if it is not a decimal number.
    private static func digits(_ id: String) -> Substring.UTF8View? {
        guard id.isDecimal else { return nil }
        return id.drop { $0 == "0" }.utf8
    }

    private static func compareDecimal(_ left: Substring.UTF8View, _ right: Substring.UTF8View) -> TransactionIdOrder {
        if left.count != right.count { return left.count < right.count ? .before : .after }
        if left.lexicographicallyPrecedes(right) { return .before }
        return right.lexicographicallyPrecedes(left) ? .after : .same
    }
}

/// The place of a transaction among others: by its purchase date, then by its id.
package struct TransactionPlace: Comparable {
    private let date: Int64
    private let id: String

    package init(_ transaction: JWSTransactionDecodedPayload) {
        date = transaction.purchaseDate ?? .min
        id = transaction.transactionId ?? ""
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.date == right.date ? TransactionIdOrder.precedes(left.id, right.id) : left.date < right.date
    }
}
