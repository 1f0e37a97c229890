import AsyncHTTPClient
import Foundation
import MetricsTestKit
import NIOCore
import NIOSSL
import ReceiptForge
import TestSupport
import Testing
import VerifyReceipt
import VerifyReceiptServer

extension ServerTests {
    @Suite(.serialized) struct Operation {
        @Test func requestsInFlightAreFinishedWhenStopping() async throws {
            let store = PuppetStore()
            store.become(.waits)
            let configuration = VerifyReceiptServerConfiguration.testing { $0.timeouts.shutdown = .seconds(120) }
            let answer = try await TestServer.run(configuration, store: store) { server in
                async let answer = Wire.ask(server.port, Sent.post(Sent.body()))
                try await eventually("the request works") { store.calls > 0 }
                try await eventually("it is ready") {
                    try await Wire.ask(server.adminPort, Sent.get("/readyz")).status == 200
                }
                await server.stop()
                try await eventually("readiness tells that it stops") {
                    try await Wire.ask(server.adminPort, Sent.get("/readyz")).status == 503
                }
                #expect(try await Wire.ask(server.adminPort, Sent.get("/livez")).status == 200)
                try await eventually("no connection is taken") {
                    (try? await Wire.ask(server.port, Sent.post("{}"))) == nil
                }
                store.become(.works)
                return try await answer
            }
            #expect(answer.verifyStatus == 0)
        }

        @Test func stoppingEndsEvenIfARequestDoesNot() async throws {
            let configuration = VerifyReceiptServerConfiguration.testing { $0.timeouts.shutdown = .milliseconds(300) }
            let wire = try await TestServer.run(configuration) { server in
                // A request that never ends: its body does not come.
                try await Wire.run {
                    let wire = try Wire(port: server.port)
                    wire.send("POST /verifyReceipt HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n")
                    return UncheckedBox(wire)
                }
            }
            // The server has returned.
            wire.value.close()
        }

        /// The puppet waits even if the calling task is canceled.
        @Test func stoppingEndsEvenIfTheStoreHangsAndIgnoresCancellation() async throws {
            let store = PuppetStore()
            store.become(.waits)
            let configuration = VerifyReceiptServerConfiguration.testing { $0.timeouts.shutdown = .milliseconds(100) }
            let (log, wire) = try await TestServer.run(configuration, store: store) { server in
                let wire = try Wire(port: server.port)
                wire.send(Sent.post(Sent.body()))
                try await eventually("the store is called") { store.calls == 1 }
                return (server.log, UncheckedBox(wire))
            }
            // The server has returned, and the store still hangs.
            #expect(log.text.contains("requests did not end in time and are abandoned"))
            store.become(.works)
            wire.value.close()
        }

        /// What else the sockets have to say while they end would hide the one line that matters.
        @Test(arguments: [true, false])
        func aBusyPortIsTheOnlyErrorLogged(isAdmin: Bool) async throws {
            try await TestServer.run { first in
                let log = try CapturedLog()
                let port = isAdmin ? first.adminPort : first.port
                let configuration = VerifyReceiptServerConfiguration.testing {
                    if isAdmin { $0.admin?.port = port } else { $0.listeners.append(.init(port: port)) }
                }
                let error = await #expect(throws: (any Error).self) {
                    try await TestServer.run(
                        configuration, handler: { _ in ServerLogHandler(level: .info, writer: log.writer) }
                    ) { _ in }
                }
                let message = error.map { "\($0)" } ?? ""
                #expect(message.contains("cannot listen on 127.0.0.1:\(port): Address already in use"), "\(message)")
                #expect(log.text.isEmpty, "\(log.text)")
            }
        }

        @Test func healthAndMetricsHaveTheirOwnListener() async throws {
            try await TestServer.run { server in
                for path in ["/livez", "/readyz", "/metrics", "/openapi.json"] {
                    let answer = try await Wire.ask(server.adminPort, Sent.get(path))
                    let elsewhere = try await Wire.ask(server.port, Sent.get(path))
                    let posted = try await Wire.ask(server.adminPort, Sent.get(path, method: "POST"))
                    #expect(answer.status == 200)
                    #expect(elsewhere.status == 404)
                    #expect(posted.status == 405)
                }
                let verify = try await Wire.ask(server.adminPort, Sent.get("/verifyReceipt"))
                #expect(verify.status == 404)
            }
        }

        @Test func openAPIDescriptionIsJSONWithEveryPath() async throws {
            let text = try await TestServer.run { server in
                try await Wire.ask(server.adminPort, Sent.get("/openapi.json")).body
            }
            let description = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
            let paths = try #require(description?["paths"] as? [String: Any])
            #expect(
                Set(paths.keys) == [
                    "/verifyReceipt", "/WebObjects/MZFinance.woa/wa/verifyReceipt", "/sandbox/verifyReceipt",
                    "/validate", "/sandbox/validate", "/notifications/v1", "/notifications/v2",
                    "/", "/v1/customers/{id}", "/v1/customers/{id}/entitlements", "/v1/inspect",
                    "/v1/signatures/promotional-offer", "/v1/signatures/introductory-eligibility",
                    "/v1/signatures/advanced-commerce",
                ])
            for (path, operations) in paths {
                for (method, operation) in try #require(operations as? [String: [String: Any]]) {
                    let responses = try #require(operation["responses"] as? [String: Any])
                    let isLookUp = path == "/" || path.hasPrefix("/v1/")
                    let expected = isLookUp ? ["400", "401", "405", "500", "501", "503"] : ["400", "501", "503"]
                    let schemes = (operation["security"] as? [[String: Any]] ?? []).flatMap(\.keys)
                    #expect(schemes == (isLookUp ? ["LookUpToken", "LookUpPassword"] : []), "\(method) \(path)")
                    guard isLookUp || method == "post" else { continue }
                    #expect(Set(expected).isSubset(of: responses.keys), "\(method) \(path)")
                    #expect(method != "post" || responses["408"] != nil, "\(path)")
                }
            }
        }

        @Test func countersMatchTheAnswers() async throws {
            try await TestServer.run { server in
                _ = try await Wire.ask(server.port, Sent.post(Sent.body()))
                _ = try await Wire.ask(server.port, Sent.post(Sent.body(), path: "/sandbox/verifyReceipt"))
                _ = try await Wire.ask(server.port, Sent.post("{}"))
                let text = try await Wire.ask(server.adminPort, Sent.get("/metrics")).body
                let name = "legacy_receipts_requests_total"
                #expect(text.contains(name + #"{environment="production",status="0",app="other"} 1"#))
                #expect(text.contains(name + #"{environment="sandbox",status="21008",app="other"} 1"#))
                #expect(text.contains(name + #"{environment="production",status="21002",app="none"} 1"#))
                #expect(text.contains(#"legacy_receipts_request_duration_seconds_count{environment="production"} 2"#))
                #expect(text.contains("legacy_receipts_verification_duration_seconds_count 3\n"))
            }
        }

        @Test func aWrongSecretCountsToItsConfiguredApp() async throws {
            let secret = SharedSecret("0123456789abcdef0123456789abcdef")
            let configuration = VerifyReceiptServerConfiguration.testing {
                $0.endpoint.apps = [AppConfiguration(bundleId: Sent.bundleId, sharedSecrets: [secret])]
            }
            let text = try await TestServer.run(configuration) { server in
                _ = try await Wire.ask(server.port, Sent.post(Sent.body(password: "another")))
                return server.server.metricsText
            }
            let name = "legacy_receipts_requests_total{environment=\"production\",status=\"21004\""
            #expect(text.contains("\(name),app=\"\(Sent.bundleId)\"} 1\n"))
        }

        @Test func aGenuineReceiptOfTheOtherEnvironmentCountsToItsConfiguredApp() async throws {
            let configuration = VerifyReceiptServerConfiguration.testing {
                $0.endpoint.apps = [AppConfiguration(bundleId: Sent.bundleId)]
                $0.endpoint.apps[0].answersValidations = true
            }
            let created = ForgedInstant(2024, 3, 15, 10, 20, 30)
            var bytes = try ForgedAppReceipt.sandbox(bundleId: Sent.bundleId, created: created).signedData(.g5)
                .encoded()
            let genuine = Data(bytes).base64EncodedString()
            bytes[bytes.count - 9] ^= 1
            let damaged = Data(bytes).base64EncodedString()
            let transaction = #"{"type":"ios-appstore","appStoreReceipt":"\#(genuine)"}"#
            let validation = #"{"id":"\#(Sent.bundleId)","type":"application","transaction":\#(transaction)}"#
            let text = try await TestServer.run(configuration) { server in
                _ = try await Wire.ask(server.port, Sent.post(Sent.body(genuine)))
                _ = try await Wire.ask(server.port, Sent.post(Sent.body(damaged)))
                _ = try await Wire.ask(server.port, Sent.post(Sent.body(), path: "/sandbox/verifyReceipt"))
                _ = try await Wire.ask(server.port, Sent.post(validation, path: "/validate"))
                return server.server.metricsText
            }
            for (counter, result, app) in [
                (#"requests_total{environment="production""#, #"status="21007""#, Sent.bundleId),
                (#"requests_total{environment="production""#, #"status="21007""#, "none"),
                (#"requests_total{environment="sandbox""#, #"status="21008""#, Sent.bundleId),
                (#"validations_total{environment="production""#, #"code="6777017""#, Sent.bundleId),
            ] {
                #expect(text.contains("legacy_receipts_\(counter),\(result),app=\"\(app)\"} 1\n"), "\(result) \(app)")
            }
        }

        @Test func aBackendOfSwiftMetricsGetsTheNumbersOfMetrics() async throws {
            let backend = TestMetrics()
            try await TestServer.run(store: PuppetStore(), metricsFactory: backend) { server in
                _ = try await Wire.ask(server.port, Sent.post(Sent.body()))
                _ = try await Wire.ask(server.port, Sent.post(Sent.body()))
                _ = try await Wire.ask(server.port, Sent.post("{}"))
                let name = "legacy_receipts_requests_total"
                let production = ("environment", "production")
                let answered = try backend.expectCounter(name, [production, ("status", "0"), ("app", "other")])
                let malformed = try backend.expectCounter(name, [production, ("status", "21002"), ("app", "none")])
                #expect(answered.totalValue == 2)
                #expect(malformed.totalValue == 1)
                let duration = try backend.expectTimer(
                    "legacy_receipts_request_duration_seconds", [("environment", "production")])
                #expect(duration.values.count == 3)
                let text = try await Wire.ask(server.adminPort, Sent.get("/metrics")).body
                #expect(text.contains("\(name){environment=\"production\",status=\"0\",app=\"other\"} 2\n"))
                let lookups = "legacy_receipts_receipt_cache_lookups_total"
                #expect(text.contains("\(lookups){result=\"hit\"} 1\n"))
                #expect(try backend.expectCounter(lookups, [("result", "hit")]).totalValue == 1)
                _ = try await Wire.ask(server.adminPort, Sent.get("/metrics"))
                #expect(try backend.expectCounter(lookups, [("result", "hit")]).totalValue == 1)
            }
        }

        @Test func aBackendGetsTheGaugesWithoutAReadingOfMetrics() async throws {
            let backend = TestMetrics()
            let configuration = VerifyReceiptServerConfiguration.testing { $0.admin = nil }
            try await TestServer.run(configuration, store: PuppetStore(), metricsFactory: backend) { server in
                try await eventually("the gauges are recorded") {
                    let gauge = try? backend.expectRecorder("legacy_receipts_connections")
                    return gauge?.lastValue == 0
                }
                // The trial of a busy machine may take longer than the server waits for it.
                try await eventually("the store can be written to") {
                    try backend.expectRecorder("legacy_receipts_store_writable").lastValue == 1
                }
            }
        }

        @Test func lookUpsAreCountedFromZeroAfterAReload() async throws {
            let configuration = VerifyReceiptServerConfiguration.testing()
            try await TestServer.run(configuration) { server in
                let name = "legacy_receipts_receipt_cache_lookups_total"
                for _ in 1...3 { _ = try await Wire.ask(server.port, Sent.post(Sent.body())) }
                #expect(server.server.metricsText.contains("\(name){result=\"hit\"} 2\n"))
                try server.server.reload(configuration)
                #expect(server.server.metricsText.contains("\(name){result=\"hit\"} 0\n"))
                for _ in 1...2 { _ = try await Wire.ask(server.port, Sent.post(Sent.body())) }
                #expect(server.server.metricsText.contains("\(name){result=\"hit\"} 1\n"))
                #expect(server.server.metricsText.contains("\(name){result=\"miss\"} 1\n"))
            }
        }

        // MARK: TLS

        @Test func tlsServesHTTP2AndHTTP1() async throws {
            let files = try TestCertificate()
            let configuration = VerifyReceiptServerConfiguration.testing { $0.listeners[0].tls = files.tls }
            try await TestServer.run(configuration) { server in
                for version in [HTTPClient.Configuration.HTTPVersion.automatic, .http1Only] {
                    let answer = try await Self.ask(server.port, trusting: files, version)
                    #expect(answer.status == 0)
                    #expect(answer.version == (version == .http1Only ? .one : .two))
                }
            }
        }

        @Test func reloadExchangesTheCertificateAndKeepsConnections() async throws {
            let files = try TestCertificate()
            let configuration = VerifyReceiptServerConfiguration.testing {
                $0.listeners = [.init(port: 0, tls: files.tls), .init(port: 0)]
            }
            try await TestServer.run(configuration) { server in
                let kept = try await Wire.run {
                    let wire = try Wire(port: server.addresses.ports[1])
                    wire.send(Sent.post("{}"))
                    #expect(try wire.readResponse().verifyStatus == 21002)
                    return UncheckedBox(wire)
                }
                _ = try await Self.ask(server.port, trusting: files, .automatic)
                let other = try TestCertificate()
                try other.copy(over: files)
                try server.server.reload(configuration)
                let answer = try await Self.ask(server.port, trusting: other, .automatic)
                #expect(answer.status == 0)
                let next = try await Wire.run {
                    kept.value.send(Sent.post("{}"))
                    return try kept.value.readResponse()
                }
                #expect(next.verifyStatus == 21002)
                // A broken file keeps the certificate.
                try Data("nothing".utf8).write(to: URL(fileURLWithPath: files.tls.certificate))
                #expect(throws: (any Error).self) { try server.server.reload(configuration) }
                #expect(try await Self.ask(server.port, trusting: other, .automatic).status == 0)
                #expect(server.log.text.contains("the old one stays in use"))
            }
        }

        /// The order of listeners in a file says nothing: each port keeps its certificate.
        @Test func reloadFindsListenersByHostPortAndRole() async throws {
            let (first, second) = (try TestCertificate(), try TestCertificate())
            let configuration = VerifyReceiptServerConfiguration.testing {
                $0.listeners = [
                    .init(port: 0, role: .production, tls: first.tls), .init(port: 0, role: .both, tls: second.tls),
                    .init(port: 0, role: .sandbox),
                ]
            }
            try await TestServer.run(configuration) { server in
                let ports = server.addresses.ports
                var changed = configuration
                changed.listeners.reverse()
                let reordered = try server.server.reload(changed)
                #expect(reordered == [])
                let statuses = [
                    try await Self.ask(ports[0], trusting: first, .automatic).status,
                    try await Self.ask(ports[1], trusting: second, .automatic).status,
                ]
                #expect(statuses == [0, 0])
                // One that has gone from the file stays as it is until the restart, and so do the others.
                changed.listeners.removeAll { $0.role == .production }
                let fewer = try server.server.reload(changed)
                #expect(fewer == ["listeners"])
                let kept = try await Self.ask(ports[0], trusting: first, .automatic)
                #expect(kept.status == 0)
                changed.listeners = configuration.listeners
                changed.listeners[2].tls = first.tls
                let other = try server.server.reload(changed)
                #expect(other == ["listeners"])
                let plain = try await Wire.ask(ports[2], Sent.post("{}"))
                #expect(plain.verifyStatus == 21002)
            }
        }

        private static func ask(
            _ port: Int, trusting files: TestCertificate, _ version: HTTPClient.Configuration.HTTPVersion
        ) async throws -> (status: Int?, version: SpokenVersion) {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(files.tls.certificate)
            var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
            configuration.httpVersion = version
            let client = HTTPClient(configuration: configuration)
            do {
                var request = HTTPClientRequest(url: "https://localhost:\(port)/verifyReceipt")
                request.method = .POST
                request.body = .bytes(ByteBuffer(string: Sent.body()))
                let response = try await client.execute(request, timeout: .seconds(120))
                let body = try await response.body.collect(upTo: 1 << 20)
                try await client.shutdown()
                let object = try JSONSerialization.jsonObject(with: Data(body.readableBytesView)) as? [String: Any]
                let version: SpokenVersion = response.version.major == 2 ? .two : .one
                return (object?["status"] as? Int, version)
            } catch {
                try? await client.shutdown()
                throw error
            }
        }

        enum SpokenVersion { case one, two }

        // MARK: Reload

        @Test func signalReloadsSecretsWithoutDroppingConnections() async throws {
            let folder = try TemporaryFolder()
            let root = try folder.write("root.der", TestRoot.der)
            let file = try folder.write("serve.yaml", Self.text(secret: "first", root))
            let sources = ConfigurationSources(file: file)
            var configuration = try sources.load()
            configuration.listeners = [.init(port: 0)]
            configuration.admin = nil
            try await TestServer.run(configuration) { server in
                let reloading = ReloadSignal(SIGHUP, server: server.server, sources: sources)
                defer { reloading.cancel() }
                let wire = try await Wire.run { UncheckedBox(try Wire(port: server.port)) }
                let status = { @Sendable (password: String) in
                    try await Wire.run {
                        wire.value.send(Sent.post(Sent.body(password: password)))
                        return try wire.value.readResponse().verifyStatus
                    }
                }
                #expect(try await status("first") == 0)
                #expect(try await status("second") == 21004)
                try folder.write("serve.yaml", Self.text(secret: "second", root))
                kill(getpid(), SIGHUP)
                try await eventually("the new secret counts") { try await status("second") == 0 }
                #expect(try await status("first") == 21004)
                // A broken configuration keeps the old one.
                try folder.write("serve.yaml", Self.text(secret: "third", root) + "\nunknown-key: 1\n")
                kill(getpid(), SIGHUP)
                try await eventually("the failure is logged") { server.log.text.contains("unknown-key") }
                #expect(try await status("second") == 0)
                #expect(try await status("third") == 21004)
                #expect(!server.log.text.contains("third"))
            }
        }

        /// A file that was cut off while it was written can be valid, and would let every password in.
        @Test func reloadThatRemovesTheLastSecretIsRefused() async throws {
            let ofApp = VerifyReceiptServerConfiguration.testing { $0.endpoint.apps = [Self.app(["first"])] }
            let ofAccount = VerifyReceiptServerConfiguration.testing {
                $0.endpoint.apps = [Self.app([])]
                $0.endpoint.accountSecrets = [SharedSecret("first")]
            }
            for configuration in [ofApp, ofAccount] {
                try await TestServer.run(configuration) { server in
                    let status = { @Sendable (password: String?) in
                        try await Wire.ask(server.port, Sent.post(Sent.body(password: password))).verifyStatus
                    }
                    var open = configuration
                    open.endpoint.apps = [Self.app([])]
                    open.endpoint.accountSecrets = []
                    let error = #expect(throws: ConfigurationError.self) { try server.server.reload(open) }
                    #expect(error?.problems.map(\.key) == ["shared-secrets"])
                    #expect(try await status("first") == 0)
                    #expect(try await status("other") == 21004)
                    #expect(try await status(nil) == 21004)
                    #expect(server.log.text.contains("the old one stays in use"))
                    // A secret may move between the apps and the account.
                    var moved = open
                    moved.endpoint.accountSecrets = [SharedSecret("second")]
                    try server.server.reload(moved)
                    #expect(try await status("second") == 0)
                    #expect(try await status("first") == 21004)
                }
            }
        }

        /// The secrets of the other apps do not protect the receipts of the app that lost its only one.
        @Test("A reload that takes the last secret away from one of several apps is refused")
        func reloadThatRemovesTheLastSecretOfOneAppIsRefused() async throws {
            let other = AppConfiguration(bundleId: "com.example.other", sharedSecrets: [SharedSecret("of other")])
            let open = AppConfiguration(bundleId: "com.example.open")
            let configuration = VerifyReceiptServerConfiguration.testing {
                $0.endpoint.apps = [other, Self.app(["first", "second"]), open]
            }
            try await TestServer.run(configuration) { server in
                let status = { @Sendable (password: String?) in
                    try await Wire.ask(server.port, Sent.post(Sent.body(password: password))).verifyStatus
                }
                let refused: [(apps: [AppConfiguration], key: String, text: String)] = [
                    ([other, Self.app([]), open], "apps[1].shared-secrets", "the last secret of \(Sent.bundleId)"),
                    // Receipts of apps that are not configured get a reply by default.
                    ([other, open], "apps", "would remove \(Sent.bundleId)"),
                ]
                for (apps, key, text) in refused {
                    var new = configuration
                    new.endpoint.apps = apps
                    let error = #expect(throws: ConfigurationError.self) { try server.server.reload(new) }
                    #expect(error?.problems.map(\.key) == [key])
                    #expect(server.log.text.contains(text))
                    let statuses = [try await status("first"), try await status("wrong"), try await status(nil)]
                    #expect(statuses == [0, 21004, 21004])
                }
                // One of two secrets may go, and an app may go if its receipts are rejected then.
                var new = configuration
                new.endpoint.apps = [other, Self.app(["second"]), open]
                try server.server.reload(new)
                let kept = [try await status("first"), try await status("second")]
                #expect(kept == [21004, 0])
                new.endpoint.apps = [other]
                new.endpoint.unknownBundleIds = .refused
                try server.server.reload(new)
                #expect(try await status("second") == 21003)
            }
        }

        @Test("A reload that takes the account's secret away from an app without its own is refused")
        func reloadThatRemovesTheAccountSecretOfAnAppIsRefused() async throws {
            let other = AppConfiguration(bundleId: "com.example.other", sharedSecrets: [SharedSecret("of other")])
            let configuration = VerifyReceiptServerConfiguration.testing {
                $0.endpoint.apps = [other, Self.app([])]
                $0.endpoint.accountSecrets = [SharedSecret("first")]
                $0.endpoint.unknownBundleIds = .refused
            }
            try await TestServer.run(configuration) { server in
                var new = configuration
                new.endpoint.accountSecrets = []
                let error = #expect(throws: ConfigurationError.self) { try server.server.reload(new) }
                #expect(error?.problems.map(\.key) == ["apps[1].shared-secrets"])
                // The app's own secret replaces the account's.
                new.endpoint.apps = [other, Self.app(["second"])]
                try server.server.reload(new)
                #expect(try await Wire.ask(server.port, Sent.post(Sent.body(password: "second"))).verifyStatus == 0)
            }
        }

        @Test("A reload that takes the account's secret away from the apps that are not configured is refused")
        func reloadThatRemovesTheAccountSecretOfOtherAppsIsRefused() async throws {
            let other = AppConfiguration(bundleId: "com.example.other", sharedSecrets: [SharedSecret("of other")])
            let configuration = VerifyReceiptServerConfiguration.testing {
                $0.endpoint.apps = [other]
                $0.endpoint.accountSecrets = [SharedSecret("first")]
            }
            try await TestServer.run(configuration) { server in
                let status = { @Sendable (password: String?) in
                    try await Wire.ask(server.port, Sent.post(Sent.body(password: password))).verifyStatus
                }
                let refused: [(apps: [AppConfiguration], rule: EndpointConfiguration.UnknownBundleIds, key: String)] = [
                    ([other], .accepted, "account-secrets"),
                    // Configured from now on, without a secret of its own.
                    ([other, Self.app([])], .refused, "apps[1].shared-secrets"),
                ]
                for (apps, rule, key) in refused {
                    var new = configuration
                    new.endpoint.apps = apps
                    new.endpoint.unknownBundleIds = rule
                    new.endpoint.accountSecrets = []
                    let error = #expect(throws: ConfigurationError.self) { try server.server.reload(new) }
                    #expect(error?.problems.map(\.key) == [key])
                    #expect(server.log.text.contains(key))
                    let statuses = [try await status("first"), try await status("wrong"), try await status(nil)]
                    #expect(statuses == [0, 21004, 21004])
                }
                // Without the secret, their receipts may be rejected.
                var new = configuration
                new.endpoint.accountSecrets = []
                new.endpoint.unknownBundleIds = .refused
                try server.server.reload(new)
                #expect(try await status("first") == 21003)
            }
        }

        private static func app(_ secrets: [String]) -> AppConfiguration {
            AppConfiguration(bundleId: Sent.bundleId, sharedSecrets: secrets.map { SharedSecret($0) })
        }

        /// Without apps the store would keep the receipts of every app.
        @Test func reloadThatRemovesTheLastAppIsRefused() async throws {
            let configuration = VerifyReceiptServerConfiguration.testing {
                $0.endpoint.apps = [AppConfiguration(bundleId: Sent.bundleId)]
                $0.endpoint.accountSecrets = [SharedSecret("first")]
            }
            try await TestServer.run(configuration) { server in
                var open = configuration
                open.endpoint.apps = []
                open.endpoint.accountSecrets = [SharedSecret("second")]
                let error = #expect(throws: ConfigurationError.self) { try server.server.reload(open) }
                #expect(error?.problems.map(\.key) == ["apps"])
                let answer = try await Wire.ask(server.port, Sent.post(Sent.body(password: "first")))
                #expect(answer.verifyStatus == 0)
            }
        }

        private static func text(secret: String, _ root: String) -> String {
            """
            apps:
              - bundle-id: \(Sent.bundleId)
                shared-secrets: [\(secret)]
            trust: {roots: [\(root)]}
            store: {url: none}
            """
        }
    }
}
