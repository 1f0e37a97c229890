import AppStoreModels
import ArgumentParser
import ProductCatalog
import Purchases
import TransactionStore

/// Which entries of the ledger a command prints, and with which terms.
struct LedgerSelection: ParsableArguments {
    @Option(help: "Only entries of this app (default: of every app).")
    var bundleId: String?

    @Option(
        help: "Only entries of this environment: Production or Sandbox (default: both).",
        completion: .list(["Production", "Sandbox"]), transform: FormatArguments.appStoreEnvironment)
    var environment: Environment?

    @OptionGroup var terms: TermCatalogOption

    var isFiltered: Bool { bundleId != nil || environment != nil }

    func includes(_ scope: StoreScope) -> Bool {
        (bundleId ?? scope.bundleId) == scope.bundleId && (environment ?? scope.environment) == scope.environment
    }
}

/// The length of non-renewing subscriptions.
struct TermCatalogOption: ParsableArguments {
    @Option(file: "A product catalog, for the terms of non-renewing subscriptions. Repeatable.")
    var catalog: [String] = []

    /// The catalog; nil without files.
    /// - Throws: `CommandFailure` with the file and the line of the mistake.
    var products: ProductCatalog? { get throws { try CatalogArguments.catalog(catalog) } }
}

/// The entries of a ledger as NDJSON.
enum LedgerLines {
    /// - Throws: `TransactionStoreError`.
    static func bytes(
        of entries: some Collection<LedgerEntry>, _ catalog: ProductCatalog?, in store: any TransactionStore
    ) async throws -> [UInt8] {
        var lines = JSONWriter(reservingCapacity: entries.count * 1024)
        var terms = LedgerTerms(catalog: catalog)
        for entry in entries {
            let term = try await terms.term(of: entry, in: store)
            let former = try await terms.formerTerm(of: entry, in: store)
            write(entry, term, former, renewalPrice: try await renewalPrice(of: entry, in: store), to: &lines)
        }
        return lines.bytes
    }

    /// The new price in an entry about a price increase, from the current signed renewal information.
    private static func renewalPrice(of entry: LedgerEntry, in store: any TransactionStore) async throws -> Int64? {
        guard [.priceIncreasePending, .priceIncreaseAccepted].contains(entry.event) else { return nil }
        let id = entry.transaction.purchaseId ?? entry.transactionId
        do {
            let customer = try await store.customer([CustomerIdentity(.originalTransactionId, id)], in: entry.scope)
            return customer?.signedRenewalInfo(of: id)?.payload.renewalPrice
        } catch let error as TransactionStoreError where error.code == .corrupt {
            // The consumer must get the entry even if the price cannot be read.
            return nil
        }
    }

    private static func write(
        _ entry: LedgerEntry, _ term: NonRenewingTerm?, _ former: NonRenewingTerm?, renewalPrice: Int64?,
        to writer: inout JSONWriter
    ) {
        var transaction = entry.transaction.payload
        if let term { transaction.expiresDate = term.end }
        writer.beginObject()
        entry.writeChange(to: &writer)
        writer.member("bundleId", entry.scope.bundleId)
        writer.member("environment", entry.scope.environment.rawValue)
        writer.member("transactionId", entry.transactionId)
        writer.member("transaction", transaction)
        writer.member("termStart", term?.start)
        writer.member("termStartBefore", former?.start)
        writer.member("expiresDateBefore", former?.end)
        writer.member("renewalPrice", renewalPrice)
        writer.member("seatClaimId", entry.seatClaimId)
        writer.endObject()
        writer.newline()
    }
}

extension DeliveryLedger {
    /// The entries after the position of a consumer, or of a person if `consumer` is nil.
    ///
    /// - Throws: ``CommandFailure`` if the consumer has missed entries, `TransactionStoreError`.
    func entries(after position: Int64, limit: Int, for consumer: String?) async throws -> [LedgerEntry] {
        do {
            return try await changes(after: position, limit: limit)
        } catch let error as TransactionStoreError where error.code == .entriesRemoved {
            let reader = consumer.map { "The consumer \($0) cannot read on. " } ?? ""
            throw CommandFailure(
                """
                \(reader)\(error.message) Read the current state of the purchases with 'legacy-receipts export', \
                and then acknowledge the removed position.
                """)
        }
    }
}

/// The terms of the non-renewing subscriptions among some entries. A term depends on all purchases of the customer, so each
/// customer is looked up once.
private struct LedgerTerms {
    private struct Key: Hashable {
        let scope: StoreScope
        let transactionId: String
    }

    private let catalog: ProductCatalog?
    private var terms: [Key: NonRenewingTerm] = [:]
    private var lookedUp: Set<Key> = []
    /// The customer of the last look-up, because the terms of a customer often move together.
    private var last: Customer?

    init(catalog: ProductCatalog?) { self.catalog = catalog }

    /// - Throws: `TransactionStoreError`.
    mutating func term(of entry: LedgerEntry, in store: any TransactionStore) async throws -> NonRenewingTerm? {
        let payload = entry.transaction.payload
        // Only non-renewing subscriptions have a duration. Whether the purchase is one can depend on the customer's others.
        guard let catalog, payload.productId.flatMap({ catalog.product($0) })?.duration != nil else { return nil }
        let key = Key(scope: entry.scope, transactionId: entry.transactionId)
        if lookedUp.insert(key).inserted {
            let customer = try await customer(of: entry, in: store)
            for (id, term) in customer?.nonRenewingTerms(catalog) ?? [:] {
                let key = Key(scope: entry.scope, transactionId: id)
                lookedUp.insert(key)
                terms[key] = term
            }
        }
        return terms[key]
    }

    /// The term before an entry `termMoved`. Nil for other entries, and if the entry does not name the earlier purchases.
    /// - Throws: `TransactionStoreError`.
    mutating func formerTerm(of entry: LedgerEntry, in store: any TransactionStore) async throws -> NonRenewingTerm? {
        guard let catalog, let earlier = entry.earlierPurchasesBefore else { return nil }
        let customer = try await customer(of: entry, in: store)
        return customer?.nonRenewingTerm(of: entry.transactionId, after: earlier, catalog)
    }

    private mutating func customer(of entry: LedgerEntry, in store: any TransactionStore) async throws -> Customer? {
        let identity = CustomerIdentity(
            .originalTransactionId, entry.transaction.purchaseId ?? entry.transactionId)
        if let last, last.scope == entry.scope, last.identities.contains(identity) { return last }
        last = try await store.customer([identity], in: entry.scope)
        return last
    }
}
