import AppStoreServer

extension SignedDataError {
    var notificationOutcome: NotificationOutcome {
        if isRetryable { return .notVerifiable }
        return code == .appAppleIdMismatch ? .unknownApp : .notGenuine
    }
}
