import AppStoreModels
import AppStoreServer
import AppStoreSync
import ArgumentParser
import Purchases
import TransactionStore

/// The app and the key for the App Store Server API.
struct AppStoreServerOptions: ParsableArguments {
    @Option(help: "The bundle id of the app.")
    var bundleId: String

    @Option(help: "The issuer id that App Store Connect shows above the In-App Purchase keys.")
    var issuerId: String

    @Option(help: "The id of the In-App Purchase key.")
    var keyId: String

    @Option(file: "The In-App Purchase key, as it was downloaded (.p8).")
    var privateKey: String

    @Option(
        help: "Production or Sandbox (default: Production).", completion: .list(["Production", "Sandbox"]),
        transform: FormatArguments.appStoreEnvironment)
    var environment: AppStoreModels.Environment = .production

    @Option(help: .value("url", "The server, instead of Apple's, for tests."))
    var serverURL: String?

    /// The machine's time, or that of a sandbox: its clock may have run ahead. In milliseconds since 1970.
    func now() async -> Int64 {
        if let serverURL, let clock = try? await TestClock(from: serverURL) { return clock.now() }
        return ServerClock.system.now()
    }

    /// - Parameters:
    ///   - share: the part of Apple's rate limits to use, more than 0 and at most 1.
    ///   - store: a store through which `serve`, `enrich` and this command share the rate limits. The command leaves
    ///     `serve` what it needs.
    /// - Throws: `CommandFailure` for a key that is none, or an address that is none.
    func client(share: Double = 1, sharedThrough store: (any RequestBudgets)? = nil) throws -> AppStoreServerAPIClient {
        let key = try InAppPurchaseKey(file: privateKey, keyID: keyId, issuerID: issuerId)
        let budget = store.map { store in
            StoreRateBudget(
                store, scope: StoreScope(environment: environment, bundleId: bundleId), priority: .background,
                timeout: .seconds(5))
        }
        return try CommandFailure.naming("The App Store Server API cannot be used") {
            try AppStoreServerAPIClient(
                key: key, bundleID: bundleId, environment: environment,
                configuration: APIClientConfiguration(
                    baseURL: serverURL, rateBudgets: RateBudgets(share: share), sharedBudget: budget))
        }
    }
}

extension AppStoreRefusal {
    /// The failure, and what to check.
    var advice: String {
        "\(self) The run stopped at this answer. \(AppStoreErrorText.checkAdvice(in: environment))"
    }
}

/// Trust in the roots that sign for the App Store.
struct SignedDataTrustOptions: ParsableArguments {
    @Option(
        name: .customLong("trust-root"), file: "Also trust this root certificate (DER or PEM), for tests. Repeatable.")
    var roots: [String] = []

    /// - Throws: `CommandFailure` for a file that is no certificate.
    func verifier() throws -> SignedDataVerifier {
        let certificates = try roots.flatMap(TrustOptions.certificates)
        return try CommandFailure.naming("--trust-root cannot be used") {
            try SignedDataVerifier(trust: SignedDataTrust(additionalRoots: certificates))
        }
    }
}
