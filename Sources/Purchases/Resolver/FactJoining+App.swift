internal import AppStoreModels

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
    init?(joining facts: ByKind<AppTransactionFact>, in scope: StoreScope) {
        var payload: AppTransaction
        if let signed = facts.signed {
            payload = signed.payload
            if let receipt = facts.receipt {
                payload.complete(
                    from: receipt.payload, isNewer: receipt.origin.signedDate > signed.origin.signedDate)
            }
        } else if let fact = facts.receipt ?? facts.recorded {
            payload = fact.payload
        } else {
            return nil
        }
        payload.bundleId = scope.bundleId
        payload.receiptType = scope.environment
        self.init(payload: payload, origins: facts.map(\.origin))
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
