internal import AppStoreModels

/// Which statement about the type of a product counts. Every rule asks this one.
enum TypeOrder {
    /// The type by the first that states one: a signed document, the catalog, an unsigned document.
    ///
    /// If a signed document states the purchase, unsigned documents do not count. A wrong or forged row would keep a
    /// refunded copy granted, or give a non-renewing subscription access without an end.
    /// - Parameters:
    ///   - signed: what signed documents state, about the transaction or else about another one of the same purchase.
    ///   - catalog: what the catalog states; read only if it is needed.
    ///   - recorded: what unsigned documents state.
    ///   - isSigned: whether a signed document states the transaction.
    static func type(
        signed: ProductType?, catalog: @autoclosure () -> ProductType?, recorded: ProductType?, isSigned: Bool
    ) -> ProductType? {
        if let signed { return signed }
        return catalog() ?? (isSigned ? nil : recorded)
    }

    /// Keeps one of the types that documents of equal weight state. They can disagree; their order must change nothing.
    static func keep(_ type: ProductType, in known: inout ProductType?) {
        if let other = known, other.rawValue <= type.rawValue { return }
        known = type
    }
}

extension StoredTransaction {
    /// The type that a signed document states about the transaction.
    var signedType: ProductType? { isSigned ? payload.type : nil }

    /// The type of the product, by the order of `TypeOrder`.
    /// - Parameter catalog: the type that the catalog states.
    func type(catalog: @autoclosure () -> ProductType?) -> ProductType? {
        TypeOrder.type(
            signed: signedType, catalog: catalogType(catalog()), recorded: payload.type, isSigned: isSigned)
    }

    /// The `webOrderLineItemId` for rules that depend on it. An id that a row adds to a signed purchase does not count. Otherwise a
    /// wrong or forged row would turn the purchase into a subscription, or into a copy of a refunded period.
    var decidingLineItem: String? {
        !isSigned || sources.kind(of: .webOrderLineItemId).isSigned ? payload.webOrderLineItemId : nil
    }

    /// The type that the catalog states, if it can be true. Documents without a signed type state an expiry only for subscriptions
    /// that renew. Another type would give access without an end, or take a running subscription away.
    func catalogType(_ type: ProductType?) -> ProductType? {
        payload.expiresDate == nil || type == .autoRenewableSubscription ? type : nil
    }
}
