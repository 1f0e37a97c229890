import AppStoreModels
import Foundation
import LegacyReceipts
import ProductCatalog
import Purchases
import ReceiptForge
import TestSupport

/// What the generated customers buy.
enum Shelf {
    struct Item: Hashable {
        let id: String
        let type: ProductType
        /// The length of a period or term, in days.
        var days: Int64 = 0
        var group: String?
        var level: Int?
    }

    static let group = "20600001"
    static let otherGroup = "20600002"
    static let scope = StoreScope(environment: .production, bundleId: bundleId)

    /// One subscription group.
    static let plans = [
        Item(id: "com.example.orchard.weekly", type: .autoRenewableSubscription, days: 7, group: group, level: 3),
        Item(id: monthly, type: .autoRenewableSubscription, days: 30, group: group, level: 1),
        Item(id: "com.example.orchard.bimonthly", type: .autoRenewableSubscription, days: 60, group: group, level: 1),
    ]
    static let otherPlans = [
        Item(id: "com.example.orchard.press", type: .autoRenewableSubscription, days: 30, group: otherGroup, level: 1),
        Item(id: "com.example.orchard.mill", type: .autoRenewableSubscription, days: 90, group: otherGroup, level: 2),
    ]
    /// A subscription with seats.
    static let team = Item(
        id: "com.example.orchard.team", type: .autoRenewableSubscription, days: 30, group: "20600003", level: 1)
    static let subscriptions = plans + otherPlans + [team]
    static let season = Item(id: "com.example.orchard.season", type: .nonRenewingSubscription, days: 30)
    static let unlock = Item(id: tree, type: .nonConsumable)
    static let apples = Item(id: "com.example.orchard.apples", type: .consumable)
    /// How long receipts list a consumable.
    static let shelfLife = 5 * GeneratedCustomer.day

    /// What an app can know about its products.
    enum CatalogKind: CaseIterable {
        case whole
        /// Types and lengths, but neither groups nor levels.
        case withoutGroups
        case absent

        /// Whether it states how long the terms of non-renewing subscriptions last.
        var hasLengths: Bool { self != .absent }
    }

    static func catalog(_ kind: CatalogKind) throws -> ProductCatalog? {
        try kind == .absent ? nil : catalog(hasGroups: kind == .whole)
    }

    static func catalog(hasGroups: Bool = true) throws -> ProductCatalog {
        try ProductCatalog(
            entries: (subscriptions + [season, unlock, apples]).map { item in
                var entry = CatalogEntry(subject: .productId(item.id), source: CatalogSource(file: "test"))
                entry.type = item.type
                if hasGroups {
                    entry.subscriptionGroupIdentifier = item.group
                    entry.level = item.level
                }
                let length = SubscriptionPeriod(value: Int(item.days), unit: .day)
                if item.type == .nonRenewingSubscription { entry.duration = length }
                if item.group != nil { entry.period = length }
                return entry
            })
    }

    static let offers = [group, otherGroup].map {
        WinBackOffer(
            offerIdentifier: "return", group: $0,
            rules: WinBackRules(
                minimumPaidMonths: 1, minimumMonthsSince: 0, maximumMonthsSince: 24, monthsBetweenOffers: 2))
    }

    /// Offers of one group without conditions: one without a product, one of each plan, and one of high priority.
    static func rankedOffers(_ plans: [Item]) -> [WinBackOffer] {
        let group = plans.first?.group ?? ""
        var urgent = WinBackOffer(offerIdentifier: "urgent", group: group, rules: WinBackRules())
        urgent.rules.priority = .high
        let ofPlans = plans.map {
            WinBackOffer(offerIdentifier: "for \($0.id)", group: group, productId: $0.id, rules: WinBackRules())
        }
        return [WinBackOffer(offerIdentifier: "any", group: group, rules: WinBackRules())] + ofPlans + [urgent]
    }
}

/// A customer made from a seed: what was bought, and documents that state it. The last receipt lists all that was bought, so that
/// what the documents resolve to is what was bought.
struct GeneratedCustomer {
    /// One transaction. Dates are seconds since ``start``, so that they do not coincide.
    struct Purchase {
        let item: Shelf.Item
        let id: String
        let original: String
        let start: Int64
        /// When a receipt or a notification can list it first: copies appear when they are restored.
        var known: Int64
        let originalStart: Int64
        /// The expiry of a subscription.
        var end: Int64?
        /// When it was refunded or revoked, or replaced by another product.
        var cancelled: Int64?
        var isUpgraded = false
        /// When the App Store took the refund back.
        var reversed: Int64?
        /// Whether no receipt states the refund, but a notification of version 1, about this copy or another one.
        var isNotified = false
        /// Whether the documents state the refund about this copy of the purchase. They may state it about one copy only.
        var statesRefund = true
        /// When a notification about this copy states that the refund was taken back.
        var reversalStated: Int64?
        var isShared = false
        /// Whether an organization assigned the purchase to the customer.
        var isAssigned = false
        /// The seats of a transaction that has some.
        var seats: Int32?
        /// Whether the seats were added during a period.
        var isAddition = false
        /// The seats that were refunded, and when; the transaction stays valid for the others.
        var refundedSeats: (count: Int32, date: Int64)?
        /// The refund of an upgraded period, if the documents state it about this copy of the period. Older documents state no type.
        var upgradeRefund: (date: Int64, type: RevocationType?, percentage: Int32?)?
        var isRenewal = false
        var isTrial = false
        /// Names the period, also of its copies.
        var order: Int64 = 0
        /// What receipts cut off.
        var milliseconds: Int64 = 0

        /// When the access ends by what was bought; nil if never.
        var accessEnds: Int64? {
            let cancellation = reversed == nil ? cancelled : nil
            return [end, cancellation].compactMap { $0 }.min()
        }

        /// Purchases from before Family Sharing and seats.
        var isInOldReceipts: Bool {
            item.type != .consumable && !isShared && !isAssigned && seats == nil && start == known
        }

        func isCancelled(at date: Int64) -> Bool {
            guard let cancelled, cancelled <= date else { return false }
            return reversed.map { date < $0 } ?? true
        }

        /// The seats of the transaction at a time.
        func remainingSeats(at date: Int64) -> Int64 {
            guard let seats, !isCancelled(at: date) else { return 0 }
            return Int64(seats) - Int64(refundedSeats.map { $0.date <= date ? $0.count : 0 } ?? 0)
        }

        /// Whether the other transaction is this one or a copy of it.
        func isCopy(of other: Purchase) -> Bool {
            original == other.original && item == other.item && order == other.order
        }
    }

    static let start = ForgedInstant(2022, 10, 3, 4, 5, 6)
    /// The certificate that signs the newest iOS 6 receipts has expired then.
    private static let oldReceiptsEnd = ForgedInstant(2023, 2, 7)
    static let day: Int64 = 86_400
    static let hour: Int64 = 3_600

    let number: Int
    private(set) var purchases: [Purchase] = []
    /// The subscriptions that fail to bill at the end of their last period, by original transaction id: the length of the grace
    /// period.
    private(set) var failing: [String: Int64] = [:]
    /// The date of the last receipt.
    private(set) var today: Int64 = 0
    /// In the order of their dates.
    private(set) var receipts: [[UInt8]] = []
    /// An iOS 6 receipt, and the purchase that it is about.
    private(set) var oldReceipt: (bytes: [UInt8], purchase: Purchase)?
    /// Notifications of both versions and answers of the App Store Server API.
    private(set) var notified: [FactSet] = []
    private let cancelsUpgraded: Bool
    private var nextId: Int

    var key: Substring { (purchases.first?.id ?? "").dropLast(3) }

    var catalogKind: Shelf.CatalogKind {
        switch number % 4 {
        case 2: .withoutGroups
        case 3: .absent
        default: .whole
        }
    }

    /// Whether receipts state the types of products. Old ones do not.
    private var statesTypes: Bool { number % 10 > 1 }

    /// The periods that a reversed refund left current beside a later period of another product.
    var periodsBesideOthers: [Purchase] {
        purchases.filter { period in
            guard let end = period.end, period.reversed != nil else { return false }
            return purchases.contains {
                $0.original == period.original && $0.item != period.item && $0.start > period.start && $0.start < end
            }
        }
    }

    /// Milliseconds since 1970.
    static func moment(_ date: Int64, hours: Int64 = 0) -> Int64 {
        start.adding(hours: hours, seconds: date).milliseconds
    }

    init(_ number: Int, _ generator: inout SeededGenerator) throws {
        self.number = number
        nextId = 600_000_000_000_000 + number * 1_000
        cancelsUpgraded = generator.chance(50)
        subscribe(Shelf.plans, &generator)
        if generator.chance(30) { subscribe(Shelf.otherPlans, &generator) }
        if generator.chance(30) {
            subscribe(generator.chance(50) ? Shelf.plans : Shelf.otherPlans, isShared: true, &generator)
        }
        if generator.chance(15) { subscribeTeam(&generator) }
        let last = purchases.map { $0.end ?? $0.start }.max() ?? 0
        today = max(Self.day, last + Int64.random(in: -20 * Self.day...80 * Self.day, using: &generator))
        // What begins later was not bought yet.
        purchases.removeAll { $0.start > today }
        for place in purchases.indices where purchases[place].cancelled ?? 0 > today {
            (purchases[place].cancelled, purchases[place].isUpgraded) = (nil, false)
        }
        for place in purchases.indices where purchases[place].reversed ?? 0 > today { purchases[place].reversed = nil }
        for place in purchases.indices {
            purchases[place].reversalStated = purchases[place].reversed
            if let refunded = purchases[place].refundedSeats, refunded.date > today {
                purchases[place].refundedSeats = nil
            }
        }
        buyOnce(&generator)
        restore(&generator)
        // A generator of its own, so that a seed gives the same purchases and documents as without these refunds.
        var other = SeededGenerator(seed: ~UInt64(number))
        refundUpgradedPeriods(&other)
        try issueDocuments(&generator)
        for purchase in purchases {
            guard let refund = purchase.upgradeRefund else { continue }
            // Receipts do not state a refund beside an upgrade.
            notify(purchase, at: max(refund.date, purchase.known), &other)
        }
    }

    private mutating func id() -> String {
        defer { nextId += 7 }
        return String(nextId)
    }

    // MARK: Buying

    private mutating func subscribe(
        _ plans: [Shelf.Item], isShared: Bool = false, _ generator: inout SeededGenerator
    ) {
        var date = isShared ? Int64.random(in: 0...60 * Self.day, using: &generator) : 0
        let first = date
        var plan = Int.random(in: 0..<plans.count, using: &generator)
        let original = String(nextId)
        var isRenewal = false
        // After a reversed refund, a later upgrade would replace both current periods.
        var isEnding = false
        func another(_ generator: inout SeededGenerator) -> Int {
            (plan + Int.random(in: 1..<plans.count, using: &generator)) % plans.count
        }
        let isAssigned = !isShared && plans == Shelf.otherPlans && generator.chance(20)
        let count = Int.random(in: 1...8, using: &generator)
        for place in 0..<count {
            let length = plans[plan].days * Self.day
            var period = Purchase(
                item: plans[plan], id: id(), original: original, start: date, known: date, originalStart: first,
                end: date + length, isShared: isShared, isRenewal: isRenewal,
                milliseconds: Int64.random(in: 0...999, using: &generator))
            period.order = Int64(period.id).map { $0 + 1 } ?? 0
            period.isTrial = place == 0 && !isShared && generator.chance(25)
            period.isAssigned = isAssigned
            isRenewal = true
            let middle = date + Int64.random(in: 1..<length, using: &generator)
            let isLast = isEnding || place == count - 1
            switch Int.random(in: 0..<100, using: &generator) {
            case 0..<20 where !isLast:
                // An upgrade, or a crossgrade that takes effect at once.
                (period.cancelled, period.isUpgraded, isRenewal) = (middle, true, false)
                date = middle
                plan = another(&generator)
            case 20..<32:
                // A refund, or the end of Family Sharing.
                period.cancelled = middle
                if !isShared, generator.chance(20) { period.reversed = middle + Self.day }
                isRenewal = false
                let left = date + length - middle
                if !isShared, !isLast, left > 1, generator.chance(25) {
                    // Bought again at once, before a reversal.
                    date = middle + Int64.random(in: 1..<min(left, Self.day), using: &generator)
                    if generator.chance(50) { plan = another(&generator) }
                    isEnding = period.reversed != nil
                } else {
                    date += length + Int64.random(in: 1...30 * Self.day, using: &generator)
                }
            case 32..<42:
                // A lapse.
                isRenewal = false
                date += length + Int64.random(in: 1...100 * Self.day, using: &generator)
            case 42..<50:
                // Billing recovers late.
                date += length + Int64.random(in: 1...30 * Self.day, using: &generator)
            case 50..<65:
                // A downgrade or crossgrade at renewal.
                date += length
                plan = another(&generator)
            default: date += length
            }
            purchases.append(period)
            // A period that a reversed refund left current can end after the last one, and did not fail to renew.
            if isLast, !isEnding, period.cancelled == nil, !isShared, generator.chance(40) {
                failing[original] = generator.chance(50) ? 16 * Self.day : 0
            }
            if isLast { break }
        }
    }

    /// Periods with seats. Some seats are added during a period, and some are refunded.
    private mutating func subscribeTeam(_ generator: inout SeededGenerator) {
        let original = String(nextId)
        let first = Int64.random(in: 0...30 * Self.day, using: &generator)
        var date = first
        for place in 0..<Int.random(in: 1...3, using: &generator) {
            let end = date + Shelf.team.days * Self.day
            // A refunded period gets no more seats.
            var last = end - 1
            for addition in 0...Int.random(in: 0...1, using: &generator) {
                let start = addition == 0 ? date : Int64.random(in: date + 1..<last, using: &generator)
                let seats = Int32.random(in: 2...5, using: &generator)
                var purchase = Purchase(
                    item: Shelf.team, id: id(), original: original, start: start, known: start, originalStart: first,
                    end: end, seats: seats, isAddition: addition > 0, isRenewal: place > 0 && addition == 0,
                    milliseconds: Int64.random(in: 0...999, using: &generator))
                purchase.order = Int64(purchase.id).map { $0 + 1 } ?? 0
                let refund = Int64.random(in: start + 2...end, using: &generator)
                if generator.chance(15) {
                    purchase.cancelled = refund
                    last = refund
                } else if generator.chance(25) {
                    purchase.refundedSeats = (Int32.random(in: 1..<seats, using: &generator), refund)
                }
                purchases.append(purchase)
            }
            date = end
        }
    }

    private mutating func buyOnce(_ generator: inout SeededGenerator) {
        func buy(
            _ item: Shelf.Item, isShared: Bool = false, refunds percent: Int, _ generator: inout SeededGenerator
        ) {
            let date = Int64.random(in: 0..<today, using: &generator)
            let id = id()
            var purchase = Purchase(
                item: item, id: id, original: id, start: date, known: date, originalStart: date, isShared: isShared,
                milliseconds: Int64.random(in: 0...999, using: &generator))
            if generator.chance(percent) {
                let cancelled = Int64.random(in: (date + 1)...today, using: &generator)
                purchase.cancelled = cancelled
                let reversed = cancelled + Self.day
                if item.type != .consumable, !isShared, reversed <= today, generator.chance(30) {
                    (purchase.reversed, purchase.reversalStated) = (reversed, reversed)
                }
            }
            purchases.append(purchase)
        }
        if generator.chance(50) { buy(Shelf.unlock, refunds: 20, &generator) }
        if generator.chance(20) { buy(Shelf.unlock, isShared: true, refunds: 20, &generator) }
        for _ in 0..<max(0, Int.random(in: -2...3, using: &generator)) { buy(Shelf.season, refunds: 15, &generator) }
        if generator.chance(30) { buy(Shelf.apples, refunds: 10, &generator) }
    }

    /// Copies of earlier transactions under new ids.
    private mutating func restore(_ generator: inout SeededGenerator) {
        for place in purchases.indices where purchases[place].item.type != .consumable && generator.chance(8) {
            let purchase = purchases[place]
            guard purchase.seats == nil else { continue }
            var copies = [place]
            for _ in 0..<Int.random(in: 1...2, using: &generator) {
                let known = Int64.random(in: purchase.known...today, using: &generator)
                let isSubscription = purchase.end != nil
                var copy = Purchase(
                    item: purchase.item, id: id(), original: purchase.original,
                    start: isSubscription ? purchase.start : known, known: known, originalStart: purchase.originalStart,
                    end: purchase.end, cancelled: purchase.cancelled, isUpgraded: purchase.isUpgraded,
                    reversed: purchase.reversed, isShared: purchase.isShared, milliseconds: purchase.milliseconds)
                copy.reversalStated = purchase.reversalStated
                copy.isAssigned = purchase.isAssigned
                copy.order = purchase.order
                copy.isTrial = purchase.isTrial
                copy.isRenewal = purchase.isRenewal
                // The App Store extended the period, and the documents about the copy do not state it.
                if let end = purchase.end, purchase.cancelled != nil, !purchase.isUpgraded, generator.chance(40) {
                    copy.end = end - Self.day
                }
                copies.append(purchases.count)
                purchases.append(copy)
            }
            guard purchase.cancelled != nil, !purchase.isUpgraded, generator.chance(60) else { continue }
            let stating = copies.randomElement(using: &generator) ?? place
            stateRefund(about: stating, of: copies, &generator)
        }
    }

    /// The documents state the refund about one of the copies only, and the reversal about that or about another one.
    private mutating func stateRefund(about stating: Int, of copies: [Int], _ generator: inout SeededGenerator) {
        let others = copies.filter { $0 != stating }
        for place in others {
            purchases[place].statesRefund = false
            purchases[place].reversalStated = nil
        }
        guard let reversed = purchases[stating].reversed, let other = others.randomElement(using: &generator),
            generator.chance(50)
        else { return }
        // What is signed about another copy counts after a day.
        let stated = max(reversed, purchases[other].known) + Self.day + Self.hour
        guard stated <= today else { return }
        purchases[other].reversalStated = stated
        purchases[stating].reversalStated = nil
        let refunded = max(purchases[stating].cancelled ?? 0, purchases[stating].known)
        notify(purchases[stating], at: refunded, &generator)
    }

    /// The App Store refunds some of the periods that were upgraded. It states that beside the upgrade, about one copy only.
    private mutating func refundUpgradedPeriods(_ generator: inout SeededGenerator) {
        for place in purchases.indices {
            let purchase = purchases[place]
            // Nothing was paid for the others.
            guard let upgraded = purchase.cancelled, purchase.isUpgraded, upgraded < today, !purchase.isTrial,
                !purchase.isShared, !purchase.isAssigned, upgradeRefund(of: purchase) == nil, generator.chance(35)
            else { continue }
            let date = Int64.random(in: (upgraded + 1)...today, using: &generator)
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: purchases[place].upgradeRefund = (date, nil, nil)
            case 1: purchases[place].upgradeRefund = (date, .refundFull, nil)
            default: purchases[place].upgradeRefund = (date, .refundProrated, 40_000)
            }
        }
    }

    /// The refund of an upgraded period, stated about this copy or about another one.
    private func upgradeRefund(
        of purchase: Purchase
    ) -> (date: Int64, type: RevocationType?, percentage: Int32?)? {
        purchases.first { $0.upgradeRefund != nil && $0.isCopy(of: purchase) }?.upgradeRefund
    }

    /// The refund of an upgraded period, if it counts as one: a document states its type (Documentation/Ledger.md).
    func countedRefund(ofUpgraded purchase: Purchase) -> (date: Int64, percentage: Int32)? {
        guard let refund = upgradeRefund(of: purchase), refund.type != nil else { return nil }
        return (refund.date, refund.percentage ?? 100_000)
    }

    // MARK: Documents

    private mutating func issueDocuments(_ generator: inout SeededGenerator) throws {
        for place in purchases.indices {
            let purchase = purchases[place]
            // Receipts drop consumables, so the refund of one would be all that is known of it.
            guard let cancelled = purchase.cancelled, !purchase.isUpgraded, !purchase.isShared, purchase.statesRefund,
                purchase.item.type != .consumable, generator.chance(20)
            else { continue }
            // A signed transaction that states the reversal is newer.
            let first = max(cancelled, purchase.known)
            let last = purchase.reversed.map { $0 - Self.hour } ?? today
            guard first <= last else { continue }
            purchases[place].isNotified = true
            for copy in purchases.indices where purchases[copy].isCopy(of: purchase) && !purchases[copy].statesRefund {
                purchases[copy].isNotified = true
            }
            let date = Int64.random(in: first...last, using: &generator)
            notified.append(FactSet(scope: Shelf.scope, transactions: [refund(purchase, cancelled, at: date)]))
        }
        let dates = (0..<Int.random(in: 0...2, using: &generator)).map { _ in
            Int64.random(in: 0...today, using: &generator)
        }
        for date in dates.sorted() + [today] { receipts.append(try receipt(at: date)) }
        if generator.chance(15),
            let purchase = purchases.filter({
                $0.isInOldReceipts && Self.start.adding(seconds: $0.start) < Self.oldReceiptsEnd
            }).randomElement(using: &generator)
        {
            oldReceipt = (try receipt(of: purchase), purchase)
        }
        for purchase in purchases {
            // Only signed transactions state seats and their refunds.
            if purchase.seats != nil { notify(purchase, at: today, &generator) }
            if generator.chance(25) {
                notify(purchase, at: Int64.random(in: purchase.known...today, using: &generator), &generator)
            }
            // Receipts do not state that a refund was taken back.
            if let date = purchase.reversalStated { notify(purchase, at: max(date, purchase.known), &generator) }
        }
        for original in failing.keys.sorted() {
            guard let last = purchases.last(where: { $0.original == original }), let end = last.end, end <= today
            else { continue }
            notify(last, at: Int64.random(in: end...today, using: &generator), &generator)
        }
        if generator.chance(20) {
            let date = Int64.random(in: 0...today, using: &generator)
            let known = purchases.filter { $0.known <= date && !wouldReverse($0, at: date) }
            notified.append(
                FactSet(
                    scope: Shelf.scope,
                    transactions: known.map { TransactionFact(payload($0, at: date), source: .appStoreServerAPI) },
                    renewalInfos: Set(known.filter { $0.end != nil }.map(\.original)).sorted().compactMap {
                        renewalInfo($0, at: date).map { RenewalInfoFact($0, source: .appStoreServerAPI) }
                    }))
        }
    }

    /// Whether a signed transaction of this copy would reverse a refund that only a notification of version 1 states about another
    /// copy.
    private func wouldReverse(_ purchase: Purchase, at date: Int64) -> Bool {
        purchase.isNotified && !purchase.statesRefund && purchase.isCancelled(at: date + 2 * Self.hour)
    }

    private mutating func notify(_ purchase: Purchase, at date: Int64, _ generator: inout SeededGenerator) {
        guard !wouldReverse(purchase, at: date) else { return }
        let info = purchase.end == nil || generator.chance(20) ? nil : renewalInfo(purchase.original, at: date)
        notified.append(
            FactSet(
                scope: Shelf.scope,
                transactions: [TransactionFact(payload(purchase, at: date), source: .notificationV2)],
                renewalInfos: info.map { [RenewalInfoFact($0, source: .notificationV2)] } ?? []))
    }

    /// What a notification of version 1 states an hour after a time.
    private func refund(_ purchase: Purchase, _ cancelled: Int64, at date: Int64) -> TransactionFact {
        var payload = JWSTransactionDecodedPayload()
        payload.originalTransactionId = purchase.original
        payload.transactionId = purchase.id
        payload.productId = purchase.item.id
        payload.purchaseDate = Self.moment(purchase.start)
        payload.originalPurchaseDate = Self.moment(purchase.originalStart)
        payload.expiresDate = purchase.end.map { Self.moment($0) }
        payload.quantity = 1
        var legacy = LegacyTransactionFields()
        legacy.cancellationDate = Self.moment(cancelled)
        legacy.cancellationReason = 0
        return TransactionFact(
            payload: payload, legacy: legacy,
            origin: FactOrigin(source: .notificationV1, signedDate: Self.moment(date, hours: 1)))
    }

    func receipt(at date: Int64) throws -> [UInt8] {
        let known = purchases.filter {
            $0.known <= date && ($0.item.type != .consumable || date < $0.start + Shelf.shelfLife)
        }
        let forged = known.map { purchase in
            // A consumable without a known type would never be finished.
            let isTyped = statesTypes || purchase.item.type == .consumable
            return ForgedPurchase(
                isTyped ? purchase.item.type.attribute : nil, product: purchase.item.id, id: purchase.id,
                at: Self.start.adding(seconds: purchase.start), originalId: purchase.original,
                originallyAt: Self.start.adding(seconds: purchase.originalStart)
            ).with {
                // No receipt is known that states an assigned purchase.
                $0.ownershipType = purchase.isAssigned ? nil : purchase.isShared ? 1 : 0
                if let seats = purchase.seats { $0.quantity = Int64(seats) }
                if let end = purchase.end {
                    $0.expiresDate = .seconds(Self.start.adding(seconds: end))
                    $0.webOrderLineItemId = purchase.order
                    $0.isInIntroOfferPeriod = false
                    $0.isTrialPeriod = purchase.isTrial
                }
                guard let cancelled = purchase.cancelled, purchase.isCancelled(at: date + Self.hour) else { return }
                if purchase.isNotified || !purchase.statesRefund || purchase.isUpgraded && !cancelsUpgraded { return }
                $0.cancellationDate = .seconds(Self.start.adding(seconds: cancelled))
                $0.cancellationReason = 0
            }
        }
        return try appReceipt(forged.reversed(), at: Self.start.adding(hours: 1, seconds: date))
    }

    /// The iOS 6 receipt of a purchase, from the day of the purchase.
    private func receipt(of purchase: Purchase) throws -> [UInt8] {
        let date = Self.start.adding(seconds: purchase.start)
        let receipt = ForgedTransactionReceipt.production(
            product: purchase.item.id, pod: String(purchase.id.dropLast(13)), serial: String(purchase.id.suffix(13)),
            at: date
        ).with {
            $0.bundleId = bundleId
            $0.originalTransactionId = purchase.original
            $0.originalPurchaseDate = Self.start.adding(seconds: purchase.originalStart)
            guard let end = purchase.end else { return }
            $0.expiresDate = Self.start.adding(seconds: end)
            $0.webOrderLineItemId = String(purchase.order)
            $0.isTrialPeriod = purchase.isTrial
            $0.isInIntroOfferPeriod = false
        }
        return try ForgedTransactionSignature.version3().signed(receipt)
    }

    /// The transaction as the App Store signs it two hours after a time. It states what happened until then: the App Store never
    /// signs an old state.
    private func payload(_ purchase: Purchase, at date: Int64) -> JWSTransactionDecodedPayload {
        let date = date + 2 * Self.hour
        func exact(_ date: Int64) -> Int64 { Self.moment(date) + purchase.milliseconds }
        let isCancelled = purchase.isCancelled(at: date)
        let isRevoked = isCancelled && !purchase.isUpgraded && purchase.statesRefund
        let upgradeRefund = purchase.upgradeRefund.flatMap { $0.date <= date ? $0 : nil }
        let revocationDate = isRevoked ? purchase.cancelled : upgradeRefund?.date
        return JWSTransactionDecodedPayload {
            $0.originalTransactionId = purchase.original
            $0.transactionId = purchase.id
            $0.webOrderLineItemId = purchase.order == 0 ? nil : String(purchase.order)
            $0.bundleId = bundleId
            $0.productId = purchase.item.id
            $0.subscriptionGroupIdentifier = purchase.item.group
            $0.purchaseDate = exact(purchase.start)
            $0.originalPurchaseDate = Self.moment(purchase.originalStart)
            $0.expiresDate = purchase.end.map(exact)
            $0.quantity = purchase.seats ?? 1
            $0.type = purchase.item.type
            $0.inAppOwnershipType = purchase.isShared ? .familyShared : purchase.isAssigned ? .assigned : .purchased
            $0.additionalTransactionReason = purchase.isAddition ? .seatAddition : nil
            if purchase.seats != nil {
                $0.multiSeatInfo = TransactionMultiSeatInfo {
                    $0.invitationManagement = .apple
                    guard let refunded = purchase.refundedSeats, refunded.date <= date else { return }
                    $0.revokedSeatQuantity = refunded.count
                }
            }
            $0.signedDate = Self.moment(date)
            $0.revocationReason = revocationDate == nil ? nil : .other
            $0.revocationDate = revocationDate.map(exact)
            $0.revocationType = upgradeRefund?.type
            $0.revocationPercentage = upgradeRefund?.percentage
            $0.isUpgraded = isCancelled && purchase.isUpgraded ? true : nil
            $0.offerType = purchase.isTrial ? .introductory : nil
            $0.offerDiscountType = purchase.isTrial ? .freeTrial : nil
            $0.environment = .production
            $0.transactionReason = purchase.isRenewal ? .renewal : .purchase
            $0.currency = "USD"
            $0.price = purchase.isTrial ? 0 : 4_990
        }
    }

    /// The renewal information of a subscription as the App Store signs it two hours after a time.
    private func renewalInfo(_ original: String, at date: Int64) -> JWSRenewalInfoDecodedPayload? {
        let date = date + 2 * Self.hour
        let periods = purchases.filter { $0.original == original && $0.known == $0.start }
        guard let last = periods.last(where: { $0.start <= date }), let end = last.end else { return nil }
        var info = JWSRenewalInfoDecodedPayload()
        info.originalTransactionId = original
        info.productId = last.item.id
        info.autoRenewProductId = last.item.id
        info.signedDate = Self.moment(date)
        info.environment = .production
        let next = periods.first { $0.start > date }
        info.autoRenewStatus = next?.isRenewal == true || failing[original] != nil ? .on : .off
        info.isInBillingRetryPeriod = false
        guard date >= end || last.isCancelled(at: date) else { return info }
        let isFailing = next == nil && failing[original] != nil && date < end + 60 * Self.day
        if isFailing || next?.isRenewal == true, !last.isCancelled(at: date) {
            info.isInBillingRetryPeriod = true
            info.expirationIntent = .billingError
            if isFailing, let grace = failing[original], date < end + grace {
                info.gracePeriodExpiresDate = Self.moment(end + grace)
            }
        } else {
            info.autoRenewStatus = .off
            info.expirationIntent = .cancelled
        }
        return info
    }
}

extension ProductType {
    fileprivate var attribute: ForgedPurchase.ProductType? {
        switch self {
        case .autoRenewableSubscription: .autoRenewable
        case .nonConsumable: .nonConsumable
        case .nonRenewingSubscription: .nonRenewing
        case .consumable: .consumable
        default: nil
        }
    }
}
