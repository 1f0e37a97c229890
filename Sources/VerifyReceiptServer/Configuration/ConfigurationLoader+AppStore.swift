import AppStoreServer
import Foundation
import VerifyReceipt

// How current answers have to be, and with what the App Store is asked.

extension ConfigurationLoader {
    mutating func freshness() -> Freshness {
        Freshness(
            source: Freshness.Source(rawValue: values.choice("endpoint.freshness.mode")) ?? .store,
            maximumAge: Int64((values.duration("endpoint.freshness.maximum-age") / .milliseconds(1)).rounded()),
            isRequired: values.boolean("endpoint.freshness.required"))
    }

    /// Nil if the entry says nothing of its own.
    mutating func freshness(of entry: ConfigurationFile.AppEntry) -> Freshness? {
        let own = entry.freshness
        guard own.mode != nil || own.maximumAge != nil || own.isRequired != nil else { return nil }
        var freshness = freshness()
        if let mode = own.mode { freshness.source = mode }
        if let age = own.maximumAge { freshness.maximumAge = Self.milliseconds(age) }
        if let isRequired = own.isRequired { freshness.isRequired = isRequired }
        return freshness
    }

    private static func milliseconds(_ seconds: Double) -> Int64 { Int64((seconds * 1_000).rounded()) }

    /// The keys of the apps that have one, by their own entry or by the entry for all.
    mutating func appStore() -> [AppStoreCredentials] {
        let all = ConfigurationFile.AppStoreServerEntry(
            issuerID: values.text("app-store-server.issuer-id"), keyID: values.text("app-store-server.key-id"),
            privateKeyFile: values.text("app-store-server.private-key-file"))
        let urls = ["app-store-server.production-url", "app-store-server.sandbox-url"].map { url($0) }
        var result: [AppStoreCredentials] = []
        for app in file?.apps ?? [] {
            let own = app.appStoreServer
            let entry = ConfigurationFile.AppStoreServerEntry(
                issuerID: own.issuerID ?? all.issuerID, keyID: own.keyID ?? all.keyID,
                privateKeyFile: own.privateKeyFile ?? all.privateKeyFile)
            let key = "\(app.key).app-store-server"
            guard let purchaseKey = purchaseKey(entry, key: key, place: app.place) else { continue }
            result.append(
                AppStoreCredentials(
                    bundleID: app.bundleId, key: purchaseKey, productionURL: urls[0], sandboxURL: urls[1]))
        }
        if (file?.apps ?? []).isEmpty, all.keyID != nil {
            values.note("app-store-server.key-id", "is of no use without apps")
        }
        return result
    }

    private mutating func url(_ key: String) -> String? {
        guard let text = values.text(key) else { return nil }
        guard let url = URL(string: text), url.scheme == "https" || url.scheme == "http", url.host()?.isEmpty == false
        else {
            values.note(key, "has to be an address with https:// or http://")
            return nil
        }
        return text
    }

    private mutating func purchaseKey(
        _ entry: ConfigurationFile.AppStoreServerEntry, key: String, place: String
    ) -> InAppPurchaseKey? {
        let parts = [
            ("issuer-id", entry.issuerID), ("key-id", entry.keyID), ("private-key-file", entry.privateKeyFile),
        ]
        guard parts.contains(where: { $0.1 != nil }) else { return nil }
        for (name, value) in parts where value == nil {
            problems.append(.init(key: "\(key).\(name)", place: place, "is missing"))
        }
        guard let issuerID = entry.issuerID, let keyID = entry.keyID, let path = entry.privateKeyFile else {
            return nil
        }
        do {
            let text = String(decoding: try BoundedFile.read(path, maximumSize: 1 << 16), as: UTF8.self)
            let purchaseKey = try InAppPurchaseKey(pem: text, keyID: keyID, issuerID: issuerID)
            if BoundedFile.isReadableByEverybody(path) {
                warnings.append("\(path) holds a private key and every user of this machine may read it")
            }
            return purchaseKey
        } catch let error as BoundedFile.Failure {
            problems.append(.init(key: "\(key).private-key-file", place: place, "\(path) cannot be read: \(error)"))
        } catch {
            problems.append(.init(key: "\(key).private-key-file", place: place, "\(path): \(error)"))
        }
        return nil
    }

    /// What is to be asked of the App Store needs a key for the app and a store for the answers.
    mutating func checkFreshness(_ configuration: VerifyReceiptServerConfiguration) {
        let known = Set(configuration.appStore.map(\.bundleID))
        let general = configuration.endpoint.freshness.source
        var asks = false
        for (app, entry) in zip(configuration.endpoint.apps, file?.apps ?? []) {
            guard (app.freshness?.source ?? general) == .appStore else { continue }
            asks = true
            guard !known.contains(app.bundleId) else { continue }
            problems.append(
                .init(
                    key: "\(entry.key).app-store-server", place: entry.place,
                    "is missing: freshness.mode is app-store"))
        }
        if general == .appStore, configuration.endpoint.apps.isEmpty {
            values.note("endpoint.freshness.mode", "app-store needs apps with app-store-server")
        }
        if asks, configuration.storeURL == nil {
            values.note("store.url", "freshness.mode app-store needs a store")
        }
    }
}
