internal import AppStoreModels
public import ProductCatalog

/// The products of the sandbox.
public struct SandboxCatalog: Sendable {
    /// By product identifier.
    public private(set) var products: [String: SandboxProduct]

    /// Creates a catalog. Of several products with one identifier, the last one counts.
    public init(_ products: [SandboxProduct]) {
        self.products = Dictionary(products.map { ($0.id, $0) }) { $1 }
    }

    /// Creates a catalog from the products of a `.storekit` file, a feed or a catalog file. Patterns are skipped.
    ///
    /// - Throws: ``SandboxError`` with the code `invalidCatalog`. It names the product and the field: a missing type, the
    ///   missing period of a subscription, the missing period or payment mode of an offer, or an invalid price.
    public init(_ catalog: ProductCatalog) throws {
        try self.init(catalog.productIds.compactMap { catalog.product($0) }.map(Self.product))
    }

    subscript(id: String) -> SandboxProduct? {
        get { products[id] }
        set { products[id] = newValue }
    }

    /// The products of a subscription group, sorted by identifier.
    func products(inGroup group: String) -> [SandboxProduct] {
        products.values.filter { $0.group == group }.sorted { $0.id < $1.id }
    }

    private static func product(_ source: CatalogProduct) throws -> SandboxProduct {
        let id = source.productId
        guard let type = source.type, type.isKnown else { throw invalid(id, "type", "is missing") }
        var product = SandboxProduct(id: id, type: type)
        product.isFreeSubscription = source.isFreeSubscription
        product.price = try source.price.map { try price($0, id, "price") }
        product.isFamilyShareable = source.isFamilyShareable ?? false
        product.level = source.level ?? 1
        product.adamId = source.adamId ?? 0
        guard type == .autoRenewableSubscription else { return product }
        guard let period = source.period else { throw invalid(id, "period", "is missing") }
        product.period = period
        // A subscription without a group has a group of its own.
        product.group = source.subscriptionGroupIdentifier ?? source.subscriptionGroupName ?? id
        product.offers = try source.offers.map { try offer($0, id) }
        return product
    }

    private static func offer(_ source: CatalogOffer, _ id: String) throws -> SandboxOffer {
        let name = "offers.\(source.identifier ?? "introductory")"
        guard let mode = source.paymentMode else { throw invalid(id, "\(name).paymentMode", "is missing") }
        guard let period = source.period else { throw invalid(id, "\(name).period", "is missing") }
        return SandboxOffer(
            type: source.type, identifier: source.identifier, discountType: mode, period: period,
            numberOfPeriods: source.numberOfPeriods,
            price: try source.price.map { try price($0, id, "\(name).price") } ?? 0,
            winBackRules: source.winBackRules ?? WinBackRules())
    }

    private static func price(_ text: String, _ id: String, _ field: String) throws -> Int64 {
        guard let price = milliunits(text) else { throw invalid(id, field, "is not a decimal price") }
        return price
    }

    private static func invalid(_ id: String, _ field: String, _ reason: String) -> SandboxError {
        SandboxError(.invalidCatalog, "product \(id): \(field) \(reason)")
    }

    /// Reads a decimal price in milliunits: `9.99` and `9,99` are 9990. Ignores a currency sign around the number.
    ///
    /// - Returns: nil for text without a digit, or with several separators, more than three decimals or more than 12
    ///   digits.
    private static func milliunits(_ text: String) -> Int64? {
        let characters = text.utf8.filter { $0.isDigit || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ",") }
        let parts = characters.split(omittingEmptySubsequences: false) { !$0.isDigit }
        guard characters.contains(where: \.isDigit), (1...2).contains(parts.count) else { return nil }
        let decimals = parts.count == 2 ? parts[1] : []
        guard decimals.count <= 3, parts[0].count <= 12 else { return nil }
        let digits =
            Array(parts[0]) + Array(decimals) + [UInt8](repeating: UInt8(ascii: "0"), count: 3 - decimals.count)
        return digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }
}
