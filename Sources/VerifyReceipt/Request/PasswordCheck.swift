/// Checks `password` (Reference.md V1.4).
///
/// - Where no secret is configured for the app or the account, every password and none will do: there is nothing to
///   compare with.
/// - A wrong password is a mismatch, whatever the app receipt holds: so Apple has answered since 2018 once an app has a
///   secret.
/// - No password is a mismatch if the receipt, or what the reply would tell of its customer, has an auto-renewable
///   subscription. Reports that even receipts without one were refused (V1.4) are few; Apple's documentation asks for the
///   secret with auto-renewables.
/// - Transaction receipts (iOS 6) without an end are answered with any password.
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
                throw Refusal(.secretMissing, "The request has no password, and there are auto-renewables.")
            }
        case .text(let text):
            guard SharedSecret.matches(text, anyOf: secrets) else {
                throw Refusal(.secretMismatch, "The password is none of the app's secrets.")
            }
        case .unreadable:
            throw Refusal(.secretMismatch, "The password is not a string.")
        }
    }
}
