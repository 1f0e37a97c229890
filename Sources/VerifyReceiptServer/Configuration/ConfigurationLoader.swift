import AppStoreServer
import AppStoreSync
import Foundation
import LegacyReceipts
import NIOSSL
import ProductCatalog
import TransactionStore
import VerifyReceipt

/// The sources of a configuration. Flags override environment variables, which override the file, which overrides the
/// defaults.
public struct ConfigurationSources: Sendable {
    /// The path of a YAML or JSON file.
    public var file: String?
    /// All variables of the process; only those with the prefix `LEGACY_RECEIPTS_` count.
    public var environment: [String: String]
    /// Texts by key, as `timeouts.idle`.
    public var flags: [String: String]

    public init(file: String? = nil, environment: [String: String] = [:], flags: [String: String] = [:]) {
        self.file = file
        self.environment = environment
        self.flags = flags
    }

    /// Reads everything: the file, the files it names, secrets and certificates.
    ///
    /// - Throws: ``ConfigurationError`` with every problem.
    public func load() throws -> VerifyReceiptServerConfiguration {
        let contents = try file.map { try ConfigurationFile(path: $0) }
        var loader = ConfigurationLoader(sources: self, file: contents)
        return try loader.load()
    }
}

struct ConfigurationLoader {
    let file: ConfigurationFile?
    /// The path of the file, for problems without a line.
    let place: String?
    var values: ConfigurationValues
    var problems: [ConfigurationError.Problem]
    var warnings: [String] = []

    init(sources: ConfigurationSources, file: ConfigurationFile?) {
        self.file = file
        place = sources.file
        values = ConfigurationValues(
            flags: sources.flags, environment: sources.environment, entries: file?.entries ?? [], file: sources.file)
        problems = file?.problems ?? []
    }

    mutating func load() throws -> VerifyReceiptServerConfiguration {
        var configuration = VerifyReceiptServerConfiguration(endpoint: endpoint())
        configuration.signedDataTrust = signedDataTrust()
        configuration.revocation = revocation()
        signedTransactions(in: &configuration)
        configuration.listeners = listeners()
        configuration.sandboxHosts = sandboxHosts()
        configuration.trustedProxies = trustedProxies()
        configuration.admin =
            values.boolean("admin.enabled")
            ? .init(host: values.text("admin.host") ?? "127.0.0.1", port: values.integer("admin.port")) : nil
        configuration.lookUp = lookUp()
        let store = values.text("store.url")
        configuration.storeURL = store == "none" ? nil : store
        if let url = configuration.storeURL {
            do {
                _ = try StoreURL(url)
            } catch {
                let reason = (error as? TransactionStoreError)?.message ?? "is not the address of a store"
                values.note("store.url", reason)
            }
        }
        if configuration.lookUp != nil, configuration.storeURL == nil {
            values.note("look-up.enabled", "needs a store (store.url)")
        }
        configuration.consumption = consumption()
        if configuration.consumption != nil, configuration.storeURL == nil {
            values.note("consumption.rules", "needs a store (store.url)")
        }
        configuration.endings = .init(
            interval: values.duration("ledger.endings-interval"), delay: values.duration("ledger.endings-delay"))
        configuration.retention = retention(storeURL: configuration.storeURL)
        configuration.spool = spool(storeURL: configuration.storeURL)
        configuration.limits = limits()
        configuration.timeouts = timeouts()
        configuration.logging.level = values.choice("log.level")
        configuration.logging.format = .init(rawValue: values.choice("log.format")) ?? .json
        configuration.logging.requests = values.boolean("log.requests")
        configuration.shadow = shadow()
        configuration.appStore = appStore()
        checkFreshness(configuration)
        configuration.notifications = notifications(configuration)
        warnOfMissingProtection(configuration)
        for (index, listener) in configuration.listeners.enumerated() {
            check(listener.tls, key: file?.listeners == nil ? "listen.tls" : "listeners[\(index)].tls")
        }
        // A value that is read twice has its problem twice.
        var seen: Set<String> = []
        let all = (problems + values.problems).filter { seen.insert($0.description).inserted }
        guard all.isEmpty else { throw ConfigurationError(all) }
        configuration.warnings = warnings
        return configuration
    }
}

// Listeners, proxies, shadow mode, limits and timeouts.

extension ConfigurationLoader {
    /// A listener from flags or variables would replace all listeners of the file, including those with TLS, so it is an error.
    mutating func listeners() -> [VerifyReceiptServerConfiguration.Listener] {
        let keys = Setting.all.map(\.key).filter { $0.hasPrefix("listen.") }
        if let listeners = file?.listeners {
            for key in keys where values.isGiven(key) {
                values.note(key, "the file has listeners too; describe every listener there")
            }
            return listeners
        }
        var listener = VerifyReceiptServerConfiguration.Listener(
            host: values.text("listen.host") ?? "127.0.0.1", port: values.integer("listen.port"),
            role: .init(rawValue: values.choice("listen.role")) ?? .both)
        switch (values.text("listen.tls.certificate"), values.text("listen.tls.private-key")) {
        case (let certificate?, let privateKey?):
            listener.tls = .init(certificate: certificate, privateKey: privateKey)
        case (nil, nil): break
        case (nil, _): values.note("listen.tls.certificate", "is missing: listen.tls.private-key needs it")
        case (_, nil): values.note("listen.tls.private-key", "is missing: listen.tls.certificate needs it")
        }
        return [listener]
    }

    /// Requires a token, because otherwise everyone who reaches the socket could read about customers.
    mutating func lookUp() -> VerifyReceiptServerConfiguration.LookUpListener? {
        guard values.boolean("look-up.enabled") else { return nil }
        let key = "look-up.token-files"
        let place = values.place(of: key)
        let tokens = values.texts(key).flatMap { lines(ofSecretFile: $0, key: key, place: place) }.map(\.text)
        if values.texts(key).isEmpty { values.note(key, "is missing: requests need a bearer token from a file") }
        if tokens.contains(where: { $0.utf8.count < Self.minimumTokenBytes }) {
            problems.append(
                .init(
                    key: key, place: place,
                    "a token has fewer than \(Self.minimumTokenBytes) characters; make one with: openssl rand -hex 32"))
        }
        return .init(
            host: values.text("look-up.host") ?? "127.0.0.1", port: values.integer("look-up.port"),
            tokens: tokens.map { SharedSecret($0) })
    }

    /// Consent is never assumed, so rules alone answer nothing.
    private mutating func consumption() -> VerifyReceiptServerConfiguration.ConsumptionAnswers? {
        let (rules, consents) = (values.text("consumption.rules"), values.text("consumption.customer-consented"))
        guard let rules, let consents else {
            if rules != nil {
                values.note("consumption.customer-consented", "is missing: it states what customers agreed to")
            }
            if consents != nil { values.note("consumption.rules", "is missing: it states the answers") }
            return nil
        }
        return .init(
            rulesFile: rules, consentFile: consents, consumer: values.text("consumption.consumer"),
            interval: values.duration("consumption.interval"))
    }

    private mutating func retention(storeURL: String?) -> VerifyReceiptServerConfiguration.Retention {
        let retention = VerifyReceiptServerConfiguration.Retention(
            notificationDays: values.integer("retention.notifications-days"),
            receiptDays: values.integer("retention.receipts-days"), ledgerDays: values.integer("retention.ledger-days"))
        if (1..<RetentionLimits.notificationDays).contains(retention.notificationDays) {
            values.note(
                "retention.notifications-days",
                "is less than \(RetentionLimits.notificationDays): the App Store can still send those notifications")
        }
        if retention.isOn, storeURL == nil {
            let keys = ["retention.notifications-days", "retention.receipts-days", "retention.ledger-days"]
            let days = [retention.notificationDays, retention.receiptDays, retention.ledgerDays]
            for (key, days) in zip(keys, days) where days > 0 { values.note(key, "needs a store (store.url)") }
        }
        return retention
    }

    private static let minimumTokenBytes = 32

    /// - Parameter key: the key of the two paths.
    mutating func check(_ tls: VerifyReceiptServerConfiguration.TLSFiles?, key: String) {
        guard let tls else { return }
        do {
            _ = try TLSSetup.configuration(tls)
        } catch {
            let fileKey = (error as? TLSSetup.Failure).map { "\(key).\($0.key)" } ?? key
            problems.append(.init(key: fileKey, place: values.place(of: fileKey) ?? place, "\(error)"))
        }
        if BoundedFile.isReadableByEverybody(tls.privateKey) {
            warnings.append("\(tls.privateKey) contains a private key and every user of this machine may read it")
        }
    }

    /// Host names without a port. A name with more parts would never match `Host`.
    mutating func sandboxHosts() -> [String] {
        let hosts = values.texts("sandbox-hosts").map { $0.lowercased() }
        if !hosts.allSatisfy(Self.isHostName) {
            values.note(
                "sandbox-hosts", "must be a list of host names alone, without scheme, port, path or final dot")
        }
        return hosts
    }

    /// Letters, digits, hyphens and dots (RFC 1123, 2.1), plus the underscore, which some host names contain anyway.
    private static func isHostName(_ text: String) -> Bool {
        let allowed = Set("abcdefghijklmnopqrstuvwxyz0123456789-_.".utf8)
        return (1...253).contains(text.utf8.count) && text.utf8.allSatisfy(allowed.contains)
            && !text.hasPrefix(".") && !text.hasSuffix(".")
    }

    mutating func trustedProxies() -> [IPNetwork] {
        let texts = values.texts("trusted-proxies")
        let networks = texts.compactMap(IPNetwork.init)
        if networks.count != texts.count {
            values.note(
                "trusted-proxies",
                "must be a list of networks such as 10.0.0.0/8 or addresses; host names are not supported")
        }
        return networks
    }

    mutating func shadow() -> ShadowConfiguration? {
        let record = values.text("shadow.record")
        guard let url = values.text("shadow.url") else {
            if record != nil { values.note("shadow.record", "shadow.url is missing") }
            return nil
        }
        if let record, let obstacle = BoundedFile.obstacleToWriting(record) {
            values.note("shadow.record", "\(record) cannot be written: \(obstacle)")
        }
        do {
            var shadow = try ShadowConfiguration(base: url)
            shadow.recordPath = record
            return shadow
        } catch {
            values.note("shadow.url", "\(error)")
            return nil
        }
    }

    mutating func limits() -> VerifyReceiptServerConfiguration.Limits {
        var limits = VerifyReceiptServerConfiguration.Limits()
        limits.bodyBytes = values.integer("limits.body-bytes")
        limits.headerBytes = values.integer("limits.header-bytes")
        limits.headerFields = values.integer("limits.header-fields")
        limits.connections = values.integer("limits.connections")
        limits.connectionsPerAddress = values.integer("limits.connections-per-address")
        limits.concurrentRequests = values.integer("limits.concurrent-requests")
        limits.waitingRequests = values.integer("limits.waiting-requests")
        limits.bufferedBytes = values.integer("limits.buffered-bytes")
        let largest = BufferBudget.maximumForLarge(limits.bufferedBytes)
        if limits.bodyBytes > largest {
            let key = values.isGiven("limits.body-bytes") ? "limits.body-bytes" : "limits.buffered-bytes"
            values.note(
                key,
                "a body of limits.body-bytes (\(limits.bodyBytes)) would always get 503: one body may use three quarters "
                    + "of limits.buffered-bytes, which are \(largest)")
        }
        return limits
    }

    mutating func timeouts() -> VerifyReceiptServerConfiguration.Timeouts {
        var timeouts = VerifyReceiptServerConfiguration.Timeouts()
        timeouts.handshake = values.duration("timeouts.handshake")
        timeouts.headers = values.duration("timeouts.headers")
        timeouts.body = values.duration("timeouts.body")
        timeouts.write = values.duration("timeouts.write")
        timeouts.idle = values.duration("timeouts.idle")
        timeouts.drain = values.duration("timeouts.drain")
        timeouts.shutdown = values.duration("timeouts.shutdown")
        timeouts.store = values.duration("timeouts.store")
        timeouts.appStore = values.duration("timeouts.app-store")
        return timeouts
    }
}

// Replies and notifications.

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
        if let file, file.containsSecrets, BoundedFile.isReadableByEverybody(file.path) {
            let path = file.path
            warnings.append("\(path) contains secrets and every user of this machine may read it")
        }
        for app in endpoint.apps where app.sharedSecrets.isEmpty && endpoint.accountSecrets.isEmpty {
            warnings.append("\(app.bundleId) has no shared secret: any password is accepted for it")
        }
        for app in endpoint.apps where app.answersValidations && app.catalog?.isEmpty ?? true {
            warnings.append(
                """
                \(app.bundleId) has no product catalog: /validate cannot state when its non-renewing subscriptions end, and \
                the plugin counts them as owned
                """)
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
        endpoint.sandboxAtProduction =
            .init(rawValue: values.choice("endpoint.sandbox-at-production")) ?? .refused
        for app in endpoint.apps where (app.sandboxAtProduction ?? endpoint.sandboxAtProduction) == .answered {
            warnings.append(
                "\(app.bundleId): sandbox-at-production answers sandbox purchases, which cost nothing, at production too"
            )
        }
        endpoint.freshness = freshness()
        let presumed = values.choices("endpoint.presume")
        endpoint.presumedMembers.ownershipType = presumed.contains("ownership-type")
        endpoint.presumedMembers.introductoryOfferPeriod = presumed.contains("introductory-offer-period")
        endpoint.presumedMembers.lists = presumed.contains("lists")
        let added = values.choices("endpoint.add")
        endpoint.additionalMembers.terms = added.contains("terms")
        endpoint.additionalMembers.seats = added.contains("seats")
        endpoint.trust = trust()
        endpoint.receiptCacheBytes = values.integer("endpoint.receipt-cache-bytes")
        if endpoint.unknownBundleIds == .refused, endpoint.apps.isEmpty {
            values.note("endpoint.unknown-bundle-ids", "rejects every receipt, because there are no apps")
        }
        return endpoint
    }

    /// Adds a warning for each protection that is not configured.
    mutating func warnOfMissingProtection(_ configuration: VerifyReceiptServerConfiguration) {
        let endpoint = configuration.endpoint
        guard endpoint.apps.isEmpty else { return }
        if endpoint.accountSecrets.isEmpty {
            warnings.append("no shared secret is configured: any password is accepted")
        }
        let isKept = configuration.storeURL != nil && endpoint.learnsFromReceipts
        warnings.append(
            "no apps are configured: receipts of every app are answered" + (isKept ? ", and kept in the store" : ""))
    }

    /// Warns about secrets that are not in the form of App Store Connect: 32 hexadecimal digits.
    private mutating func checkForm(of secrets: [String], key: String) {
        for (index, secret) in secrets.enumerated() {
            if let problem = Self.problem(ofForm: secret) { warnings.append("\(key)[\(index)]: \(problem)") }
        }
    }

    /// The fault in the form of a secret, without any part of it; nil if there is none.
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
        app.sandboxAtProduction = entry.sandboxAtProduction
        app.answersValidations = entry.answersValidations
        if !entry.catalogs.isEmpty {
            do {
                app.catalog = try ProductCatalog.load(paths: entry.catalogs)
            } catch {
                problems.append(.init(key: "\(entry.key).catalogs", place: entry.place, "\(error)"))
            }
        }
        return app
    }

    /// One secret per line; ignores blank lines.
    private mutating func secrets(path: String, key: String, place: String?) -> [String] {
        lines(ofSecretFile: path, key: key, place: place).map { line in
            if let problem = Self.problem(ofForm: line.text) { warnings.append("\(path):\(line.number): \(problem)") }
            return line.text
        }
    }

    /// The lines of a file that are not empty, with their numbers from 1.
    private mutating func lines(
        ofSecretFile path: String, key: String, place: String?
    ) -> [(number: Int, text: String)] {
        do {
            let data = try BoundedFile.read(path, maximumSize: 1 << 16)
            guard let text = String(bytes: data, encoding: .utf8) else {
                problems.append(.init(key: key, place: place, "\(path) is not UTF-8 text"))
                return []
            }
            if BoundedFile.isReadableByEverybody(path) {
                warnings.append("\(path) contains secrets and every user of this machine may read it")
            }
            let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            let secrets = lines.enumerated().filter { !$0.element.isEmpty }.map {
                (number: $0.offset + 1, text: $0.element)
            }
            if secrets.isEmpty { problems.append(.init(key: key, place: place, "\(path) contains no secret")) }
            return secrets
        } catch {
            problems.append(.init(key: key, place: place, "\(path) cannot be read: \(error)"))
            return []
        }
    }

    /// The spool for receipts that wait for the store.
    mutating func spool(storeURL: String?) -> VerifyReceiptServerConfiguration.Spool {
        var spool = VerifyReceiptServerConfiguration.Spool(besideStore: storeURL)
        let path = values.text("spool.path")
        if path == "none" {
            spool.path = nil
            if storeURL != nil {
                warnings.append(
                    "spool.path is none: receipts that the store does not write in time are answered and lost")
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
            values.note("notifications.v1", "needs a shared secret: nothing else authenticates these notifications")
        }
        if values.isGiven("notifications.enabled"), notifications.enabled, configuration.storeURL == nil {
            values.note("notifications.enabled", "needs a store (store.url)")
        }
        return notifications
    }
}

// Trust anchors of receipts, and certificates.

extension ConfigurationLoader {
    mutating func trust() -> TrustPolicy {
        let roots = values.texts("trust.roots").flatMap { receiptCertificates($0, key: "trust.roots") }
        let intermediates = values.texts("trust.intermediates").flatMap {
            receiptCertificates($0, key: "trust.intermediates")
        }
        let xcode = values.boolean("trust.accept-xcode")
        if !roots.isEmpty {
            warnings.append("trust.roots accepts receipts that Apple did not sign: for tests only")
        }
        if xcode { warnings.append("trust.accept-xcode accepts receipts that anyone can create: for tests only") }
        return TrustPolicy(
            additionalRoots: roots, additionalIntermediates: intermediates, acceptsXcodeReceipts: xcode)
    }

    private mutating func receiptCertificates(_ path: String, key: String) -> [[UInt8]] {
        certificates(path, key: key) { encoded in
            _ = try VerifyReceiptEndpoint(
                configuration: EndpointConfiguration(trust: TrustPolicy(additionalRoots: encoded)), store: nil)
        }
    }

    /// The certificates of a PEM or DER file as DER.
    ///
    /// - Parameter check: throws if the certificates cannot be used for this key.
    mutating func certificates(_ path: String, key: String, check: ([[UInt8]]) throws -> Void) -> [[UInt8]] {
        let place = values.place(of: key)
        do {
            let bytes = Array(try BoundedFile.read(path, maximumSize: 1 << 20))
            let isPEM = String(decoding: bytes, as: UTF8.self).contains("-----BEGIN CERTIFICATE-----")
            let certificates =
                isPEM
                ? try NIOSSLCertificate.fromPEMBytes(bytes) : [try NIOSSLCertificate(bytes: bytes, format: .der)]
            let encoded = try certificates.map { try $0.toDERBytes() }
            try check(encoded)
            return encoded
        } catch let error as BoundedFile.Failure {
            problems.append(.init(key: key, place: place, "\(path) cannot be read: \(error)"))
        } catch {
            problems.append(.init(key: key, place: place, "\(path) is not an X.509 certificate in PEM or DER"))
        }
        return []
    }
}

extension ConfigurationLoader {
    /// The trust anchors of the App Store's JWS.
    mutating func signedDataTrust() -> SignedDataTrust {
        let roots = values.texts("trust.signed-data-roots").flatMap { path in
            certificates(path, key: "trust.signed-data-roots") { encoded in
                _ = try SignedDataVerifier(trust: SignedDataTrust(additionalRoots: encoded))
            }
        }
        if !roots.isEmpty {
            warnings.append("trust.signed-data-roots accepts signed data that Apple did not sign: for tests only")
        }
        return SignedDataTrust(additionalRoots: roots, acceptsXcode: values.boolean("trust.accept-xcode"))
    }

    /// One checker for all JWS, so that they share a cache.
    mutating func revocation() -> (any RevocationChecking)? {
        guard values.boolean("trust.revocation-check") else { return nil }
        return OCSPRevocationChecker(transport: AsyncHTTPClientTransport())
    }

    /// The verifier of StoreKit 2 transactions, for the extension of verifyReceipt and for validations.
    mutating func signedTransactions(in configuration: inout VerifyReceiptServerConfiguration) {
        let answersSignedTransactions = values.boolean("endpoint.answer-signed-transactions")
        guard answersSignedTransactions || configuration.endpoint.apps.contains(where: \.answersValidations) else {
            return
        }
        do {
            configuration.endpoint.signedTransactionVerifier = try SignedTransactionVerifier(
                trust: configuration.signedDataTrust, revocation: configuration.revocation)
            configuration.endpoint.answersSignedTransactions = answersSignedTransactions
        } catch {
            values.note("trust.signed-data-roots", "\(error)")
        }
    }
}

// Freshness of replies, and the App Store Server API.

extension ConfigurationLoader {
    mutating func freshness() -> Freshness {
        Freshness(
            source: Freshness.Source(rawValue: values.choice("endpoint.freshness.mode")) ?? .store,
            maximumAge: Int64((values.duration("endpoint.freshness.maximum-age") / .milliseconds(1)).rounded()),
            isRequired: values.boolean("endpoint.freshness.required"))
    }

    /// Nil if the entry has no settings of its own.
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

    /// The In-App Purchase keys of the apps, from their own entries or from the general one.
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
            values.note("app-store-server.key-id", "has no effect without apps")
        }
        return result
    }

    private mutating func url(_ key: String) -> String? {
        guard let text = values.text(key) else { return nil }
        guard let url = URL(string: text), url.scheme == "https" || url.scheme == "http", url.host()?.isEmpty == false
        else {
            values.note(key, "must be an address with https:// or http://")
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
                warnings.append("\(path) contains a private key and every user of this machine may read it")
            }
            return purchaseKey
        } catch let error as BoundedFile.Failure {
            problems.append(.init(key: "\(key).private-key-file", place: place, "\(path) cannot be read: \(error)"))
        } catch {
            problems.append(.init(key: "\(key).private-key-file", place: place, "\(path): \(error)"))
        }
        return nil
    }

    /// Freshness from the App Store needs a key for the app, and a store for the answers.
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
