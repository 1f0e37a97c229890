import AppStoreModels
import Purchases
import TransactionStore

/// Finds the caller's user in the columns beside a document.
struct UserColumns: Sendable {
    /// The column that holds the id of the user; nil to find it by its name.
    let user: String?
    /// The columns that are kept beside the user.
    let carried: Set<String>

    /// Names of columns that hold the id of a user, in lower case and without separators; the first one counts.
    static let names = [
        "userid", "appuserid", "customuserid", "accountid", "customerid", "memberid", "playerid", "uid", "user",
    ]

    /// The claims that the columns make on the purchases of a document.
    func claims(_ columns: [CarriedColumn], on facts: [FactSet]) -> [UserClaim] {
        claims(columns, on: facts.map { (scope: $0.scope, identities: $0.identities) })
    }

    func claims(
        _ columns: [CarriedColumn], on documents: [(scope: StoreScope, identities: [CustomerIdentity])]
    ) -> [UserClaim] {
        guard let user = named(columns) else { return [] }
        return documents.flatMap { user.claims(on: $0.identities, in: $0.scope) }
    }

    /// A user that columns name, with the columns that are kept.
    struct User: Hashable, Sendable {
        /// The id of the user; empty if no column has it.
        let id: String
        /// ``UserClaim/carried``.
        let carried: String

        /// The claims of the user on the purchases of a document.
        func claims(on identities: [CustomerIdentity], in scope: StoreScope) -> [UserClaim] {
            UserColumns.purchases(identities).map {
                UserClaim(scope: scope, identity: $0, userId: id, carried: carried)
            }
        }
    }

    /// The user that the columns name; nil if they have neither an id nor columns to keep.
    func named(_ columns: [CarriedColumn]) -> User? {
        guard !columns.isEmpty else { return nil }
        let id = userId(columns) ?? ""
        let kept = zip(carried.sorted(), keptColumns(columns)).compactMap { name, column in
            column.map { CarriedColumn(name: name, value: $0.value) }
        }
        guard !id.isEmpty || !kept.isEmpty else { return nil }
        return User(id: id, carried: String(decoding: JSONWriter.carriedColumns(kept), as: UTF8.self))
    }

    /// The columns that are kept beside the user.
    func kept(_ columns: [CarriedColumn]) -> [CarriedColumn] { keptColumns(columns).compactMap(\.self) }

    /// The column of each name, in the order of the names; nil for a name without a column.
    private func keptColumns(_ columns: [CarriedColumn]) -> [CarriedColumn?] {
        carried.sorted().map { name in columns.last { $0.isNamed(name) } }
    }

    /// The identities to which a user is attached: the purchases, or all identities of a document without purchases.
    static func purchases(_ identities: [CustomerIdentity]) -> [CustomerIdentity] {
        let purchases = identities.filter { $0.kind == .originalTransactionId }
        return purchases.isEmpty ? identities : purchases
    }

    /// The id of the user, exactly as it was written; nil if the columns have none.
    func userId(_ columns: [CarriedColumn]) -> String? { userColumn(columns)?.userId }

    /// Whether the user's column is an object or array without the id of a user.
    func isUnread(_ columns: [CarriedColumn]) -> Bool {
        guard columns.contains(where: \.isContainer), let column = userColumn(columns) else { return false }
        return column.isContainer && column.userId == nil
    }

    /// The column that counts as the user's; nil if there is none.
    func userColumn(_ columns: [CarriedColumn]) -> CarriedColumn? {
        if let user { return columns.last { $0.isNamed(user) } }
        return columns.nearest { Self.names.firstIndex(of: $0) }
    }
}
