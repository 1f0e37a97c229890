import Foundation
import LegacyReceipts
import NIOSSL
import ReceiptMigration
import TransactionStore
import VerifyReceipt

/// Where a configuration comes from. Flags beat environment variables, which beat the file, which beats the defaults.
public struct ConfigurationSources: Sendable {
    /// The path of a YAML or JSON file.
    public var file: String?
    /// All variables of the process; those that begin with `LEGACY_RECEIPTS_` count.
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
    private let place: String?
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
        signedTransactions(in: &configuration)
        configuration.listeners = listeners()
        configuration.sandboxHosts = values.texts("sandbox-hosts").map { $0.lowercased() }
        configuration.admin =
            values.boolean("admin.enabled")
            ? .init(host: values.text("admin.host") ?? "127.0.0.1", port: values.integer("admin.port")) : nil
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
        configuration.limits = limits()
        configuration.timeouts = timeouts()
        configuration.logging.level = values.choice("log.level")
        configuration.logging.format = .init(rawValue: values.choice("log.format")) ?? .json
        configuration.logging.requests = values.boolean("log.requests")
        configuration.shadow = shadow()
        configuration.appStore = appStore()
        checkFreshness(configuration)
        configuration.notifications = notifications(configuration)
        for listener in configuration.listeners { check(listener.tls) }
        let all = problems + values.problems
        guard all.isEmpty else { throw ConfigurationError(all) }
        configuration.warnings = warnings
        return configuration
    }

    // MARK: Sockets

    private mutating func listeners() -> [VerifyReceiptServerConfiguration.Listener] {
        let keys = Setting.all.map(\.key).filter { $0.hasPrefix("listen.") }
        let isAsked = keys.contains { values.isGivenOutsideOfFile($0) }
        if let listeners = file?.listeners, !isAsked {
            if let key = keys.first(where: { values.isGiven($0) }) {
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
        case (nil, _): values.note("listen.tls.certificate", "is missing beside listen.tls.private-key")
        case (_, nil): values.note("listen.tls.private-key", "is missing beside listen.tls.certificate")
        }
        return [listener]
    }

    private mutating func check(_ tls: VerifyReceiptServerConfiguration.TLSFiles?) {
        guard let tls else { return }
        do {
            _ = try TLSSetup.configuration(tls)
        } catch {
            problems.append(.init(key: "tls", place: place, "\(error)"))
        }
        if BoundedFile.isReadableByEverybody(tls.privateKey) {
            warnings.append("\(tls.privateKey) holds a private key and every user of this machine may read it")
        }
    }

    private mutating func shadow() -> ShadowConfiguration? {
        let record = values.text("shadow.record")
        guard let url = values.text("shadow.url") else {
            if record != nil { values.note("shadow.record", "shadow.url is missing") }
            return nil
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

    private mutating func notifications(
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

    // MARK: Numbers

    private mutating func limits() -> VerifyReceiptServerConfiguration.Limits {
        var limits = VerifyReceiptServerConfiguration.Limits()
        limits.bodyBytes = values.integer("limits.body-bytes")
        limits.headerBytes = values.integer("limits.header-bytes")
        limits.headerFields = values.integer("limits.header-fields")
        limits.connections = values.integer("limits.connections")
        limits.concurrentRequests = values.integer("limits.concurrent-requests")
        limits.waitingRequests = values.integer("limits.waiting-requests")
        limits.bufferedBytes = values.integer("limits.buffered-bytes")
        return limits
    }

    private mutating func timeouts() -> VerifyReceiptServerConfiguration.Timeouts {
        var timeouts = VerifyReceiptServerConfiguration.Timeouts()
        timeouts.handshake = values.duration("timeouts.handshake")
        timeouts.headers = values.duration("timeouts.headers")
        timeouts.body = values.duration("timeouts.body")
        timeouts.write = values.duration("timeouts.write")
        timeouts.idle = values.duration("timeouts.idle")
        timeouts.shutdown = values.duration("timeouts.shutdown")
        return timeouts
    }

    // MARK: What is answered

    private mutating func endpoint() -> EndpointConfiguration {
        var endpoint = EndpointConfiguration()
        endpoint.apps = (file?.apps ?? []).map { app($0) }
        let inline = values.texts("account-secrets", isSecret: true)
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
        endpoint.latestTransactions =
            values.choice("endpoint.latest-transactions") == "with-subscriptions" ? .withSubscriptions : .always
        endpoint.freshness = freshness()
        let presumed = values.choices("endpoint.presume")
        endpoint.presumedMembers.ownershipType = presumed.contains("ownership-type")
        endpoint.presumedMembers.introductoryOfferPeriod = presumed.contains("introductory-offer-period")
        endpoint.presumedMembers.lists = presumed.contains("lists")
        endpoint.trust = trust()
        if endpoint.unknownBundleIds == .refused, endpoint.apps.isEmpty {
            values.note("endpoint.unknown-bundle-ids", "refuses every receipt, since there are no apps")
        }
        return endpoint
    }

    private mutating func app(_ entry: ConfigurationFile.AppEntry) -> AppConfiguration {
        let kept = entry.secretFiles.flatMap {
            secrets(path: $0, key: "\(entry.key).shared-secret-files", place: entry.place)
        }
        var app = AppConfiguration(
            bundleId: entry.bundleId, sharedSecrets: (entry.secrets + kept).map(SharedSecret.init),
            appleId: entry.appleId, freshness: freshness(of: entry))
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
            let secrets = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
                .filter { !$0.isEmpty }
            if secrets.isEmpty { problems.append(.init(key: key, place: place, "\(path) holds no secret")) }
            return secrets
        } catch {
            problems.append(.init(key: key, place: place, "\(path) cannot be read: \(error)"))
            return []
        }
    }

    private mutating func trust() -> TrustPolicy {
        let roots = values.texts("trust.roots").flatMap { receiptCertificates($0, key: "trust.roots") }
        let intermediates = values.texts("trust.intermediates").flatMap {
            receiptCertificates($0, key: "trust.intermediates")
        }
        let xcode = values.boolean("trust.accept-xcode")
        if !roots.isEmpty {
            warnings.append("trust.roots makes receipts count that Apple did not sign: for tests only")
        }
        if xcode { warnings.append("trust.accept-xcode makes receipts count that anybody can make: for tests only") }
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
    /// - Parameter check: throws if they cannot be used where they are wanted.
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
