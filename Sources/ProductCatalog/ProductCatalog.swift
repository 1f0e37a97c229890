/// Describes the products of an app: types, periods, terms, groups, offers, entitlements. A receipt contains only
/// product identifiers.
///
///     let catalog = try ProductCatalog.load(paths: ["catalog.yaml", "Store.storekit", "App.itmsp"])
///     if let product = catalog.product("com.example.season") {
///         product.duration              // P3M
///         product.source(of: .duration) // catalog.yaml:7: products.com.example.season
///         product.rule                  // exact
///     }
///
/// Several sources are merged. They may complete each other, and must agree on facts that both state. An exact entry
/// and a pattern are never combined: the exact entry alone counts, or without one the most specific pattern.
///
/// **The most specific pattern** is the one with the higher `priority` (0 by default); then with more literal
/// characters; then with more `?`; then with fewer `*`. If two patterns are equal in all four and can match the same
/// identifier, creating the catalog fails (``CatalogError/Code/ambiguousPatterns``), before any receipt is read.
public struct ProductCatalog: Sendable {
    private struct PatternRecord: Sendable {
        let pattern: ProductIdPattern
        let priority: Int
        let specificity: ProductIdPattern.Specificity
        let record: CatalogRecord
    }

    private let exact: [String: CatalogRecord]
    /// Most specific first.
    private let patterns: [PatternRecord]
    /// Differences between sources that are not contradictions: other names and prices. The first source wins.
    public let remarks: [String]

    /// An empty catalog.
    public init() {
        exact = [:]
        patterns = []
        remarks = []
    }

    /// Merges the entries of any number of sources. The order decides only which label wins.
    ///
    /// - Throws: ``CatalogError`` with code `conflict`, `duplicate`, `ambiguousPatterns`, `badValue` (an invalid
    ///   product identifier or pattern) or `tooLarge`.
    public init(entries: [CatalogEntry]) throws(CatalogError) {
        if let last = entries.last, entries.count > CatalogLimits.entries {
            throw CatalogError(.tooLarge, at: last.source, "more than \(CatalogLimits.entries) entries")
        }
        var products = OrderedMergers<String>()
        var globs = OrderedMergers<ProductIdPattern>()
        for entry in entries {
            switch entry.subject {
            case .productId(let id):
                try CatalogText.requireProductId(id, at: entry.source)
                try products.add(entry, for: id)
            case .pattern(let text, let priority):
                let pattern = try CatalogText.pattern(text, at: entry.source)
                if let known = globs.first(pattern), case .pattern(_, let other) = known.subject, other != priority {
                    throw CatalogError(
                        .conflict, at: entry.source, and: known.source,
                        "pattern \(text): priority is \(priority) here and \(other) there")
                }
                try globs.add(entry, for: pattern)
            }
        }
        exact = Dictionary(uniqueKeysWithValues: try products.records())
        patterns = try Self.ordered(try globs.records())
        remarks = products.remarks + globs.remarks
    }

    private static func ordered(
        _ records: [(ProductIdPattern, CatalogRecord)]
    ) throws(CatalogError) -> [PatternRecord] {
        if let last = records.last, records.count > CatalogLimits.patterns {
            throw CatalogError(.tooLarge, at: last.1.facts.source, "more than \(CatalogLimits.patterns) patterns")
        }
        let unordered = records.map { pattern, record in
            var priority = 0
            if case .pattern(_, let stated) = record.facts.subject { priority = stated }
            return PatternRecord(
                pattern: pattern, priority: priority, specificity: pattern.specificity, record: record)
        }
        let ordered = unordered.sorted {
            if $0.priority != $1.priority { return $0.priority > $1.priority }
            if $0.specificity != $1.specificity { return $0.specificity > $1.specificity }
            return $0.pattern.text < $1.pattern.text
        }
        for (index, one) in ordered.enumerated() {
            for other in ordered[(index + 1)...] {
                guard one.priority == other.priority, one.specificity == other.specificity else { break }
                guard one.pattern.overlaps(other.pattern) else { continue }
                throw CatalogError(
                    .ambiguousPatterns, at: one.record.facts.source, and: other.record.facts.source,
                    "patterns \(one.pattern) and \(other.pattern) are equally specific and fit the same product "
                        + "identifiers; give one of them a priority")
            }
        }
        return ordered
    }

    /// The catalog's facts about a product: its own entry, or else the most specific pattern that matches, or else nil.
    ///
    /// Costs a dictionary look-up, then one pass over the identifier per pattern until one matches. Safe from any
    /// thread.
    public func product(_ productId: String) -> CatalogProduct? {
        if let record = exact[productId] {
            return CatalogProduct(productId: productId, rule: .exact, record: record)
        }
        if patterns.isEmpty { return nil }
        var copy = productId
        let found = copy.withUTF8 { bytes in patterns.first { $0.pattern.matches(bytes) } }
        return found.map {
            CatalogProduct(productId: productId, rule: .pattern($0.pattern.text), record: $0.record)
        }
    }

    /// The product identifiers that have their own entry, sorted.
    public var productIds: [String] { exact.keys.sorted() }

    /// Whether the catalog has neither products nor patterns, so that every look-up returns nil.
    public var isEmpty: Bool { exact.isEmpty && patterns.isEmpty }
}

/// Mergers by key, in the order of first use. Errors and remarks then do not depend on hashing.
private struct OrderedMergers<Key: Hashable> {
    private var indices: [Key: Int] = [:]
    private var mergers: [(key: Key, merger: CatalogMerger)] = []

    func first(_ key: Key) -> CatalogEntry? { indices[key].map { mergers[$0].merger.facts } }

    mutating func add(_ entry: CatalogEntry, for key: Key) throws(CatalogError) {
        if let index = indices[key] {
            try mergers[index].merger.add(entry)
        } else {
            indices[key] = mergers.count
            mergers.append((key, CatalogMerger(entry)))
        }
    }

    func records() throws(CatalogError) -> [(Key, CatalogRecord)] {
        var result: [(Key, CatalogRecord)] = []
        result.reserveCapacity(mergers.count)
        for (key, merger) in mergers { result.append((key, try merger.record())) }
        return result
    }

    var remarks: [String] { mergers.flatMap(\.merger.remarks) }
}
