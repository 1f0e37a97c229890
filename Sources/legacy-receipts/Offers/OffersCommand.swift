import AppStoreModels
import ArgumentParser
import Encodings
import Foundation
import Migration
import ProductCatalog
import Purchases
import TransactionStore

struct OffersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "offers",
        abstract: "List the customers who are eligible for an offer.",
        discussion: """
            Reads the purchases of an app from a store and prints CSV, ordered by customer: the eligibility for each \
            offer, its start and end, and the reason. Missing data is not guessed: an unknown price, subscription group \
            or renewal makes the answer "unknown". The status of an entitlement is "unknown" without the \
            type of the product, or the duration of a non-renewing subscription; a catalog states both. Months are \
            calendar months in US Pacific time.

            KINDS:
              introductory  introductory offers and free trials, by group
              win-back      win-back offers, with rules from options, a file, or a catalog
              promotional   customers for promotional offers, by group: those who turned
                            auto-renewal off, are in billing retry, or lapsed
              entitlement   no offer: the purchases of each customer: subscriptions by
                            group, non-renewing subscriptions, and non-consumables

            Example of a file with win-back offers:
              version: 1
              winBackOffers:
                come-back:               # the identifier of the offer
                  group: "20456789"      # subscriptionGroupIdentifier
                  product: com.example.premium.yearly
                  paidMonths: 3          # most recent consecutive months paid, at least
                  monthsSince:           # since the last subscription
                    minimum: 2
                    maximum: 24
                  monthsBetweenOffers: 6 # since this offer was last redeemed
                  waitScope: offer       # group: since any win-back offer of the group
                  startDate: 2026-03-01  # first and last day, US Pacific time
                  endDate: 2026-03-31
                  storefronts: [USA, CAN]
                  priority: high         # high or normal; high is listed first
            A win-back offer in a catalog has the same keys, except group and product.

            EXAMPLES:
              legacy-receipts offers --store sqlite:purchases.sqlite \\
                --bundle-id com.example.app --kind introductory
              legacy-receipts offers --store sqlite:purchases.sqlite \\
                --bundle-id com.example.app --kind win-back --offers offers.yaml
              legacy-receipts offers --store sqlite:purchases.sqlite \\
                --bundle-id com.example.app --kind promotional
            """)

    enum Kind: String, CaseIterable, ExpressibleByArgument {
        case introductory
        case winBack = "win-back"
        case promotional
        case entitlement
    }

    @OptionGroup var store: StoreOption

    @Option(help: .value("id", "The app."))
    var bundleId: String

    @Option(
        help: .value("name", "Production or Sandbox."), completion: .list(["Production", "Sandbox"]),
        transform: FormatArguments.appStoreEnvironment)
    var environment: Environment = .production

    @Option(help: "What to list: introductory, win-back, promotional or entitlement.")
    var kind: Kind

    @OptionGroup(title: "Win-back rules") var rules: WinBackRuleOptions

    @Option(name: .customLong("group"), help: .value("id", "Only this subscription group. Repeatable."))
    var groups: [String] = []

    @OptionGroup var view: ViewOptions

    @Option(date: "The date until which the store is complete (default: the newest document of each subscription).")
    var currentThrough: Int64?

    @Flag(
        name: .customLong("count-unpriced-as-paid"),
        help: "Count periods without a price and without an offer as paid. Legacy receipts contain no prices.")
    var countsUnpricedAsPaid = false

    @Flag(help: "List all customers with the verdict, not only the eligible ones.")
    var all = false

    func validate() throws {
        if kind == .winBack {
            try rules.validate(groups: groups, hasCatalog: !view.catalog.isEmpty)
        } else if rules.isGiven {
            throw ValidationError("The win-back rules are for --kind win-back.")
        }
    }

    func run() async throws {
        let (now, products) = (view.date, try view.products)
        let offers = kind == .winBack ? try rules.offers(groups: groups, catalog: products) : []
        let listing = OfferListing(
            options: self, offers: offers, introductoryGroups: products?.introductoryOfferGroups ?? [],
            catalog: products, now: now)
        var hasCustomers = false
        var counts: [String: Int] = [:]
        try Terminal.output(CSVField.row(listing.header))
        let scope = StoreScope(environment: environment, bundleId: bundleId)
        try await StoreOpener.withExisting(store.url) { store in
            try await store.forEachCustomer(in: scope) { customer in
                hasCustomers = true
                for row in listing.rows(of: customer) {
                    counts[row.outcome, default: 0] += 1
                    if row.isListed { try Terminal.output(CSVField.row(row.fields)) }
                }
            }
        }
        guard hasCustomers else { return Terminal.error("No customer of \(bundleId) is in the store.") }
        let text = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        Terminal.error("Verdicts: \(text.isEmpty ? "none" : text).")
    }
}

enum DateArguments {
    /// - Throws: `ValidationError` for what is no date of the years 1970 to 9999.
    static func milliseconds(_ text: String) throws -> Int64 {
        let date =
            (try? Date(text, strategy: .iso8601)) ?? (try? Date(text, strategy: .iso8601.year().month().day()))
        let limit = Double(PacificTime.range.upperBound)
        guard let seconds = date?.timeIntervalSince1970, seconds >= 0, seconds * 1000 < limit else {
            throw ValidationError("'\(text)' is not a date like 2024-03-15T10:20:30Z or 2024-03-15.")
        }
        return Int64(seconds * 1000)
    }
}
