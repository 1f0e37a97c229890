import AppStoreModels
import AppStoreServer
import ArgumentParser
import Foundation

/// The app and the key for the App Store Server API.
struct AppStoreServerOptions: ParsableArguments {
    @Option(help: "The bundle id of the app.")
    var bundleId: String

    @Option(help: "The issuer id that App Store Connect shows above the In-App Purchase keys.")
    var issuerId: String

    @Option(help: "The id of the In-App Purchase key.")
    var keyId: String

    @Option(
        help: ArgumentHelp("The In-App Purchase key, as it was downloaded (.p8).", valueName: "file"),
        completion: .file())
    var privateKey: String

    @Option(help: "production or sandbox.")
    var environment = "production"

    @Option(
        name: .customLong("server-url"),
        help: ArgumentHelp("The server, instead of Apple's, for tests.", valueName: "url"))
    var serverURL: String?

    func validate() throws {
        guard appStoreEnvironment != nil else { throw ValidationError("--environment takes production or sandbox.") }
    }

    var appStoreEnvironment: AppStoreModels.Environment? {
        switch environment {
        case "production": .production
        case "sandbox": .sandbox
        default: nil
        }
    }

    /// - Throws: `CommandFailure` for a key that is none, or an address that is none.
    func client() throws -> AppStoreServerAPIClient {
        let key = try InAppPurchaseKey(file: privateKey, keyID: keyId, issuerID: issuerId)
        do {
            return try AppStoreServerAPIClient(
                key: key, bundleID: bundleId, environment: appStoreEnvironment ?? .production,
                configuration: APIClientConfiguration(baseURL: serverURL))
        } catch {
            throw CommandFailure("The App Store Server API cannot be used: \(error)")
        }
    }
}
