internal import AppStoreModels

/// A request to extend all active subscriptions of a product.
struct MassExtension: Sendable {
    struct Completion: Sendable {
        let date: Int64
        let succeeded: Int64
        let failed: Int64
    }

    let request: MassExtendRenewalDateRequest
    let dueDate: Int64
    var completion: Completion?
}

extension SandboxEngine {
    /// Why a subscription cannot be extended.
    enum ExtensionRefusal {
        /// Not active, free, or not paid (Reference.md S5.6).
        case ineligible
        /// Two extensions within 365 days.
        case maximumReached
        case familyShared
    }

    /// Apple allows two extensions of a subscription in 365 days, of at most 90 days each; the subscription has to be active
    /// and paid (Reference.md S5.6). Days are days of the sandbox's pace.
    func refusalToExtend(_ subscription: SandboxSubscription) -> ExtensionRefusal? {
        guard subscription.sharedFrom == nil else { return .familyShared }
        guard subscription.phase == .active else { return .ineligible }
        let payload = transactions[subscription.transactionId]?.payload
        guard payload?.offerDiscountType != .freeTrial, payload?.price ?? 1 > 0 else { return .ineligible }
        let since = now - configuration.pace.days(365)
        return subscription.extensions.count { $0.date > since } >= 2 ? .maximumReached : nil
    }

    /// Extends a subscription that may be: RENEWAL_EXTENDED.
    mutating func extend(_ id: String, byDays days: Int32, requestIdentifier: String) {
        lengthen(id, byDays: days, requestIdentifier: requestIdentifier)
        tell(.renewalExtended, subscription: id)
    }

    private mutating func lengthen(_ id: String, byDays days: Int32, requestIdentifier: String) {
        guard let subscription = subscriptions[id] else { return }
        let effective = subscription.expiresDate.advanced(bySaturating: configuration.pace.days(Int64(days)))
        let time = now
        for each in [subscription] + copies(of: id).filter({ $0.phase == .active }) {
            change(each.transactionId) { $0.payload.expiresDate = effective }
            update(each.originalTransactionId) { $0.expiresDate = effective }
        }
        update(id) {
            $0.extensions.append(.init(requestIdentifier: requestIdentifier, date: time, effectiveDate: effective))
        }
    }

    /// Takes a request for all subscribers. It is done an hour later, in the pace of the sandbox; at Apple's it takes hours
    /// to days (Reference.md S2.1).
    mutating func beginMassExtension(_ request: MassExtendRenewalDateRequest) {
        guard massExtensions[request.requestIdentifier] == nil else { return }
        let due = now.advanced(bySaturating: configuration.pace.scaled(3_600_000))
        massExtensions[request.requestIdentifier] = MassExtension(request: request, dueDate: due)
    }

    /// RENEWAL_EXTENSION with FAILURE for each that cannot be extended, and SUMMARY at the end; RENEWAL_EXTENDED is for
    /// single requests.
    mutating func completeMassExtension(_ id: String) {
        guard let request = massExtensions[id]?.request else { return }
        var (succeeded, failed): (Int64, Int64) = (0, 0)
        let isEverywhere = request.storefrontCountryCodes?.contains(configuration.storefront) ?? true
        for original in isEverywhere ? subscriptions.keys.sorted() : [] {
            guard let subscription = subscriptions[original], subscription.productId == request.productId,
                subscription.phase == .active, subscription.sharedFrom == nil
            else { continue }
            if refusalToExtend(subscription) == nil {
                lengthen(original, byDays: request.extendByDays, requestIdentifier: id)
                succeeded += 1
            } else {
                failed += 1
                tell(.renewalExtension, .failure, subscription: original)
            }
        }
        massExtensions[id]?.completion = .init(date: now, succeeded: succeeded, failed: failed)
        let isProduction = configuration.environment == .production
        let date = stamp()
        let summary = Summary(
            environment: configuration.environment, appAppleId: isProduction ? configuration.appAppleId : nil,
            bundleId: configuration.bundleId, productId: request.productId, requestIdentifier: id,
            storefrontCountryCodes: request.storefrontCountryCodes, succeededCount: succeeded, failedCount: failed)
        events.append(
            SandboxEvent(
                uuid: identifiers.uuid(), type: .renewalExtension, subtype: .summary, date: date, customer: nil,
                transaction: nil, renewalInfo: nil, status: nil, consumptionRequestReason: nil, summary: summary))
    }

    /// The notification that the developer asks for to test the way: TEST.
    mutating func tellTest() -> String {
        let uuid = identifiers.uuid()
        let date = stamp()
        events.append(
            SandboxEvent(
                uuid: uuid, type: .test, subtype: nil, date: date, customer: nil, transaction: nil, renewalInfo: nil,
                status: nil, consumptionRequestReason: nil, summary: nil))
        return uuid
    }
}
