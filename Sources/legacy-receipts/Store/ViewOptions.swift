import AppStoreServer
import ArgumentParser
import ProductCatalog

/// The inputs of statuses and offers in addition to the documents of a store.
struct ViewOptions: ParsableArguments {
    @Option(file: "A product catalog: types, groups, levels, durations and offers. Repeatable.")
    var catalog: [String] = []

    @Option(date: "The point in time, for example 2024-03-15T10:20:30Z (default: now).")
    var at: Int64?

    var isDefault: Bool { catalog.isEmpty && at == nil }

    /// The catalog; nil without files.
    /// - Throws: `CommandFailure` with the file and the line of the mistake.
    var products: ProductCatalog? { get throws { try CatalogArguments.catalog(catalog) } }

    /// In milliseconds since 1970; another one at each call without `--at`.
    var date: Int64 { at ?? ServerClock.system.now() }
}
