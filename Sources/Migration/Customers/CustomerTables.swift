import AppStoreModels
import LegacyReceipts
import ProductCatalog
import Purchases

/// The tables of a customer's report that an export does not have. Documentation/Customer.md has one section for each;
/// a test compares the two.
package enum CustomerTables {
    /// In the order of the documentation.
    package static let outlines: [TableOutline] = [
        periods.outline, offersUsed.outline, offersOpen.outline, documents.outline,
    ]

    static let periods = Table<SubscriptionTimelinePeriod>(
        name: "periods",
        meaning: """
            One row for each period of an auto-renewable subscription, by subscription group and then by start: the \
            timeline.
            """,
        columns: [
            .text("subscriptionGroupIdentifier", "The subscription group.") { $0.group },
            .text("originalTransactionId", "The id of the subscription.") { $0.transaction.originalTransactionId },
            .text("transactionId", "The transaction of the period.") { $0.transaction.transactionId },
            .text("productId", "The product.") { $0.transaction.productId },
            .date("periodStart", "When the period begins.") { $0.start },
            .date("periodEnd", "When it ends or ended: at its expiry, or before it at a refund or an upgrade.") {
                $0.end
            },
            .date("expiresDate", "When it would have ended without a refund or an upgrade.") {
                $0.transaction.expiresDate
            },
            .date("revocationDate", "When the App Store refunded or revoked it.") { $0.transaction.revocationDate },
            .boolean("isUpgraded", "Whether another subscription of the group replaced it.") {
                $0.transaction.isUpgraded
            },
            .integer("offerType", "The offer: 1 introductory, 2 promotional, 3 offer code, 4 win-back.") {
                $0.transaction.offerType
            },
            .boolean("isFamilyShared", "Whether the customer has it through Family Sharing.") {
                $0.isFamilyShared
            },
        ])

    /// The columns of `transactions` that are about the offer.
    static let offersUsed: Table<OwnedRow<ExportedTransaction>> = {
        let names: Set<String> = [
            "transactionId", "originalTransactionId", "productId", "subscriptionGroupIdentifier", "purchaseDate",
            "expiresDate", "revocationDate", "offerType", "offerIdentifier", "offerDiscountType", "offerPeriod",
            "inAppOwnershipType",
        ]
        return Table(
            name: "offers_used",
            meaning:
                "One row for each transaction with an offer, with the columns of `transactions` that are about it.",
            columns: ExportedTables.transactions.columns.filter { names.contains("\($0.name)") })
    }()

    static let offersOpen = Table<OpenOffer>(
        name: "offers_open",
        meaning: """
            One row for each offer that the customer could get: the introductory offer of each group, each win-back offer \
            of the catalog, and the situation of each group for promotional offers.
            """,
        columns: [
            .text("kind", "`introductory`, `win-back` or `promotional`.") { $0.kind },
            .text("subscriptionGroupIdentifier", "The subscription group.") { $0.group },
            .text("productId", "The product of a win-back offer; for `promotional`, that of the last period.") {
                $0.productId
            },
            .text("offerIdentifier", "The identifier of a win-back offer.") { $0.offerIdentifier },
            .text("eligibility", "`eligible`, `notEligible` or `unknown`; none for `promotional`, which you decide.") {
                $0.verdict?.eligibility.rawValue
            },
            .text(
                "situation",
                "For `promotional`: `autoRenewOff`, `billingRetry`, `lapsed`, `renewing`, `revoked` or `unknown`."
            ) { $0.situation?.rawValue },
            .date("eligibleFrom", "When the eligibility begins.") { $0.verdict?.eligibleFrom },
            .date("eligibleUntil", "When it ends.") { $0.verdict?.eligibleUntil },
            .date("changesAt", "When the eligibility changes if nothing happens until then.") {
                $0.verdict?.changesAt
            },
            .json("reasons", "The rules, each with its `outcome` and what it rests on; Documentation/Offers.md.") {
                $0.verdict.map { reasons($0.reasons) }
            },
        ])

    static let documents = Table<CustomerDocument>(
        name: "documents",
        meaning: """
            One row for each document whose statements count, by date. The store keeps the statements and the hash of \
            each document. Of the documents themselves, it keeps only the newest app receipt and the newest iOS 6 receipt.
            """,
        columns: [
            .text("document", "The kind, as in the column `documents` of `transactions`.") { $0.source.rawValue },
            .date("asOf", "When it was signed; of an unsigned one, when it was recorded.") { $0.date },
            .text("evidence", "`signed` or `recorded`, as in `transactions`.") {
                $0.source.kind.isSigned ? "signed" : "recorded"
            },
            .text(
                "sha256",
                """
                SHA-256 of a receipt, without transport encoding; of a JWS or `signedPayload`, of its header and payload \
                with the period between them; of an unsigned document, of its JSON without white space.
                """
            ) { $0.digest },
            .text("form", "The form of a receipt that the store keeps: `app` or `transaction` (iOS 6).") { $0.form },
            .integer("transactions", "How many transactions rest on it.") { $0.transactions },
            .integer("renewalInfos", "How many renewal infos rest on it.") { $0.renewalInfos },
            .boolean("appTransaction", "Whether the app transaction rests on it.") { $0.hasAppTransaction },
        ])

    private static func reasons(_ reasons: [OfferReason]) -> [UInt8] {
        var writer = JSONWriter()
        writer.objects(reasons) { writer, reason in
            writer.member("rule", reason.rule.rawValue)
            writer.member("outcome", reason.outcome.rawValue)
            writer.member("transactionId", reason.transactionId)
            writer.member("from", reason.from)
            writer.member("until", reason.until)
            writer.member("months", reason.months)
        }
        return writer.finish()
    }
}

/// An offer, and whether the customer is eligible for it.
struct OpenOffer {
    let kind: String
    let group: String?
    var productId: String?
    var offerIdentifier: String?
    var verdict: OfferVerdict?
    var situation: PromotionalCandidate.Situation?
}

extension PurchaseHistory {
    /// The offers of the catalog for the customer at a date.
    func openOffers(_ catalog: ProductCatalog?, at date: Int64) -> [OpenOffer] {
        let products = (catalog?.productIds ?? []).compactMap { catalog?.product($0) }
        let offering = products.filter { !$0.introductoryOffers.isEmpty }.compactMap(\.subscriptionGroupIdentifier)
        let groups = Set(subscriptionGroups + offering).sorted()
        let introductory = zip(groups, introductoryEligibilities(groups, at: date)).map { group, verdict in
            OpenOffer(kind: "introductory", group: group, verdict: verdict)
        }
        let winBack = (catalog?.winBackOffers ?? []).highPriorityFirst.map { offer in
            OpenOffer(
                kind: "win-back", group: offer.group, productId: offer.productId,
                offerIdentifier: offer.offerIdentifier, verdict: eligibility(for: offer, at: date))
        }
        let promotional = promotionalCandidates(at: date).map { candidate in
            OpenOffer(
                kind: "promotional", group: candidate.group, productId: candidate.standing.productId,
                situation: candidate.situation)
        }
        return introductory + winBack + promotional
    }
}

extension KnownReceipt.Form {
    /// The name in the tables.
    var name: String { self == .app ? "app" : "transaction" }
}

/// A document with statements about the customer.
struct CustomerDocument {
    let source: FactSource
    /// Milliseconds since 1970-01-01T00:00:00Z; nil if the document states none.
    let date: Int64?
    fileprivate(set) var transactions = 0
    fileprivate(set) var renewalInfos = 0
    fileprivate(set) var hasAppTransaction = false
    /// The receipt, if the store has it.
    fileprivate var receipt: KnownReceipt?

    /// `FactOrigin.document`.
    private var hash: Fingerprint?

    var digest: String? { hash?.description }

    var form: String? { receipt?.form.name }

    /// The documents of a customer, by date and then by kind. They include a receipt in the store even if newer
    /// documents state everything in it.
    static func all(of customer: Customer) -> [CustomerDocument] {
        struct Key: Hashable {
            let origin: FactOrigin
            let hash: Fingerprint?

            init(_ origin: FactOrigin) { (self.origin, hash) = (origin, origin.document) }
        }
        var found: [Key: CustomerDocument] = [:]
        func add(_ origins: [FactOrigin], _ change: (inout CustomerDocument) -> Void) {
            for origin in origins { change(&found[Key(origin), default: CustomerDocument(origin)]) }
        }
        for transaction in customer.transactions { add(transaction.origins) { $0.transactions += 1 } }
        for info in customer.renewalInfos { add(info.origins) { $0.renewalInfos += 1 } }
        add(customer.appTransaction?.origins ?? []) { $0.hasAppTransaction = true }
        var others: [CustomerDocument] = []
        for receipt in [customer.newestAppReceipt, customer.newestTransactionReceipt].compactMap(\.self) {
            let hash = receipt.hash
            let stated = found.keys.first { $0.origin.source == .receipt && $0.hash == hash }
            // Statements of older stores have no hash: only the date shows which receipt they are from.
            let key = stated ?? Key(FactOrigin(source: .receipt, signedDate: receipt.signedDate))
            if let known = found[key], known.receipt == nil {
                found[key]?.receipt = receipt
                found[key]?.hash = hash
            } else {
                others.append(CustomerDocument(receipt, hash))
            }
        }
        return (found.values + others).sorted { $0.order < $1.order }
    }

    private var order: (Int64, Int64, String) { (date ?? 0, source.code, digest ?? "") }

    private init(_ origin: FactOrigin) {
        source = origin.source
        date = origin.signedDate > 0 ? origin.signedDate : nil
        hash = origin.document
    }

    private init(_ receipt: KnownReceipt, _ hash: Fingerprint) {
        source = .receipt
        date = receipt.signedDate
        self.hash = hash
        self.receipt = receipt
    }
}
