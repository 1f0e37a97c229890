import AppStoreModels
import ArgumentParser
import Foundation
import ProductCatalog
import Purchases

/// The rules of win-back offers: one by flags, or any number in a file or in the product catalog.
struct WinBackRuleOptions: ParsableArguments {
    @Option(name: .customLong("offers"), file: "A file with win-back offers, see above.")
    var file: String?

    @Option(help: .value("id", "The identifier of the offer."))
    var offerId: String?

    @Option(help: .value("id", "The product of the offer."))
    var productId: String?

    @Option(help: .value("n", "Minimum of consecutive months paid."))
    var paidMonths: Int?

    @Option(help: .value("n", "Minimum of months since the last subscription."))
    var minimumMonthsSince: Int?

    @Option(help: .value("n", "Maximum of months since the last subscription."))
    var maximumMonthsSince: Int?

    @Option(help: .value("n", "Minimum of months since this offer was last redeemed."))
    var monthsBetweenOffers: Int?

    private var isGivenByFlags: Bool {
        offerId != nil || productId != nil || paidMonths != nil || minimumMonthsSince != nil
            || maximumMonthsSince != nil || monthsBetweenOffers != nil
    }

    var isGiven: Bool { file != nil || isGivenByFlags }

    func validate(groups: [String], hasCatalog: Bool) throws {
        if file == nil, !isGivenByFlags, hasCatalog { return }
        guard file == nil else {
            guard !isGivenByFlags else { throw ValidationError("Give the rules by --offers or by flags, not both.") }
            return
        }
        guard offerId != nil, paidMonths != nil, minimumMonthsSince != nil, groups.count == 1 else {
            throw ValidationError(
                """
                Without --offers or a --catalog with win-back offers, win-back needs --offer-id, --group, \
                --paid-months and --minimum-months-since.
                """)
        }
        for months in [paidMonths, minimumMonthsSince, maximumMonthsSince, monthsBetweenOffers] {
            guard (0...WinBackRules.maximumMonths).contains(months ?? 0) else {
                throw ValidationError("Months are 0 to \(WinBackRules.maximumMonths).")
            }
        }
        if let maximumMonthsSince, maximumMonthsSince <= minimumMonthsSince ?? 0 {
            throw ValidationError("--maximum-months-since must be more than --minimum-months-since.")
        }
    }

    /// The offers in the order in which they are listed (`highPriorityFirst`).
    /// - Throws: ``CommandFailure`` for a file that cannot be used, and for a catalog without a win-back offer that has
    ///   rules and a group.
    func offers(groups: [String], catalog: ProductCatalog?) throws -> [WinBackOffer] {
        try unordered(groups: groups, catalog: catalog).highPriorityFirst
    }

    private func unordered(groups: [String], catalog: ProductCatalog?) throws -> [WinBackOffer] {
        if let file { return try WinBackOfferFile.read(file) }
        if !isGivenByFlags, let catalog { return try Self.offers(catalog) }
        return [
            WinBackOffer(
                offerIdentifier: offerId ?? "", group: groups.first ?? "", productId: productId,
                rules: WinBackRules(
                    minimumPaidMonths: paidMonths ?? 0, minimumMonthsSince: minimumMonthsSince ?? 0,
                    maximumMonthsSince: maximumMonthsSince, monthsBetweenOffers: monthsBetweenOffers))
        ]
    }

    private static func offers(_ catalog: ProductCatalog) throws -> [WinBackOffer] {
        for product in catalog.productIds.compactMap({ catalog.product($0) }) {
            let offers = product.winBackOffers(group: product.subscriptionGroupIdentifier ?? "")
            guard offers.isEmpty || product.subscriptionGroupIdentifier != nil else {
                throw CommandFailure(
                    "The win-back offers of \(product.productId) cannot be used: its group has no identifier.")
            }
        }
        let found = catalog.winBackOffers
        guard !found.isEmpty else {
            throw CommandFailure("The catalog has no win-back offer with rules (paidMonths, monthsSince).")
        }
        return found
    }
}

/// A file of win-back offers, YAML or JSON, read as strictly as a catalog.
enum WinBackOfferFile {
    static func read(_ path: String) throws -> [WinBackOffer] {
        let bytes = try InputFile.read(path)
        return try CommandFailure.naming("The offers cannot be used") { try offers(Data(bytes), file: path) }
    }

    private static func offers(_ data: Data, file: String) throws(CatalogError) -> [WinBackOffer] {
        let root = try CatalogDocument.parse(data, file: file)
        var top = try CatalogMapping(root, file: file, element: "")
        guard try top.takeInteger("version", in: 1...1) != nil else {
            throw CatalogError(
                .missingValue, at: CatalogSource(file: file, line: 1), "the file must begin with version: 1")
        }
        guard let member = top.take("winBackOffers") else {
            throw CatalogError(.missingValue, at: CatalogSource(file: file, line: 1), "winBackOffers is missing")
        }
        try top.requireAllTaken()
        var list = try CatalogMapping(member.node, file: file, element: "winBackOffers")
        var offers: [WinBackOffer] = []
        for identifier in list.keys {
            guard let member = list.take(identifier) else { continue }
            var facts = try CatalogMapping(member.node, file: file, element: "winBackOffers.\(identifier)")
            offers.append(try offer(identifier, &facts))
        }
        return offers
    }

    private static func offer(
        _ identifier: String, _ facts: inout CatalogMapping
    ) throws(CatalogError) -> WinBackOffer {
        func missing(_ key: String) -> CatalogError {
            CatalogError(.missingValue, at: facts.place(key, line: facts.line), "\(key) is missing")
        }
        guard let group = try facts.takeString("group") else { throw missing("group") }
        let product = try facts.takeString("product")
        guard let rules = try facts.takeWinBackRules() else { throw missing("paidMonths") }
        let offer = WinBackOffer(offerIdentifier: identifier, group: group, productId: product, rules: rules)
        try facts.requireAllTaken()
        return offer
    }
}
