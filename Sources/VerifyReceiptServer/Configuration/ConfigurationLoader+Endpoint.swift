import Foundation
import ProductCatalog
import VerifyReceipt

// What is answered, and which notifications are taken in.

extension ConfigurationLoader {
    mutating func endpoint() -> EndpointConfiguration {
        var endpoint = EndpointConfiguration()
        endpoint.apps = (file?.apps ?? []).map { app($0) }
        let inline = values.texts("account-secrets", isSecret: true)
        checkForm(of: inline, key: "account-secrets")
        if !inline.allSatisfy(ConfigurationFile.isSecret) {
            values.note("account-secrets", ConfigurationFile.secretExpectation)
        }
        let place = values.place(of: "account-secret-files")
        let kept = values.texts("account-secret-files").flatMap {
            secrets(path: $0, key: "account-secret-files", place: place)
        }
        endpoint.accountSecrets = (inline + kept).map(SharedSecret.init)
        if let file, file.holdsSecrets, BoundedFile.isReadableByEverybody(file.path) {
            let path = file.path
            warnings.append("\(path) holds secrets and every user of this machine may read it")
        }
        for app in endpoint.apps where app.sharedSecrets.isEmpty && endpoint.accountSecrets.isEmpty {
            warnings.append("\(app.bundleId) has no shared secret: any password is accepted for it")
        }
        endpoint.unknownBundleIds = values.choice("endpoint.unknown-bundle-ids") == "refused" ? .refused : .accepted
        endpoint.base64 = values.choice("endpoint.base64") == "lenient" ? .lenient : .strict
        endpoint.learnsFromReceipts = values.boolean("endpoint.learn")
        endpoint.recordedFacts = values.choice("endpoint.recorded-facts") == "granting" ? .granting : .completing
        endpoint.whenStoreFails =
            values.choice("endpoint.when-store-fails") == "receipt-only" ? .receiptOnly : .unavailable
        endpoint.whenSpoolIsFull = values.choice("spool.when-full") == "answer" ? .answer : .unavailable
        endpoint.latestTransactions =
            values.choice("endpoint.latest-transactions") == "with-subscriptions" ? .withSubscriptions : .always
        endpoint.order = EndpointConfiguration.Order(rawValue: values.choice("endpoint.order")) ?? .newestFirst
        endpoint.freshness = freshness()
        let presumed = values.choices("endpoint.presume")
        endpoint.presumedMembers.ownershipType = presumed.contains("ownership-type")
        endpoint.presumedMembers.introductoryOfferPeriod = presumed.contains("introductory-offer-period")
        endpoint.presumedMembers.lists = presumed.contains("lists")
        endpoint.trust = trust()
        endpoint.receiptCacheBytes = values.integer("endpoint.receipt-cache-bytes")
        if endpoint.unknownBundleIds == .refused, endpoint.apps.isEmpty {
            values.note("endpoint.unknown-bundle-ids", "refuses every receipt, since there are no apps")
        }
        return endpoint
    }

    /// What is open because nothing was configured, in one line each.
    mutating func warnOfWhatIsOpen(_ configuration: VerifyReceiptServerConfiguration) {
        let endpoint = configuration.endpoint
        guard endpoint.apps.isEmpty else { return }
        if endpoint.accountSecrets.isEmpty {
            warnings.append("no shared secret is configured: any password is accepted")
        }
        let isKept = configuration.storeURL != nil && endpoint.learnsFromReceipts
        warnings.append(
            "no apps are configured: receipts of every app are answered" + (isKept ? ", and kept in the store" : ""))
    }

    /// Warns of secrets that cannot be what App Store Connect shows: 32 hexadecimal digits.
    private mutating func checkForm(of secrets: [String], key: String) {
        for (index, secret) in secrets.enumerated() {
            if let problem = Self.problem(ofForm: secret) { warnings.append("\(key)[\(index)]: \(problem)") }
        }
    }

    /// A sentence that holds nothing of the secret; nil for one in the right form.
    private static func problem(ofForm secret: String) -> String? {
        let expected = "expected 32 hexadecimal digits, found"
        guard secret.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else {
            return "\(expected) other characters"
        }
        return secret.utf8.count == 32 ? nil : "\(expected) \(secret.utf8.count)"
    }

    private mutating func app(_ entry: ConfigurationFile.AppEntry) -> AppConfiguration {
        checkForm(of: entry.secrets, key: "\(entry.key).shared-secrets")
        let kept = entry.secretFiles.flatMap {
            secrets(path: $0, key: "\(entry.key).shared-secret-files", place: entry.place)
        }
        var app = AppConfiguration(
            bundleId: entry.bundleId, sharedSecrets: (entry.secrets + kept).map(SharedSecret.init),
            appleId: entry.appleId, freshness: freshness(of: entry), order: entry.order)
        if !entry.catalogs.isEmpty {
            do {
                app.catalog = try ProductCatalog.load(paths: entry.catalogs)
            } catch {
                problems.append(.init(key: "\(entry.key).catalogs", place: entry.place, "\(error)"))
            }
        }
        return app
    }

    /// One secret per line; blank lines do not count.
    private mutating func secrets(path: String, key: String, place: String?) -> [String] {
        do {
            let data = try BoundedFile.read(path, maximumSize: 1 << 16)
            guard let text = String(bytes: data, encoding: .utf8) else {
                problems.append(.init(key: key, place: place, "\(path) is not UTF-8 text"))
                return []
            }
            if BoundedFile.isReadableByEverybody(path) {
                warnings.append("\(path) holds secrets and every user of this machine may read it")
            }
            let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            for (index, line) in lines.enumerated() where !line.isEmpty {
                if let problem = Self.problem(ofForm: line) { warnings.append("\(path):\(index + 1): \(problem)") }
            }
            let secrets = lines.filter { !$0.isEmpty }
            if secrets.isEmpty { problems.append(.init(key: key, place: place, "\(path) holds no secret")) }
            return secrets
        } catch {
            problems.append(.init(key: key, place: place, "\(path) cannot be read: \(error)"))
            return []
        }
    }

    /// Where receipts wait for the store.
    mutating func spool(storeURL: String?) -> VerifyReceiptServerConfiguration.Spool {
        var spool = VerifyReceiptServerConfiguration.Spool(besideStore: storeURL)
        let path = values.text("spool.path")
        if path == "none" {
            spool.path = nil
            if storeURL != nil {
                warnings.append(
                    "spool.path is none: receipts that the store does not take in time are answered and lost")
            }
        } else if let path {
            spool.path = path
            if storeURL == nil { values.note("spool.path", "needs a store (store.url)") }
        }
        spool.maximumBytes = values.integer("spool.max-bytes")
        return spool
    }

    mutating func notifications(
        _ configuration: VerifyReceiptServerConfiguration
    ) -> VerifyReceiptServerConfiguration.Notifications {
        var notifications = VerifyReceiptServerConfiguration.Notifications()
        notifications.enabled = values.boolean("notifications.enabled")
        notifications.version1 = values.boolean("notifications.v1")
        let endpoint = configuration.endpoint
        if notifications.version1, endpoint.accountSecrets.isEmpty, endpoint.apps.allSatisfy(\.sharedSecrets.isEmpty) {
            values.note("notifications.v1", "needs a shared secret, which is all that says where they come from")
        }
        if values.isGiven("notifications.enabled"), notifications.enabled, configuration.storeURL == nil {
            values.note("notifications.enabled", "needs a store (store.url)")
        }
        return notifications
    }
}
