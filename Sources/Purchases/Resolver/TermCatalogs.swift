public import ProductCatalog

/// The product catalogs of the apps of a store: they state how long the terms of non-renewing subscriptions last.
public struct TermCatalogs: Sendable {
    private let byBundleId: [String: ProductCatalog]
    private let other: ProductCatalog?

    /// - Parameters:
    ///   - byBundleId: the catalogs of single apps.
    ///   - other: the catalog of every other app; nil if there is none.
    public init(byBundleId: [String: ProductCatalog] = [:], other: ProductCatalog? = nil) {
        self.byBundleId = byBundleId
        self.other = other
    }

    /// Whether no app has a catalog.
    public var isEmpty: Bool { byBundleId.isEmpty && other == nil }

    /// Whether an app has a catalog.
    public func contains(_ scope: StoreScope) -> Bool { catalog(of: scope) != nil }

    /// ``Customer/nonRenewingTerms(_:)`` by the catalog of the customer's app; empty without one.
    public func terms(of customer: Customer) -> [String: NonRenewingTerm] {
        catalog(of: customer.scope).map { customer.nonRenewingTerms($0) } ?? [:]
    }

    private func catalog(of scope: StoreScope) -> ProductCatalog? { byBundleId[scope.bundleId] ?? other }
}
