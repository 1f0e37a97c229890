import AppStoreModels
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
    /// The options of a command that gave ``flags``, by key, such as `--port`. Errors name them. The others are from `--set`.
    public var options: [String: String] = [:]

    /// Names the sources without reading them: ``load()`` reads them.
    /// - Parameters:
    ///   - file: the path of a YAML or JSON file; nil for none.
    ///   - environment: all variables of the process.
    ///   - flags: texts by key.
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
            flags: sources.flags, options: sources.options, environment: sources.environment,
            entries: file?.entries ?? [], file: sources.file)
        problems = file?.problems ?? []
    }

    mutating func load() throws -> VerifyReceiptServerConfiguration {
        var configuration = VerifyReceiptServerConfiguration()
        for setting in Setting.all { setting.apply?(&values, &configuration) }
        apps(in: &configuration)
        endpoint(in: &configuration.endpoint)
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
        configuration.storeURL = storeURL()
        configuration.consumption = consumption()
        if configuration.storeURL == nil { checkNothingNeedsAStore(configuration) }
        checkRetention(configuration)
        configuration.spool.path = spoolPath(storeURL: configuration.storeURL)
        checkBodySize(configuration.limits)
        configuration.shadow = shadow()
        checkFreshness(configuration)
        checkNotifications(configuration)
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
        guard let elements = file?.listeners else { return [Self.listener(&values, "listen.")] }
        for key in Setting.all.map(\.key) where key.hasPrefix("listen.") && values.isGiven(key) {
            values.note(key, "the file has listeners too; describe every listener there")
        }
        var listeners: [VerifyReceiptServerConfiguration.Listener] = []
        for element in elements {
            var values = ConfigurationValues(of: element, Setting.ofListener, file: place)
            let listener = Self.listener(&values)
            // A wrong port is a problem of the file already.
            if !values.isGiven("port"), !problems.contains(where: { $0.key == values.name("port") }) {
                values.note("port", "is missing")
            }
            problems += values.problems
            if listener.port != 0, listeners.contains(where: { $0.host == listener.host && $0.port == listener.port }) {
                let message = "another listener has \(listener.host):\(listener.port)"
                problems.append(.init(key: element.key, place: element.place, message))
            }
            listeners.append(listener)
        }
        return listeners
    }

    /// - Parameters:
    ///   - values: the values by key.
    ///   - prefix: the level above the keys, with a dot; empty in an element of `listeners`.
    private static func listener(
        _ values: inout ConfigurationValues, _ prefix: String = ""
    ) -> VerifyReceiptServerConfiguration.Listener {
        var listener = VerifyReceiptServerConfiguration.Listener(
            host: values.text(prefix + "host") ?? "127.0.0.1", port: values.integer(prefix + "port"),
            role: .init(rawValue: values.choice(prefix + "role")) ?? .both)
        let (certificate, privateKey) = (prefix + "tls.certificate", prefix + "tls.private-key")
        switch (values.text(certificate), values.text(privateKey)) {
        case (let certificate?, let privateKey?):
            listener.tls = .init(certificate: certificate, privateKey: privateKey)
        case (nil, nil): break
        case (nil, _): values.note(certificate, "is missing: \(values.name(privateKey)) needs it")
        case (_, nil): values.note(privateKey, "is missing: \(values.name(certificate)) needs it")
        }
        return listener
    }

    /// Requires a token, because otherwise everyone who reaches the socket could read about customers.
    mutating func lookUp() -> VerifyReceiptServerConfiguration.LookUpListener? {
        guard values.boolean("look-up.enabled") else { return nil }
        let key = "look-up.token-files"
        let place = values.place(of: key)
        let tokens = values.texts(key).flatMap { lines(ofSecretFile: $0, key: key, place: place) }.map(\.text)
        if values.texts(key).isEmpty { values.note(key, "is missing: requests need a bearer token from a file") }
        if tokens.contains(where: { $0.utf8.count < Self.minimumTokenBytes }) {
            values.note(
                key, "a token has fewer than \(Self.minimumTokenBytes) characters; make one with: openssl rand -hex 32")
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

    private mutating func checkRetention(_ configuration: VerifyReceiptServerConfiguration) {
        let retention = configuration.retention
        if (1..<RetentionLimits.notificationDays).contains(retention.notificationDays) {
            values.note(
                "retention.notifications-days",
                "is less than \(RetentionLimits.notificationDays): the App Store can still send those notifications")
        }
    }

    /// The address of the store; nil for none.
    private mutating func storeURL() -> String? {
        guard let url = values.text("store.url"), url != "none" else { return nil }
        do {
            _ = try StoreURL(url)
        } catch {
            values.note(
                "store.url", (error as? TransactionStoreError)?.message ?? "is not the address of a store")
        }
        return url
    }

    private mutating func checkNothingNeedsAStore(_ configuration: VerifyReceiptServerConfiguration) {
        let (retention, notifications) = (configuration.retention, configuration.notifications)
        let needs = [
            ("look-up.enabled", configuration.lookUp != nil), ("consumption.rules", configuration.consumption != nil),
            ("retention.notifications-days", retention.notificationDays > 0),
            ("retention.receipts-days", retention.receiptDays > 0),
            ("retention.ledger-days", retention.ledgerDays > 0),
            ("notifications.enabled", values.isGiven("notifications.enabled") && notifications.enabled),
            ("spool.path", values.isGiven("spool.path") && values.text("spool.path") != "none"),
        ]
        for (key, isNeeded) in needs where isNeeded { values.note(key, "needs a store (store.url)") }
    }

    private static let minimumTokenBytes = 32

    /// - Parameters:
    ///   - tls: the paths of the certificate and the key; nil without TLS.
    ///   - key: the key of the two paths.
    mutating func check(_ tls: VerifyReceiptServerConfiguration.TLSFiles?, key: String) {
        guard let tls else { return }
        do {
            _ = try TLSSetup.configuration(tls)
        } catch {
            let fileKey = (error as? TLSSetup.Failure).map { "\(key).\($0.key)" } ?? key
            problems.append(.init(key: fileKey, place: values.place(of: fileKey) ?? place, "\(error)"))
        }
        warnIfReadable(tls.privateKey, with: "a private key")
    }

    private mutating func warnIfReadable(_ path: String, with content: String) {
        guard BoundedFile.isReadableByEverybody(path) else { return }
        warnings.append("\(path) contains \(content) and every user of this machine may read it")
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

    private mutating func checkBodySize(_ limits: VerifyReceiptServerConfiguration.Limits) {
        let largest = BufferBudget.maximumForLarge(limits.bufferedBytes)
        guard limits.bodyBytes > largest else { return }
        let key = values.isGiven("limits.body-bytes") ? "limits.body-bytes" : "limits.buffered-bytes"
        values.note(
            key,
            "a body of limits.body-bytes (\(limits.bodyBytes)) would always get 503: one body may use three quarters "
                + "of limits.buffered-bytes, which are \(largest)")
    }
}

// Replies and notifications.

extension ConfigurationLoader {
    mutating func endpoint(in endpoint: inout EndpointConfiguration) {
        var general = values
        endpoint.accountSecrets = secrets(&general, "account-secrets", files: "account-secret-files")
        values = general
        if let file, file.containsSecrets { warnIfReadable(file.path, with: "secrets") }
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
        for app in endpoint.apps where (app.sandboxAtProduction ?? endpoint.sandboxAtProduction) == .answered {
            warnings.append(
                "\(app.bundleId): sandbox-at-production answers sandbox purchases, which cost nothing, at production too"
            )
        }
        let presumed = values.choices("endpoint.presume")
        endpoint.presumedMembers.ownershipType = presumed.contains("ownership-type")
        endpoint.presumedMembers.introductoryOfferPeriod = presumed.contains("introductory-offer-period")
        endpoint.presumedMembers.lists = presumed.contains("lists")
        let added = values.choices("endpoint.add")
        endpoint.additionalMembers.terms = added.contains("terms")
        endpoint.additionalMembers.seats = added.contains("seats")
        endpoint.trust = trust()
        if endpoint.unknownBundleIds == .refused, endpoint.apps.isEmpty {
            values.note("endpoint.unknown-bundle-ids", "rejects every receipt, because there are no apps")
        }
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

    /// The apps, and their In-App Purchase keys.
    private mutating func apps(in configuration: inout VerifyReceiptServerConfiguration) {
        let general = Self.purchaseKeyParts.map { values.text($0) }
        let urls = ["app-store-server.production-url", "app-store-server.sandbox-url"].map { url($0) }
        let elements = file?.apps ?? []
        for element in elements {
            var own = ConfigurationValues(of: element, Setting.ofApp, file: place)
            let app = app(&own, configuration.endpoint.freshness)
            let other = configuration.endpoint.apps.firstIndex { $0.bundleId == app.bundleId }
            if let other, !app.bundleId.isEmpty {
                own.note("bundle-id", "\(app.bundleId) is at \(elements[other].place) already")
            }
            if let key = purchaseKey(&own, general) {
                configuration.appStore.append(
                    AppStoreCredentials(
                        bundleID: app.bundleId, key: key, productionURL: urls[0], sandboxURL: urls[1]))
            } else if (app.freshness ?? configuration.endpoint.freshness).source == .appStore {
                // Freshness from the App Store needs a key for the app.
                own.note("app-store-server", "is missing: freshness.mode is app-store")
            }
            configuration.endpoint.apps.append(app)
            problems += own.problems
        }
        if elements.isEmpty, general[1] != nil {
            values.note("app-store-server.key-id", "has no effect without apps")
        }
    }

    private mutating func app(_ own: inout ConfigurationValues, _ freshness: Freshness) -> AppConfiguration {
        var app = AppConfiguration(bundleId: own.text("bundle-id") ?? "")
        if !Self.isBundleId(app.bundleId) {
            let isGiven = own.isGiven("bundle-id")
            own.note(
                "bundle-id", isGiven ? "must be a bundle id: letters, digits, dots and hyphens" : "is missing")
        }
        app.sharedSecrets = secrets(&own, "shared-secrets", files: "shared-secret-files")
        if own.isGiven("apple-id") { app.appleId = Int64(own.integer("apple-id")) }
        let catalogs = own.texts("catalogs")
        if !catalogs.isEmpty {
            do { app.catalog = try ProductCatalog.load(paths: catalogs) } catch { own.note("catalogs", "\(error)") }
        }
        app.order = own.given("order")
        app.sandboxAtProduction = own.given("sandbox-at-production")
        app.answersValidations = own.boolean("validate")
        app.freshness = self.freshness(&own, freshness)
        return app
    }

    /// Apple's rule (CFBundleIdentifier), plus the underscore, which some bundle ids contain anyway.
    private static func isBundleId(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || "._-".utf8.contains($0) }
    }

    /// The secrets of a key, and the lines of the files of another one; ignores blank lines.
    private mutating func secrets(_ values: inout ConfigurationValues, _ key: String, files: String) -> [SharedSecret] {
        let inline = values.texts(key, isSecret: true)
        checkForm(of: inline, key: values.name(key))
        if !inline.allSatisfy(Self.isSecret) {
            values.note(key, "must contain non-blank secrets without leading or trailing blanks")
        }
        let place = values.place(of: files)
        let kept = values.texts(files).flatMap { path in
            lines(ofSecretFile: path, key: values.name(files), place: place).map { line in
                if let problem = Self.problem(ofForm: line.text) {
                    warnings.append("\(path):\(line.number): \(problem)")
                }
                return line.text
            }
        }
        return (inline + kept).map(SharedSecret.init)
    }

    /// Whether a text can be a secret from App Store Connect. Blanks at its ends come from copying; in files they are
    /// ignored.
    private static func isSecret(_ text: String) -> Bool {
        !text.isEmpty && text == text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The lines of a file that are not empty, with their numbers from 1.
    private mutating func lines(
        ofSecretFile path: String, key: String, place: String?
    ) -> [(number: Int, text: String)] {
        do {
            let bytes = try BoundedFile.read(path, maximumSize: 1 << 16)
            guard let text = String(bytes: bytes, encoding: .utf8) else {
                problems.append(.init(key: key, place: place, "\(path) is not UTF-8 text"))
                return []
            }
            warnIfReadable(path, with: "secrets")
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

    /// The spool for receipts that wait for the store; nil for none.
    mutating func spoolPath(storeURL: String?) -> String? {
        guard let path = values.text("spool.path") else {
            return VerifyReceiptServerConfiguration.Spool(besideStore: storeURL).path
        }
        if path == "none" {
            if storeURL != nil {
                warnings.append(
                    "spool.path is none: receipts that the store does not write in time are answered and lost")
            }
            return nil
        }
        return path
    }

    private mutating func checkNotifications(_ configuration: VerifyReceiptServerConfiguration) {
        let (notifications, endpoint) = (configuration.notifications, configuration.endpoint)
        if notifications.version1, endpoint.accountSecrets.isEmpty, endpoint.apps.allSatisfy(\.sharedSecrets.isEmpty) {
            values.note("notifications.v1", "needs a shared secret: nothing else authenticates these notifications")
        }
    }
}

// Trust anchors of receipts, and certificates.

extension ConfigurationLoader {
    mutating func trust() -> TrustPolicy {
        func check(_ encoded: [[UInt8]]) throws {
            let trust = TrustPolicy(additionalRoots: encoded)
            _ = try VerifyReceiptEndpoint(configuration: EndpointConfiguration(trust: trust), store: nil)
        }
        let roots = certificates("trust.roots", check: check)
        let intermediates = certificates("trust.intermediates", check: check)
        let xcode = values.boolean("trust.accept-xcode")
        if !roots.isEmpty {
            warnings.append("trust.roots accepts receipts that Apple did not sign: for tests only")
        }
        if xcode { warnings.append("trust.accept-xcode accepts receipts that anyone can create: for tests only") }
        return TrustPolicy(
            additionalRoots: roots, additionalIntermediates: intermediates, acceptsXcodeReceipts: xcode)
    }

    /// The certificates of the PEM and DER files of a key, as DER.
    ///
    /// - Parameters:
    ///   - key: the key, whose value is a list of paths.
    ///   - check: throws if the certificates cannot be used for this key.
    private mutating func certificates(_ key: String, check: ([[UInt8]]) throws -> Void) -> [[UInt8]] {
        values.texts(key).flatMap { certificates($0, key, check) }
    }

    private mutating func certificates(
        _ path: String, _ key: String, _ check: ([[UInt8]]) throws -> Void
    ) -> [[UInt8]] {
        do {
            let bytes = try BoundedFile.read(path, maximumSize: 1 << 20)
            let isPEM = String(decoding: bytes, as: UTF8.self).contains("-----BEGIN CERTIFICATE-----")
            let certificates =
                isPEM
                ? try NIOSSLCertificate.fromPEMBytes(bytes) : [try NIOSSLCertificate(bytes: bytes, format: .der)]
            let encoded = try certificates.map { try $0.toDERBytes() }
            try check(encoded)
            return encoded
        } catch let error as BoundedFile.Failure {
            values.note(key, "\(path) cannot be read: \(error)")
        } catch {
            values.note(key, "\(path) is not an X.509 certificate in PEM or DER")
        }
        return []
    }

    /// The trust anchors of the App Store's JWS.
    mutating func signedDataTrust() -> SignedDataTrust {
        let roots = certificates("trust.signed-data-roots") { encoded in
            _ = try SignedDataVerifier(trust: SignedDataTrust(additionalRoots: encoded))
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
    /// The freshness of an app; nil if it has no settings of its own.
    private func freshness(_ own: inout ConfigurationValues, _ general: Freshness) -> Freshness? {
        let keys = ["freshness.mode", "freshness.maximum-age", "freshness.required"]
        guard keys.contains(where: { own.isGiven($0) }) else { return nil }
        var freshness = general
        freshness.source = own.given(keys[0]) ?? general.source
        if own.isGiven(keys[1]) { freshness.maximumAge = own.duration(keys[1]).wholeMilliseconds }
        if own.isGiven(keys[2]) { freshness.isRequired = own.boolean(keys[2]) }
        return freshness
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

    private static let purchaseKeyParts = ["issuer-id", "key-id", "private-key-file"].map { "app-store-server.\($0)" }

    /// The In-App Purchase key of an app; nil without one.
    /// - Parameters:
    ///   - own: the values of the app.
    ///   - general: the values for all apps.
    private mutating func purchaseKey(_ own: inout ConfigurationValues, _ general: [String?]) -> InAppPurchaseKey? {
        let values = zip(Self.purchaseKeyParts, general).map { own.text($0) ?? $1 }
        let given = values.compactMap { $0 }
        guard !given.isEmpty else { return nil }
        for (key, value) in zip(Self.purchaseKeyParts, values) where value == nil { own.note(key, "is missing") }
        guard given.count == values.count else { return nil }
        let path = given[2]
        do {
            let text = String(decoding: try BoundedFile.read(path, maximumSize: 1 << 16), as: UTF8.self)
            let purchaseKey = try InAppPurchaseKey(pem: text, keyID: given[1], issuerID: given[0])
            warnIfReadable(path, with: "a private key")
            return purchaseKey
        } catch let error as BoundedFile.Failure {
            own.note(Self.purchaseKeyParts[2], "\(path) cannot be read: \(error)")
        } catch {
            own.note(Self.purchaseKeyParts[2], "\(path): \(error)")
        }
        return nil
    }

    /// Freshness from the App Store needs apps, and a store for the answers.
    mutating func checkFreshness(_ configuration: VerifyReceiptServerConfiguration) {
        let (endpoint, general) = (configuration.endpoint, configuration.endpoint.freshness.source)
        if general == .appStore, endpoint.apps.isEmpty {
            values.note("endpoint.freshness.mode", "app-store needs apps with app-store-server")
        }
        let asks = endpoint.apps.contains { ($0.freshness?.source ?? general) == .appStore }
        if asks, configuration.storeURL == nil {
            values.note("store.url", "freshness.mode app-store needs a store")
        }
    }
}
