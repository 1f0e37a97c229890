import AppStoreModels
import AppStoreServer
import ArgumentParser
import Foundation

/// Options to complete customers from the App Store Server API after a migration.
struct EnrichOptions: ParsableArguments {
    @Flag(
        name: .customLong("enrich"),
        help: """
            After the migration, complete each customer in the store, and the bare transaction ids of the input, from \
            the App Store Server API. Needs --store, --bundle-id and a key. After an interruption, run it again to \
            resume.
            """)
    var isAsked = false

    @Option(help: "The issuer id that App Store Connect shows above the In-App Purchase keys.")
    var issuerId: String?

    @Option(help: "The id of the In-App Purchase key.")
    var keyId: String?

    @Option(
        help: ArgumentHelp("The In-App Purchase key, as it was downloaded (.p8).", valueName: "file"),
        completion: .file())
    var privateKey: String?

    @Option(
        name: .customLong("production-url"),
        help: ArgumentHelp("The production server, instead of Apple's, for tests.", valueName: "url"))
    var productionURL: String?

    @Option(
        name: .customLong("sandbox-url"),
        help: ArgumentHelp("The sandbox server, instead of Apple's, for tests.", valueName: "url"))
    var sandboxURL: String?

    func validate() throws {
        guard isAsked else {
            let given = [issuerId, keyId, privateKey, productionURL, sandboxURL].contains { $0 != nil }
            guard !given else { throw ValidationError("The key options require --enrich.") }
            return
        }
        for (name, value) in [("--issuer-id", issuerId), ("--key-id", keyId), ("--private-key", privateKey)]
        where value == nil {
            throw ValidationError("--enrich needs \(name).")
        }
    }

    /// The key; nil if nothing is to be completed.
    /// - Throws: `CommandFailure` for a file without a key.
    func key() throws -> InAppPurchaseKey? {
        guard isAsked, let issuerId, let keyId, let privateKey else { return nil }
        return try InAppPurchaseKey(file: privateKey, keyID: keyId, issuerID: issuerId)
    }
}
