import AppStoreServer
import ArgumentParser

struct SignCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Sign offers and Advanced Commerce requests for an app.",
        discussion: """
            Signs with an In-App Purchase key from App Store Connect (SubscriptionKey_ID.p8) and prints JSON for the app \
            to pass to StoreKit. The key is read from a file and never printed.

            EXAMPLES:
              legacy-receipts sign promotional-offer --private-key key.p8 \\
                --key-id 2X9R4HXF34 --issuer-id 57246542-96fe-1a63-e053-0824d011072a \\
                --bundle-id com.example.app --product-id com.example.app.yearly \\
                --offer-id winter --transaction-id 530001234567000
            """,
        subcommands: [
            SignPromotionalOfferCommand.self, SignPromotionalOfferV1Command.self,
            SignIntroductoryEligibilityCommand.self, SignAdvancedCommerceCommand.self,
        ])
}

/// The signing key and the app.
struct SigningKeyOptions: ParsableArguments {
    @Option(file: "The In-App Purchase key as downloaded, or - for standard input.")
    var privateKey: String

    @Option(help: .value("id", "The identifier of the key."))
    var keyId: String

    @Option(help: .value("id", "The app."))
    var bundleId: String

    /// - Throws: ``CommandFailure``, which never quotes the file.
    func key(issuerId: String) throws -> InAppPurchaseKey {
        try InAppPurchaseKey(file: privateKey, keyID: keyId, issuerID: issuerId)
    }

    func validate() throws {
        guard !bundleId.isEmpty else { throw ValidationError("--bundle-id is empty.") }
    }
}

/// The values that make each signature unique.
struct FreshnessOptions: ParsableArguments {
    @Option(help: .value("uuid", "A UUID to use once (default: a new one)."), transform: FreshnessOptions.uuid)
    var nonce: UUIDText?

    @Option(help: .value("ms", "When it is signed, in milliseconds since 1970 (default: now)."))
    var timestamp: Int64?

    func validate() throws {
        if let timestamp, timestamp < 0 { throw ValidationError("--timestamp takes milliseconds since 1970.") }
    }

    /// The system's clock, or a fixed time.
    var clock: ServerClock {
        var clock = ServerClock.system
        if let timestamp { clock.now = { timestamp } }
        return clock
    }

    private static func uuid(_ text: String) throws -> UUIDText {
        guard let uuid = UUIDText(text) else {
            throw ValidationError("--nonce takes a UUID, not '\(text)'.")
        }
        return uuid
    }
}

struct IssuerOptions: ParsableArguments {
    @Option(help: .value("uuid", "The issuer identifier, above the list of keys in App Store Connect."))
    var issuerId: String
}
