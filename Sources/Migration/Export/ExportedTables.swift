import AppStoreModels
import Purchases

/// The tables of an export. Documentation/Export.md has one section for each, which says what its columns mean; a test compares
/// the names and types.
package enum ExportedTables {
    typealias Subscription = (entitlement: Entitlement, standing: SubscriptionStanding)

    /// The tables with rows about a customer, in the order of the documentation.
    static let ofCustomers = [
        transactions, subscriptions, entitlements, terms, renewalInfos, appTransactions, customers, customerIdentities,
        customerUsers, conflicts, toAskApple,
    ]

    /// All tables, in the order of the documentation.
    package static let outlines: [TableOutline] = ofCustomers.map(\.outline) + [quarantine]

    // MARK: Columns of several tables

    private static let owner: [Column<ExportedCustomer>] = [
        .text("customer") { $0.key },
        .text("environment") { $0.customer.scope.environment },
        .text("bundleId") { $0.customer.scope.bundleId },
    ]

    private static func evidence<Row>(_ origins: @escaping @Sendable (Row) -> [FactOrigin]) -> [Column<Row>] {
        [
            .text("evidence") { origins($0).isSigned ? "signed" : "recorded" },
            .texts("documents") { origins($0).distinctSources.map(\.rawValue) },
            .text("source") { origins($0).deciding?.source.rawValue },
            .date("asOf") { origins($0).newestDate },
        ]
    }

    /// The documents behind a conclusion, which are those of the transaction that decides.
    private static let evidenceOfConclusion: [Column<[FactOrigin]>] = [
        .text("evidence") { $0.isEmpty ? nil : $0.isSigned ? "signed" : "recorded" },
        .text("source") { $0.deciding?.source.rawValue },
        .date("asOf") { $0.newestDate },
    ]

    /// A table whose first columns name the customer.
    /// - Parameters:
    ///   - row: what a row is made from.
    ///   - name: the name of the table.
    ///   - key: its key.
    ///   - added: the columns that earlier versions did not write into databases.
    ///   - rows: the rows about a customer.
    ///   - decider: for a conclusion, the transaction that decides.
    ///   - part: the part of the file in which a row is.
    ///   - columns: the columns after those of the customer, and before the evidence of a conclusion.
    private static func table<Row>(
        of row: Row.Type, _ name: String, key: TableKey, added: Set<String> = [],
        rows: @escaping @Sendable (ExportedCustomer) -> [Row],
        decidedBy decider: (@Sendable (Row) -> String?)? = nil,
        part: @escaping @Sendable (Row) -> Int = { _ in 0 }, columns: [Column<Row>]
    ) -> Table {
        let evidence = decider == nil ? [] : evidenceOfConclusion
        let outlines = owner.map(\.outline) + columns.map(\.outline) + evidence.map(\.outline)
        return Table(outline: TableOutline(name: name, key: key, columns: outlines, added: added)) { customer in
            let first = owner.map { $0.value(customer) }
            return rows(customer).map { row in
                var values = first
                values += columns.map { $0.value(row) }
                if let decider {
                    let origins = customer.origins(of: decider(row))
                    values += evidence.map { $0.value(origins) }
                }
                return TableRow(values: values, part: part(row))
            }
        }
    }

    /// The fields of a payload that have columns in its table.
    private static func fields<Row, Field: PayloadField>(
        of columns: [Column<Row>], and others: String...
    ) -> FieldSet<Field> {
        FieldSet(named: scope + columns.map(\.name) + others)
    }

    private static let scope = ["environment", "bundleId"]

    /// A key of ids that are unique in an environment.
    private static func inScope(_ columns: String...) -> [String] { scope + columns }

    // MARK: Transactions

    static let transactions = table(
        of: ExportedTransaction.self, "transactions", key: .primary(inScope("transactionId", "customer")),
        rows: { $0.transactions }, columns: transactionColumns)

    /// The columns of `transactions` after those of the customer.
    static let transactionColumns: [Column<ExportedTransaction>] = {
        typealias Columns = [Column<ExportedTransaction>]
        let ids: Columns = [
            .text("transactionId") { $0.payload.transactionId },
            .text("originalTransactionId") { $0.payload.originalTransactionId },
            .text("previousOriginalTransactionId") { $0.payload.previousOriginalTransactionId },
            .text("webOrderLineItemId") { $0.payload.webOrderLineItemId },
            .text("productId") { $0.payload.productId },
        ]
        let product: Columns = [
            .text("type") { $0.type },
            .text("subscriptionGroupIdentifier") { $0.group },
        ]
        let more: Columns = [
            .integer("quantity") { $0.payload.quantity },
            .date("purchaseDate") { $0.payload.purchaseDate },
            .date("originalPurchaseDate") { $0.payload.originalPurchaseDate },
            .date("expiresDate") { $0.payload.expiresDate },
            .date("revocationDate") { $0.payload.revocationDate },
            .integer("revocationReason") { $0.payload.revocationReason },
            .text("revocationType") { $0.payload.revocationType },
            .integer("revocationPercentage") { $0.payload.revocationPercentage },
            .boolean("isUpgraded") { $0.payload.isUpgraded },
            .text("inAppOwnershipType") { $0.payload.inAppOwnershipType },
            .text("appAccountToken") { $0.payload.appAccountToken },
            .text("appTransactionId") { $0.payload.appTransactionId },
            .integer("offerType") { $0.payload.offerType },
            .text("offerIdentifier") { $0.payload.offerIdentifier },
            .text("offerDiscountType") { $0.payload.offerDiscountType },
            .text("offerPeriod") { $0.payload.offerPeriod },
            .text("transactionReason") { $0.payload.transactionReason },
            .integer("price") { $0.payload.price },
            .text("currency") { $0.payload.currency },
            .text("storefront") { $0.payload.storefront },
            .text("storefrontId") { $0.payload.storefrontId },
            .text("billingPlanType") { $0.payload.billingPlanType },
            .text("additionalTransactionReason") { $0.payload.additionalTransactionReason },
        ]
        let legacy: Columns = [
            .boolean("isTrialPeriod") { $0.stored.legacy.isTrialPeriod },
            .boolean("isInIntroOfferPeriod") { $0.stored.legacy.isInIntroOfferPeriod },
            .date("cancellationDate") { $0.stored.legacy.cancellationDate },
            .date("recordedCancellationDate") { $0.stored.recordedCancellation?.date },
        ]
        let provenance: Columns = [.json("provenance") { $0.provenance }]
        let stated: Columns = ids + product + more + legacy
        let columns: Columns = stated + evidence { $0.stored.origins } + provenance
        // The date of the payload is that of one document; asOf is that of the newest.
        let known: FieldSet<TransactionField> = fields(of: columns, and: "signedDate")
        return columns + [.json("more") { $0.payload.membersWithoutColumn(known) }]
    }()

    // MARK: Conclusions at the date of the export

    static let subscriptions = table(
        of: Subscription.self, "subscriptions", key: .primary(inScope("transactionId", "customer")),
        rows: { $0.subscriptions }, decidedBy: { $0.standing.transactionId },
        columns: [
            .text("originalTransactionId") { $0.standing.subscriptionId },
            .text("status") { $0.standing.status.name },
            .boolean("hasAccess") { $0.standing.hasAccess },
            .boolean("isCurrent") { $0.standing.isCurrent },
            .text("subscriptionGroupIdentifier") { $0.entitlement.group },
            .text("productId") { $0.standing.productId },
            .text("transactionId") { $0.standing.transactionId },
            .date("periodStart") { $0.standing.periodStart },
            .date("periodEnd") { $0.standing.periodEnd },
            .date("accessEnds") { $0.standing.accessEnds },
            .date("changesAt") { $0.standing.changesAt },
            .boolean("isFamilyShared") { $0.standing.isFamilyShared },
            .integer("autoRenewStatus") { $0.standing.renewalInfo?.autoRenewStatus },
            .text("autoRenewProductId") { $0.standing.renewalInfo?.autoRenewProductId },
            .integer("expirationIntent") { $0.standing.renewalInfo?.expirationIntent },
            .boolean("isInBillingRetryPeriod") { $0.standing.renewalInfo?.isInBillingRetryPeriod },
            .date("gracePeriodExpiresDate") { $0.standing.renewalInfo?.gracePeriodExpiresDate },
            .integer("renewalPrice") { $0.standing.renewalInfo?.renewalPrice },
            .text("currency") { $0.standing.renewalInfo?.currency },
        ])

    static let entitlements = table(
        of: Entitlement.self, "entitlements", key: .primary(inScope("transactionId", "customer")),
        rows: { $0.entitlements }, decidedBy: { $0.transactionId },
        columns: [
            .text("type") { $0.type },
            .text("entitlement") { $0.name },
            .text("subscriptionGroupIdentifier") { $0.group },
            .text("status") { $0.status?.name ?? "unknown" },
            .boolean("hasAccess") { $0.hasAccess },
            .boolean("isCurrent") { $0.isCurrent },
            .text("productId") { $0.productId },
            .integer("level") { $0.level },
            .text("originalTransactionId") { $0.originalTransactionId },
            .text("transactionId") { $0.transactionId },
            .boolean("isFamilyShared") { $0.isFamilyShared },
            .date("accessEnds") { $0.accessEnds },
            .date("changesAt") { $0.changesAt },
        ])

    static let terms = table(
        of: ExportedTerm.self, "terms", key: .primary(inScope("transactionId", "customer")),
        rows: { $0.termsByTransaction }, decidedBy: { $0.stored.payload.transactionId },
        columns: [
            .text("transactionId") { $0.stored.payload.transactionId },
            .text("originalTransactionId") { $0.stored.payload.originalTransactionId },
            .text("productId") { $0.stored.payload.productId },
            .date("termStart") { $0.term.start },
            .date("termEnd") { $0.term.end },
            .date("revocationDate") { $0.term.revocationDate },
            .boolean("isStacked") { $0.term.isStacked },
            .boolean("isRestored") { $0.term.isRestored },
        ])

    // MARK: Documents about renewals and the app

    static let renewalInfos: Table = {
        let stated: [Column<StoredRenewalInfo>] = [
            .text("originalTransactionId") { $0.payload.originalTransactionId },
            .text("productId") { $0.payload.productId },
            .text("autoRenewProductId") { $0.payload.autoRenewProductId },
            .integer("autoRenewStatus") { $0.payload.autoRenewStatus },
            .date("renewalDate") { $0.payload.renewalDate },
            .integer("expirationIntent") { $0.payload.expirationIntent },
            .boolean("isInBillingRetryPeriod") { $0.payload.isInBillingRetryPeriod },
            .date("gracePeriodExpiresDate") { $0.payload.gracePeriodExpiresDate },
            .integer("priceIncreaseStatus") { $0.payload.priceIncreaseStatus },
            .integer("renewalPrice") { $0.payload.renewalPrice },
            .text("currency") { $0.payload.currency },
            .integer("offerType") { $0.payload.offerType },
            .text("offerIdentifier") { $0.payload.offerIdentifier },
            .text("offerDiscountType") { $0.payload.offerDiscountType },
            .text("offerPeriod") { $0.payload.offerPeriod },
            .texts("eligibleWinBackOfferIds") { $0.payload.eligibleWinBackOfferIds ?? [] },
            .date("recentSubscriptionStartDate") { $0.payload.recentSubscriptionStartDate },
            .text("appAccountToken") { $0.payload.appAccountToken },
            .text("appTransactionId") { $0.payload.appTransactionId },
            .text("renewalBillingPlanType") { $0.payload.renewalBillingPlanType },
            .integer("renewalQuantity") { $0.payload.renewalQuantity },
        ]
        let columns: [Column<StoredRenewalInfo>] = stated + evidence { $0.origins }
        let known: FieldSet<RenewalInfoField> = fields(of: columns, and: "signedDate")
        return table(
            of: StoredRenewalInfo.self, "renewal_infos", key: .primary(inScope("originalTransactionId")),
            rows: { $0.customer.renewalInfos },
            columns: columns + [.json("more") { $0.payload.membersWithoutColumn(known) }])
    }()

    static let appTransactions: Table = {
        typealias Columns = [Column<StoredAppTransaction>]
        let stated: Columns = [
            .text("appTransactionId") { $0.payload.appTransactionId },
            .text("receiptType") { $0.payload.receiptType },
            .integer("appAppleId") { $0.payload.appAppleId },
            .text("originalApplicationVersion") { $0.payload.originalApplicationVersion },
            .date("originalPurchaseDate") { $0.payload.originalPurchaseDate },
            .text("originalPlatform") { $0.payload.originalPlatform },
            .text("storeType") { $0.payload.storeType },
            .date("preorderDate") { $0.payload.preorderDate },
            .text("applicationVersion") { $0.payload.applicationVersion },
            .integer("versionExternalIdentifier") { $0.payload.versionExternalIdentifier },
            .date("receiptCreationDate") { $0.payload.receiptCreationDate },
        ]
        let legacy: Columns = [
            .text("legacyReceiptType") { $0.legacy.receiptType },
            .date("volumePurchaseExpirationDate") { $0.legacy.expirationDate },
            .date("volumePurchaseDate") { $0.legacy.volumePurchaseDate },
            .text("volumePurchaseOrganization") { $0.legacy.volumePurchaseOrganization },
        ]
        let columns: Columns = stated + legacy + evidence { $0.origins }
        let known: FieldSet<AppTransactionField> = fields(of: columns)
        return table(
            of: StoredAppTransaction.self, "app_transactions", key: .primary(["customer"]),
            added: Set(legacy.map(\.name)), rows: { [$0.customer.appTransaction].compactMap(\.self) },
            columns: columns + [.json("more") { $0.payload.membersWithoutColumn(known) }])
    }()

    // MARK: Customers

    static let customers = table(
        of: ExportedCustomer.self, "customers", key: .primary(["customer"]), rows: { [$0] },
        columns: [
            .date("asOf") { $0.customer.newestDate },
            .integer("transactions") { $0.customer.transactions.count },
            .integer("recordedTransactions") { $0.customer.transactions.count(where: { !$0.isSigned }) },
            .integer("subscriptions") { $0.subscriptions.count },
            .integer("entitlements") { $0.entitlements.count },
            .boolean("hasAccess") { $0.entitlements.giveAccess },
        ])

    static let customerIdentities = table(
        of: CustomerIdentity.self, "customer_identities", key: .primary(inScope("kind", "value")),
        rows: { $0.customer.identities },
        columns: [
            .text("kind") { $0.kind.name },
            .text("value") { $0.value },
        ])

    static let customerUsers = table(
        of: ExportedUser.self, "customer_users", key: .shared("customer"),
        rows: { $0.users.users },
        columns: [
            .text("userId") { $0.userId },
            .texts("originalTransactionIds") { $0.originalTransactionIds },
            .json("carried") { $0.carried },
        ])

    static let conflicts = table(
        of: ExportedConflict.self, "conflicts", key: .primary(inScope("originalTransactionId")),
        rows: { $0.users.conflicts },
        columns: [
            .text("originalTransactionId") { $0.originalTransactionId },
            .texts("userIds") { $0.userIds },
        ])

    // Ordered by reason over all customers.
    static let toAskApple = table(
        of: OpenQuestion.self, "to_ask_apple", key: .primary(inScope("reason", "transactionId", "customer")),
        rows: { $0.questions }, part: { $0.reason.rawValue },
        columns: [
            .text("reason") { $0.reason.name },
            .text("originalTransactionId") { $0.originalTransactionId },
            .text("transactionId") { $0.transactionId },
            .integer("transactions") { $0.transactionCount },
            .texts("missingFields") { $0.missingFields.map { "\($0.name)" } },
        ])

    // MARK: Tables without customers

    static let quarantine = TableOutline(
        name: "quarantine", key: .shared("sha256"), columns: quarantineColumns.map(\.outline), added: [])

    /// - Parameter line: the line of a record in the quarantine.
    static func quarantineRow(_ line: JSONObject) -> TableRow {
        TableRow(values: quarantineColumns.map { $0.value(line) })
    }

    private static let quarantineColumns: [Column<JSONObject>] = [
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
    ]

    private static func source(_ line: JSONObject, _ name: String) -> JSONValue? { line["source"]?[name] }
}
