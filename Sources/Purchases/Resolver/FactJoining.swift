internal import AppStoreModels

// Several documents can state one transaction. A store keeps the newest fact of each kind; here they become one
// transaction. The order in which the documents arrived does not matter.
//
// For each field, the newest *signed* fact of a kind that can state the field decides. If a kind can state that a value
// does not exist (no expiry, no cancellation), its absence counts as a statement. Of two facts of the same date, the
// signed transaction wins over the receipt, but does not remove a cancellation that the receipt states.
//
// A notification of version 1 that a server received with the app's secret states a cancellation of its own kind, `notified`.
//
// | field | receipts | signed transactions | recorded, unsigned | notified cancellation |
// |---|---|---|---|---|
// | ids, product, quantity, dates | state a value; absence states nothing | state all | fill what no signed fact has | fills what neither a signed nor a recorded fact has |
// | ownership | state a value, but do not replace `ASSIGNED`; absence states nothing | state all | only on their own, except `PURCHASED` (`OwnershipOrder`) | like recorded, after it |
// | type | state a value; absence states nothing | state all | only on their own (`TypeOrder`) | like recorded, after it |
// | expiry | state value and absence | state all | only on their own | only on its own, or fills recorded |
// | web order line item | state value and absence | state all | fill receipts | like recorded, after it |
// | cancellation (date, reason) | state a value, not whether refund or upgrade; absence only against receipts | state `revocationDate` and its absence | only on their own and if none is notified, or the date of a signed upgrade; if newer than everything signed, kept in `recordedCancellation` | counts if it is newer than every signed transaction and nothing signed states one, and before that of recorded; a missing reason is that of recorded, if both state the same date in seconds |
// | upgrade | – | state all | only where a signed receipt has a cancellation and no signed transaction is known, or where the notified cancellation counts, the document is newer than every signed transaction, and states no cancellation of another date | like recorded; one of the two suffices |
// | upgrade that no document states | concluded from the customer's other transactions by `UpgradeRule` | | | |
// | offer | introductory, trial, promotional | state all | offer codes, which receipts cannot state; other offers, if their flags fill | like recorded, after it |
// | group, account token | late iOS 6 receipts state the group | state all | fill receipts; the group then counts after the catalog (`SubscriptionGroups`) | like recorded, after it |
// | trial and introductory flags | state a value | – (they state the offer) | fill receipts | like recorded, after it |
// | everything else | – | state all | – | – |
//
// Ids and dates of a purchase never change. A newer receipt with whole seconds does not remove known milliseconds.

/// At most one value of each kind of fact.
package struct ByKind<Value> {
    package var receipt: Value?
    package var signed: Value?
    package var recorded: Value?
    package var notified: Value?

    package init() {}

    package subscript(kind: FactKind) -> Value? {
        get {
            switch kind {
            case .receipt: receipt
            case .signedTransaction: signed
            case .recorded: recorded
            case .notified: notified
            }
        }
        set {
            switch kind {
            case .receipt: receipt = newValue
            case .signedTransaction: signed = newValue
            case .recorded: recorded = newValue
            case .notified: notified = newValue
            }
        }
    }

    /// In the order of ``FactKind``.
    package func map<Result>(_ transform: (Value) -> Result) -> [Result] {
        var results: [Result] = []
        results.reserveCapacity(1)
        if let receipt { results.append(transform(receipt)) }
        if let signed { results.append(transform(signed)) }
        if let recorded { results.append(transform(recorded)) }
        if let notified { results.append(transform(notified)) }
        return results
    }
}

extension ByKind: Sendable where Value: Sendable {}

/// The facts about one transaction, as indices into a list.
typealias FactsOfTransaction = ByKind<Int>

extension FactsOfTransaction {
    /// The kind of the fact that all others complete.
    fileprivate var base: FactKind {
        if signed != nil { return .signedTransaction }
        if receipt != nil { return .receipt }
        return recorded != nil ? .recorded : .notified
    }
}

extension [StoredTransaction] {
    /// Appends the transaction of the facts at `places`, of which there is at least one. The app and the environment are the
    /// stated ones.
    ///
    /// The facts are joined in the array, because a function that returns the transaction would copy it.
    mutating func append(joining places: FactsOfTransaction, of facts: borrowing [TransactionFact]) {
        append(StoredTransaction(places, facts))
        self[count - 1].join(places, facts)
    }

    /// Appends the transaction of facts of a customer of one app.
    mutating func append(
        joining places: FactsOfTransaction, of facts: borrowing [TransactionFact], in scope: StoreScope
    ) {
        append(joining: places, of: facts)
        // Facts nearly always state both.
        if self[count - 1].payload.bundleId != scope.bundleId { self[count - 1].payload.bundleId = scope.bundleId }
        if self[count - 1].payload.environment != scope.environment {
            self[count - 1].payload.environment = scope.environment
        }
    }
}

extension StoredTransaction {
    /// The transaction before the facts at `places` are joined.
    fileprivate init(_ places: FactsOfTransaction, _ facts: borrowing [TransactionFact]) {
        self.init(
            legacy: LegacyTransactionFields(), origins: places.map { facts[$0].origin }, recordedCancellation: nil,
            explainsCancellation: true, sources: FieldSources(base: places.base),
            shared: places[places.base].map { facts[$0].shared } ?? .empty)
    }

    /// - Parameters:
    ///   - places: the indexes of the facts about the transaction. Its payload is that of the base.
    ///   - facts: all facts of the customer or of the record.
    fileprivate mutating func join(_ places: FactsOfTransaction, _ facts: borrowing [TransactionFact]) {
        let base = places.base
        if let signed = places.signed {
            if let receipt = places.receipt {
                shared.payload.complete(from: facts[receipt], signed: facts[signed].origin, &sources)
            }
        } else {
            if base == .receipt, let recorded = places.recorded {
                shared.payload.fill(from: facts[recorded].payload, .recorded, &sources)
            }
            if base != .notified, let notified = places.notified {
                shared.payload.fill(from: facts[notified].payload, .notified, &sources)
                if base == .recorded { shared.payload.fillUnsigned(from: facts[notified].payload, &sources) }
            }
        }

        let receipt = places.receipt.flatMap { facts[$0].legacy }
        let unsigned = LegacyTransactionFields(unsigned: places, facts)
        // A signed transaction states the offer, so the flags of a row do not count.
        let flags = places.signed == nil ? unsigned : nil
        legacy.isTrialPeriod = receipt?.isTrialPeriod ?? flags?.isTrialPeriod
        legacy.isInIntroOfferPeriod = receipt?.isInIntroOfferPeriod ?? flags?.isInIntroOfferPeriod
        legacy.itemId = receipt?.itemId ?? unsigned?.itemId
        legacy.productType = receipt?.productType ?? unsigned?.productType
        legacy.setOffers(places, shared, receipt: receipt, unsigned: unsigned)
        if base == .receipt, let place = places.recorded {
            shared.payload.takeOffer(of: facts[place], filling: legacy, .recorded, &sources)
        }
        if base == .receipt || base == .recorded, let place = places.notified {
            shared.payload.takeOffer(of: facts[place], filling: legacy, .notified, &sources)
        }

        let notified = Self.notifiedCancellation(places, facts)
        let cancellation = Cancellation(places, facts, receipt: receipt, unsigned: unsigned, notified: notified)
        apply(cancellation)
        legacy.cancellationDate = cancellation.date
        legacy.cancellationReason = cancellation.reason

        let rowOwnership = places.recorded.flatMap { facts[$0].legacy?.inAppOwnershipType }
        if payload.inAppOwnershipType == nil,
            let added = OwnershipOrder.added(by: unsigned?.inAppOwnershipType, isSigned: base.isSigned)
        {
            let kind: FactKind = rowOwnership != nil ? .recorded : .notified
            sources.take(&shared.payload.inAppOwnershipType, from: added, .inAppOwnershipType, kind)
        }
        legacy.inAppOwnershipType = payload.inAppOwnershipType
        if cancellation.date == nil { recordedCancellation = Self.recordedCancellation(places, facts) }
        explainsCancellation = cancellation.isExplained
        if notified != nil { cancellationNotifiedAt = places.notified.map { facts[$0].origin.signedDate } }
    }

    /// The cancellation of a recorded document, if it is newer than the signed documents.
    private static func recordedCancellation(
        _ places: FactsOfTransaction, _ facts: borrowing [TransactionFact]
    ) -> RecordedCancellation? {
        guard let place = places.recorded, isRecordedNewer(places, facts) else { return nil }
        return cancellation(facts[place])
    }

    /// Whether the recorded document is newer than every signed transaction, and not older than the receipt. A stored
    /// notification is at least as new as the receipt in it, which does not state the cancellation.
    static func isRecordedNewer(_ places: FactsOfTransaction, _ facts: borrowing [TransactionFact]) -> Bool {
        guard let place = places.recorded else { return false }
        let stated = facts[place].origin.signedDate
        return stated >= places.receipt.map({ facts[$0].origin.signedDate }) ?? .min
            && stated > places.signed.map({ facts[$0].origin.signedDate }) ?? .min
    }

    /// Takes over a cancellation or an upgrade that only an unsigned row of the same record states. A store keeps it in
    /// `recordedCancellation` instead.
    mutating func acceptCancellation(of row: borrowing TransactionFact) {
        guard legacy.cancellationDate == nil, payload.isUpgraded != true else { return }
        if row.payload.isUpgraded == true {
            payload.isUpgraded = true
            sources.state(.isUpgraded, by: .recorded)
        }
        guard let date = row.legacy?.cancellationDate else { return }
        legacy.cancellationDate = date
        legacy.cancellationReason = row.legacy?.cancellationReason
        explainsCancellation = row.payload.isUpgraded == true || row.payload.revocationDate != nil
        guard payload.isUpgraded != true else { return }
        sources.take(&shared.payload.revocationDate, from: date, .revocationDate, .recorded)
        let reason = legacy.cancellationReason.flatMap { Int32(exactly: $0) }.map(RevocationReason.init(rawValue:))
        sources.take(&shared.payload.revocationReason, from: reason, .revocationReason, .recorded)
    }

    /// The notified cancellation, if it is newer than every signed transaction. The receipt does not matter: as with a signed
    /// revocation, the cancellation stays, because receipts often lack it.
    private static func notifiedCancellation(
        _ places: FactsOfTransaction, _ facts: borrowing [TransactionFact]
    ) -> RecordedCancellation? {
        guard let place = places.notified,
            facts[place].origin.signedDate > places.signed.map({ facts[$0].origin.signedDate }) ?? .min
        else { return nil }
        return cancellation(facts[place]).map { stated in
            RecordedCancellation(
                date: stated.date, reason: NotifiedReason(places, facts)?.value ?? stated.reason, source: stated.source)
        }
    }

    private static func cancellation(_ fact: borrowing TransactionFact) -> RecordedCancellation? {
        guard let date = fact.legacy?.cancellationDate else { return nil }
        return RecordedCancellation(date: date, reason: fact.legacy?.cancellationReason, source: fact.origin.source)
    }
}

extension JWSTransactionDecodedPayload {
    /// Completes a signed transaction with the values of a receipt.
    fileprivate mutating func complete(
        from fact: borrowing TransactionFact, signed: FactOrigin, _ sources: inout FieldSources
    ) {
        let receipt = fact.payload
        if fact.origin.signedDate > signed.signedDate {
            sources.take(
                &originalTransactionId, from: receipt.originalTransactionId, .originalTransactionId, .receipt)
            sources.take(&productId, from: receipt.productId, .productId, .receipt)
            sources.take(&quantity, from: receipt.quantity, .quantity, .receipt)
            sources.take(&type, from: receipt.type, .type, .receipt)
            if OwnershipOrder.isReplaceable(inAppOwnershipType) {
                sources.take(&inAppOwnershipType, from: receipt.inAppOwnershipType, .inAppOwnershipType, .receipt)
            }
            let bought = receipt.purchaseDate.keepingMilliseconds(of: purchaseDate)
            sources.take(&purchaseDate, from: bought, .purchaseDate, .receipt)
            let firstBought = receipt.originalPurchaseDate.keepingMilliseconds(of: originalPurchaseDate)
            sources.take(&originalPurchaseDate, from: firstBought, .originalPurchaseDate, .receipt)
            // The absence of these in a receipt is a statement too.
            expiresDate = receipt.expiresDate.keepingMilliseconds(of: expiresDate)
            sources.state(.expiresDate, by: .receipt)
            webOrderLineItemId = receipt.webOrderLineItemId
            sources.state(.webOrderLineItemId, by: .receipt)
        } else {
            // Every purchase has these, so a missing value is a defect of the document.
            sources.fill(
                &originalTransactionId, from: receipt.originalTransactionId, .originalTransactionId, .receipt)
            sources.fill(&productId, from: receipt.productId, .productId, .receipt)
            sources.fill(&quantity, from: receipt.quantity, .quantity, .receipt)
            sources.fill(&type, from: receipt.type, .type, .receipt)
            sources.fill(&inAppOwnershipType, from: receipt.inAppOwnershipType, .inAppOwnershipType, .receipt)
            sources.fill(&purchaseDate, from: receipt.purchaseDate, .purchaseDate, .receipt)
            sources.fill(&originalPurchaseDate, from: receipt.originalPurchaseDate, .originalPurchaseDate, .receipt)
        }
    }

    /// Completes a transaction with the values of an unsigned document: only fields for which receipts have no attribute
    /// (Reference.md V5.3) or which old receipts lack.
    fileprivate mutating func fill(
        from unsigned: JWSTransactionDecodedPayload, _ kind: FactKind, _ sources: inout FieldSources
    ) {
        sources.fill(
            &subscriptionGroupIdentifier, from: unsigned.subscriptionGroupIdentifier, .subscriptionGroupIdentifier, kind
        )
        sources.fill(&appAccountToken, from: unsigned.appAccountToken, .appAccountToken, kind)
        sources.fill(&originalTransactionId, from: unsigned.originalTransactionId, .originalTransactionId, kind)
        sources.fill(&originalPurchaseDate, from: unsigned.originalPurchaseDate, .originalPurchaseDate, kind)
        sources.fill(&purchaseDate, from: unsigned.purchaseDate, .purchaseDate, kind)
        sources.fill(&quantity, from: unsigned.quantity, .quantity, kind)
        sources.fill(&webOrderLineItemId, from: unsigned.webOrderLineItemId, .webOrderLineItemId, kind)
        if unsigned.offerType == .offerCode { takeOffer(of: unsigned, kind, &sources) }
    }

    /// Completes a recorded document with the rest of what a notified cancellation states. Both are unsigned, and the recorded
    /// document can be an id alone.
    fileprivate mutating func fillUnsigned(
        from notified: JWSTransactionDecodedPayload, _ sources: inout FieldSources
    ) {
        sources.fill(&productId, from: notified.productId, .productId, .notified)
        sources.fill(&expiresDate, from: notified.expiresDate, .expiresDate, .notified)
        sources.fill(&type, from: notified.type, .type, .notified)
        if notified.offerType == .promotional { takeOffer(of: notified, .notified, &sources) }
    }

    private mutating func takeOffer(
        of other: JWSTransactionDecodedPayload, _ kind: FactKind, _ sources: inout FieldSources
    ) {
        guard offerType == nil else { return }
        sources.take(&offerType, from: other.offerType, .offerType, kind)
        sources.take(&offerIdentifier, from: other.offerIdentifier, .offerIdentifier, kind)
        sources.take(&offerDiscountType, from: other.offerDiscountType, .offerDiscountType, kind)
    }

    /// Takes the offer of an unsigned document whose flags fill those that the base lacks. Else the flags would show that the
    /// offers are known, and the payload that there was none. The flags of the base itself have already set its offer. A
    /// promotional offer has the same flags as an introductory one, so the document states which it was.
    fileprivate mutating func takeOffer(
        of fact: borrowing TransactionFact, filling flags: LegacyTransactionFields, _ kind: FactKind,
        _ sources: inout FieldSources
    ) {
        guard offerType == nil, let own = fact.legacy else { return }
        let fillsTrial = flags.isTrialPeriod == true && own.isTrialPeriod == true
        let fillsIntroductory = flags.isInIntroOfferPeriod == true && own.isInIntroOfferPeriod == true
        guard fillsTrial || fillsIntroductory else { return }
        sources.take(&offerType, from: fact.payload.offerType, .offerType, kind)
        sources.take(&offerIdentifier, from: fact.payload.offerIdentifier, .offerIdentifier, kind)
        if flags.isTrialPeriod == true {
            sources.take(&offerDiscountType, from: .freeTrial, .offerDiscountType, kind)
        }
    }
}

/// The reason of a notified cancellation. If the notification states none, a recorded document about the same cancellation does.
private struct NotifiedReason {
    let value: Int64
    /// Which of the two documents states it.
    let kind: FactKind

    /// Nil if there is no notified cancellation, or if neither states a reason.
    init?(_ places: FactsOfTransaction, _ facts: borrowing [TransactionFact]) {
        guard let notified = places.notified else { return nil }
        if let reason = facts[notified].legacy?.cancellationReason {
            value = reason
            kind = .notified
        } else if let place = places.recorded, Self.areOfOneCancellation(places, facts) == true,
            let reason = facts[place].legacy?.cancellationReason
        {
            value = reason
            kind = .recorded
        } else {
            return nil
        }
    }

    /// Whether the recorded document and the notification state a cancellation in the same second. Nil if one of them states none.
    static func areOfOneCancellation(
        _ places: FactsOfTransaction, _ facts: borrowing [TransactionFact]
    ) -> Bool? {
        guard let recorded = places.recorded, let notified = places.notified,
            let stated = facts[recorded].legacy?.cancellationDate, let date = facts[notified].legacy?.cancellationDate
        else { return nil }
        return stated.flooredQuotient(1000) == date.flooredQuotient(1000)
    }
}

extension LegacyTransactionFields {
    /// What the unsigned documents state together: the notified cancellation, and each other value of the recorded document
    /// first. Nil if they state nothing.
    fileprivate init?(unsigned places: FactsOfTransaction, _ facts: borrowing [TransactionFact]) {
        let recorded = places.recorded.flatMap { facts[$0].legacy }
        guard let notified = places.notified.flatMap({ facts[$0].legacy }) else {
            guard let recorded else { return nil }
            self = recorded
            return
        }
        self = notified
        guard let recorded else { return }
        cancellationReason = NotifiedReason(places, facts)?.value
        isTrialPeriod = recorded.isTrialPeriod ?? isTrialPeriod
        isInIntroOfferPeriod = recorded.isInIntroOfferPeriod ?? isInIntroOfferPeriod
        promotionalOfferId = recorded.promotionalOfferId ?? promotionalOfferId
        offerCodeRefName = recorded.offerCodeRefName ?? offerCodeRefName
        inAppOwnershipType = recorded.inAppOwnershipType ?? inAppOwnershipType
        itemId = recorded.itemId ?? itemId
        productType = recorded.productType ?? productType
    }

    /// Sets the offers by their legacy names, from the receipt or row, or from the modern fields of the signed
    /// transaction.
    fileprivate mutating func setOffers(
        _ places: FactsOfTransaction, _ joined: SharedTransaction, receipt: LegacyTransactionFields?,
        unsigned: LegacyTransactionFields?
    ) {
        if places.signed != nil {
            let offer = joined.payload.legacyOffer
            promotionalOfferId = receipt?.promotionalOfferId ?? offer.promotionalOfferId
            offerCodeRefName = offer.offerCodeRefName
        } else {
            promotionalOfferId = places.receipt != nil ? receipt?.promotionalOfferId : unsigned?.promotionalOfferId
            offerCodeRefName = unsigned?.offerCodeRefName
        }
    }
}

/// Whether a period was cut short, and how.
private struct Cancellation {
    /// Refund, revocation or upgrade: what verifyReceipt calls `cancellation_date`.
    private(set) var date: Int64?
    private(set) var reason: Int64?
    private(set) var isUpgraded: Bool?
    /// Whether another document than the signed transaction states the cancellation.
    private(set) var isStatedElsewhere = false
    /// Which documents state the upgrade, the date, and the reason.
    private(set) var upgradeKind = FactKind.signedTransaction
    private(set) var dateKind = FactKind.receipt
    private(set) var reasonKind = FactKind.receipt
    /// Whether the document that states the cancellation distinguishes a refund from an upgrade.
    private(set) var isExplained = true

    /// - If a signed transaction is the newest, it decides: its revocation is the cancellation. An upgraded one has
    ///   no date for that, so the date of the receipt or of the recorded document is taken.
    /// - If a receipt is newer, or of the same date and only the receipt has a cancellation, its attribute 1712
    ///   counts. If that is missing, a revocation stays: receipts often lack it (Reference.md V5.3). The signed
    ///   transaction still decides whether it was an upgrade. If it states an upgrade and a refund, it decides about both: the
    ///   attribute does not distinguish them.
    /// - Unsigned facts decide only if there are no others, or if the signed ones state no cancellation and `notified` does.
    /// - Parameters:
    ///   - places: the indexes of the facts about the transaction.
    ///   - facts: all facts of the customer.
    ///   - receipt: the legacy fields of the receipt; nil if no receipt states the transaction.
    ///   - unsigned: what the unsigned documents state together.
    ///   - notified: the notified cancellation, if it is newer than every signed transaction.
    init(
        _ places: FactsOfTransaction, _ facts: borrowing [TransactionFact], receipt: LegacyTransactionFields?,
        unsigned: LegacyTransactionFields?, notified: RecordedCancellation?
    ) {
        decide(places, facts, receipt: receipt, unsigned: unsigned)
        guard let notified, date == nil, isUpgraded != true else { return }
        (date, reason) = (notified.date, notified.reason)
        (dateKind, reasonKind) = (.notified, NotifiedReason(places, facts)?.kind ?? .notified)
        isStatedElsewhere = true
        explain(places, facts)
    }

    /// Takes from the unsigned documents whether the period ended by an upgrade. They cannot end a period, except by a notified
    /// cancellation, but they can state why it ended. A recorded document must be newer than every signed transaction. It does not
    /// explain a notified cancellation if it states one of another date: a reply made without the notification can have concluded
    /// an upgrade.
    private mutating func explain(_ places: FactsOfTransaction, _ facts: borrowing [TransactionFact]) {
        var recorded = places.recorded
        if let place = recorded, let signed = places.signed,
            facts[place].origin.signedDate <= facts[signed].origin.signedDate
        {
            recorded = nil
        }
        if NotifiedReason.areOfOneCancellation(places, facts) == false { recorded = nil }
        let recordedIsUpgraded = recorded.flatMap { facts[$0].payload.isUpgraded }
        let notifiedIsUpgraded = places.notified.flatMap { facts[$0].payload.isUpgraded }
        // An upgrade is never taken back.
        let isNotified = notifiedIsUpgraded == true || recordedIsUpgraded == nil && notifiedIsUpgraded != nil
        isUpgraded = isNotified ? notifiedIsUpgraded : recordedIsUpgraded
        upgradeKind = isNotified ? .notified : .recorded
        // Of unsigned documents, only StoreKit 2 JSON distinguishes a refund from an upgrade; it states a `revocationDate`.
        isExplained = isUpgraded == true || recorded.map { facts[$0].payload.revocationDate != nil } ?? false
    }

    private mutating func decide(
        _ places: FactsOfTransaction, _ facts: borrowing [TransactionFact], receipt: LegacyTransactionFields?,
        unsigned: LegacyTransactionFields?
    ) {
        let receiptDate = places.receipt.map { facts[$0].origin.signedDate }
        guard let signed = places.signed else {
            let legacy = places.receipt != nil ? receipt : unsigned
            (date, reason) = (legacy?.cancellationDate, legacy?.cancellationReason)
            dateKind = places.receipt != nil ? .receipt : places.notified != nil ? .notified : .recorded
            reasonKind = dateKind == .notified ? NotifiedReason(places, facts)?.kind ?? .notified : dateKind
            isStatedElsewhere = true
            explain(places, facts)
            if places.receipt != nil, date == nil { isUpgraded = nil }
            return
        }
        let revocationDate = facts[signed].payload.revocationDate
        let revocationReason = facts[signed].payload.revocationReason.map { Int64($0.rawValue) }
        isUpgraded = facts[signed].payload.isUpgraded
        let signedDate = facts[signed].origin.signedDate
        let isRefundedAndUpgraded = isUpgraded == true && revocationDate != nil
        if let receiptDate, receiptDate > signedDate || receiptDate == signedDate && revocationDate == nil,
            receipt?.cancellationDate != nil, !isRefundedAndUpgraded
        {
            date = (receipt?.cancellationDate).keepingMilliseconds(of: revocationDate)
            reason = receipt?.cancellationReason
            if reason == nil, date != nil, date == revocationDate {
                reason = revocationReason
                reasonKind = .signedTransaction
            }
            isStatedElsewhere = true
            // An older document that states no upgrade does not explain a later cancellation.
            isExplained = revocationDate != nil || isUpgraded == true
        } else {
            isStatedElsewhere = false
            isExplained = true
            (date, reason) = (revocationDate, revocationReason)
            guard date == nil, isUpgraded == true else { return }
            let legacy = receipt?.cancellationDate != nil ? receipt : unsigned
            (date, reason) = (legacy?.cancellationDate, legacy?.cancellationReason)
        }
    }
}

extension StoredTransaction {
    private mutating func apply(_ cancellation: Cancellation) {
        // Writes only changes, because the facts share the payload.
        if payload.isUpgraded != cancellation.isUpgraded { payload.isUpgraded = cancellation.isUpgraded }
        sources.state(.isUpgraded, by: cancellation.upgradeKind)
        // Otherwise a signed transaction is the newest, and the payload already has its values.
        guard cancellation.isStatedElsewhere else { return }
        let date = cancellation.isUpgraded == true ? nil : cancellation.date
        if date == nil || date != payload.revocationDate {
            if payload.revocationType != nil { payload.revocationType = nil }
            if payload.revocationPercentage != nil { payload.revocationPercentage = nil }
        }
        if payload.revocationDate != date { payload.revocationDate = date }
        let reason = date == nil ? nil : cancellation.reason
        let revocationReason = reason.flatMap { Int32(exactly: $0) }.map { RevocationReason(rawValue: $0) }
        if payload.revocationReason != revocationReason { payload.revocationReason = revocationReason }
        sources.state(.revocationDate, by: cancellation.dateKind)
        sources.state(.revocationReason, by: cancellation.reasonKind)
    }
}

extension Int64? {
    /// The date, or the other one if that is the same second with milliseconds.
    func keepingMilliseconds(of other: Int64?) -> Int64? {
        guard let date = self, let other, date % 1000 == 0, other >= date, other.subtractingSaturated(date) < 1000
        else { return self }
        return other
    }
}

extension StoredRenewalInfo {
    /// Takes the signed statement, and an unsigned one only if there is none: signed renewal information states every
    /// field.
    init?(joining facts: ByKind<RenewalInfoFact>, in scope: StoreScope) {
        guard let fact = facts.signed ?? facts.receipt ?? facts.recorded else { return nil }
        var payload = fact.payload
        payload.environment = scope.environment
        self.init(payload: payload, origins: facts.map(\.origin))
    }
}

extension StoredAppTransaction {
    /// Receipts and app transactions state the same fields, except that only app transactions have the ids of the
    /// download and of the device. Each field comes from the newer of the two; a recorded document counts only if there
    /// is neither.
    ///
    /// App transactions of StoreKit 2 cannot state the legacy fields. The newest recorded document that states any counts for
    /// these if no receipt does.
    init?(joining facts: [AppTransactionRowKind: AppTransactionFact], in scope: StoreScope) {
        var payload: AppTransaction
        if let signed = facts[.signedTransaction] {
            payload = signed.payload
            if let receipt = facts[.receipt] {
                payload.complete(
                    from: receipt.payload, isNewer: receipt.origin.signedDate > signed.origin.signedDate)
            }
        } else if let fact = facts[.receipt] ?? facts.newestRecorded {
            payload = fact.payload
        } else {
            return nil
        }
        payload.bundleId = scope.bundleId
        payload.receiptType = scope.environment
        self.init(
            payload: payload,
            legacy: facts[.receipt]?.legacy ?? facts[.recordedWithLegacyFields]?.legacy ?? LegacyAppTransactionFields(),
            origins: facts.all.map(\.origin))
    }
}

extension AppTransaction {
    /// A missing field changes nothing: every app has a value for it, or the server leaves it to the device.
    fileprivate mutating func complete(from receipt: AppTransaction, isNewer: Bool) {
        func choose<Value>(_ own: Value?, _ other: Value?) -> Value? { isNewer ? other ?? own : own ?? other }
        appAppleId = choose(appAppleId, receipt.appAppleId)
        applicationVersion = choose(applicationVersion, receipt.applicationVersion)
        versionExternalIdentifier = choose(versionExternalIdentifier, receipt.versionExternalIdentifier)
        receiptCreationDate = choose(receiptCreationDate, receipt.receiptCreationDate)
        originalApplicationVersion = choose(originalApplicationVersion, receipt.originalApplicationVersion)
        preorderDate = choose(preorderDate, receipt.preorderDate.keepingMilliseconds(of: preorderDate))
        let bought = receipt.originalPurchaseDate.keepingMilliseconds(of: originalPurchaseDate)
        originalPurchaseDate = choose(originalPurchaseDate, bought)
    }
}
