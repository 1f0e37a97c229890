package import AppStoreModels
import LegacyReceipts

/// The statement of one document about one purchase, in modern terms and without any conclusion. The cancellation of a
/// legacy document is in ``legacy`` only, because the document does not state whether it is a revocation or an upgrade.
package struct PurchaseStatement: Sendable {
    package internal(set) var payload: JWSTransactionDecodedPayload {
        @inlinable _read { yield shared.payload }
        _modify { yield &shared.payload }
    }
    package private(set) var legacy = LegacyTransactionFields()
    /// Facts that the fields cannot state.
    private(set) var notes: [MappingNote]
    let form: RecordForm
    let context: RecordContext
    @usableFromInline var shared: SharedTransaction

    init(
        _ facts: borrowing PurchaseFacts, _ form: RecordForm, _ context: RecordContext, notes: [MappingNote] = []
    ) {
        self.init(form: form, context: context, notes: notes)
        read(facts)
    }

    private init(form: RecordForm, context: RecordContext, notes: [MappingNote]) {
        self.form = form
        self.context = context
        self.notes = notes
        shared = SharedTransaction(JWSTransactionDecodedPayload())
    }

    // An initializer that assigns the members itself would return a copy of the structure.
    private mutating func read(_ facts: borrowing PurchaseFacts) {
        shared.payload.read(facts, &notes)
        payload.bundleId = context.bundleId
        // An environment that a rule inferred is not a statement.
        if case .inferred = context.environmentProvenance {} else { payload.environment = context.environment }
        legacy.read(facts)
    }

    /// The statement of StoreKit 2 data, signed or not.
    init(
        _ payload: JWSTransactionDecodedPayload, _ form: RecordForm,
        beside surroundings: RecordedSurroundings = RecordedSurroundings()
    ) {
        shared = SharedTransaction(payload)
        self.form = form
        var notes: [MappingNote] = []
        var context = RecordContext()
        let provenance = form.modernProvenance ?? .absent
        if payload.bundleId != nil { (context.bundleId, context.bundleIdProvenance) = (payload.bundleId, provenance) }
        if payload.environment != nil {
            (context.environment, context.environmentProvenance) = (payload.environment, provenance)
        }
        context.complete(surroundings)
        if case .recordedStoreKit2 = form, payload.environment == nil {
            context.correctEnvironment(ofId: payload.idOfEnvironment, &notes)
        }
        context.recordedAt = payload.signedDate
        self.context = context
        self.notes = notes
        self.payload.bundleId = context.bundleId
        // An environment that a rule inferred is not a statement.
        if case .inferred = context.environmentProvenance {} else { self.payload.environment = context.environment }
        // Xcode writes 0 into every receipt it makes.
        if payload.transactionId == "0" {
            self.payload.transactionId = nil
            note(.xcodeTransactionIdZero)
        } else if payload.transactionId == nil {
            note(.missingTransactionId)
        }
        if payload.originalTransactionId == "0" { self.payload.originalTransactionId = nil }
        // Code that reads unsigned documents looks for the cancellation in `legacy`.
        if case .recordedStoreKit2 = form {
            legacy.cancellationDate = payload.revocationDate
            legacy.cancellationReason = payload.revocationReason.map { Int64($0.rawValue) }
        }
    }

    private mutating func note(_ note: MappingNote) { notes.add(note) }

    /// Which part of the document states a field.
    func provenance(of field: TransactionField) -> Provenance {
        switch field {
        case .bundleId: context.bundleIdProvenance
        case .environment: context.environmentProvenance
        default: form.modernProvenance ?? fact(of: field).map { form.provenance($0) } ?? .absent
        }
    }

    /// The attribute that states a field of a purchase in an app receipt; nil for another field or document.
    func attribute(of field: TransactionField) -> Int? {
        guard case .attributes = form, let fact = fact(of: field) else { return nil }
        return RecordForm.attribute(fact)
    }

    /// The fact that gives a field its value.
    private func fact(of field: TransactionField) -> Fact? {
        switch field {
        case .transactionId: .transactionId
        case .originalTransactionId: .originalTransactionId
        case .productId: .productId
        case .webOrderLineItemId: .webOrderLineItemId
        case .appAccountToken: .appAccountToken
        case .quantity: .quantity
        case .purchaseDate: .purchaseDate
        case .originalPurchaseDate: .originalPurchaseDate
        case .expiresDate: .expiresDate
        case .type: .productType
        case .inAppOwnershipType: .ownershipType
        case .isUpgraded: .isUpgraded
        case .revocationDate: .cancellationDate
        case .revocationReason: .cancellationReason
        case .subscriptionGroupIdentifier: .subscriptionGroupIdentifier
        case .offerDiscountType: .isTrialPeriod
        case .offerType, .offerIdentifier:
            if legacy.promotionalOfferId != nil {
                .promotionalOfferId
            } else if legacy.offerCodeRefName != nil {
                .offerCodeRefName
            } else {
                legacy.isTrialPeriod == true ? .isTrialPeriod : .isInIntroOfferPeriod
            }
        default: nil
        }
    }
}

extension JWSTransactionDecodedPayload {
    fileprivate mutating func read(_ facts: borrowing PurchaseFacts, _ notes: inout [MappingNote]) {
        if facts.hasUnknownOwnership { notes.add(.unknownOwnershipType) }
        setIdentifiers(facts, &notes)
        setDates(facts, &notes)
        setOffer(facts)
        type = facts.productType?.modern
        inAppOwnershipType = facts.ownershipType
        isUpgraded = facts.isUpgraded
        subscriptionGroupIdentifier = facts.subscriptionGroupIdentifier
    }

    private mutating func setIdentifiers(_ facts: borrowing PurchaseFacts, _ notes: inout [MappingNote]) {
        // Xcode writes 0 into every receipt it makes.
        if facts.transactionId == "0" {
            notes.add(.xcodeTransactionIdZero)
        } else {
            transactionId = facts.transactionId
            if facts.transactionId == nil { notes.add(.missingTransactionId) }
        }
        if facts.originalTransactionId != "0" { originalTransactionId = facts.originalTransactionId }
        productId = facts.productId
        webOrderLineItemId = facts.webOrderLineItemId
        appAccountToken = facts.appAccountToken
        guard let stated = facts.quantity else { return }
        quantity = Int32(exactly: stated)
        if quantity == nil { notes.add(.valueOutOfRange) }
    }

    private mutating func setDates(_ facts: borrowing PurchaseFacts, _ notes: inout [MappingNote]) {
        purchaseDate = facts.purchaseDate
        originalPurchaseDate = facts.originalPurchaseDate
        // Free subscriptions never expire (Reference.md V5.3, type 4).
        guard facts.productType != .freeSubscription else { return }
        expiresDate = facts.expiresDate
        if let start = facts.purchaseDate, let end = facts.expiresDate, start > end { notes.add(.purchasedAfterExpiry) }
    }

    /// A named offer comes first. Else the trial flag comes before the introductory flag, because free trials before
    /// 2024 have only the trial flag (Reference.md V3.5 "Trial flags" and V9.2).
    private mutating func setOffer(_ facts: borrowing PurchaseFacts) {
        let isTrial = facts.isTrialPeriod == true
        if let identifier = facts.promotionalOfferId {
            offerType = .promotional
            offerIdentifier = identifier
        } else if let name = facts.offerCodeRefName {
            offerType = .offerCode
            offerIdentifier = name
        } else if isTrial || facts.isInIntroOfferPeriod == true {
            offerType = .introductory
        } else {
            return
        }
        if isTrial { offerDiscountType = .freeTrial }
    }
}

extension LegacyTransactionFields {
    fileprivate mutating func read(_ facts: borrowing PurchaseFacts) {
        isTrialPeriod = facts.isTrialPeriod
        isInIntroOfferPeriod = facts.isInIntroOfferPeriod
        promotionalOfferId = facts.promotionalOfferId
        offerCodeRefName = facts.offerCodeRefName
        cancellationDate = facts.cancellationDate
        cancellationReason = facts.cancellationReason
        inAppOwnershipType = facts.ownershipType
        itemId = facts.itemId
        if let type = facts.productType, type.modern == nil { productType = type.rawValue }
    }
}

extension JWSTransactionDecodedPayload {
    /// The id that can state the sandbox.
    fileprivate var idOfEnvironment: String? {
        transactionId.flatMap { $0 == "0" ? nil : $0 } ?? originalTransactionId
    }

    /// The environment that unsigned StoreKit 2 JSON states; nil if it states none.
    package var environmentOfDecoded: Environment? { Environment.ofDecoded(environment, id: idOfEnvironment) }
}

extension JWSRenewalInfoDecodedPayload {
    /// The environment that unsigned StoreKit 2 JSON states; nil if it states none.
    var environmentOfDecoded: Environment? { Environment.ofDecoded(environment, id: originalTransactionId) }
}

extension Environment {
    /// The stated environment, or the sandbox for one of its transaction ids (Reference.md V7.5).
    fileprivate static func ofDecoded(_ stated: Environment?, id: String?) -> Environment? {
        if let stated { return stated }
        guard let id, TransactionReceipt.isSandbox(transactionId: id) else { return nil }
        return .sandbox
    }
}
