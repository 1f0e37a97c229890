import AppStoreSync
import ArgumentParser
import Foundation
import VerifyReceiptServer

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Answer verifyReceipt requests as Apple does.",
        discussion: """
            Values come from flags, environment variables, the file, and defaults, in this order. An environment \
            variable is LEGACY_RECEIPTS_ and the key: LEGACY_RECEIPTS_TIMEOUTS_IDLE for timeouts.idle. The file \
            tools/configuration/serve.yaml explains every key. SIGHUP reloads apps, secrets, catalogs and \
            certificates. SIGTERM and SIGINT stop the server after the requests in flight.

            EXAMPLES:
              legacy-receipts serve --port 8080
              legacy-receipts serve --config serve.yaml --check
              legacy-receipts serve --config serve.yaml --check --connect
              legacy-receipts serve --config serve.yaml --store postgres://db/receipts
            """)

    @Option(file: "The configuration, YAML or JSON.")
    var config: String?

    @Option(help: "The address to listen on (listen.host).")
    var host: String?

    @Option(help: "The port to listen on (listen.port).")
    var port: Int?

    @Option(help: "The port for health and metrics (admin.port).")
    var adminPort: Int?

    @Option(help: .value("url", "The store: sqlite:PATH, postgres://…, or none."))
    var store: String?

    @Option(help: .value("url", "Also send each request there and compare the answers."))
    var shadow: String?

    @Option(name: .customLong("set"), help: .value("key=value", "Any key of the configuration. Repeatable."))
    var settings: [String] = []

    @Option(
        name: .customLong("test-clock-from"),
        help: .value(
            "url", "For tests: take the time from this sandbox. Its root must be among trust.signed-data-roots."))
    var testClock: String?

    @Flag(help: "Check the configuration and exit.")
    var check = false

    @Flag(help: "With --check, also try the store, the App Store keys and the certificates.")
    var connect = false

    func validate() throws {
        if connect, !check { throw ValidationError("--connect needs --check.") }
    }

    func run() async throws {
        // By default SIGHUP ends a process. It may arrive before the server handles it as a reload.
        signal(SIGHUP, SIG_IGN)
        let sources = try sources()
        let configuration = try sources.load()
        if check {
            let problems = configuration.consumption.map { Self.problems(with: $0) } ?? []
            for warning in configuration.warnings + problems { Terminal.error("Warning: \(warning)") }
            try Terminal.output("The configuration is valid: \(configuration.endpoint.apps.count) apps.")
            if connect { try await tryConnections(configuration) }
            return
        }
        var run = ServerRun(sources: sources, configuration: configuration)
        if let testClock {
            let clock = try await TestClock(from: testClock)
            try await clock.check(configuration.signedDataTrust, named: "trust.signed-data-roots")
            run.testClock = clock
        }
        try await run.run()
    }

    /// The faults of the files that each round of answers reads, each with its key. They are not part of the configuration: a server
    /// starts without them, and a correct file is used from the next round on.
    private static func problems(
        with consumption: VerifyReceiptServerConfiguration.ConsumptionAnswers
    ) -> [String] {
        var problems: [String] = []
        do { _ = try ConsumptionRules(file: consumption.rulesFile, consumer: consumption.consumer) } catch {
            problems.append("consumption.rules: \(error)")
        }
        do { _ = try ConsumptionConsentFile(file: consumption.consentFile) } catch {
            problems.append("consumption.customer-consented: \(error)")
        }
        return problems
    }

    /// - Throws: `ExitCode` if something does not work.
    private func tryConnections(_ configuration: VerifyReceiptServerConfiguration) async throws {
        let findings = await ConnectionTrial(configuration) { try StoreOpener.open($0) }.findings()
        for finding in findings {
            try Terminal.output(
                finding.problem.map { "FAILED  \(finding.subject): \($0)" } ?? "ok      \(finding.subject)")
        }
        guard findings.allSatisfy({ $0.problem == nil }) else { throw ExitCode.failure }
    }

    private func sources() throws -> ConfigurationSources {
        var sources = ConfigurationSources(
            file: config, environment: ProcessInfo.processInfo.environment, flags: try SettingArguments.flags(settings))
        let options = [
            ("--host", "listen.host", host), ("--port", "listen.port", port.map { String($0) }),
            ("--admin-port", "admin.port", adminPort.map { String($0) }), ("--store", "store.url", store),
            ("--shadow", "shadow.url", shadow),
        ]
        for case (let option, let key, let value?) in options {
            sources.flags[key] = value
            sources.options[key] = option
        }
        return sources
    }
}

enum SettingArguments {
    /// The texts of `--set` by key.
    /// - Throws: `ValidationError` for one without a key.
    static func flags(_ settings: [String]) throws -> [String: String] {
        var flags: [String: String] = [:]
        for setting in settings {
            guard let equals = setting.firstIndex(of: "="), equals > setting.startIndex else {
                throw ValidationError("--set takes KEY=VALUE.")
            }
            flags[String(setting[..<equals])] = String(setting[setting.index(after: equals)...])
        }
        return flags
    }
}
