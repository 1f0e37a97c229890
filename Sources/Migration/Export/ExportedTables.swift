import AppStoreModels
import Purchases

/// The tables of an export. Documentation/Export.md has one section for each, which says what its columns mean; a test compares
/// the names and types.
package enum ExportedTables {
    typealias Subscription = (entitlement: Entitlement, standing: SubscriptionStanding)

    /// All tables, in the order of the documentation.
    package static let outlines: [TableOutline] = [
        transactions.outline, subscriptions.outline, entitlements.outline, terms.outline, renewalInfos.outline,
        appTransactions.outline, customers.outline, customerIdentities.outline, customerUsers.outline,
        conflicts.outline, toAskApple.outline, quarantine.outline,
    ]

    // MARK: Columns of several tables

    private static func owner<Value>() -> [Column<OwnedRow<Value>>] {
        [
            .text("customer") { $0.owner.key },
            .text("environment") { $0.owner.customer.scope.environment },
            .text("bundleId") { $0.owner.customer.scope.bundleId },
        ]
    }

    private static func evidence<Value>(
        _ origins: @escaping @Sendable (Value) -> [FactOrigin]
    ) -> [Column<OwnedRow<Value>>] {
        [
            .text("evidence") { origins($0.value).isSigned ? "signed" : "recorded" },
            .texts("documents") { origins($0.value).distinctSources.map(\.rawValue) },
            .text("source") { origins($0.value).deciding?.source.rawValue },
            .date("asOf") { origins($0.value).newestDate },
        ]
    }

    /// The documents behind a conclusion, which are those of the transaction that decides.
    private static func evidence<Value>(
        ofTransaction id: @escaping @Sendable (Value) -> String?
    ) -> [Column<OwnedRow<Value>>] {
        [
            .text("evidence") { row in
                let origins = row.owner.origins(of: id(row.value))
                return origins.isEmpty ? nil : origins.isSigned ? "signed" : "recorded"
            },
            .text("source") { $0.owner.origins(of: id($0.value)).deciding?.source.rawValue },
            .date("asOf") { $0.owner.origins(of: id($0.value)).newestDate },
        ]
    }

    private static func names<Row>(_ columns: [Column<Row>], _ others: String...) -> [String] {
        columns.map(\.name) + others
    }

    /// A key of ids that are unique in an environment.
    private static func inScope(_ columns: String...) -> [String] { ["environment", "bundleId"] + columns }

    // MARK: Transactions

    static let transactions: Table<OwnedRow<ExportedTransaction>> = {
        typealias Columns = [Column<OwnedRow<ExportedTransaction>>]
        let ids: Columns = [
            .text("transactionId") { $0.value.payload.transactionId },
            .text("originalTransactionId") { $0.value.payload.originalTransactionId },
            .text("previousOriginalTransactionId") { $0.value.payload.previousOriginalTransactionId },
            .text("webOrderLineItemId") { $0.value.payload.webOrderLineItemId },
            .text("productId") { $0.value.payload.productId },
        ]
        let product: Columns = [
            .text("type") { $0.value.type },
            .text("subscriptionGroupIdentifier") { $0.value.group },
        ]
        let more: Columns = [
            .integer("quantity") { $0.value.payload.quantity },
            .date("purchaseDate") { $0.value.payload.purchaseDate },
            .date("originalPurchaseDate") { $0.value.payload.originalPurchaseDate },
            .date("expiresDate") { $0.value.payload.expiresDate },
            .date("revocationDate") { $0.value.payload.revocationDate },
            .integer("revocationReason") { $0.value.payload.revocationReason },
            .text("revocationType") { $0.value.payload.revocationType },
            .integer("revocationPercentage") { $0.value.payload.revocationPercentage },
            .boolean("isUpgraded") { $0.value.payload.isUpgraded },
            .text("inAppOwnershipType") { $0.value.payload.inAppOwnershipType },
            .text("appAccountToken") { $0.value.payload.appAccountToken },
            .text("appTransactionId") { $0.value.payload.appTransactionId },
            .integer("offerType") { $0.value.payload.offerType },
            .text("offerIdentifier") { $0.value.payload.offerIdentifier },
            .text("offerDiscountType") { $0.value.payload.offerDiscountType },
            .text("offerPeriod") { $0.value.payload.offerPeriod },
            .text("transactionReason") { $0.value.payload.transactionReason },
            .integer("price") { $0.value.payload.price },
            .text("currency") { $0.value.payload.currency },
            .text("storefront") { $0.value.payload.storefront },
            .text("storefrontId") { $0.value.payload.storefrontId },
            .text("billingPlanType") { $0.value.payload.billingPlanType },
            .text("additionalTransactionReason") { $0.value.payload.additionalTransactionReason },
        ]
        let legacy: Columns = [
            .boolean("isTrialPeriod") { $0.value.stored.legacy.isTrialPeriod },
            .boolean("isInIntroOfferPeriod") { $0.value.stored.legacy.isInIntroOfferPeriod },
            .date("cancellationDate") { $0.value.stored.legacy.cancellationDate },
            .date("recordedCancellationDate") { $0.value.stored.recordedCancellation?.date },
        ]
        let provenance: Columns = [.json("provenance") { $0.value.provenance }]
        let stated: Columns = ids + product + more + legacy
        let columns = owner() + stated + evidence { $0.stored.origins } + provenance
        // The date of the payload is that of one document; asOf is that of the newest.
        let fields = FieldSet<TransactionField>(named: names(columns, "signedDate"))
        return Table(
            name: "transactions", key: .primary(inScope("transactionId", "customer")),
            columns: columns + [.json("more") { $0.value.payload.membersWithoutColumn(fields) }])
    }()

    // MARK: Conclusions at the date of the export

    static let subscriptions = Table<OwnedRow<Subscription>>(
        name: "subscriptions", key: .primary(inScope("transactionId", "customer")),
        columns: owner() + [
            .text("originalTransactionId") { $0.value.standing.subscriptionId },
            .text("status") { $0.value.standing.status.name },
            .boolean("hasAccess") { $0.value.standing.hasAccess },
            .boolean("isCurrent") { $0.value.standing.isCurrent },
            .text("subscriptionGroupIdentifier") { $0.value.entitlement.group },
            .text("productId") { $0.value.standing.productId },
            .text("transactionId") { $0.value.standing.transactionId },
            .date("periodStart") { $0.value.standing.periodStart },
            .date("periodEnd") { $0.value.standing.periodEnd },
            .date("accessEnds") { $0.value.standing.accessEnds },
            .date("changesAt") { $0.value.standing.changesAt },
            .boolean("isFamilyShared") { $0.value.standing.isFamilyShared },
            .integer("autoRenewStatus") { $0.value.standing.renewalInfo?.autoRenewStatus },
            .text("autoRenewProductId") { $0.value.standing.renewalInfo?.autoRenewProductId },
            .integer("expirationIntent") { $0.value.standing.renewalInfo?.expirationIntent },
            .boolean("isInBillingRetryPeriod") { $0.value.standing.renewalInfo?.isInBillingRetryPeriod },
            .date("gracePeriodExpiresDate") { $0.value.standing.renewalInfo?.gracePeriodExpiresDate },
            .integer("renewalPrice") { $0.value.standing.renewalInfo?.renewalPrice },
            .text("currency") { $0.value.standing.renewalInfo?.currency },
        ] + evidence(ofTransaction: { $0.standing.transactionId }))

    static let entitlements = Table<OwnedRow<Entitlement>>(
        name: "entitlements", key: .primary(inScope("transactionId", "customer")),
        columns: owner() + [
            .text("type") { $0.value.type },
            .text("entitlement") { $0.value.name },
            .text("subscriptionGroupIdentifier") { $0.value.group },
            .text("status") { $0.value.status?.name ?? "unknown" },
            .boolean("hasAccess") { $0.value.hasAccess },
            .boolean("isCurrent") { $0.value.isCurrent },
            .text("productId") { $0.value.productId },
            .integer("level") { $0.value.level },
            .text("originalTransactionId") { $0.value.originalTransactionId },
            .text("transactionId") { $0.value.transactionId },
            .boolean("isFamilyShared") { $0.value.isFamilyShared },
            .date("accessEnds") { $0.value.accessEnds },
            .date("changesAt") { $0.value.changesAt },
        ] + evidence(ofTransaction: { $0.transactionId }))

    static let terms = Table<OwnedRow<ExportedTerm>>(
        name: "terms", key: .primary(inScope("transactionId", "customer")),
        columns: owner() + [
            .text("transactionId") { $0.value.stored.payload.transactionId },
            .text("originalTransactionId") { $0.value.stored.payload.originalTransactionId },
            .text("productId") { $0.value.stored.payload.productId },
            .date("termStart") { $0.value.term.start },
            .date("termEnd") { $0.value.term.end },
            .date("revocationDate") { $0.value.term.revocationDate },
            .boolean("isStacked") { $0.value.term.isStacked },
            .boolean("isRestored") { $0.value.term.isRestored },
        ] + evidence(ofTransaction: { $0.stored.payload.transactionId }))

    // MARK: Documents about renewals and the app

    static let renewalInfos: Table<OwnedRow<StoredRenewalInfo>> = {
        let stated: [Column<OwnedRow<StoredRenewalInfo>>] = [
            .text("originalTransactionId") { $0.value.payload.originalTransactionId },
            .text("productId") { $0.value.payload.productId },
            .text("autoRenewProductId") { $0.value.payload.autoRenewProductId },
            .integer("autoRenewStatus") { $0.value.payload.autoRenewStatus },
            .date("renewalDate") { $0.value.payload.renewalDate },
            .integer("expirationIntent") { $0.value.payload.expirationIntent },
            .boolean("isInBillingRetryPeriod") { $0.value.payload.isInBillingRetryPeriod },
            .date("gracePeriodExpiresDate") { $0.value.payload.gracePeriodExpiresDate },
            .integer("priceIncreaseStatus") { $0.value.payload.priceIncreaseStatus },
            .integer("renewalPrice") { $0.value.payload.renewalPrice },
            .text("currency") { $0.value.payload.currency },
            .integer("offerType") { $0.value.payload.offerType },
            .text("offerIdentifier") { $0.value.payload.offerIdentifier },
            .text("offerDiscountType") { $0.value.payload.offerDiscountType },
            .text("offerPeriod") { $0.value.payload.offerPeriod },
            .texts("eligibleWinBackOfferIds") { $0.value.payload.eligibleWinBackOfferIds ?? [] },
            .date("recentSubscriptionStartDate") { $0.value.payload.recentSubscriptionStartDate },
            .text("appAccountToken") { $0.value.payload.appAccountToken },
            .text("appTransactionId") { $0.value.payload.appTransactionId },
            .text("renewalBillingPlanType") { $0.value.payload.renewalBillingPlanType },
            .integer("renewalQuantity") { $0.value.payload.renewalQuantity },
        ]
        let columns = owner() + stated + evidence { $0.origins }
        let fields = FieldSet<RenewalInfoField>(named: names(columns, "signedDate"))
        return Table(
            name: "renewal_infos", key: .primary(inScope("originalTransactionId")),
            columns: columns + [.json("more") { $0.value.payload.membersWithoutColumn(fields) }])
    }()

    static let appTransactions: Table<OwnedRow<StoredAppTransaction>> = {
        typealias Columns = [Column<OwnedRow<StoredAppTransaction>>]
        let stated: Columns = [
            .text("appTransactionId") { $0.value.payload.appTransactionId },
            .text("receiptType") { $0.value.payload.receiptType },
            .integer("appAppleId") { $0.value.payload.appAppleId },
            .text("originalApplicationVersion") { $0.value.payload.originalApplicationVersion },
            .date("originalPurchaseDate") { $0.value.payload.originalPurchaseDate },
            .text("originalPlatform") { $0.value.payload.originalPlatform },
            .text("storeType") { $0.value.payload.storeType },
            .date("preorderDate") { $0.value.payload.preorderDate },
            .text("applicationVersion") { $0.value.payload.applicationVersion },
            .integer("versionExternalIdentifier") { $0.value.payload.versionExternalIdentifier },
            .date("receiptCreationDate") { $0.value.payload.receiptCreationDate },
        ]
        let legacy: Columns = [
            .text("legacyReceiptType") { $0.value.legacy.receiptType },
            .date("volumePurchaseExpirationDate") { $0.value.legacy.expirationDate },
            .date("volumePurchaseDate") { $0.value.legacy.volumePurchaseDate },
            .text("volumePurchaseOrganization") { $0.value.legacy.volumePurchaseOrganization },
        ]
        let columns: Columns = owner() + stated + legacy + evidence { $0.origins }
        let fields = FieldSet<AppTransactionField>(named: names(columns))
        return Table(
            name: "app_transactions", key: .primary(["customer"]),
            columns: columns + [.json("more") { $0.value.payload.membersWithoutColumn(fields) }],
            added: Set(names(legacy)))
    }()

    // MARK: Customers

    static let customers = Table<OwnedRow<Customer>>(
        name: "customers", key: .primary(["customer"]),
        columns: owner() + [
            .date("asOf") { $0.value.newestDate },
            .integer("transactions") { $0.value.transactions.count },
            .integer("recordedTransactions") { $0.value.transactions.count(where: { !$0.isSigned }) },
            .integer("subscriptions") { $0.owner.subscriptions.count },
            .integer("entitlements") { $0.owner.entitlements.count },
            .boolean("hasAccess") { $0.owner.entitlements.giveAccess },
        ])

    static let customerIdentities = Table<OwnedRow<CustomerIdentity>>(
        name: "customer_identities", key: .primary(inScope("kind", "value")),
        columns: owner() + [
            .text("kind") { $0.value.kind.name },
            .text("value") { $0.value.value },
        ])

    static let customerUsers = Table<OwnedRow<ExportedUser>>(
        name: "customer_users", key: .shared("customer"),
        columns: owner() + [
            .text("userId") { $0.value.userId },
            .texts("originalTransactionIds") { $0.value.originalTransactionIds },
            .json("carried") { $0.value.carried },
        ])

    static let conflicts = Table<OwnedRow<ExportedConflict>>(
        name: "conflicts", key: .primary(inScope("originalTransactionId")),
        columns: owner() + [
            .text("originalTransactionId") { $0.value.originalTransactionId },
            .texts("userIds") { $0.value.userIds },
        ])

    static let toAskApple = Table<OwnedRow<OpenQuestion>>(
        name: "to_ask_apple", key: .primary(inScope("reason", "transactionId", "customer")),
        columns: owner() + [
            .text("reason") { $0.value.reason.name },
            .text("originalTransactionId") { $0.value.originalTransactionId },
            .text("transactionId") { $0.value.transactionId },
            .integer("transactions") { $0.value.transactionCount },
            .texts("missingFields") { $0.value.missingFields.map { "\($0.name)" } },
        ])

    // MARK: Tables without customers

    static let quarantine = Table<JSONObject>(
        name: "quarantine", key: .shared("sha256"),
        columns: [
            .text("sha256") { source($0, "sha256")?.string },
            .text("reason") { $0["reason"]?.string },
            .text("verdict") { $0["verdict"]?.string },
            .text("message") { $0["message"]?.string },
            .text("kind") { source($0, "kind")?.string },
            .text("input") { source($0, "input")?.string },
            .integer("line") { source($0, "line")?.integer },
            .integer("element") { source($0, "element")?.integer },
            .integer("row") { source($0, "row")?.integer },
            .integer("byteOffset") { source($0, "byteOffset")?.integer },
            .integer("length") { source($0, "length")?.integer },
            .text("path") { source($0, "path")?.string },
            .json("record") { $0["record"]?.json },
            .text("original") { $0["original"]?.string },
            .text("originalBase64") { $0["originalBase64"]?.string },
        ])

    private static func source(_ line: JSONObject, _ name: String) -> JSONValue? { line["source"]?[name] }
}
