internal import AppStoreModels

extension SandboxEngine {
    /// Creates a family. All members get the shareable purchases of each member, with the ownership FAMILY_SHARED:
    /// SUBSCRIBED with INITIAL_BUY for subscriptions, ONE_TIME_CHARGE for non-consumables.
    /// - Throws: ``SandboxError`` if a family would have fewer than 2 or more than 6 members, or if a member is in a family.
    public mutating func makeFamily(_ members: [String], at date: Int64) throws {
        advance(to: date)
        let names = Set(members).sorted()
        try ensure((2...6).contains(names.count), .invalidRequest, "members: a family has 2 to 6")
        for name in names where customers[name]?.family != nil {
            throw SandboxError(.notPossible, "the customer \(name.quoted) is in a family")
        }
        families += 1
        for name in names {
            _ = try findOrAddCustomer(name)
            customers[name]?.family = families
        }
        for name in names {
            guard let customer = customers[name] else { continue }
            for transaction in transactions(of: customer) where transaction.sharedFrom == nil && !transaction.isRevoked
            {
                if let product = catalog[transaction.payload.productId ?? ""] {
                    shareNonConsumable(transaction, product)
                }
            }
            for subscription in subscriptions(of: customer) where !subscription.hasEnded {
                shareSubscription(subscription.originalTransactionId)
            }
        }
    }

    /// Removes a member from the family, and revokes the purchases shared with and by this member (REVOKE).
    /// - Throws: ``SandboxError``.
    public mutating func leaveFamily(_ name: String, at date: Int64) throws {
        advance(to: date)
        try ensure(customer(name).family != nil, .notPossible, "the customer \(name.quoted) is in no family")
        customers[name]?.family = nil
        for id in transactions.keys.sorted() {
            guard let copy = transactions[id], let source = copy.sharedFrom, !copy.isRevoked else { continue }
            if copy.customer == name || transactions[source]?.customer == name { revokeCopy(id) }
        }
    }

    private func family(of name: String) -> [String] {
        guard let family = customers[name]?.family else { return [] }
        return customers.values.filter { $0.family == family && $0.name != name }.map(\.name).sorted()
    }

    /// Shares a non-consumable with the family.
    mutating func shareNonConsumable(_ transaction: SandboxTransaction, _ product: SandboxProduct) {
        guard product.type == .nonConsumable, product.isFamilyShareable,
            transaction.payload.inAppOwnershipType != .assigned
        else { return }
        for member in family(of: transaction.customer) {
            let copy = record(
                Charge(
                    customer: member, product: product, price: transaction.payload.price, reason: .purchase,
                    purchaseDate: transaction.payload.purchaseDate ?? now, sharedFrom: transaction.id))
            recordEvent(.oneTimeCharge, transaction: copy.id)
        }
    }

    /// Shares the current period of a subscription with the family, or revokes the family's copies if the product is not
    /// shareable.
    mutating func shareSubscription(_ id: String) {
        guard let owner = subscriptions[id], owner.sharedFrom == nil, let product = catalog[owner.productId],
            owner.seats == nil, transactions[id]?.payload.inAppOwnershipType != .assigned
        else { return }
        for member in family(of: owner.customer) {
            let known = customers[member]?.subscriptions[owner.group].flatMap { subscriptions[$0] }
            if let known, known.sharedFrom != id, !known.hasEnded { continue }
            let copy = known.flatMap { $0.sharedFrom == id ? $0 : nil }
            if product.isFamilyShareable {
                share(owner, product, with: member, copy)
            } else if let copy, !copy.hasEnded {
                revokeCopy(copy.transactionId)
            }
        }
    }

    private mutating func share(
        _ owner: SandboxSubscription, _ product: SandboxProduct, with member: String, _ copy: SandboxSubscription?
    ) {
        guard let source = transactions[owner.transactionId]?.payload else { return }
        if let copy, !copy.hasEnded, transactions[copy.transactionId]?.sharedFrom == owner.transactionId { return }
        let original = copy?.originalTransactionId
        let transaction = record(
            Charge(
                customer: member, product: product, price: source.price, reason: source.transactionReason ?? .purchase,
                purchaseDate: source.purchaseDate ?? now, expiresDate: owner.expiresDate,
                sharedFrom: owner.transactionId),
            originalId: original, originalDate: original.flatMap { transactions[$0]?.payload.originalPurchaseDate })
        var shared =
            copy
            ?? SandboxSubscription(
                originalTransactionId: transaction.id, customer: member, group: owner.group,
                sharedFrom: owner.originalTransactionId, transactionId: transaction.id, productId: product.id,
                autoRenewProductId: product.id, expiresDate: owner.expiresDate, start: source.purchaseDate ?? now)
        // Another product that begins at the end of the period replaces nothing.
        let time = now
        let isUpgrade = copy.map { !$0.hasEnded && $0.productId != product.id && $0.expiresDate > time } ?? false
        if isUpgrade { upgrade(shared.transactionId) }
        shared.transactionId = transaction.id
        shared.productId = product.id
        shared.autoRenewProductId = owner.autoRenewProductId
        shared.expiresDate = owner.expiresDate
        shared.phase = owner.phase
        subscriptions[shared.originalTransactionId] = shared
        customers[member]?.subscriptions[owner.group] = shared.originalTransactionId
        let (type, subtype): (NotificationTypeV2, Subtype?) =
            switch copy {
            case nil: (.subscribed, .initialBuy)
            case let copy? where copy.hasEnded: (.subscribed, .resubscribe)
            default: isUpgrade ? (.didChangeRenewalPref, .upgrade) : (.didRenew, nil)
            }
        recordEvent(type, subtype, subscription: shared.originalTransactionId)
    }

    /// Records an event, gives the family's copies the state of the purchaser's subscription, and records the same event for
    /// each.
    mutating func recordSharedEvent(_ type: NotificationTypeV2, _ subtype: Subtype?, subscription id: String) {
        recordEvent(type, subtype, subscription: id)
        guard let owner = subscriptions[id], owner.sharedFrom == nil else { return }
        for copy in copies(of: id) where !copy.hasEnded {
            update(copy.originalTransactionId) {
                $0.phase = owner.phase
                $0.isAutoRenewOn = owner.isAutoRenewOn
            }
            recordEvent(type, subtype, subscription: copy.originalTransactionId)
        }
    }

    func copies(of id: String) -> [SandboxSubscription] {
        subscriptions.values.filter { $0.sharedFrom == id }.sorted {
            $0.originalTransactionId < $1.originalTransactionId
        }
    }

    /// Revokes the family's copies of a transaction.
    mutating func unshare(_ id: String) {
        for copy in transactions.values.filter({ $0.sharedFrom == id && !$0.isRevoked }).map(\.id).sorted() {
            revokeCopy(copy)
        }
    }

    private mutating func revokeCopy(_ id: String) {
        let time = now
        change(id) {
            $0.payload.revocationDate = time
            $0.payload.revocationReason = .other
            $0.payload.revocationType = .familyRevoke
        }
        guard let transaction = transactions[id] else { return }
        update(transaction.originalId) {
            guard $0.transactionId == id else { return }
            $0.phase = .revoked
            $0.isAutoRenewOn = false
        }
        recordEvent(.revoke, transaction: id)
    }
}
