internal import AppStoreModels

extension StoredRenewalInfo {
    /// The newest signed statement; what nobody signed only where there is none, because a signed renewal information
    /// states everything.
    init?(joining facts: ByKind<RenewalInfoFact>, in scope: StoreScope) {
        guard let fact = facts.signed ?? facts.receipt ?? facts.recorded else { return nil }
        var payload = fact.payload
        payload.environment = scope.environment
        self.init(payload: payload, origins: facts.map(\.origin))
    }
}

extension StoredAppTransaction {
    /// Receipts and app transactions state the same facts, except that only the latter have the ids of the download and of
    /// the device: per field the newest of the two, recorded documents only on their own.
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
    /// Absence says nothing here: each field is one that every app has, or one that the server leaves to the device.
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
