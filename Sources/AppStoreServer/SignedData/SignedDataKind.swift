package import AppStoreModels

/// The kind of a JWS of the App Store, detected by the members of its payload.
package enum SignedDataKind: String, Sendable {
    case transaction, renewalInfo, appTransaction, notification

    /// Detects the kind before the signature is verified, to choose how to verify it. The payload need not be complete,
    /// because the signature decides.
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

    /// Whether the payload states that Xcode's StoreKit testing created it.
    package static func isOfXcode(_ payload: JSONObject) -> Bool {
        let containers = [payload, payload["data"]?.object, payload["appData"]?.object].compactMap(\.self)
        return containers.contains { object in
            let environment = (object["environment"] ?? object["receiptType"])?.string
            return environment == Environment.xcode.rawValue || environment == Environment.localTesting.rawValue
        }
    }
}
