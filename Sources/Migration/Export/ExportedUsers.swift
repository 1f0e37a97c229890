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
        for (userId, claims) in Dictionary(grouping: claims, by: \.userId).sorted(by: { Self.isBefore($0.key, $1.key) })
        {
            let carried = Set(claims.map(\.carried)).subtracting([""]).sorted(by: Self.isBefore)
            users.append(
                ExportedUser(
                    userId: userId.isEmpty ? nil : userId,
                    originalTransactionIds: Set(claims.compactMap(\.purchase)).sorted(by: Self.isBefore),
                    carried: carried.isEmpty ? nil : Array("[\(carried.joined(separator: ","))]".utf8)))
        }
        let purchases = Dictionary(grouping: claims.filter { !$0.userId.isEmpty }, by: \.purchase)
        for case (let purchase?, let claims) in purchases {
            let userIds = Set(claims.map(\.userId)).sorted(by: Self.isBefore)
            if userIds.count > 1 {
                conflicts.append(ExportedConflict(originalTransactionId: purchase, userIds: userIds))
            }
        }
        conflicts.sort { Self.isBefore($0.originalTransactionId, $1.originalTransactionId) }
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
