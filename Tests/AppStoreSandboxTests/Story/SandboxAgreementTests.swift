import AppStoreModels
import AppStoreSandbox
import Foundation
import Purchases
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore

/// What the documents of the sandbox resolve to is what the sandbox itself says: statuses, access and win-back offers. A store and
/// its ledger say the same. The stories are made from a seed; `LEGACY_RECEIPTS_AGREEMENT_CUSTOMERS` makes more of them.
@Suite struct SandboxAgreementTests {
    private static let customers = ["ada", "bob", "cy"]
    private static let scope = StoreScope(environment: .sandbox, bundleId: "com.example.app")
    private static let day: Int64 = 86_400_000
    private static let stories = max(
        20, (ProcessInfo.processInfo.environment["LEGACY_RECEIPTS_AGREEMENT_CUSTOMERS"].flatMap { Int($0) } ?? 0) / 50)

    /// What the App Store signed, in the order of its events.
    private struct Story {
        var shop: Shop
        var events: [SandboxEvent] = []
        let isRealTime: Bool

        init(_ generator: inout SeededGenerator) throws {
            let isRealTime = generator.chance(50)
            let grace: Int64? = [nil, 16, 28].randomElement(using: &generator) ?? nil
            shop = try Shop {
                $0.pace = isRealTime ? .accelerated(by: 1) : .sandbox
                $0.maximumRenewals = isRealTime ? nil : 6
                $0.gracePeriodDays = grace
            }
            self.isRealTime = isRealTime
        }

        mutating func step(_ generator: inout SeededGenerator) {
            // A month of the sandbox has five minutes.
            let unit = isRealTime ? SandboxAgreementTests.day : Shop.monthly / 30
            shop.pass(Int64.random(in: 0...20, using: &generator) * unit + Int64.random(in: 1...500, using: &generator))
            try? act(&generator)
            events += shop.engine.takeEvents()
        }

        private mutating func act(_ generator: inout SeededGenerator) throws {
            let now = shop.now
            let name = SandboxAgreementTests.customers.randomElement(using: &generator) ?? ""
            let plans = [Sold.basic, Sold.premium, Sold.basicYear, Sold.solo]
            let plan = plans.randomElement(using: &generator) ?? ""
            let subscription = shop.engine.subscriptions.keys.sorted().randomElement(using: &generator) ?? ""
            let transaction = shop.engine.transactions.keys.sorted().randomElement(using: &generator) ?? ""
            switch Int.random(in: 0..<20, using: &generator) {
            case 0..<4:
                let redemptions: [SandboxOrder.Redemption] = [
                    .automatic, .withoutOffer, .winBack("return"), .offerCode("SPRING"),
                ]
                try shop.buy(plan, by: name, redemptions.randomElement(using: &generator) ?? .automatic)
            case 4:
                let product = [Sold.coins, Sold.unlock, Sold.season].randomElement(using: &generator) ?? ""
                try shop.buy(product, by: name)
            case 5..<7: try shop.engine.cancel(subscription, at: now)
            case 7: try shop.engine.enableAutoRenewal(subscription, at: now)
            case 8..<11: try shop.engine.failBilling(subscription, at: now)
            case 11: try shop.engine.recoverBilling(subscription, at: now)
            case 12..<14: _ = try shop.engine.changePlan(subscription, to: plan, at: now)
            case 14: try shop.engine.refund(transaction, at: now)
            case 15: try shop.engine.reverseRefund(transaction, at: now)
            case 16:
                let other = SandboxAgreementTests.customers.randomElement(using: &generator) ?? ""
                try shop.engine.makeFamily([name, other], at: now)
            case 17: try shop.engine.leaveFamily(name, at: now)
            case 18:
                let seats = generator.chance(60)
                _ = try shop.engine.buy(
                    SandboxOrder(
                        customer: name, productId: plan, redemption: .withoutOffer, seats: seats ? 3 : nil,
                        isAssigned: !seats), at: now)
            default:
                if generator.chance(50) {
                    _ = try shop.engine.addSeats(2, to: subscription, at: now)
                } else {
                    try shop.engine.refundSeats(1, of: transaction, at: now)
                }
            }
        }

        /// The notifications of a customer.
        func notifications(_ name: String) -> [FactSet] {
            events.filter { $0.customer == name }.map { event in
                SandboxAgreementTests.statements(
                    [event.transaction].compactMap { $0 }, [event.renewalInfo].compactMap { $0 }, .notificationV2,
                    at: event.date)
            }
        }

        /// The answers of Get Transaction History and Get All Subscription Statuses.
        func answer(_ customer: SandboxCustomer) -> FactSet {
            SandboxAgreementTests.statements(
                shop.engine.transactions(of: customer).map(\.payload),
                shop.engine.subscriptions(of: customer).map { shop.engine.renewalInfo(of: $0) }, .appStoreServerAPI,
                at: shop.engine.signingDate)
        }
    }

    private static func statements(
        _ transactions: [JWSTransactionDecodedPayload], _ infos: [JWSRenewalInfoDecodedPayload], _ source: FactSource,
        at date: Int64
    ) -> FactSet {
        FactSet(
            scope: scope,
            transactions: transactions.map { payload in
                var payload = payload
                payload.signedDate = date
                return TransactionFact(payload, source: source)
            },
            renewalInfos: infos.map { info in
                var info = info
                info.signedDate = date
                return RenewalInfoFact(info, source: source)
            })
    }

    @Test("Notifications in any order, and answers of the API after lost ones, resolve to the state of the sandbox")
    func documentsResolveToTheSandbox() throws {
        var generator = SeededGenerator(seed: 5)
        var compared: [SubscriptionStatus: Int] = [:]
        var offered = 0
        for number in 0..<Self.stories {
            var story = try Story(&generator)
            for _ in 0..<20 {
                for _ in 0..<3 { story.step(&generator) }
                for name in Self.customers {
                    guard let customer = try? story.shop.engine.customer(name) else { continue }
                    let all = story.notifications(name)
                    let some = all.filter { _ in generator.chance(60) } + [story.answer(customer)]
                    for sets in [all, all.shuffled(using: &generator), some.shuffled(using: &generator)] {
                        guard let resolved = Customer(resolving: sets) else { continue }
                        let history = Self.history(resolved, story)
                        Self.expectStatuses(history, customer, story, &compared, "\(number) \(name)")
                        offered += Self.expectOffers(history, customer, story, "\(number) \(name)")
                    }
                }
            }
        }
        // Every status, and offers, occurred.
        for status in [SubscriptionStatus.active, .expired, .billingRetry, .billingGracePeriod, .revoked] {
            #expect(compared[status] ?? 0 > 10, "\(status)")
        }
        #expect(offered > 10)
    }

    @Test("A store keeps what the documents resolve to, and its ledger says what became of each transaction")
    func theStoreAgrees() async throws {
        var generator = SeededGenerator(seed: 6)
        var recorded: Set<LedgerEntry.Event> = []
        for number in 0..<(Self.stories / 2) {
            var story = try Story(&generator)
            for _ in 0..<60 { story.step(&generator) }
            for name in Self.customers {
                guard let customer = try? story.shop.engine.customer(name) else { continue }
                let sets = (story.notifications(name) + [story.answer(customer)]).shuffled(using: &generator)
                recorded.formUnion(try await Self.expectStore(of: sets, "\(number) \(name)"))
            }
        }
        #expect(recorded.isSuperset(of: [.purchased, .revoked, .upgraded]))
    }

    /// - Returns: the last events of the transactions.
    @inline(never)
    private static func expectStore(of sets: [FactSet], _ place: String) async throws -> Set<LedgerEntry.Event> {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(
            path: folder.file("store.sqlite"), options: .init(durability: .normal))
        for set in sets { _ = try await store.apply([set]) }
        var last: [String: LedgerEntry.Event] = [:]
        for entry in try await store.changes(after: 0, limit: 10_000) where entry.event.isState {
            last[entry.transactionId] = entry.event
        }
        var stored: [String: JWSTransactionDecodedPayload] = [:]
        try await store.forEachCustomer(in: scope) { customer in
            for transaction in customer.transactions {
                stored[transaction.payload.transactionId ?? ""] = transaction.payload
            }
        }
        try await store.close()
        let resolved = Customer(resolving: sets)?.transactions.map(\.payload) ?? []
        #expect(Set(stored.keys) == Set(resolved.compactMap(\.transactionId)), "\(place)")
        for payload in resolved {
            let id = payload.transactionId ?? ""
            #expect(stored[id] == payload, "\(place) \(id)")
            let event: LedgerEntry.Event =
                payload.isUpgraded == true ? .upgraded : payload.revocationDate != nil ? .revoked : .purchased
            let recorded: LedgerEntry.Event? = last[id] == .reinstated ? .purchased : last[id]
            #expect(recorded == event, "\(place) \(id)")
        }
        return Set(last.values)
    }

    private static func history(_ customer: Customer, _ story: Story) -> PurchaseHistory {
        var history = customer.purchaseHistory(
            catalog: nil, currentThrough: story.shop.now, countsUnpricedAsPaid: true)
        if !story.isRealTime { history.monthLength = .fixed(milliseconds: Shop.monthly) }
        for product in story.shop.engine.catalog.products.values {
            history.products[product.id, default: PurchaseHistory.Product()].level = product.level
        }
        return history
    }

    private static func expectStatuses(
        _ history: PurchaseHistory, _ customer: SandboxCustomer, _ story: Story,
        _ compared: inout [SubscriptionStatus: Int], _ place: String
    ) {
        let entitlements = history.entitlements(at: story.shop.now)
        var standings: [String: SubscriptionStanding] = [:]
        for standing in entitlements.flatMap(\.subscriptions) {
            standings[standing.originalTransactionId ?? ""] = standing
        }
        let subscriptions = story.shop.engine.subscriptions(of: customer)
        #expect(standings.count == subscriptions.count, "\(place)")
        for subscription in subscriptions {
            let standing = standings[subscription.originalTransactionId]
            #expect(standing?.status == subscription.status, "\(place) \(subscription.originalTransactionId)")
            compared[subscription.status, default: 0] += 1
            guard subscription.status == .active else { continue }
            #expect(standing?.productId == subscription.productId, "\(place)")
            #expect(standing?.periodEnd == subscription.expiresDate, "\(place)")
        }
        let owned = Set(
            story.shop.engine.transactions(of: customer).filter {
                $0.payload.type == .nonConsumable && !$0.isRevoked
            }.compactMap(\.payload.productId))
        let entitled = Set(entitlements.filter { $0.type == .nonConsumable && $0.hasAccess }.compactMap(\.productId))
        #expect(owned == entitled, "\(place)")
    }

    /// - Returns: the number of offers.
    private static func expectOffers(
        _ history: PurchaseHistory, _ customer: SandboxCustomer, _ story: Story, _ place: String
    ) -> Int {
        var count = 0
        for subscription in story.shop.engine.subscriptions(of: customer) where subscription.sharedFrom == nil {
            // A customer with several own subscriptions in a group is requested by the last one.
            guard customer.subscriptions[subscription.group] == subscription.originalTransactionId else { continue }
            let offers = story.shop.engine.catalog.products.values.flatMap { product in
                product.offers.filter { $0.type == .winBack && product.group == subscription.group }.map {
                    WinBackOffer(
                        offerIdentifier: $0.identifier ?? "", group: subscription.group, productId: product.id,
                        rules: $0.winBackRules)
                }
            }
            let eligible = history.eligibleWinBackOffers(offers, at: story.shop.now).map(\.offerIdentifier)
            let listed = story.shop.engine.renewalInfo(of: subscription).eligibleWinBackOfferIds ?? []
            #expect(Set(eligible) == Set(listed), "\(place) \(subscription.originalTransactionId)")
            count += listed.count
        }
        return count
    }
}
