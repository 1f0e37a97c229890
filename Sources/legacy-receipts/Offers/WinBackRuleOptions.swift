import AppStoreServer
import ArgumentParser
import Foundation
import ProductCatalog

/// The rules of win-back offers: one by flags, or any number in a file.
struct WinBackRuleOptions: ParsableArguments {
    @Option(
        name: .customLong("offers"), help: ArgumentHelp("A file with win-back offers, see above.", valueName: "file"),
        completion: .file())
    var file: String?

    @Option(name: .customLong("offer-id"), help: ArgumentHelp("The identifier of the offer.", valueName: "id"))
    var offerId: String?

    @Option(name: .customLong("product-id"), help: ArgumentHelp("The product of the offer.", valueName: "id"))
    var productId: String?

    @Option(
        name: .customLong("paid-months"),
        help: ArgumentHelp("Minimum of consecutive months paid.", valueName: "n"))
    var paidMonths: Int?

    @Option(
        name: .customLong("minimum-months-since"),
        help: ArgumentHelp("Minimum of months since the last subscription.", valueName: "n"))
    var minimumMonthsSince: Int?

    @Option(
        name: .customLong("maximum-months-since"),
        help: ArgumentHelp("Maximum of months since the last subscription.", valueName: "n"))
    var maximumMonthsSince: Int?

    @Option(
        name: .customLong("months-between-offers"),
        help: ArgumentHelp("Minimum of months since the last win-back offer ended.", valueName: "n"))
    var monthsBetweenOffers: Int?

    private var isGivenByFlags: Bool {
        offerId != nil || productId != nil || paidMonths != nil || minimumMonthsSince != nil
            || maximumMonthsSince != nil || monthsBetweenOffers != nil
    }

    var isGiven: Bool { file != nil || isGivenByFlags }

    func validate(groups: [String]) throws {
        guard file == nil else {
            guard !isGivenByFlags else { throw ValidationError("Give the rules by --offers or by flags, not both.") }
            return
        }
        guard offerId != nil, paidMonths != nil, minimumMonthsSince != nil, groups.count == 1 else {
            throw ValidationError(
                "Without --offers, win-back needs --offer-id, --group, --paid-months and --minimum-months-since.")
        }
        for months in [paidMonths, minimumMonthsSince, maximumMonthsSince, monthsBetweenOffers] {
            guard (0...WinBackOffer.maximumMonths).contains(months ?? 0) else {
                throw ValidationError("Months are 0 to \(WinBackOffer.maximumMonths).")
            }
        }
        if let maximumMonthsSince, maximumMonthsSince <= minimumMonthsSince ?? 0 {
            throw ValidationError("--maximum-months-since has to be more than --minimum-months-since.")
        }
    }

    /// - Throws: ``CommandFailure`` for a file that cannot be used.
    func offers(groups: [String]) throws -> [WinBackOffer] {
        if let file { return try WinBackOfferFile.read(file) }
        return [
            WinBackOffer(
                offerIdentifier: offerId ?? "", group: groups.first ?? "", productId: productId,
                minimumPaidMonths: paidMonths ?? 0, minimumMonthsSince: minimumMonthsSince ?? 0,
                maximumMonthsSince: maximumMonthsSince, monthsBetweenOffers: monthsBetweenOffers)
        ]
    }
}

/// A file of win-back offers, YAML or JSON, read as strictly as a catalogue.
enum WinBackOfferFile {
    private static let months = 0...Int64(WinBackOffer.maximumMonths)

    static func read(_ path: String) throws -> [WinBackOffer] {
        let bytes = try InputFile.read(path)
        do throws(CatalogError) {
            return try offers(Data(bytes), file: path)
        } catch {
            throw CommandFailure("The offers cannot be used: \(error)")
        }
    }

    private static func offers(_ data: Data, file: String) throws(CatalogError) -> [WinBackOffer] {
        let root = try CatalogDocument.parse(data, file: file)
        var top = try CatalogMapping(root, file: file, element: "")
        guard try top.takeInteger("version", in: 1...1) != nil else {
            throw CatalogError(
                .missingValue, at: CatalogSource(file: file, line: 1), "the file has to begin with version: 1")
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
        let line = facts.line
        func missing(_ key: String) -> CatalogError {
            CatalogError(.missingValue, at: facts.place(key, line: line), "\(key) is missing")
        }
        guard let group = try facts.takeString("group") else { throw missing("group") }
        guard let paid = try facts.takeInteger("paidMonths", in: months) else { throw missing("paidMonths") }
        guard let member = facts.take("monthsSince") else { throw missing("monthsSince") }
        var since = try CatalogMapping(member.node, file: facts.file, element: "\(facts.element).monthsSince")
        guard let minimum = try since.takeInteger("minimum", in: months) else { throw missing("monthsSince.minimum") }
        let maximum = try since.takeInteger("maximum", in: months)
        if let maximum, maximum <= minimum {
            throw CatalogError(
                .badValue, at: since.place("maximum", line: since.line), "maximum has to be more than minimum")
        }
        try since.requireAllTaken()
        let offer = WinBackOffer(
            offerIdentifier: identifier, group: group, productId: try facts.takeString("product"),
            minimumPaidMonths: Int(paid), minimumMonthsSince: Int(minimum),
            maximumMonthsSince: maximum.map { Int($0) },
            monthsBetweenOffers: try facts.takeInteger("monthsBetweenOffers", in: months).map { Int($0) })
        try facts.requireAllTaken()
        return offer
    }
}
