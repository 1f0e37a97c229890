import AppStoreModels
import Purchases

/// The tables of an export. Documentation/Export.md has one section for each; a test compares the two.
package enum ExportedTables {
    typealias Subscription = (entitlement: Entitlement, standing: SubscriptionStanding)

    /// All tables, in the order of the documentation.
    package static let outlines: [TableOutline] = [
        transactions.outline, subscriptions.outline, entitlements.outline, terms.outline, renewalInfos.outline,
        appTransactions.outline, customers.outline, customerIdentities.outline, customerUsers.outline,
        conflicts.outline,
        toAskApple.outline, quarantine.outline,
    ]

    // MARK: Columns of several tables

    private static func owner<Value>() -> [Column<OwnedRow<Value>>] {
        [
            .text("customer", "The key of the customer; see `customers`.") { $0.owner.key },
            .text("environment", "The environment: `Production`, `Sandbox` or `Xcode`.") {
                $0.owner.customer.scope.environment
            },
            .text("bundleId", "The bundle id of the app.") { $0.owner.customer.scope.bundleId },
        ]
    }

    private static func evidence<Value>(
        _ origins: @escaping @Sendable (Value) -> [FactOrigin]
    ) -> [Column<OwnedRow<Value>>] {
        [
            .text(
                "evidence",
                "`signed` if one of the documents has a verified signature, `recorded` if all are unsigned."
            ) { origins($0.value).isSigned ? "signed" : "recorded" },
            .texts(
                "documents",
                """
                The kinds of the documents: `receipt`, `signedTransaction` (StoreKit 2), `appStoreServerAPI`, \
                `notificationV2`, `recordedReply`, `notificationV1` (received by a server), `recordedNotificationV1`, \
                `recordedStoreKit2`.
                """
            ) { origins($0.value).distinctSources.map(\.rawValue) },
            .text("source", "The document whose values count, of those in `documents`.") {
                origins($0.value).deciding?.source.rawValue
            },
            .date("asOf", "The date of the newest document.") { origins($0.value).newestDate },
        ]
    }

    /// The documents behind a conclusion, which are those of the transaction that decides.
    private static func evidence<Value>(
        ofTransaction id: @escaping @Sendable (Value) -> String?
    ) -> [Column<OwnedRow<Value>>] {
        [
            .text("evidence", "As in `transactions`, of the row's transaction.") { row in
                let origins = row.owner.origins(of: id(row.value))
                return origins.isEmpty ? nil : origins.isSigned ? "signed" : "recorded"
            },
            .text("source", "As in `transactions`, of the row's transaction.") {
                $0.owner.origins(of: id($0.value)).deciding?.source.rawValue
            },
            .date("asOf", "The date of the newest document about the row's transaction.") {
                $0.owner.origins(of: id($0.value)).newestDate
            },
        ]
    }

    private static func names<Row>(_ columns: [Column<Row>], _ others: String...) -> [String] {
        columns.map { "\($0.name)" } + others
    }

    /// A key of ids that are unique in an environment.
    private static func inScope(_ columns: String...) -> [String] { ["environment", "bundleId"] + columns }

    private static let moreMeaning =
        "Members of Apple's payload without a column, and those that this version does not know."

    // MARK: Transactions

    private static func ofTransaction(
        _ columns: [Column<JWSTransactionDecodedPayload>]
    ) -> [Column<OwnedRow<ExportedTransaction>>] {
        columns.within { row, value in value(row.value.stored.payload) }
    }

    static let transactions: Table<OwnedRow<ExportedTransaction>> = {
        typealias Columns = [Column<OwnedRow<ExportedTransaction>>]
        let ids = ofTransaction([
            .text(
                "transactionId",
                "The id of the transaction; it has several rows only if documents contradict each other about `originalTransactionId`."
            ) { $0.transactionId },
            .text("originalTransactionId", "The id of the first transaction of the purchase or subscription.") {
                $0.originalTransactionId
            },
            .text("previousOriginalTransactionId", "The original transaction id before the App Store migrated it.") {
                $0.previousOriginalTransactionId
            },
            .text("webOrderLineItemId", "The id of the subscription period on all devices.") { $0.webOrderLineItemId },
            .text("productId", "The product.") { $0.productId },
        ])
        let product: Columns = [
            .text("type", "The type of the product; from the catalog if nothing signed states it.") { $0.value.type },
            .text(
                "subscriptionGroupIdentifier",
                "The group of a subscription; if no signed document states it, from the catalog or another transaction. The group in an unsigned row comes last."
            ) { $0.value.group },
        ]
        let more = ofTransaction([
            .integer("quantity", "How many consumables or seats were bought.") { $0.quantity },
            .date("purchaseDate", "When the App Store charged the customer, or restored the purchase.") {
                $0.purchaseDate
            },
            .date("originalPurchaseDate", "The purchase date of the original transaction.") { $0.originalPurchaseDate },
            .date("expiresDate", "When the subscription period ends; `terms` has non-renewing subscriptions.") {
                $0.expiresDate
            },
            .date("revocationDate", "When the App Store refunded or revoked the transaction.") { $0.revocationDate },
            .integer("revocationReason", "Why: 1 for an issue within the app, 0 for another reason.") {
                $0.revocationReason
            },
            .text("revocationType", "`REFUND_FULL`, `REFUND_PRORATED` or `FAMILY_REVOKE`.") { $0.revocationType },
            .integer("revocationPercentage", "The refunded part in milliunits of a percent: 100000 is 100 %.") {
                $0.revocationPercentage
            },
            .boolean(
                "isUpgraded", "Whether another subscription of the group replaced the period, which is not a refund."
            ) { $0.isUpgraded },
            .text("inAppOwnershipType", "`PURCHASED`, `FAMILY_SHARED` or `ASSIGNED`.") { $0.inAppOwnershipType },
            .text("appAccountToken", "The account token that the app set, a UUID.") { $0.appAccountToken },
            .text("appTransactionId", "The id of the app download, one for each Apple Account and app.") {
                $0.appTransactionId
            },
            .integer(
                "offerType", "The offer: 1 introductory, 2 promotional, 3 offer code, 4 win-back."
            ) { $0.offerType },
            .text("offerIdentifier", "The identifier of a promotional or win-back offer, the name of an offer code.") {
                $0.offerIdentifier
            },
            .text("offerDiscountType", "`FREE_TRIAL`, `PAY_AS_YOU_GO`, `PAY_UP_FRONT` or `ONE_TIME`.") {
                $0.offerDiscountType
            },
            .text("offerPeriod", "The duration of the offer, in ISO 8601.") { $0.offerPeriod },
            .text("transactionReason", "`PURCHASE` or `RENEWAL`.") { $0.transactionReason },
            .integer("price", "The price of one, in milliunits of the currency: 9990 is 9.99.") { $0.price },
            .text("currency", "The currency of the price, ISO 4217.") { $0.currency },
            .text("storefront", "The country or region of the App Store, ISO 3166-1 alpha-3.") { $0.storefront },
            .text("storefrontId", "Apple's number of the storefront.") { $0.storefrontId },
            .text("billingPlanType", "`BILLED_UPFRONT` or `MONTHLY`.") { $0.billingPlanType },
            .text("additionalTransactionReason", "Why several transactions represent the period: `SEAT_ADDITION`.") {
                $0.additionalTransactionReason
            },
        ])
        let legacy: Columns = [
            .boolean("isTrialPeriod", "`is_trial_period` of the receipt or the recorded row.") {
                $0.value.stored.legacy.isTrialPeriod
            },
            .boolean("isInIntroOfferPeriod", "`is_in_intro_offer_period` of the receipt or the recorded row.") {
                $0.value.stored.legacy.isInIntroOfferPeriod
            },
            .date("cancellationDate", "`cancellation_date`: the date of a refund, a revocation or an upgrade.") {
                $0.value.stored.legacy.cancellationDate
            },
            .date(
                "recordedCancellationDate",
                """
                A cancellation that only an unsigned document states, about this transaction or a copy of it; it counts \
                nowhere until the App Store confirms it. One from a notification of version 1 that a server received with the \
                secret counts, and is in `revocationDate`.
                """
            ) { $0.value.stored.recordedCancellation?.date },
        ]
        let provenance: Columns = [
            .json(
                "provenance",
                "The sources of the values that are not from `source`, by column: the kind of a document, the catalog, or a rule (`inferred`)."
            ) { $0.value.provenance }
        ]
        let stated: Columns = ids + product + more + legacy
        let columns = owner() + stated + evidence { $0.stored.origins } + provenance
        // The date of the payload is that of one document; asOf is that of the newest.
        let fields = FieldSet<TransactionField>(named: names(columns, "signedDate"))
        return Table(
            name: "transactions", meaning: "One row for each transaction, merged from all documents that state it.",
            key: .primary(inScope("transactionId", "customer")),
            columns: columns + [
                .json("more", moreMeaning) { $0.value.stored.payload.membersWithoutColumn(fields) }
            ])
    }()

    // MARK: Conclusions at the date of the export

    static let subscriptions = Table<OwnedRow<Subscription>>(
        name: "subscriptions",
        meaning: """
            One row for each auto-renewable subscription (original transaction id) that had begun, as it stood at the \
            date of the export.
            """,
        key: .primary(inScope("transactionId", "customer")),
        columns: owner() + [
            .text("originalTransactionId", "The id of the subscription.") { $0.value.standing.subscriptionId },
            .text("status", "`active`, `expired`, `billingRetry`, `billingGracePeriod` or `revoked`.") {
                $0.value.standing.status.name
            },
            .boolean("hasAccess", "Whether the customer has access: active, or in the billing grace period.") {
                $0.value.standing.hasAccess
            },
            .boolean(
                "isCurrent",
                "Whether the documents reach far enough to be sure; otherwise the subscription may have changed since."
            ) { $0.value.standing.isCurrent },
            .text("subscriptionGroupIdentifier", "The subscription group.") { $0.value.entitlement.group },
            .text("productId", "The product of the current or last period.") { $0.value.standing.productId },
            .text("transactionId", "The transaction of the current or last period.") {
                $0.value.standing.transactionId
            },
            .date("periodStart", "When the current or last period begins.") { $0.value.standing.periodStart },
            .date("periodEnd", "When it ends or ended: at its expiry, or before it at a refund or an upgrade.") {
                $0.value.standing.periodEnd
            },
            .date("accessEnds", "When the access ends or ended: the end of the period or of the grace period.") {
                $0.value.standing.accessEnds
            },
            .date("changesAt", "When the status changes if nothing happens until then.") {
                $0.value.standing.changesAt
            },
            .boolean("isFamilyShared", "Whether the customer has it through Family Sharing.") {
                $0.value.standing.isFamilyShared
            },
            .integer("autoRenewStatus", "Whether it will renew: 1 yes, 0 no.") {
                $0.value.standing.renewalInfo?.autoRenewStatus
            },
            .text("autoRenewProductId", "The product that will renew.") {
                $0.value.standing.renewalInfo?.autoRenewProductId
            },
            .integer(
                "expirationIntent",
                "Why it expired: 1 canceled, 2 billing error, 3 no consent to a price increase, 4 product unavailable, 5 other."
            ) { $0.value.standing.renewalInfo?.expirationIntent },
            .boolean("isInBillingRetryPeriod", "Whether the App Store still tries to bill it.") {
                $0.value.standing.renewalInfo?.isInBillingRetryPeriod
            },
            .date("gracePeriodExpiresDate", "When the billing grace period ends.") {
                $0.value.standing.renewalInfo?.gracePeriodExpiresDate
            },
            .integer("renewalPrice", "The price at the next renewal, in milliunits of the currency.") {
                $0.value.standing.renewalInfo?.renewalPrice
            },
            .text("currency", "The currency of the price at the next renewal, ISO 4217.") {
                $0.value.standing.renewalInfo?.currency
            },
        ] + evidence(ofTransaction: { $0.standing.transactionId }))

    static let entitlements = Table<OwnedRow<Entitlement>>(
        name: "entitlements",
        meaning: """
            One row for each customer and thing that the app sells: a subscription group, non-renewing subscriptions \
            that unlock the same, a non-consumable. Consumables have none.
            """,
        key: .primary(inScope("transactionId", "customer")),
        columns: owner() + [
            .text("type", "The type of the product.") { $0.value.type },
            .text("entitlement", "What the product unlocks, by its name in the catalog.") { $0.value.name },
            .text("subscriptionGroupIdentifier", "The group of auto-renewable subscriptions.") { $0.value.group },
            .text(
                "status",
                "As in `subscriptions`; `unknown` if the type of the product or the end of a term is unknown."
            ) { $0.value.status?.name ?? "unknown" },
            .boolean("hasAccess", "Whether the customer has access.") { $0.value.hasAccess },
            .boolean("isCurrent", "Whether the documents reach far enough to be sure.") { $0.value.isCurrent },
            .text("productId", "The product of the purchase that decides.") { $0.value.productId },
            .integer("level", "The level of service within the group by the catalog; 1 is the highest.") {
                $0.value.level
            },
            .text("originalTransactionId", "The purchase that decides.") { $0.value.originalTransactionId },
            .text("transactionId", "The transaction that decides.") { $0.value.transactionId },
            .boolean("isFamilyShared", "Whether the customer has it through Family Sharing.") {
                $0.value.isFamilyShared
            },
            .date(
                "accessEnds",
                "When the access ends or ended, by the last subscription that grants it; no value if it never ends or is unknown."
            ) { $0.value.accessEnds },
            .date(
                "changesAt", "When the status or the purchase that decides changes if nothing happens until then."
            ) { $0.value.changesAt },
        ] + evidence(ofTransaction: { $0.transactionId }))

    static let terms = Table<OwnedRow<ExportedTerm>>(
        name: "terms",
        meaning: """
            One row for each transaction of a non-renewing subscription whose duration the catalog states, reckoned \
            over all documents of the customer. Empty without a catalog.
            """,
        key: .primary(inScope("transactionId", "customer")),
        columns: owner() + [
            .text("transactionId", "The transaction.") { $0.value.stored.payload.transactionId },
            .text("originalTransactionId", "The purchase.") { $0.value.stored.payload.originalTransactionId },
            .text("productId", "The product.") { $0.value.stored.payload.productId },
            .date("termStart", "When the term begins: at the purchase, or at the end of the term that it extends.") {
                $0.value.term.start
            },
            .date("termEnd", "When the term ends.") { $0.value.term.end },
            .date("revocationDate", "When the purchase was refunded.") { $0.value.term.revocationDate },
            .boolean("isStacked", "Whether the term begins at the end of an earlier one.") { $0.value.term.isStacked },
            .boolean("isRestored", "Whether another transaction of the same purchase has the term too; count it once.")
            {
                $0.value.term.isRestored
            },
        ] + evidence(ofTransaction: { $0.stored.payload.transactionId }))

    // MARK: Documents about renewals and the app

    static let renewalInfos: Table<OwnedRow<StoredRenewalInfo>> = {
        let stated: [Column<JWSRenewalInfoDecodedPayload>] = [
            .text("originalTransactionId", "The id of the subscription.") { $0.originalTransactionId },
            .text("productId", "The product of the current or last period.") { $0.productId },
            .text("autoRenewProductId", "The product that will renew.") { $0.autoRenewProductId },
            .integer("autoRenewStatus", "Whether the subscription will renew: 1 yes, 0 no.") { $0.autoRenewStatus },
            .date("renewalDate", "When the most recent period ends.") { $0.renewalDate },
            .integer("expirationIntent", "Why the subscription expired, as in `subscriptions`.") {
                $0.expirationIntent
            },
            .boolean("isInBillingRetryPeriod", "Whether the App Store still tries to bill an expired subscription.") {
                $0.isInBillingRetryPeriod
            },
            .date("gracePeriodExpiresDate", "When the billing grace period ends.") { $0.gracePeriodExpiresDate },
            .integer("priceIncreaseStatus", "1 if the customer agreed to a price increase, 0 if not yet.") {
                $0.priceIncreaseStatus
            },
            .integer("renewalPrice", "The price at the next renewal, in milliunits of the currency.") {
                $0.renewalPrice
            },
            .text("currency", "The currency of the price, ISO 4217.") { $0.currency },
            .integer("offerType", "The offer at the next renewal, as in `transactions`.") { $0.offerType },
            .text("offerIdentifier", "The identifier of that offer.") { $0.offerIdentifier },
            .text("offerDiscountType", "The payment mode of that offer.") { $0.offerDiscountType },
            .text("offerPeriod", "The duration of that offer, in ISO 8601.") { $0.offerPeriod },
            .texts("eligibleWinBackOfferIds", "The win-back offers that the customer may redeem, the best first.") {
                $0.eligibleWinBackOfferIds ?? []
            },
            .date(
                "recentSubscriptionStartDate",
                "The beginning of the most recent run of periods, without lapses of 60 days and more."
            ) { $0.recentSubscriptionStartDate },
            .text("appAccountToken", "The account token of the coming renewal, a UUID.") { $0.appAccountToken },
            .text("appTransactionId", "The id of the app download.") { $0.appTransactionId },
            .text("renewalBillingPlanType", "How the customer will pay: `BILLED_UPFRONT` or `MONTHLY`.") {
                $0.renewalBillingPlanType
            },
            .integer("renewalQuantity", "How many seats will renew.") { $0.renewalQuantity },
        ]
        let payload: [Column<OwnedRow<StoredRenewalInfo>>] = stated.within { row, value in value(row.value.payload) }
        let columns = owner() + payload + evidence { $0.origins }
        let fields = FieldSet<RenewalInfoField>(named: names(columns, "signedDate"))
        return Table(
            name: "renewal_infos",
            meaning: "One row for each subscription with renewal information: the newest that the documents state.",
            key: .primary(inScope("originalTransactionId")),
            columns: columns + [.json("more", moreMeaning) { $0.value.payload.membersWithoutColumn(fields) }])
    }()

    static let appTransactions: Table<OwnedRow<StoredAppTransaction>> = {
        let stated: [Column<AppTransaction>] = [
            .text("appTransactionId", "The id of the app download, one for each Apple Account and app.") {
                $0.appTransactionId
            },
            .text("receiptType", "The environment that signed the app transaction.") { $0.receiptType },
            .integer("appAppleId", "The App Store's number of the app.") { $0.appAppleId },
            .text("originalApplicationVersion", "The version of the app that the customer first obtained.") {
                $0.originalApplicationVersion
            },
            .date("originalPurchaseDate", "When the customer first obtained the app.") { $0.originalPurchaseDate },
            .text("originalPlatform", "The platform on which the customer first obtained the app.") {
                $0.originalPlatform
            },
            .text("storeType", "The store that the customer obtained the app from.") { $0.storeType },
            .date("preorderDate", "When the customer ordered the app before its release.") { $0.preorderDate },
            .text("applicationVersion", "The version of the app in the newest document.") { $0.applicationVersion },
            .integer("versionExternalIdentifier", "The App Store's number of that version.") {
                $0.versionExternalIdentifier
            },
            .date("receiptCreationDate", "When the newest receipt or app transaction was signed.") {
                $0.receiptCreationDate
            },
        ]
        let legacy: [Column<LegacyAppTransactionFields>] = [
            .text(
                "legacyReceiptType",
                """
                The type that the receipt states, or the newest unsigned reply that states one if no receipt does: \
                `ProductionVPP` or `ProductionVPPSandbox` for a volume purchase.
                """
            ) { $0.receiptType },
            .date("volumePurchaseExpirationDate", "When the volume purchase expires.") { $0.expirationDate },
            .date("volumePurchaseDate", "The date that the receipt of a volume purchase states.") {
                $0.volumePurchaseDate
            },
            .text("volumePurchaseOrganization", "The organization that made the volume purchase.") {
                $0.volumePurchaseOrganization
            },
        ]
        let payload: [Column<OwnedRow<StoredAppTransaction>>] = stated.within { row, value in value(row.value.payload) }
        let beside: [Column<OwnedRow<StoredAppTransaction>>] = legacy.within { row, value in value(row.value.legacy) }
        let columns: [Column<OwnedRow<StoredAppTransaction>>] =
            owner() + payload + beside + evidence { $0.origins }
        let fields = FieldSet<AppTransactionField>(named: names(columns))
        return Table(
            name: "app_transactions",
            meaning: "One row for each customer whose documents state when and in which version the app was obtained.",
            key: .primary(["customer"]),
            columns: columns + [.json("more", moreMeaning) { $0.value.payload.membersWithoutColumn(fields) }],
            added: Set(names(beside)))
    }()

    // MARK: Customers

    static let customers = Table<OwnedRow<Customer>>(
        name: "customers",
        meaning: """
            One row for each customer of an app in an environment: the purchases that documents connect by an original \
            transaction id, an app transaction id or an account token.
            """,
        key: .primary(["customer"]),
        columns: owner() + [
            .date("asOf", "The date of the newest document about the customer.") { $0.value.newestDate },
            .integer("transactions", "The number of transactions.") { $0.value.transactions.count },
            .integer("recordedTransactions", "How many of them no signed document states.") {
                $0.value.transactions.count(where: { !$0.isSigned })
            },
            .integer("subscriptions", "The number of rows in `subscriptions`.") { $0.owner.subscriptions.count },
            .integer("entitlements", "The number of rows in `entitlements`.") { $0.owner.entitlements.count },
            .boolean("hasAccess", "Whether any entitlement grants access.") { row in
                row.owner.entitlements.contains(where: \.hasAccess)
            },
        ])

    static let customerIdentities = Table<OwnedRow<CustomerIdentity>>(
        name: "customer_identities",
        meaning: "One row for each id by which a customer is known; join your own table with it.",
        key: .primary(inScope("kind", "value")),
        columns: owner() + [
            .text(
                "kind",
                """
                `originalTransactionId`, `appAccountToken`, `appTransactionId`, or `receiptDigest` (the SHA-256 of a \
                receipt without purchases, or of what a recorded reply without purchases states about the app).
                """
            ) { $0.value.kind.name },
            .text("value", "The id; account tokens are in lower case.") { $0.value.value },
        ])

    static let customerUsers = Table<OwnedRow<ExportedUser>>(
        name: "customer_users",
        meaning: """
            One row for each customer and each of your users that a migrated record names with a purchase (`migrate --into`).
            """,
        key: .shared("customer"),
        columns: owner() + [
            .text("userId", "Your id of the user, exactly as in the records; none if a record has only other columns.")
            {
                $0.value.userId
            },
            .texts("originalTransactionIds", "The purchases for which the records name this user.") {
                $0.value.originalTransactionIds
            },
            .json(
                "carried", "The columns named with `--carry`: an array with an object for each combination of values."
            ) {
                $0.value.carried
            },
        ])

    static let conflicts = Table<OwnedRow<ExportedConflict>>(
        name: "conflicts",
        meaning: """
            One row for each purchase for which records name several users. Decide which user owns the purchase; the export does not guess.
            """,
        key: .primary(inScope("originalTransactionId")),
        columns: owner() + [
            .text("originalTransactionId", "The purchase.") { $0.value.originalTransactionId },
            .texts("userIds", "The users, in the order of their bytes.") { $0.value.userIds },
        ])

    static let toAskApple = Table<OwnedRow<OpenQuestion>>(
        name: "to_ask_apple",
        meaning: """
            One row for each purchase and reason to ask the App Store Server API, in the order of what an answer could \
            change.
            """,
        key: .primary(inScope("reason", "transactionId", "customer")),
        columns: owner() + [
            .text(
                "reason",
                """
                `unconfirmedCancellation`, `unexplainedCancellation`, `unsigned`, `notCurrent` or `missingFields`; see \
                below.
                """
            ) { $0.value.reason.name },
            .text("originalTransactionId", "The purchase; of a transaction without this id, the transaction id.") {
                $0.value.originalTransactionId
            },
            .text("transactionId", "The newest transaction that the reason is about, for the query.") {
                $0.value.transactionId
            },
            .integer("transactions", "How many transactions of the purchase the reason is about.") {
                $0.value.transactionCount
            },
            .texts("missingFields", "The missing fields, for `missingFields`.") { row in
                row.value.missingFields.map { "\($0.name)" }
            },
        ])

    // MARK: Tables without customers

    static let quarantine = Table<JSONObject>(
        name: "quarantine",
        meaning:
            "One row for each record, or document of a record, that `migrate --into` could not migrate; and for each receipt inside migrated documents that it could not verify.",
        key: .shared("sha256"),
        columns: [
            .text("sha256", "SHA-256 of the original bytes, 64 hexadecimal digits.") { source($0, "sha256")?.string },
            .text("reason", "The reason, for a program to branch on.") { $0["reason"]?.string },
            .text(
                "verdict", "`notAReceipt`, `notGenuine`, or `notMigrated` for a valid record that a rule excluded."
            ) { $0["verdict"]?.string },
            .text("message", "The reason in a sentence.") { $0["message"]?.string },
            .text("kind", "What the record was recognized as.") { source($0, "kind")?.string },
            .text("input", "The file, or `-` for standard input; none for an embedded receipt.") {
                source($0, "input")?.string
            },
            .integer("line", "The line of the record, from 1.") { source($0, "line")?.integer },
            .integer(
                "element",
                "The element of the JSON array, or the member of a JSON object that is too long for a record, from 1."
            ) { source($0, "element")?.integer },
            .integer("row", "The row of the table, from 1; the header counts.") { source($0, "row")?.integer },
            .integer("byteOffset", "The offset of the record in the input, in bytes.") {
                source($0, "byteOffset")?.integer
            },
            .integer("length", "The length of the original in bytes.") { source($0, "length")?.integer },
            .text(
                "path",
                "The path of the document in its record, whose other documents were migrated; none for a whole record; `(migrated record)` for a whole record that was migrated except for a row or a reply that has no meaning without its receipt; `(embedded receipt)` for a receipt inside migrated replies or notifications, once for each user."
            ) { source($0, "path")?.string },
            .json("record", "Your own columns of the record.") { $0["record"]?.json },
            .text("original", "The original bytes, if they are UTF-8; cut if the record was too large.") {
                $0["original"]?.string
            },
            .text("originalBase64", "The original bytes in base64, if they are not UTF-8.") {
                $0["originalBase64"]?.string
            },
        ])

    private static func source(_ line: JSONObject, _ name: String) -> JSONValue? { line["source"]?[name] }
}
