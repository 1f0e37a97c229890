import Logging
import VerifyReceipt

extension VerifyReceiptServer {
    /// Takes over what may change while running: apps, secrets, catalogues, trust, what is answered, notifications, and
    /// TLS certificates. Connections stay, requests in flight are finished with the old configuration. Whatever is wrong
    /// with the new one keeps the old one whole.
    ///
    /// - Returns: names of what differs and needs a restart.
    /// - Throws: what ``init(configuration:store:spool:logger:observer:clock:onListening:)`` throws.
    @discardableResult
    public func reload(_ new: VerifyReceiptServerConfiguration) throws -> [String] {
        do {
            try checkReload(new.endpoint, after: state.current.endpoint.configuration)
            let endpoint = try makeEndpoint(new)
            let notifications = try NotificationIntake(new, store: state.store)
            let certificates = ListenerMatching(from: configuration.listeners, to: new.listeners).certificates
            let prepared = try certificates.map { (channels[$0.index], try TLSSetup.configuration($0.tls)) }
            for (channel, tls) in prepared { try channel.replace(tls) }
            state.replace(
                with: .init(endpoint: endpoint, sandboxHosts: new.sandboxHosts, notifications: notifications))
        } catch {
            noteFailedReload(error)
            throw error
        }
        state.metrics.reloads.add("success")
        let remaining = differences(new)
        logger.notice("configuration reloaded", metadata: ["apps": .stringConvertible(new.endpoint.apps.count)])
        for warning in new.warnings { logger.warning("\(warning)") }
        if !remaining.isEmpty {
            logger.warning("these changes need a restart: \(remaining.joined(separator: ", "))")
        }
        return remaining
    }

    /// A file that was cut off while it was read can be valid and open everything. What takes away the last app or the
    /// last secret needs a restart.
    private func checkReload(_ new: EndpointConfiguration, after old: EndpointConfiguration) throws {
        var problems: [ConfigurationError.Problem] = []
        if new.apps.isEmpty, !old.apps.isEmpty {
            problems.append(.init(key: "apps", place: nil, "would all be taken away by the reload; restart for that"))
        }
        if !new.hasSecrets, old.hasSecrets {
            problems.append(
                .init(key: "shared-secrets", place: nil, "would all be taken away by the reload; restart for that"))
        }
        guard problems.isEmpty else { throw ConfigurationError(problems) }
    }

    /// Counts and logs a configuration that could not be read.
    public func noteFailedReload(_ error: any Error) {
        state.metrics.reloads.add("failure")
        logger.error("the new configuration is not used, the old one stays", metadata: ["error": "\(error)"])
    }

    private func differences(_ new: VerifyReceiptServerConfiguration) -> [String] {
        var names: [String] = []
        if ListenerMatching(from: configuration.listeners, to: new.listeners).differs { names.append("listeners") }
        if new.admin != configuration.admin { names.append("admin") }
        if new.trustedProxies != configuration.trustedProxies { names.append("trusted-proxies") }
        if new.limits != configuration.limits { names.append("limits") }
        if new.timeouts != configuration.timeouts { names.append("timeouts") }
        if new.logging != configuration.logging { names.append("log") }
        if new.storeURL != configuration.storeURL { names.append("store.url") }
        if new.spool != configuration.spool { names.append("spool") }
        if new.shadow != configuration.shadow { names.append("shadow") }
        return names
    }
}

extension EndpointConfiguration {
    fileprivate var hasSecrets: Bool { !accountSecrets.isEmpty || apps.contains { !$0.sharedSecrets.isEmpty } }
}
