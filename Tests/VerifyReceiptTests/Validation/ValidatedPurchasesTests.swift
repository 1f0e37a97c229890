import AppStoreModels
import ProductCatalog
import Purchases
import ReceiptForge
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt

/// `collection` and `ineligible_for_intro_price`.
@Suite struct ValidatedPurchasesTests {
    private static let id = "530001234567000"
    private static let end = created.adding(months: 1).milliseconds
    private static let day: Int64 = 86_400_000

    private func purchase(
        _ product: String = monthly, in purchases: [ForgedPurchase] = [month(1), month(2)], facts: FactSet? = nil,
        now: Int64 = end - day, _ change: (inout EndpointConfiguration) throws -> Void = { _ in }
    ) async throws -> JSONObject {
        let store = MemoryStore()
        if let facts { _ = try await store.apply([facts]) }
        let answer = try await validatingEndpoint(store: store, change).ask(
            validation: validation(of: appReceipt(purchases)), now: now)
        #expect(answer.isOK)
        #expect(Set(answer.collection.compactMap { $0.text("id") }).count == answer.collection.count)
        return try unwrap(answer.purchase(product))
    }

    private func renewalInfo(
        at date: Int64 = created.adding(days: 1).milliseconds, _ change: (inout JWSRenewalInfoDecodedPayload) -> Void
    ) -> FactSet {
        var info = JWSRenewalInfoDecodedPayload()
        info.originalTransactionId = Self.id
        info.autoRenewProductId = monthly
        info.productId = monthly
        change(&info)
        let origin = FactOrigin(source: .notificationV2, signedDate: date)
        return FactSet(scope: StoreTests.scope, renewalInfos: [RenewalInfoFact(payload: info, origin: origin)])
    }

    // MARK: Subscriptions

    @Test func aRunningSubscriptionHasItsNewestPeriodAndNothingUnknown() async throws {
        let purchase = try await purchase()
        #expect(
            purchase.keys == [
                "id", "platform", "purchaseId", "transactionId", "purchaseDate", "lastRenewalDate", "expiryDate",
                "isExpired", "isTrialPeriod", "isIntroPeriod", "isBillingRetryPeriod", "quantity",
            ])
        #expect(purchase.text("platform") == "ios-appstore")
        #expect(purchase.text("purchaseId") == Self.id && purchase.text("transactionId") == "530001234569074")
        #expect(purchase["purchaseDate"]?.integer == created.adding(months: -2).milliseconds)
        #expect(purchase["lastRenewalDate"]?.integer == created.milliseconds)
        #expect(purchase["expiryDate"]?.integer == Self.end)
        #expect(purchase["isExpired"] == .bool(false) && purchase["isBillingRetryPeriod"] == .bool(false))
        #expect(purchase["quantity"]?.integer == 1)
    }

    @Test func theFirstPeriodIsNoRenewal() async throws {
        let purchase = try await purchase(in: [month(0)])
        #expect(purchase["purchaseDate"] != nil && purchase["lastRenewalDate"] == nil)
    }

    @Test func anExpiredSubscriptionIsNoErrorOfTheApplication() async throws {
        let purchase = try await purchase(now: Self.end)
        #expect(purchase["isExpired"] == .bool(true) && purchase["expiryDate"]?.integer == Self.end)
        #expect(purchase["cancelationReason"] == nil && purchase["isBillingRetryPeriod"] == nil)
    }

    /// The plugin compares `expiryDate` with the clock, for any value of `isBillingRetryPeriod`.
    @Test func theGracePeriodGivesAccessUntilItsEnd() async throws {
        let grace = Self.end + 16 * Self.day
        let facts = renewalInfo(at: Self.end + 1_000) {
            $0.isInBillingRetryPeriod = true
            $0.autoRenewStatus = .on
            $0.gracePeriodExpiresDate = grace
            $0.expirationIntent = .billingError
        }
        let running = try await purchase(facts: facts, now: grace - 1)
        #expect(running["isExpired"] == .bool(false) && running["isBillingRetryPeriod"] == .bool(true))
        #expect(running["expiryDate"]?.integer == grace && running["cancelationReason"] == nil)
        let retry = try await purchase(facts: facts, now: grace)
        #expect(retry["isExpired"] == .bool(true) && retry["isBillingRetryPeriod"] == .bool(true))
        #expect(retry["expiryDate"]?.integer == Self.end)
        // Billing retry is not the end: the purchase is answered, as one without access.
        let store = MemoryStore()
        _ = try await store.apply([facts])
        let request = try validation(of: appReceipt([month(2)]), id: monthly, type: "paid subscription")
        #expect(try await validatingEndpoint(store: store).ask(validation: request, now: grace).isOK)
        let over = Self.end + 60 * Self.day
        #expect(try await validatingEndpoint(store: store).ask(validation: request, now: over).code == 6_778_003)
    }

    @Test func theRenewalInfoGivesIntentAndConsent() async throws {
        let on = try await purchase(
            facts: renewalInfo {
                $0.autoRenewStatus = .on
                $0.priceIncreaseStatus = .pending
            })
        #expect(on.text("renewalIntent") == "Renew" && on.text("priceConsentStatus") == "Notified")
        // No document states when the customer changed it.
        #expect(on["renewalIntentChangeDate"] == nil)
        let off = try await purchase(
            facts: renewalInfo {
                $0.autoRenewStatus = .off
                $0.priceIncreaseStatus = .consentedOrNotified
            })
        #expect(off.text("renewalIntent") == "Lapse" && off.text("priceConsentStatus") == "Agreed")
        // It runs on: nothing is cancelled yet.
        #expect(off["cancelationReason"] == nil && off["isExpired"] == .bool(false))
    }

    @Test(arguments: [
        (ExpirationIntent.cancelled, "Customer"), (.billingError, "System.BillingError"),
        (.noConsentToPriceIncrease, "Customer.PriceIncrease"), (.productUnavailable, "System.ProductUnavailable"),
        (ExpirationIntent(rawValue: 5), "Unknown"),
    ])
    func theExpirationIntentIsTheReason(_ intent: ExpirationIntent, _ reason: String) async throws {
        let purchase = try await purchase(
            facts: renewalInfo(at: Self.end + 1_000) {
                $0.expirationIntent = intent
                $0.isInBillingRetryPeriod = false
            }, now: Self.end + Self.day)
        #expect(purchase.text("cancelationReason") == reason && purchase["isExpired"] == .bool(true))
    }

    @Test func trialAndIntroductoryPeriodsAreTheFlagsOfTheReceipt() async throws {
        for value in [true, false] {
            let purchase = try await purchase(
                in: [
                    month(2).with {
                        $0.isTrialPeriod = value
                        $0.isInIntroOfferPeriod = !value
                    }
                ])
            #expect(purchase["isTrialPeriod"] == .bool(value) && purchase["isIntroPeriod"] == .bool(!value))
        }
    }

    @Test func aPromotionalOfferIsTheDiscount() async throws {
        let purchase = try await purchase(in: [month(2).with { $0.promotionalOfferId = "spring" }])
        #expect(purchase.text("discountId") == "spring")
    }

    // MARK: Refunds

    @Test(arguments: [(0, "Customer"), (1, "Customer.TechnicalIssues")])
    func aRefundEndsTheAccessAtItsDate(_ code: Int64, _ reason: String) async throws {
        let refund = created.adding(days: 3)
        func refunded(_ purchase: ForgedPurchase) -> ForgedPurchase {
            purchase.with {
                $0.cancellationDate = .seconds(refund)
                $0.cancellationReason = code
            }
        }
        for (product, forged) in [(monthly, month(2)), (tree, nonConsumable)] {
            let purchase = try await purchase(product, in: [refunded(forged)])
            #expect(purchase["isExpired"] == .bool(true))
            #expect(purchase["expiryDate"]?.integer == refund.milliseconds)
            #expect(purchase.text("cancelationReason") == reason)
        }
    }

    // MARK: Other products

    /// As `SubscriptionStanding.products` states: unsigned documents do not end a signed period.
    @Test func anUpgradeThatOnlyUnsignedDocumentsStateLeavesTheSignedPeriodItsAccess() async throws {
        let (yearly, yearEnd) = ("com.example.orchard.yearly", created.adding(months: 12).milliseconds)
        let upgrade = created.adding(days: 10).milliseconds
        let payload = JWSTransactionDecodedPayload {
            $0.originalTransactionId = Self.id
            $0.transactionId = "530001234569990"
            $0.productId = yearly
            $0.purchaseDate = upgrade
            $0.expiresDate = yearEnd
        }
        let facts = FactSet(
            scope: StoreTests.scope,
            transactions: [
                TransactionFact(
                    payload: payload, legacy: LegacyTransactionFields(),
                    origin: FactOrigin(source: .recordedReply, signedDate: upgrade))
            ])
        let ends = [monthly: Self.end, yearly: yearEnd]
        for (product, end) in ends {
            let purchase = try await purchase(product, facts: facts) { $0.recordedFacts = .granting }
            #expect(purchase["isExpired"] == .bool(false) && purchase["expiryDate"]?.integer == end)
            #expect(purchase["cancelationReason"] == nil)
        }
        let receipt = try VerifyReceiptEndpoint.facts(of: appReceipt([month(1), month(2)]))
        let customer = try unwrap(Customer(resolving: [receipt, facts]))
        let standing = try unwrap(customer.purchaseHistory(catalog: nil).subscriptions(at: Self.end - Self.day).first)
        let products = standing.products.map { ($0.productId, $0.accessEnds) }
        #expect(Dictionary(products, uniquingKeysWith: max) == ends)
        // Where records do not count on their own, the reply lists the signed period only.
        let signed = try await purchase(facts: facts)
        #expect(signed["isExpired"] == .bool(false) && signed["expiryDate"]?.integer == Self.end)
    }

    @Test func aNonConsumableNeverExpires() async throws {
        let purchase = try await purchase(tree, in: [nonConsumable])
        #expect(purchase["isExpired"] == .bool(false) && purchase["expiryDate"] == nil)
        #expect(purchase["isBillingRetryPeriod"] == nil && purchase["lastRenewalDate"] == nil)
        #expect(purchase["isAcknowledged"] == nil && purchase["isConsumed"] == nil)
    }

    @Test func aNonRenewingSubscriptionHasTheTermOfTheCatalog() async throws {
        let season = ForgedPurchase(
            .nonRenewing, product: Shelf.season.id, id: "530001234500007", at: created.adding(days: -3))
        let days30 = created.adding(days: 27).milliseconds
        for (now, isExpired) in [(days30 - 1, false), (days30, true)] {
            let purchase = try await purchase(Shelf.season.id, in: [season], now: now) {
                $0.apps[0].catalog = try Shelf.catalog()
            }
            #expect(purchase["isExpired"] == .bool(isExpired) && purchase["expiryDate"]?.integer == days30)
        }
        let unknown = try await purchase(Shelf.season.id, in: [season])
        #expect(unknown["isExpired"] == nil && unknown["expiryDate"] == nil)
    }

    @Test func consumablesAreThoseOfTheReceipt() async throws {
        let apples = "com.example.orchard.apples"
        let older = consumable("530001234500010")
        let newer = consumable("530001234500011").with { $0.quantity = 3 }
        let purchase = try await purchase(apples, in: [newer, older])
        #expect(purchase.text("transactionId") == "530001234500011" && purchase["quantity"]?.integer == 3)
        #expect(purchase["isExpired"] == nil)
    }

    /// Finished consumables are not in the collection, and a request about one is no error.
    @Test func aFinishedConsumableIsStillAPurchase() async throws {
        let apples = "com.example.orchard.apples"
        let store = MemoryStore()
        let bought = try appReceipt([nonConsumable, consumable("530001234500010")])
        _ = try await store.apply([VerifyReceiptEndpoint.facts(of: bought)])
        let finished = try appReceipt([nonConsumable], at: created.adding(days: 1))
        let answer = try await validatingEndpoint(store: store).ask(
            validation: validation(of: finished, id: apples, type: "consumable"))
        #expect(answer.isOK && answer.purchase(apples) == nil)
    }

    // MARK: Introductory prices

    @Test func theIntroductoryPriceIsGoneForTheGroupOfASubscriber() async throws {
        func ineligible(_ purchases: [ForgedPurchase], now: Int64) async throws -> [String]? {
            let answer = try await validatingEndpoint { $0.apps[0].catalog = try Shelf.catalog() }.ask(
                validation: validation(of: appReceipt(purchases)), now: now)
            return answer.data?["ineligible_for_intro_price"]?.array?.compactMap(\.string)
        }
        let group = Shelf.plans.map(\.id).sorted()
        let trial = month(0).with { $0.isTrialPeriod = true }
        #expect(try await ineligible([trial, month(1), month(2)], now: requestDate) == group)
        #expect(try await ineligible([month(2)], now: Self.end - 1) == group)
        #expect(try await ineligible([nonConsumable], now: requestDate) == nil)
    }

    // MARK: Agreement

    /// A client that changes one URL is granted what the reply of verifyReceipt grants.
    @Test func theCollectionGrantsTheSamePurchasesAsTheReply() async throws {
        var generator = SeededGenerator(seed: 41)
        var compared = 0
        for number in 0..<60 {
            let customer = try GeneratedCustomer(number, &generator)
            let store = MemoryStore()
            _ = try await store.apply(customer.notified)
            let catalog = try Shelf.catalog()
            let endpoint = try validatingEndpoint(store: store) {
                $0.apps[0].bundleId = bundleId
                $0.apps[0].catalog = catalog
            }
            let now = GeneratedCustomer.moment(customer.today, hours: 1)
            let receipt = try unwrap(customer.receipts.last)
            let reply = try await endpoint.ask(body(receipt), now: now)
            let answer = try await endpoint.ask(validation: validation(of: receipt), now: now)
            let purchases = try unwrap(ReplyPurchases(try unwrap(reply.json.object), at: now))
            var granted: [String: Bool] = [:]
            for key in purchases.keys {
                let product = key.productId ?? ""
                granted[product] = granted[product] == true || purchases[key]?.isGranted == true
            }
            // A reply does not show that a refund was reversed: the later product seems to be an upgrade.
            for period in customer.periodsBesideOthers { granted[period.item.id] = nil }
            for (product, isGranted) in granted where product != Shelf.apples.id && product != Shelf.season.id {
                let purchase = try #require(answer.purchase(product))
                #expect((purchase["isExpired"] == .bool(false)) == isGranted, "customer \(number): \(product)")
                let lasts = purchase["expiryDate"]?.integer.map { $0 > now } ?? (purchase["isExpired"] == .bool(false))
                #expect(lasts == isGranted, "customer \(number): \(product)")
                compared += 1
            }
        }
        #expect(compared > 60)
    }
}
