package import Purchases

extension CustomerIdentity {
    /// An identity of a table.
    /// - Parameters:
    ///   - kind: the raw value of a `CustomerIdentity.Kind`.
    ///   - value: the value of the identity.
    /// - Throws: ``TransactionStoreError`` `corrupt` for an unknown kind.
    package init(storedKind kind: Int64, _ value: String) throws {
        guard let kind = Int(exactly: kind).flatMap(Kind.init(rawValue:)) else {
            throw TransactionStoreError(.corrupt, "The store has an identity of an unknown kind.")
        }
        self.init(kind, value)
    }
}
