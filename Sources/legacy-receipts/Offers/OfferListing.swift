import AppStoreModels
import ProductCatalog
import Purchases

/// Makes the rows of `offers` for one customer after the other.
struct OfferListing {
    struct Row {
        /// The counted values.
        let outcome: String
        let isListed: Bool
        let fields: [String]
    }

    let options: OffersCommand
    let offers: [WinBackOffer]
    /// The groups with an introductory offer in the catalog.
    let introductoryGroups: Set<String>
    let catalog: ProductCatalog?
    let now: Int64

    private static let identityColumns = ["appAccountTokens", "appTransactionIds", "originalTransactionIds"]

    var header: [String] {
        switch options.kind {
        case .introductory, .winBack:
            [
                "eligibility", "kind", "offerIdentifier", "subscriptionGroupIdentifier", "productId", "eligibleFrom",
                "eligibleUntil", "changesAt", "reasons",
            ] + Self.identityColumns
        case .promotional:
            [
                "situation", "status", "subscriptionGroupIdentifier", "productId", "expirationIntent", "accessEnds",
                "changesAt", "isCurrent", "originalTransactionId", "transactionId",
            ] + Self.identityColumns
        case .entitlement:
            [
                "status", "type", "entitlement", "subscriptionGroupIdentifier", "productId", "level", "seats",
                "isFamilyShared", "accessEnds", "changesAt", "isCurrent", "originalTransactionId", "transactionId",
            ] + Self.identityColumns
        }
    }

    func rows(of customer: Customer) -> [Row] {
        let history = customer.purchaseHistory(
            catalog: catalog, currentThrough: options.currentThrough,
            countsUnpricedAsPaid: options.countsUnpricedAsPaid)
        let identities = Self.identities(customer)
        switch options.kind {
        case .introductory:
            let asked =
                options.groups.isEmpty
                ? history.introductoryGroups(offering: introductoryGroups) : Set(options.groups).sorted()
            return zip(asked, history.introductoryEligibilities(asked, at: now)).map { group, verdict in
                row(verdict, nil, group, nil, identities)
            }
        case .winBack:
            return offers.filter { includes($0.group) }.map { offer in
                let verdict = history.eligibility(for: offer, at: now)
                return row(verdict, offer.offerIdentifier, offer.group, offer.productId, identities)
            }
        case .promotional:
            return history.promotionalCandidates(at: now).filter { includes($0.group) }.map { row($0, identities) }
        case .entitlement:
            return history.entitlements(at: now).filter { includes($0.group) }.map { row($0, identities) }
        }
    }

    private func includes(_ group: String?) -> Bool {
        options.groups.isEmpty || options.groups.contains(group ?? "")
    }

    // MARK: Rows

    /// - Parameters:
    ///   - fields: the counted value comes first.
    ///   - isListed: whether the row is printed, and not only counted.
    private func row(_ fields: [String], isListed: Bool) -> Row {
        Row(outcome: fields[0], isListed: options.all || isListed, fields: fields.map(Printable.text))
    }

    private func row(
        _ verdict: OfferVerdict, _ offer: String?, _ group: String, _ product: String?, _ identities: [String]
    ) -> Row {
        let fields = [
            verdict.eligibility.rawValue, options.kind.rawValue, offer ?? "", group, product ?? "",
            verdict.eligibleFrom.map(DateText.iso) ?? "", verdict.eligibleUntil.map(DateText.iso) ?? "",
            verdict.changesAt.map(DateText.iso) ?? "", verdict.reasons.map(Self.text).joined(separator: "; "),
        ]
        return row(fields + identities, isListed: verdict.eligibility == .eligible)
    }

    private func row(_ entitlement: Entitlement, _ identities: [String]) -> Row {
        let fields = [
            entitlement.status?.name ?? "unknown", entitlement.type?.rawValue ?? "", entitlement.name ?? "",
            entitlement.group ?? "",
            entitlement.productId ?? "", entitlement.level.map { String($0) } ?? "",
            entitlement.seats.map { String($0) } ?? "", String(entitlement.isFamilyShared),
            entitlement.accessEnds.map(DateText.iso) ?? "", entitlement.changesAt.map(DateText.iso) ?? "",
            String(entitlement.isCurrent), entitlement.originalTransactionId ?? "", entitlement.transactionId ?? "",
        ]
        return row(fields + identities, isListed: entitlement.hasAccess)
    }

    private func row(_ candidate: PromotionalCandidate, _ identities: [String]) -> Row {
        let standing = candidate.standing
        let fields = [
            candidate.situation.rawValue, standing.status.name, candidate.group ?? "", standing.productId ?? "",
            candidate.expirationIntent?.description ?? "", DateText.iso(standing.accessEnds),
            standing.changesAt.map(DateText.iso) ?? "", String(standing.isCurrent),
            standing.originalTransactionId ?? "", standing.transactionId ?? "",
        ]
        return row(fields + identities, isListed: candidate.isCandidate)
    }

    /// `paidMonths satisfied (3 months, transaction 100200)`.
    private static func text(_ reason: OfferReason) -> String {
        let details = [
            reason.months.map { "\($0) months" }, reason.from.map { "from \(DateText.iso($0))" },
            reason.until.map { "until \(DateText.iso($0))" }, reason.transactionId.map { "transaction \($0)" },
        ].compactMap { $0 }
        let outcome = "\(reason.rule.rawValue) \(reason.outcome.rawValue)"
        return details.isEmpty ? outcome : "\(outcome) (\(details.joined(separator: ", ")))"
    }

    private static func identities(_ customer: Customer) -> [String] {
        [CustomerIdentity.Kind.appAccountToken, .appTransactionId, .originalTransactionId].map { kind in
            customer.identities.filter { $0.kind == kind }.map(\.value).joined(separator: " ")
        }
    }
}
