package import AppStoreModels

/// What a JWS of the App Store is, by the members of its payload.
package enum SignedDataKind: String, Sendable {
    case transaction, renewalInfo, appTransaction, notification

    /// Reads the payload before its signature is verified, to choose what to verify it as. What is signed need not be complete to
    /// be recognized: the signature decides.
    package init?(payload: JSONObject) {
        if payload["notificationType"]?.string != nil, payload["notificationUUID"] != nil {
            self = .notification
        } else if payload["transactionId"] != nil {
            self = .transaction
        } else if payload["autoRenewStatus"] != nil {
            self = .renewalInfo
        } else if payload["receiptType"] != nil {
            self = .appTransaction
        } else {
            return nil
        }
    }

    /// Whether the payload states that Xcode's StoreKit testing made it.
    package static func isOfXcode(_ payload: JSONObject) -> Bool {
        let containers = [payload, payload["data"]?.object, payload["appData"]?.object].compactMap(\.self)
        return containers.contains { object in
            let environment = (object["environment"] ?? object["receiptType"])?.string
            return environment == Environment.xcode.rawValue || environment == Environment.localTesting.rawValue
        }
    }
}
