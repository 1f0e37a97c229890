import AppStoreModels
import LegacyReceipts
import ProductCatalog
import Purchases

/// The tables of a customer's report that an export does not have. Documentation/Customer.md has one section for each, which says
/// what its columns mean; a test compares the names and types.
package enum CustomerTables {
    /// In the order of the documentation.
    package static let outlines: [TableOutline] = [periods, offersUsed, offersOpen, documents].map(\.outline)

    private static func table<Row>(
        of row: Row.Type, _ name: String, rows: @escaping @Sendable (ExportedCustomer) -> [Row], columns: [Column<Row>]
    ) -> Table {
        let outline = TableOutline(name: name, key: .none, columns: columns.map(\.outline), added: [])
        return Table(outline: outline) { customer in
            rows(customer).map { row in TableRow(values: columns.map { $0.value(row) }) }
        }
    }

    static let periods = table(
        of: SubscriptionTimelinePeriod.self, "periods", rows: { $0.history.subscriptionPeriods },
        columns: [
            .text("subscriptionGroupIdentifier") { $0.group },
            .text("originalTransactionId") { $0.transaction.originalTransactionId },
            .text("transactionId") { $0.transaction.transactionId },
            .text("productId") { $0.transaction.productId },
            .date("periodStart") { $0.start },
            .date("periodEnd") { $0.end },
            .date("expiresDate") { $0.transaction.expiresDate },
            .date("revocationDate") { $0.transaction.revocationDate },
            .boolean("isUpgraded") { $0.transaction.isUpgraded },
            .integer("offerType") { $0.transaction.offerType },
            .boolean("isFamilyShared") { $0.isFamilyShared },
        ])

    /// The columns of `transactions` that are about the offer.
    static let offersUsed: Table = {
        let names: Set<String> = [
            "transactionId", "originalTransactionId", "productId", "subscriptionGroupIdentifier", "purchaseDate",
            "expiresDate", "revocationDate", "offerType", "offerIdentifier", "offerDiscountType", "offerPeriod",
            "inAppOwnershipType",
        ]
        return table(
            of: ExportedTransaction.self, "offers_used",
            rows: { $0.transactions.filter { $0.stored.payload.offerType != nil } },
            columns: ExportedTables.transactionColumns.filter { names.contains($0.name) })
    }()

    static let offersOpen = table(
        of: OpenOffer.self, "offers_open", rows: { $0.history.openOffers($0.catalog, at: $0.date) },
        columns: [
            .text("kind") { $0.kind },
            .text("subscriptionGroupIdentifier") { $0.group },
            .text("productId") { $0.productId },
            .text("offerIdentifier") { $0.offerIdentifier },
            .text("eligibility") { $0.verdict?.eligibility.rawValue },
            .text("situation") { $0.situation?.rawValue },
            .date("eligibleFrom") { $0.verdict?.eligibleFrom },
            .date("eligibleUntil") { $0.verdict?.eligibleUntil },
            .date("changesAt") { $0.verdict?.changesAt },
            .json("reasons") { $0.verdict.map { reasons($0.reasons) } },
        ])

    static let documents = table(
        of: CustomerDocument.self, "documents", rows: { CustomerDocument.all(of: $0.customer) },
        columns: [
            .text("document") { $0.source.rawValue },
            .date("asOf") { $0.date },
            .text("evidence") { $0.source.kind.isSigned ? "signed" : "recorded" },
            .text("sha256") { $0.digest },
            .text("form") { $0.form },
            .integer("transactions") { $0.transactions },
            .integer("renewalInfos") { $0.renewalInfos },
            .boolean("appTransaction") { $0.hasAppTransaction },
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
        let groups = introductoryGroups(offering: catalog?.introductoryOfferGroups ?? [])
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
