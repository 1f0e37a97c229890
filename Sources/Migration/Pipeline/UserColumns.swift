import AppStoreModels
import Purchases
import TransactionStore

/// Finds the caller's user in the columns beside a document.
struct UserColumns: Sendable {
    /// The column with the id of the user; nil to detect it by its name.
    let user: String?
    /// The columns that are kept beside the user.
    let carried: Set<String>

    /// Names of columns with a user id, in lower case and without separators; the first one counts.
    private static let names = [
        "userid", "appuserid", "customuserid", "accountid", "customerid", "memberid", "playerid", "uid", "user",
    ]

    /// The claims that the columns make on the purchases of a document.
    func claims(_ columns: [CarriedColumn], on facts: [FactSet]) -> [UserClaim] {
        claims(columns, on: facts.map { (scope: $0.scope, identities: $0.identities) })
    }

    func claims(
        _ columns: [CarriedColumn], on documents: [(scope: StoreScope, identities: [CustomerIdentity])]
    ) -> [UserClaim] {
        guard !columns.isEmpty else { return [] }
        let userId = userColumn(columns).flatMap(Self.text) ?? ""
        let kept = columns.filter { carried.contains($0.name) }.sorted { $0.name < $1.name }
        guard !userId.isEmpty || !kept.isEmpty else { return [] }
        let text = String(decoding: JSONWriter.carriedColumns(kept), as: UTF8.self)
        return documents.flatMap { document in
            Self.purchases(document.identities).map { identity in
                UserClaim(scope: document.scope, identity: identity, userId: userId, carried: text)
            }
        }
    }

    /// The identities to which a user is attached: the purchases, or all identities of a document without purchases.
    static func purchases(_ identities: [CustomerIdentity]) -> [CustomerIdentity] {
        let purchases = identities.filter { $0.kind == .originalTransactionId }
        return purchases.isEmpty ? identities : purchases
    }

    /// The user column; nil if there is none.
    func userColumn(_ columns: [CarriedColumn]) -> CarriedColumn? {
        if let user { return columns.first { $0.name == user } }
        var best: (rank: Int, column: CarriedColumn)?
        for column in columns {
            let name = String(
                decoding: column.name.lowercased().utf8.filter { $0 != 0x5F && $0 != 0x2D && $0 != 0x20 }, as: UTF8.self
            )
            guard let rank = Self.names.firstIndex(of: name), rank < best?.rank ?? .max else { continue }
            best = (rank, column)
        }
        return best?.column
    }

    /// The id as text; nil for an object, an array or null.
    private static func text(_ column: CarriedColumn) -> String? {
        switch column.value {
        case .text(let text): return text.isEmpty ? nil : text
        case .json(let json):
            guard let first = json.utf8.first, first != 0x5B, first != 0x7B, json != "null" else { return nil }
            return json
        }
    }
}
