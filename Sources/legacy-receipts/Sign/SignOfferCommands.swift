import AppStoreModels
import AppStoreServer
import ArgumentParser

struct SignPromotionalOfferCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "promotional-offer",
        abstract: "Sign a promotional offer as JWS.",
        discussion: """
            For StoreKit's purchase option promotionalOffer(_:compactJWS:).

            EXAMPLES:
              legacy-receipts sign promotional-offer --private-key key.p8 \\
                --key-id 2X9R4HXF34 --issuer-id 57246542-96fe-1a63-e053-0824d011072a \\
                --bundle-id com.example.app --product-id com.example.app.yearly \\
                --offer-id winter
            """)

    @OptionGroup var key: SigningKeyOptions
    @OptionGroup var issuer: IssuerOptions
    @OptionGroup var freshness: FreshnessOptions

    @Option(help: .value("id", "The subscription."))
    var productId: String

    @Option(help: .value("id", "The offer."))
    var offerId: String

    @Option(help: .value("id", "Any transaction of the customer, or the appTransactionId; advised."))
    var transactionId: String?

    func run() throws {
        let creator = PromotionalOfferV2SignatureCreator(
            key: try key.key(issuerId: issuer.issuerId), bundleID: key.bundleId, clock: freshness.clock)
        try SignedOutput.print {
            try creator.createSignature(
                productId: productId, offerIdentifier: offerId, transactionId: transactionId,
                nonce: freshness.nonce ?? UUIDText())
        }
    }
}

struct SignPromotionalOfferV1Command: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "promotional-offer-v1",
        abstract: "Sign a promotional offer in the older form.",
        discussion: """
            For the original StoreKit, and for StoreKit's promotionalOffer(offerID:keyID:nonce:signature:timestamp:). \
            The app passes every value of the output unchanged; the offer can be used for 24 hours.

            EXAMPLES:
              legacy-receipts sign promotional-offer-v1 --private-key key.p8 \\
                --key-id 2X9R4HXF34 --bundle-id com.example.app \\
                --product-id com.example.app.yearly --offer-id winter
            """)

    @OptionGroup var key: SigningKeyOptions
    @OptionGroup var freshness: FreshnessOptions

    @Option(help: .value("id", "The subscription."))
    var productId: String

    @Option(help: .value("id", "The offer."))
    var offerId: String

    @Option(help: .value("uuid", "The token that the app will pass (applicationUsername)."))
    var appAccountToken: String?

    func run() throws {
        // This form does not name the issuer.
        let key = try key.key(issuerId: "not used")
        let creator = PromotionalOfferSignatureCreator(key: key, bundleID: self.key.bundleId)
        let offer = try SignedOutput.signed {
            try creator.createSignature(
                productId: productId, offerIdentifier: offerId, appAccountToken: appAccountToken,
                nonce: freshness.nonce ?? UUIDText(), timestamp: freshness.clock.now())
        }
        let json = JSONWriter.object { writer in
            writer.member("encodedSignature", offer.encodedSignature)
            writer.member("productId", offer.productId)
            writer.member("offerIdentifier", offer.offerIdentifier)
            writer.member("keyId", offer.keyId)
            writer.member("nonce", offer.nonce)
            writer.member("timestamp", offer.timestamp)
            writer.member("appAccountToken", offer.appAccountToken)
        }
        try Terminal.output(String(decoding: json, as: UTF8.self))
    }
}

struct SignIntroductoryEligibilityCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "introductory-eligibility",
        abstract: "Sign whether a customer may have an introductory offer.",
        discussion: """
            For StoreKit's purchase option introductoryOfferEligibility(compactJWS:).

            EXAMPLES:
              legacy-receipts sign introductory-eligibility --private-key key.p8 \\
                --key-id 2X9R4HXF34 --issuer-id 57246542-96fe-1a63-e053-0824d011072a \\
                --bundle-id com.example.app --product-id com.example.app.yearly \\
                --transaction-id 530001234567000 --allow
            """)

    @OptionGroup var key: SigningKeyOptions
    @OptionGroup var issuer: IssuerOptions
    @OptionGroup var freshness: FreshnessOptions

    @Option(help: .value("id", "The subscription."))
    var productId: String

    @Option(help: .value("id", "Any transaction of the customer, or the appTransactionId."))
    var transactionId: String

    @Flag(inversion: .prefixedNo, help: "Whether the customer may have the offer.")
    var allow: Bool

    func run() throws {
        let creator = IntroductoryOfferEligibilitySignatureCreator(
            key: try key.key(issuerId: issuer.issuerId), bundleID: key.bundleId, clock: freshness.clock)
        try SignedOutput.print {
            try creator.createSignature(
                productId: productId, allowIntroductoryOffer: allow, transactionId: transactionId,
                nonce: freshness.nonce ?? UUIDText())
        }
    }
}

/// The output of the commands.
enum SignedOutput {
    /// `{"compactJWS":"…"}`.
    static func print(_ sign: () throws -> String) throws {
        let json = try JSONWriter.object { $0.member("compactJWS", try signed(sign)) }
        try Terminal.output(String(decoding: json, as: UTF8.self))
    }

    /// - Throws: ``CommandFailure``.
    static func signed<Value>(_ sign: () throws -> Value) throws -> Value {
        do {
            return try sign()
        } catch let error as SignatureCreatorError {
            throw CommandFailure("This cannot be signed: \(error)")
        }
    }
}
