/// Checks `password` (Reference.md V1.4).
///
/// - If no secret is configured for the app or the account, every password is accepted, and also a missing one.
/// - A wrong password is rejected for every app receipt, as Apple has done since 2018 for apps with a secret.
/// - A missing password is rejected if the receipt or the reply contains an auto-renewable subscription. Apple's
///   documentation requires the secret for these. Few reports say that Apple also rejected other receipts (V1.4).
/// - Transaction receipts (iOS 6) without an expiration date are answered with any password.
struct PasswordCheck {
    let password: VerifyReceiptRequest.Password
    let secrets: [[SharedSecret]]

    private var isConfigured: Bool { secrets.contains { !$0.isEmpty } }

    /// - Throws: ``Refusal`` with 21004.
    func check(hasAutoRenewable: Bool) throws {
        guard isConfigured else { return }
        switch password {
        case .missing:
            guard !hasAutoRenewable else {
                throw Refusal(.secretMissing, "The password is missing, and the answer has auto-renewables.")
            }
        case .text(let text):
            guard SharedSecret.matches(text, anyOf: secrets) else {
                throw Refusal(.secretMismatch, "The password is not one of the app's secrets.")
            }
        case .unreadable:
            throw Refusal(.secretMismatch, "The password is not a string.")
        }
    }
}
