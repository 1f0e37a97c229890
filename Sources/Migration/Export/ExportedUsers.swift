import AppStoreModels
import Purchases
import TransactionStore

/// One of the caller's users, from the records about one customer.
struct ExportedUser {
    let userId: String?
    let originalTransactionIds: [String]
    /// A JSON array of objects; nil without kept columns.
    let carried: [UInt8]?
}

/// A purchase with several users.
struct ExportedConflict {
    let originalTransactionId: String
    /// At least two.
    let userIds: [String]
}

/// The users of one customer.
struct ExportedUsers {
    private(set) var users: [ExportedUser] = []
    private(set) var conflicts: [ExportedConflict] = []

    /// - Parameter claims: the claims on the identities of one customer, in any order.
    init(_ claims: [UserClaim]) {
        guard !claims.isEmpty else { return }
        let sorted = claims.sorted { Self.isBefore($0.userId, $1.userId) }
        var rest = sorted[...]
        while let userId = rest.first?.userId {
            let claims = rest.prefix { $0.userId.utf8.elementsEqual(userId.utf8) }
            rest = rest.dropFirst(claims.count)
            let carried = Self.distinct(claims.map(\.carried).filter { !$0.isEmpty })
            users.append(
                ExportedUser(
                    userId: userId.isEmpty ? nil : userId,
                    originalTransactionIds: Self.distinct(claims.compactMap(\.purchase)),
                    carried: carried.isEmpty ? nil : Array("[\(carried.joined(separator: ","))]".utf8)))
        }
        let purchases = Dictionary(grouping: claims.filter { !$0.userId.isEmpty }, by: \.purchase)
        for case (let purchase?, let claims) in purchases {
            let userIds = Self.distinct(claims.map(\.userId))
            if userIds.count > 1 {
                conflicts.append(ExportedConflict(originalTransactionId: purchase, userIds: userIds))
            }
        }
        conflicts.sort { Self.isBefore($0.originalTransactionId, $1.originalTransactionId) }
    }

    /// Texts whose bytes differ, in the order of their bytes. As texts of Swift, two ids with the same letters in other
    /// Unicode forms would be one.
    private static func distinct(_ texts: [String]) -> [String] {
        var distinct: [String] = []
        for text in texts.sorted(by: isBefore) where !(distinct.last?.utf8.elementsEqual(text.utf8) ?? false) {
            distinct.append(text)
        }
        return distinct
    }

    /// The order of the bytes, the same on every machine.
    private static func isBefore(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }
}

extension UserClaim {
    /// The original transaction id of the purchase.
    fileprivate var purchase: String? { identity.kind == .originalTransactionId ? identity.value : nil }
}
