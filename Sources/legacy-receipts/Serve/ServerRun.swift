import AppStoreServer
import Foundation
import Logging
import SQLiteTransactionStore
import ServiceLifecycle
import TransactionStore
import VerifyReceiptServer

/// One life of the server: opens the store, listens to signals, closes the store.
struct ServerRun {
    let sources: ConfigurationSources
    let configuration: VerifyReceiptServerConfiguration
    /// Nil for the machine's clock.
    var testClock: TestClock?

    func run() async throws {
        var configuration = configuration
        let allowed = FileDescriptors.allowed(connections: configuration.limits.connections)
        if allowed < configuration.limits.connections {
            configuration.warnings.append("the limit of open files allows only \(allowed) connections")
            configuration.limits.connections = allowed
        }
        let settings = configuration.logging
        let level = Logger.Level(rawValue: settings.level) ?? .info
        LoggingSystem.bootstrap { _ in ServerLogHandler(level: level, format: settings.format) }
        let logger = Logger(label: "legacy-receipts")
        defer { LogWriter.standardError.flush() }
        let store = try open(configuration)
        let spool = try openSpool(configuration, logger)
        var clock: (@Sendable () -> Int64)?
        var signatureClock = ServerClock.system
        if let testClock {
            clock = { testClock.now() }
            signatureClock.now = { testClock.now() }
        }
        let consumption = configuration.consumption
        let server = try CommandFailure.naming("The server cannot start") {
            try VerifyReceiptServer(
                configuration: configuration, store: store, spool: spool, logger: logger,
                lookUpAnswers: store.map { StoreLookUp(store: $0, clock: signatureClock) },
                consumptionAnswering: store.flatMap { store in consumption.map { StoreConsumption(store, $0) } },
                clock: clock)
        }
        let reloading = ReloadSignal(SIGHUP, server: server, sources: sources)
        defer { reloading.cancel() }
        let limit = ShutdownLimit(configuration.timeouts.untilAbandoned + ShutdownLimit.grace, logger: logger) {
            LogWriter.standardError.flush()
            _exit(EXIT_FAILURE)
        }
        var services: [ServiceGroupConfiguration.ServiceConfiguration] = [
            .init(service: server), .init(service: limit, successTerminationBehavior: .ignore),
        ]
        if let testClock {
            logger.warning("the server takes the time from a sandbox: for tests only")
            services.append(.init(service: testClock, successTerminationBehavior: .ignore))
        }
        var group = ServiceGroupConfiguration(
            services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        group.logger.logLevel = max(level, .notice)
        let result = await Result { try await ServiceGroup(configuration: group).run() }
        limit.arm()
        // First: a store that hangs does not keep the next server from the spool.
        await close(spool, logger)
        try? await store?.close()
        try CommandFailure.naming("The server stopped") { try result.get() }
        logger.notice("stopped")
    }

    private func openSpool(
        _ configuration: VerifyReceiptServerConfiguration, _ logger: Logger
    ) throws -> (any FactSpool)? {
        let spool = configuration.spool
        do {
            return try spool.path.map { path in
                try SQLiteFactSpool.open(path: path, maximumBytes: Int64(spool.maximumBytes)) { keptPath, error in
                    logger.error(
                        "the spool is damaged: the server creates a new one and keeps the file, which may contain receipts",
                        metadata: ["path": "\(keptPath)", "error": "\(error)"])
                }
            }
        } catch {
            let standard = VerifyReceiptServerConfiguration.Spool(besideStore: configuration.storeURL)
            let advice =
                spool.path == standard.path ? " (set spool.path to a file in a writable folder, or to none)" : ""
            throw CommandFailure(
                "spool.path: the spool \(spool.path ?? "none") cannot be opened\(advice): \(error)")
        }
    }

    /// Closes the spool, and logs a warning if receipts wait in it, because the file of a container may be lost.
    private func close(_ spool: (any FactSpool)?, _ logger: Logger) async {
        guard let spool else { return }
        let state = spool.state
        if state.entries + state.setAside > 0 {
            logger.warning(
                "receipts remain in the spool: start the server again with this file",
                metadata: [
                    "entries": "\(state.entries + state.setAside)", "path": "\(configuration.spool.path ?? "none")",
                ])
        }
        try? await spool.close()
    }

    private func open(_ configuration: VerifyReceiptServerConfiguration) throws -> (any CompleteTransactionStore)? {
        guard let url = configuration.storeURL else { return nil }
        return try CommandFailure.naming("store.url: the store cannot be opened") {
            try StoreOpener.open(url, deadline: configuration.timeouts.store)
        }
    }
}

/// The open files of the process.
enum FileDescriptors {
    /// File descriptors in addition to connections: store, logs, event loops, listeners.
    private static let reserve = 192

    /// Raises the limit as far as the system lets us, and returns how many connections fit in.
    static func allowed(connections: Int) -> Int {
        var limit = rlimit()
        #if os(Linux)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limit) == 0 else { return connections }
        let needed = rlim_t(connections + reserve)
        if limit.rlim_cur < needed {
            limit.rlim_cur = min(needed, limit.rlim_max)
            _ = setrlimit(resource, &limit)
            _ = getrlimit(resource, &limit)
        }
        return max(1, min(connections, Int(clamping: limit.rlim_cur) - reserve))
    }
}
