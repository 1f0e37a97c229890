internal import AppStoreModels
internal import Encodings

/// Concludes which subscription periods were replaced by a period of another product. It looks at the resolved
/// transactions, and every answer uses the result.
///
/// Apple's documents state an upgrade late or not at all. Its notification contains only the new transaction, and a
/// receipt states a cancellation without the cause (Reference.md V3.5). The dates of the transactions with the same
/// original transaction id show it:
///
/// | the period | a period of another product begins | conclusion |
/// |---|---|---|
/// | has a cancellation whose cause is not stated | in the second of the cancellation | upgraded then, not refunded |
/// | has no cancellation | after its start and before its end | upgraded then |
/// | is stated to be upgraded | after its start and before its end | the date of the upgrade |
/// | is a copy of one that is stated to be upgraded | in no known document | upgraded, at an unknown time |
///
/// A signed transaction that is upgraded and has a revocation keeps it: the App Store refunded the period, usually after the
/// upgrade. It states no revocation of an upgrade (Reference.md V9.2).
///
/// An immediate crossgrade looks the same, and the App Store treats it alike. These are no upgrades:
/// - a downgrade or crossgrade at renewal, and a purchase after a lapse or a billing retry: they begin at the end or later;
/// - a revocation that the App Store's own model states;
/// - seats that the customer added (`additionalTransactionReason`): that transaction is of the same product, and it begins
///   with its period;
/// - a renewal of the other product, which the App Store may have charged ahead of time: its reason is `RENEWAL`, or it
///   begins in the second in which a period of its own product ends;
/// - a period whose own renewal was charged ahead of time: it begins in the second in which the period ends, and the other
///   product began at most 24 hours before that. The upgrade replaced the renewal, and the period ran to its end. A reply
///   of 2020 states exactly that (Reference.md V3.5). The rule does not conclude that the renewal was upgraded: it began
///   after the other product, and a document without `is_upgraded` does not show whether it was refunded instead;
/// - a purchase of another family member: bought and shared periods are compared separately;
/// - for a signed period, anything that only unsigned documents state: that another period began, when it began, or
///   that it was a renewal;
/// - a period that the App Store signed without `isUpgraded` after the other one began. What it signed about one copy of a
///   period (``PurchaseCopies``) holds for all of them;
/// - a copy of a period that was refunded. `CopyRule` finds these after the cancellations and before the dates.
///
/// The upgrade of a copy counts also if only the upgraded product of the subscription is known, but then only if an upgraded
/// period has a cancellation: engines look at several transactions together only for several products or for a
/// cancellation. It does not count if the App Store signed the transaction itself without `isUpgraded`, unless that was more
/// than a day before it signed the upgrade of the copy: answers with several copies are signed one after the other.
package enum UpgradeRule {
    /// What shows an upgrade.
    package enum Evidence: CaseIterable, Sendable {
        /// A cancellation in the second in which another product began.
        case cancellation
        /// Another product began while the period was current.
        case dates
    }

    /// What the rule looks at in one transaction of an auto-renewable subscription.
    package struct Period {
        package let originalTransactionId: String
        package let productId: String
        /// Milliseconds since 1970-01-01T00:00:00Z, like all dates here.
        package let start: Int64
        /// The expiry; nil if unknown.
        package let end: Int64?
        package let isFamilyShared: Bool
        /// Whether a document states that the period was upgraded.
        package let isUpgraded: Bool
        /// The cancellation or revocation that a document states.
        package let cancellationDate: Int64?
        package let statement: Statement
        /// Distinguishes the transactions of the period from those of other periods.
        fileprivate let candidate: PurchaseCopies.Candidate?

        /// `lineItem` is the `webOrderLineItemId` that counts.
        /// - Returns: nil unless the payload is a dated transaction of an auto-renewable subscription.
        init?(
            _ payload: borrowing JWSTransactionDecodedPayload, lineItem: String?, cancellationDate: Int64?,
            statement: Statement
        ) {
            guard payload.isSubscription, let original = payload.purchaseId,
                let product = payload.productId, let start = payload.purchaseDate
            else { return nil }
            self.init(
                originalTransactionId: original, productId: product, start: start, end: payload.expiresDate,
                webOrderLineItemId: lineItem,
                isFamilyShared: payload.inAppOwnershipType == .familyShared, isUpgraded: payload.isUpgraded == true,
                cancellationDate: cancellationDate, statement: statement)
        }

        package init(
            originalTransactionId: String, productId: String, start: Int64, end: Int64?, webOrderLineItemId: String?,
            isFamilyShared: Bool, isUpgraded: Bool, cancellationDate: Int64?, statement: Statement
        ) {
            self.originalTransactionId = originalTransactionId
            self.productId = productId
            self.start = start
            self.end = end
            self.isFamilyShared = isFamilyShared
            self.isUpgraded = isUpgraded
            self.cancellationDate = cancellationDate
            self.statement = statement
            // Added seats are part of the period too, though they are a purchase of their own.
            candidate = PurchaseCopies.Candidate(
                originalTransactionId: originalTransactionId, productId: productId, isFamilyShared: isFamilyShared,
                webOrderLineItemId: webOrderLineItemId, start: start, end: end)
        }
    }

    /// What the documents of a transaction state.
    package struct Statement: Sendable, Hashable {
        /// Whether one of them is signed.
        package var isSigned: Bool
        /// Whether the App Store states that the transaction is a renewal.
        package var isRenewal: Bool
        /// Whether the document with the cancellation distinguishes a refund from an upgrade.
        package var explainsCancellation: Bool
        /// When the App Store last signed the transaction without `isUpgraded`; nil if it never did.
        package var notUpgradedAsOf: Int64?
        /// The date of the signed document that shows that the transaction was upgraded; nil if there is none.
        package var upgradedAsOf: Int64?

        package init(
            isSigned: Bool, isRenewal: Bool = false, explainsCancellation: Bool = false, notUpgradedAsOf: Int64? = nil,
            upgradedAsOf: Int64? = nil
        ) {
            self.isSigned = isSigned
            self.isRenewal = isRenewal
            self.explainsCancellation = explainsCancellation
            self.notUpgradedAsOf = notUpgradedAsOf
            self.upgradedAsOf = upgradedAsOf
        }
    }

    /// One period that was upgraded.
    package struct Upgrade: Equatable {
        /// The index of the period.
        package let place: Int
        /// When the other product began; nil if no document states it.
        package let date: Int64?
        /// The rule that concluded it; nil if the documents state the upgrade and only its date was concluded.
        package let rule: InferenceRule?
    }

    /// The upgrades among the transactions of a customer, in their order. For a customer with one product and no upgrade, the
    /// usual case, it only looks for these.
    ///
    /// - Parameters:
    ///   - count: the number of transactions.
    ///   - evidence: which upgrades.
    ///   - product: the product of the subscription period at an index; nil for other transactions.
    ///   - isCanceledUpgrade: whether the transaction at an index is upgraded and has a cancellation.
    ///   - period: the period of the transaction at an index; nil for transactions that the rule does not apply to.
    static func upgrades(
        count: Int, by evidence: Evidence, product: (Int) -> String?, isCanceledUpgrade: (Int) -> Bool,
        period: (Int) -> Period?
    ) -> [Upgrade] {
        guard
            isNeeded(count, product: product)
                || evidence == .dates && count > 1 && (0..<count).contains(where: isCanceledUpgrade)
        else { return [] }
        return upgrades(among: (0..<count).map(period), by: [evidence])
    }

    /// Whether there are at least two different products.
    static func isNeeded(_ count: Int, product: (Int) -> String?) -> Bool {
        var first: String?
        for place in 0..<count {
            guard let product = product(place) else { continue }
            guard let known = first else {
                first = product
                continue
            }
            if product != known { return true }
        }
        return false
    }

    /// The upgrades among the transactions of a customer, in their order. Neither that order nor copies of a period
    /// under other transaction ids change the result. The cost is that of sorting them.
    package static func upgrades(
        among periods: [Period?], by evidence: [Evidence] = Evidence.allCases
    ) -> [Upgrade] {
        struct Group: Hashable {
            let originalTransactionId: String
            let isFamilyShared: Bool
        }
        var groups: [Group: [Int]] = [:]
        for (place, period) in periods.enumerated() {
            guard let period else { continue }
            let group = Group(
                originalTransactionId: period.originalTransactionId, isFamilyShared: period.isFamilyShared)
            groups[group, default: []].append(place)
        }
        var result: [Upgrade] = []
        for places in groups.values where places.count > 1 {
            let all = places.compactMap { place in periods[place].map { (place: place, period: $0) } }
            guard
                isNeeded(all.count, product: { all[$0].period.productId })
                    || all.contains(where: { $0.period.isUpgraded && $0.period.cancellationDate != nil })
            else { continue }
            // Unsigned periods decide nothing about a signed one, not even that another period began.
            let signed = all.filter { $0.period.statement.isSigned }
            result += Subscription(signed).upgrades(ofSigned: true, by: evidence)
            if signed.count < all.count { result += Subscription(all).upgrades(ofSigned: false, by: evidence) }
        }
        return result.sorted { $0.place < $1.place }
    }

    /// The periods of one original transaction id and one kind of ownership: all of them, or the signed ones.
    private struct Subscription {
        private struct Entry {
            let place: Int
            let period: Period
            let start: Int64
            /// When the App Store last signed the period without `isUpgraded`; nil if it never did.
            let notUpgradedAsOf: Int64?
            /// The second in which the period ended, if its own renewal began then. Nil if no renewal is known, or if a copy is stated
            /// to be upgraded.
            let renewed: Int64?
            /// Whether the period may have replaced another one.
            let isBeginning: Bool
            /// Whether the upgrade of a copy is one of this period too.
            let hasUpgradedCopy: Bool

            /// When a period of another product replaced this one; nil if it did not.
            func replaced(by successor: Entry?) -> Int64? {
                // Receipts have whole seconds, signed transactions milliseconds.
                guard let successor, let end = period.end, successor.start.second < end.second else { return nil }
                if let renewed, successor.start.second >= renewed - Subscription.renewalLead { return nil }
                return successor.start
            }
        }

        private struct Moment: Hashable {
            let product: String
            let second: Int64
        }

        /// What the copies of a period state together.
        private struct Copies {
            /// Restored copies in old receipts may have the date of the restoration (Reference.md V9.2).
            var start = Int64.max
            var notUpgradedAsOf: Int64?
            var areUpgraded = false
            var upgradedAsOf: Int64?
            /// The latest second in which a copy ends and a period of the same product begins.
            var renewed: Int64?

            mutating func add(_ period: Period) {
                start = min(start, period.start)
                areUpgraded = areUpgraded || period.isUpgraded
                if let date = period.statement.notUpgradedAsOf {
                    notUpgradedAsOf = max(notUpgradedAsOf ?? date, date)
                }
                if let date = period.statement.upgradedAsOf { upgradedAsOf = max(upgradedAsOf ?? date, date) }
            }

            /// Whether the upgrade of a copy is one of this transaction too.
            func shareUpgrade(with statement: Statement) -> Bool {
                // Unsigned documents decide nothing about a signed period.
                guard statement.isSigned else { return areUpgraded }
                guard let upgradedAsOf else { return false }
                guard let own = statement.notUpgradedAsOf else { return true }
                return own.addingSaturated(.millisecondsPerDay) < upgradedAsOf
            }
        }

        /// How long before the end of a period the App Store charges its renewal at the earliest: 24 hours, in seconds.
        private static let renewalLead: Int64 = 86_400

        private var entries: [Entry] = []

        init(_ periods: [(place: Int, period: Period)]) {
            // The products by the second in which a period of theirs ends.
            var ended: [Int64: Set<String>] = [:]
            for (_, period) in periods {
                if let end = period.end { ended[end.second, default: []].insert(period.productId) }
            }
            // By index, the same for all copies of a period.
            var copies = Array(repeating: Copies(), count: periods.count)
            let purchases = PurchaseCopies.purchases(periods.map { $0.period.candidate })
            var starts: Set<Moment> = []
            for places in purchases {
                var stated = Copies()
                for place in places { stated.add(periods[place].period) }
                for place in places {
                    copies[place] = stated
                    starts.insert(Moment(product: periods[place].period.productId, second: stated.start.second))
                }
            }
            for places in purchases {
                // An upgrade that a document states about one copy is one of all copies.
                if places.contains(where: { periods[$0].period.isUpgraded }) { continue }
                // The App Store can extend a period, so its copies can have different ends.
                let renewed = places.compactMap { place -> Int64? in
                    let period = periods[place].period
                    // Where a period of another product ends too, the period after both may be its successor.
                    guard let end = period.end, ended[end.second]?.count == 1 else { return nil }
                    return starts.contains(Moment(product: period.productId, second: end.second)) ? end.second : nil
                }.max()
                for place in places { copies[place].renewed = renewed }
            }
            entries = zip(periods, copies).map { entry, copies in
                let (place, period) = entry
                let start = copies.start
                // An upgrade that one copy states is never taken back by what was signed about another copy.
                let notUpgradedAsOf =
                    copies.areUpgraded ? period.statement.notUpgradedAsOf : copies.notUpgradedAsOf
                let isRenewal =
                    period.statement.isRenewal
                    || ended[start.second]?.contains(period.productId) == true
                let isDated = period.end.map { start < $0 } ?? true
                return Entry(
                    place: place, period: period, start: start, notUpgradedAsOf: notUpgradedAsOf,
                    renewed: copies.renewed, isBeginning: !isRenewal && isDated,
                    hasUpgradedCopy: copies.shareUpgrade(with: period.statement))
            }
        }

        /// The upgrades of the signed periods, or of the unsigned ones.
        func upgrades(ofSigned isSigned: Bool, by evidence: [Evidence]) -> [Upgrade] {
            let asked = entries.filter { $0.period.statement.isSigned == isSigned }
            return evidence.flatMap { evidence in
                switch evidence {
                case .cancellation: explained(asked)
                case .dates: replaced(asked)
                }
            }
        }

        /// The periods canceled in the second in which another product began.
        private func explained(_ asked: [Entry]) -> [Upgrade] {
            // Two different products per second suffice: one of them differs from any third.
            var products: [Int64: [String]] = [:]
            for entry in entries where products[entry.start.second, default: []].count < 2 {
                if products[entry.start.second]?.contains(entry.period.productId) != true {
                    products[entry.start.second, default: []].append(entry.period.productId)
                }
            }
            return asked.compactMap { entry in
                let period = entry.period
                guard !period.isUpgraded, !period.statement.explainsCancellation, let date = period.cancellationDate,
                    products[date.second]?.contains(where: { $0 != period.productId }) == true
                else { return nil }
                return Upgrade(place: entry.place, date: date, rule: .cancelledWhenNextPeriodBegan)
            }
        }

        /// The periods during which another product began, and the copies of upgraded periods.
        private func replaced(_ asked: [Entry]) -> [Upgrade] {
            var questions = asked.filter { entry in
                entry.period.end != nil && (entry.period.cancellationDate == nil || entry.period.isUpgraded)
            }.map { entry in
                // A statement without `isUpgraded` rules out every product that began before it.
                let stated = entry.period.isUpgraded ? nil : entry.notUpgradedAsOf
                return (entry: entry, after: max(entry.start, (stated ?? .min).subtractingSaturated(1)))
            }
            questions.sort { $0.after > $1.after }
            let beginnings = entries.filter(\.isBeginning).sorted { $0.start > $1.start }
            var result: [Upgrade] = []
            var next = 0
            // The nearest beginning after that moment, and the nearest one of another product than that.
            var nearest: Entry?
            var other: Entry?
            for question in questions {
                while next < beginnings.count, beginnings[next].start > question.after {
                    if nearest?.period.productId != beginnings[next].period.productId { other = nearest }
                    nearest = beginnings[next]
                    next += 1
                }
                let period = question.entry.period
                let successor = nearest?.period.productId == period.productId ? other : nearest
                let date = question.entry.replaced(by: successor)
                if date == nil, period.isUpgraded || !question.entry.hasUpgradedCopy { continue }
                let rule = date == nil ? InferenceRule.copyWasUpgraded : .replacedWhileRunning
                result.append(
                    Upgrade(place: question.entry.place, date: date, rule: period.isUpgraded ? nil : rule))
            }
            return result
        }
    }
}

extension Int64 {
    /// The whole second of a date in milliseconds.
    fileprivate var second: Int64 { flooredQuotient(1000) }
}
