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
        warnOfWhatIsOpen(configuration)
        for listener in configuration.listeners { check(listener.tls) }
        let all = problems + values.problems
        guard all.isEmpty else { throw ConfigurationError(all) }
        configuration.warnings = warnings
        return configuration
    }
}
