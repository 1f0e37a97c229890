import AnswerAgreement
import AppStoreModels
import AppStoreSandbox
import Foundation
import LegacyReceipts
import Purchases
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt

/// What the documents of the sandbox resolve to is what the sandbox itself says: statuses, access and win-back offers. A store and
/// its ledger, the replies to the sandbox's receipts, validations and an export say the same. The stories are made from a seed; `LEGACY_RECEIPTS_AGREEMENT_CUSTOMERS` makes more of them.
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

        /// Whether a period ends within the current second. By a receipt, which has whole seconds, it has ended.
        func hasEndWithinSecond(_ customer: SandboxCustomer) -> Bool {
            let second = shop.now / 1_000
            return shop.engine.transactions(of: customer).contains { ($0.payload.expiresDate ?? 0) / 1_000 == second }
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

    @Test("Replies, validations and exports say what the documents resolve to and what the sandbox says")
    func allAnswersAgree() async throws {
        var generator = SeededGenerator(seed: 7)
        let trust = try sandboxTrust()
        var compared: [SubscriptionStatus: Int] = [:]
        for number in 0..<(Self.stories / 2) {
            var story = try Story(&generator)
            for _ in 0..<60 { story.step(&generator) }
            for (place, name) in Self.customers.enumerated() {
                guard let customer = try? story.shop.engine.customer(name), !customer.transactionIds.isEmpty,
                    !story.hasEndWithinSecond(customer)
                else { continue }
                // An export takes long, because each of its files is synchronized with the disk.
                try await Self.expectAnswers(
                    story, customer, trust, isExported: place == number % 3, &compared, "\(number) \(name)")
            }
        }
        #expect(compared[.active] ?? 0 > 5 && compared.values.reduce(0, +) > 20)
    }

    @inline(never)
    private static func expectAnswers(
        _ story: Story, _ customer: SandboxCustomer, _ trust: TrustPolicy, isExported: Bool,
        _ compared: inout [SubscriptionStatus: Int], _ place: String
    ) async throws {
        let (engine, now) = (story.shop.engine, story.shop.now)
        let receipts = SandboxReceipts(engine: engine)
        let receipt = try receipts.appReceipt(of: customer)
        let facts = try unwrap(FactSet(try ReceiptVerifier(trust: trust).verify(stored: receipt), bytes: receipt))
        let hidden = Disagreements.purchasesBesideOthers(engine.transactions(of: customer).map(\.payload))
        var app = AppConfiguration(bundleId: scope.bundleId)
        app.answersValidations = true
        var configuration = EndpointConfiguration(apps: [app], trust: trust)
        configuration.learnsFromReceipts = false

        // A receipt alone states no billing problems.
        let alone = try VerifyReceiptEndpoint(configuration: configuration, store: nil)
        let read = try unwrap(Customer(resolving: [facts])).purchaseHistory(catalog: nil)
        let unlearned = try await reply(alone, receipt, at: now)
        #expect(Disagreements.grants(of: unlearned.json, read, at: now) == [], "\(place): the receipt alone")
        expectGrants(of: unlearned.json, story, customer, with: [.active], hidden, "\(place): the receipt alone")

        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(
            path: folder.file("store.sqlite"), options: .init(durability: .normal))
        _ = try await store.apply(story.notifications(customer.name) + [facts, story.answer(customer)])
        let stored = try unwrap(try await store.customer(facts.identities, in: scope))
        expectStatuses(history(stored, story), customer, story, &compared, place)
        let resolved = stored.purchaseHistory(catalog: nil)
        let endpoint = try VerifyReceiptEndpoint(configuration: configuration, store: store)
        let learned = try await reply(endpoint, receipt, at: now)
        #expect(Disagreements.grants(of: learned.json, resolved, at: now, hidden: hidden) == [], "\(place)")
        expectGrants(of: learned.json, story, customer, with: [.active, .billingGracePeriod], hidden, place)
        let purchases = try await collection(endpoint, "appStoreReceipt", receipt, at: now)
        #expect(Disagreements.validation(purchases, resolved, at: now) == [], "\(place)")

        // There were no receipts of iOS 6 for purchases of others, and none for seats.
        let own = engine.transactions(of: customer).filter {
            $0.payload.inAppOwnershipType == .purchased && $0.payload.multiSeatInfo == nil
        }
        for transaction in own.suffix(3) {
            let old = try receipts.transactionReceipt(of: transaction)
            // The grace period does not count for the status (`LegacyPeriod`).
            let subscription = engine.subscriptions[transaction.originalId]
            let isValid = subscription.map { $0.status == .active } ?? true
            let status = try await reply(endpoint, old, at: now).status
            #expect(status == (isValid ? 0 : 21_006), "\(place) \(transaction.id)")
            let others = try await collection(endpoint, "transactionReceipt", old, at: now)
            #expect(others == purchases, "\(place) \(transaction.id)")
        }
        if isExported {
            let exported = try await ExportedRows(
                store, catalog: nil, date: now, in: folder.url.appending(path: "tables"))
            #expect(exported.disagreements(about: stored) == [], "\(place)")
        }
        try await store.close()
    }

    /// A client that reads a reply grants the products of the subscriptions that have one of these statuses.
    private static func expectGrants(
        of reply: JSONObject, _ story: Story, _ customer: SandboxCustomer, with statuses: Set<SubscriptionStatus>,
        _ hidden: Set<ReplyPurchases.Key>, _ place: String
    ) {
        guard let listed = ReplyPurchases(reply, at: story.shop.now) else {
            Issue.record("\(place): the purchases of the reply are not readable")
            return
        }
        for subscription in story.shop.engine.subscriptions(of: customer) {
            let id = subscription.originalTransactionId
            guard !hidden.contains(where: { $0.originalTransactionId == id }) else { continue }
            let granted = listed.keys.filter { $0.originalTransactionId == id && listed[$0]?.isGranted == true }
            let expected = statuses.contains(subscription.status) ? [subscription.productId] : []
            #expect(granted.compactMap(\.productId) == expected, "\(place) \(id) \(subscription.status)")
        }
    }

    @inline(never)
    private static func reply(
        _ endpoint: VerifyReceiptEndpoint, _ receipt: [UInt8], at now: Int64
    ) async throws -> (status: Int, json: JSONObject) {
        let request = #"{"receipt-data":"\#(Data(receipt).base64EncodedString())"}"#
        let reply = await endpoint.reply(to: Array(request.utf8), at: .sandbox, now: now)
        return (reply.status, try unwrap(try JSONValue.parse(reply.body).object))
    }

    /// The purchases that the plugin gets for a receipt.
    /// - Parameters:
    ///   - endpoint: the endpoint.
    ///   - member: the member of the request that contains the receipt.
    ///   - receipt: the receipt.
    ///   - now: the time of the request.
    @inline(never)
    private static func collection(
        _ endpoint: VerifyReceiptEndpoint, _ member: String, _ receipt: [UInt8], at now: Int64
    ) async throws -> [JSONObject] {
        let text = Data(receipt).base64EncodedString()
        let request =
            #"{"id":"\#(scope.bundleId)","type":"application","#
            + #""transaction":{"type":"ios-appstore","\#(member)":"\#(text)"}}"#
        let answer = await endpoint.validate(Array(request.utf8), at: .sandbox, now: now)
        let json = try JSONValue.parse(answer.body)
        return try unwrap(json["data"]?["collection"]?.array, "\(json)").compactMap(\.object)
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
            var eligible: [String] = []
            for offer in history.eligibleWinBackOffers(offers, at: story.shop.now)
            where !eligible.contains(offer.offerIdentifier) { eligible.append(offer.offerIdentifier) }
            let listed = story.shop.engine.renewalInfo(of: subscription).eligibleWinBackOfferIds ?? []
            #expect(eligible == listed, "\(place) \(subscription.originalTransactionId)")
            count += listed.count
        }
        return count
    }
}
