import Foundation
import TestSupport
import Testing
import VerifyReceipt
import VerifyReceiptServer

@Suite struct Configuration {
    static func load(
        _ text: String, name: String = "serve.yaml", environment: [String: String] = [:], flags: [String: String] = [:]
    ) throws -> VerifyReceiptServerConfiguration {
        let folder = try TemporaryFolder()
        let file = try folder.write(name, text)
        return try withExtendedLifetime(folder) {
            try ConfigurationSources(file: file, environment: environment, flags: flags).load()
        }
    }

    static func problems(
        _ text: String, name: String = "serve.yaml", environment: [String: String] = [:], flags: [String: String] = [:]
    ) -> [ConfigurationError.Problem] {
        do {
            _ = try load(text, name: name, environment: environment, flags: flags)
            return []
        } catch let error as ConfigurationError {
            return error.problems
        } catch {
            return [.init(key: "unexpected", place: nil, "\(error)")]
        }
    }

    @Test func twoProblemsAreEqualWhenTheirKeysAre() {
        let inFile = Self.problems("limits: {connections: many}")
        let inEnvironment = Self.problems("#", environment: ["LEGACY_RECEIPTS_LIMITS_CONNECTIONS": "many"])
        let other = Self.problems("limits: {header-fields: many}")
        #expect(inFile.map(\.key) == ["limits.connections"] && inFile.map(\.place) != inEnvironment.map(\.place))
        #expect(inFile == inEnvironment && Set(inFile + inEnvironment).count == 1)
        #expect(inFile != other)
    }

    @Test func noSettingsGiveTheDefaults() throws {
        let configuration = try ConfigurationSources().load()
        let defaults = VerifyReceiptServerConfiguration()
        #expect(configuration.listeners == defaults.listeners)
        #expect(configuration.admin == defaults.admin)
        #expect(configuration.sandboxHosts == defaults.sandboxHosts)
        #expect(configuration.limits == defaults.limits)
        #expect(configuration.timeouts == defaults.timeouts)
        #expect(configuration.logging == defaults.logging)
        #expect(configuration.storeURL == defaults.storeURL)
        #expect(configuration.retention == .init())
        #expect(configuration.shadow == nil)
        #expect(configuration.warnings.count == 2)
        let endpoint = configuration.endpoint
        let standard = EndpointConfiguration()
        #expect(endpoint.unknownBundleIds == standard.unknownBundleIds)
        #expect(endpoint.base64 == standard.base64)
        #expect(endpoint.learnsFromReceipts == standard.learnsFromReceipts)
        #expect(endpoint.recordedFacts == standard.recordedFacts)
        #expect(endpoint.receiptCacheBytes == standard.receiptCacheBytes)
        #expect(endpoint.whenStoreFails == standard.whenStoreFails)
        #expect(endpoint.presumedMembers == standard.presumedMembers)
        #expect(endpoint.additionalMembers == standard.additionalMembers)
        let added = try Self.load("endpoint: {add: [terms, seats]}").endpoint.additionalMembers
        #expect(added.terms && added.seats)
        #expect(try Self.load("endpoint: {add: [seats]}").endpoint.additionalMembers.terms == false)
    }

    private static let open = (
        secrets: "no shared secret is configured: any password is accepted",
        apps: "no apps are configured: receipts of every app are answered, and kept in the store"
    )

    @Test func eachOpenDefaultIsOneWarningLine() throws {
        let secret = "0123456789abcdef0123456789ABCDEF"
        #expect(try Self.load("# nothing\n").warnings == [Self.open.secrets, Self.open.apps])
        let only = try Self.load("account-secrets: [\(secret)]").warnings
        #expect(only.filter { !$0.contains("every user of this machine") } == [Self.open.apps])
        let answered = try Self.load("{account-secrets: [\(secret)], store: {url: none}}").warnings
        #expect(answered.contains("no apps are configured: receipts of every app are answered"))
        // With apps it is said of each app that has none.
        let app = try Self.load("apps: [{bundle-id: com.example.app}]").warnings
        #expect(app == ["com.example.app has no shared secret: any password is accepted for it"])
    }

    @Test func aSecretThatCannotBeOneOfApplesIsAWarningThatDoesNotQuoteIt() throws {
        let folder = try TemporaryFolder()
        let good = "0123456789abcdef0123456789abcdef"
        let file = try folder.write("secrets.txt", "\(good)\n\n\(good)0\n")
        let text = """
            account-secrets: [\(good), swordfish-swordfish-swordfish-sw]
            account-secret-files: [\(file)]
            apps:
              - bundle-id: com.example.app
                shared-secrets: [\(good), \(good.dropLast())]
            """
        let warnings = try Self.load(text).warnings
        for expected in [
            "account-secrets[1]: expected 32 hexadecimal digits, found other characters",
            "\(file):3: expected 32 hexadecimal digits, found 33",
            "apps[0].shared-secrets[1]: expected 32 hexadecimal digits, found 31",
        ] {
            #expect(warnings.contains(expected), "\(warnings)")
        }
        #expect(warnings.count { $0.contains("expected 32") } == 3)
        #expect(!"\(warnings)".contains("swordfish") && !"\(warnings)".contains("0123456789"))
    }

    @Test(arguments: ["", "  \n\n"])
    func anEmptyFileIsRefused(_ text: String) {
        #expect(Self.problems(text).map(\.message) == ["is empty"])
    }

    @Test func aFileOfNothingButCommentsGivesTheDefaults() throws {
        #expect(try Self.load("# nothing\n").listeners == VerifyReceiptServerConfiguration().listeners)
    }

    @Test(arguments: ["store.url", "account-secrets", "endpoint.base64", "shadow.url"])
    func anEmptyValueIsRefused(_ key: String) {
        let variable = "LEGACY_RECEIPTS_" + key.uppercased().replacing(".", with: "_").replacing("-", with: "_")
        #expect(Self.problems("#", flags: [key: ""]).contains { $0.key == key })
        #expect(Self.problems("#", environment: [variable: ""]).contains { $0.key == key })
    }

    @Test func theMemoryForReceiptsThatComeAgainIsRead() throws {
        #expect(try Self.load("endpoint: {receipt-cache-bytes: 0}").endpoint.receiptCacheBytes == 0)
        #expect(try Self.load("endpoint: {receipt-cache-bytes: 1048576}").endpoint.receiptCacheBytes == 1 << 20)
        #expect(Self.problems("endpoint: {receipt-cache-bytes: -1}").map(\.key) == ["endpoint.receipt-cache-bytes"])
    }

    @Test func freshnessIsReadForAllAndForEachApp() throws {
        let text = """
            endpoint: {freshness: {mode: local, maximum-age: 60}}
            apps:
              - bundle-id: com.example.one
                freshness: {mode: store, required: true}
              - bundle-id: com.example.two
            """
        let configuration = try Self.load(text)
        #expect(configuration.endpoint.freshness == Freshness(source: .local, maximumAge: 60_000))
        let own = configuration.endpoint.apps.first?.freshness
        #expect(own == Freshness(source: .store, maximumAge: 60_000, isRequired: true))
        #expect(configuration.endpoint.apps.last?.freshness == nil)
    }

    @Test func sandboxAtProductionIsReadForAllAndForEachAppAndEachAppThatAnswersHasAWarning() throws {
        let apps =
            "apps: [{bundle-id: a}, {bundle-id: b, sandbox-at-production: answered}, "
            + "{bundle-id: c, sandbox-at-production: refused}]\n"
        for (setting, answering) in [("", ["b"]), ("endpoint: {sandbox-at-production: answered}\n", ["a", "b"])] {
            let configuration = try Self.load(apps + setting)
            let endpoint = configuration.endpoint
            #expect(endpoint.sandboxAtProduction == (setting.isEmpty ? .refused : .answered))
            #expect(endpoint.apps.map(\.sandboxAtProduction) == [nil, .answered, .refused])
            let warnings = configuration.warnings.filter { $0.contains("sandbox purchases") }
            #expect(warnings.map { String($0.prefix(1)) } == answering, "\(warnings)")
        }
    }

    @Test func validationsAreOffForEachAppThatDoesNotTurnThemOn() throws {
        let text = "apps: [{bundle-id: a}, {bundle-id: b, validate: true}, {bundle-id: c, validate: false}]"
        #expect(try Self.load(text).endpoint.apps.map(\.answersValidations) == [false, true, false])
        let warnings = try Self.load(text).warnings.filter { $0.contains("/validate") }
        #expect(warnings.count == 1 && warnings[0].hasPrefix("b has no product catalog"))
    }

    /// Without the extension for verifyReceipt.
    @Test func validationsVerifySignedTransactions() throws {
        let endpoint = try Self.load("apps: [{bundle-id: b, validate: true}]").endpoint
        #expect(endpoint.signedTransactionVerifier != nil && !endpoint.answersSignedTransactions)
        #expect(try Self.load("apps: [{bundle-id: b}]").endpoint.signedTransactionVerifier == nil)
    }

    @Test func queryingTheAppStoreNeedsAKeyAndAStore() throws {
        let text = """
            apps:
              - bundle-id: com.example.one
                freshness: {mode: app-store}
                app-store-server: {key-id: ABC}
            store: {url: none}
            """
        let keys = Self.problems(text).map(\.key)
        #expect(keys.contains("apps[0].app-store-server.issuer-id"))
        #expect(keys.contains("apps[0].app-store-server.private-key-file"))
        #expect(keys.contains("apps[0].app-store-server"))
        #expect(keys.contains("store.url"))
    }

    @Test func flagsBeatEnvironmentBeatsFileBeatsDefaults() throws {
        let text = "timeouts: {idle: 11, body: 12, write: 13}"
        let environment = ["LEGACY_RECEIPTS_TIMEOUTS_BODY": "22", "LEGACY_RECEIPTS_TIMEOUTS_WRITE": "23"]
        let configuration = try Self.load(text, environment: environment, flags: ["timeouts.write": "33"])
        #expect(configuration.timeouts.headers == .seconds(10))
        #expect(configuration.timeouts.idle == .seconds(11))
        #expect(configuration.timeouts.body == .seconds(22))
        #expect(configuration.timeouts.write == .seconds(33))
    }

    @Test func everyScalarKeyCanBeSetByVariableAndFlag() throws {
        // The other member of a pair is missing then.
        let pairs = ["listen.tls.", "consumption."]
        for setting in Setting.all {
            #expect(setting.variable.hasPrefix("LEGACY_RECEIPTS_"))
            let places = [setting.key] + pairs.filter(setting.key.hasPrefix)
            #expect(
                Self.problems("#", flags: [setting.key: "\u{1}"]).allSatisfy { problem in
                    places.contains { problem.key.hasPrefix($0) }
                },
                "\(setting.key)")
        }
        #expect(Set(Setting.all.map(\.variable)).count == Setting.all.count)
    }

    @Test(arguments: [
        ("timeouts: {idel: 3}", "timeouts.idel", 1), ("unknown: 1", "unknown", 1),
        ("\nlimits:\n  body-bytes: many", "limits.body-bytes", 3), ("limits: {body-bytes: 0}", "limits.body-bytes", 1),
        ("limits: {body-bytes: \"1000\"}", "limits.body-bytes", 1), ("limits: 3", "limits", 1),
        ("endpoint: {learn: yes}", "endpoint.learn", 1), ("endpoint: {base64: loose}", "endpoint.base64", 1),
        ("endpoint: {presume: [everything]}", "endpoint.presume", 1),
        ("endpoint: {add: [lists]}", "endpoint.add", 1), ("timeouts: {idle: -1}", "timeouts.idle", 1),
        ("apps: {a: b}", "apps", 1), ("apps: [{bundle-id: a.b}, {bundle-id: a.b}]", "apps[1].bundle-id", 1),
        ("apps: [{shared-secrets: [x]}]", "apps[0].bundle-id", 1),
        ("apps:\n  - bundle-id: a.b\n    secret: x", "apps[0].secret", 3),
        ("apps: [{bundle-id: a b}]", "apps[0].bundle-id", 1),
        ("apps: [{bundle-id: a, apple-id: 0}]", "apps[0].apple-id", 1),
        ("apps: [{bundle-id: a, validate: maybe}]", "apps[0].validate", 1),
        ("apps: [{bundle-id: a, shared-secret-files: [none.txt]}]", "apps[0].shared-secret-files", 1),
        ("apps: [{bundle-id: a, catalogs: [none.yaml]}]", "apps[0].catalogs", 1),
        ("account-secret-files: [none.txt]", "account-secret-files", 1),
        ("trust: {roots: [none.pem]}", "trust.roots", 1),
        ("trust: {signed-data-roots: [none.pem]}", "trust.signed-data-roots", 1),
        ("endpoint: {answer-signed-transactions: maybe}", "endpoint.answer-signed-transactions", 1),
        ("listeners: []", "listeners", 1), ("listeners: [{host: x}]", "listeners[0].port", 1),
        ("listeners: [{port: 70000}]", "listeners[0].port", 1),
        ("listeners: [{port: 1, role: any}]", "listeners[0].role", 1),
        ("listeners: [{port: 1, tls: {certificate: a}}]", "listeners[0].tls.private-key", 1),
        ("listeners: [{port: 1, tls: }]", "listeners[0].tls", 1),
        ("listeners: [{port: 1}, {port: 1}]", "listeners[1]", 1),
        ("listeners: [{port: 1}]\nlisten: {port: 2}", "listen.port", 2),
        ("listen: {tls: {certificate: a.pem}}", "listen.tls.private-key", 1),
        ("store: {url: 'mysql://x'}", "store.url", 1), ("shadow: {url: ftp://x}", "shadow.url", 1),
        ("shadow: {record: x}", "shadow.record", 1),
        ("endpoint: {unknown-bundle-ids: refused}", "endpoint.unknown-bundle-ids", 1),
        // The App Store can still send these notifications.
        ("retention: {notifications-days: 179}", "retention.notifications-days", 1),
        ("retention: {receipts-days: -1}", "retention.receipts-days", 1),
        ("store: {url: none}\nretention: {ledger-days: 9}", "retention.ledger-days", 2),
    ])
    func mistakesAreRefusedWithKeyAndLine(text: String, key: String, line: Int) {
        let problems = Self.problems(text)
        #expect(problems.map(\.key).contains(key), "\(problems)")
        // Some problems are known only after reading all; they name the key and, where one gave it, the line.
        if let place = problems.first(where: { $0.key == key })?.place, place.contains("serve.yaml:") {
            #expect(place.hasSuffix("serve.yaml:\(line)"), "\(place)")
        }
    }

    @Test(arguments: ["a: [", "a: 1\na: 2", "{", "a: &x 1\nb: *y", "- 1", "text", "a: \"\\q\""])
    func aFileThatIsNoConfigurationIsRefused(text: String) {
        #expect(!Self.problems(text).isEmpty)
    }

    @Test(
        "A file that is refused as a whole is refused with the line, without any text of the line",
        arguments: [
            ("#\nsandbox-hosts: &hidden [hidden.example]\nlook-up: {token-files: *hidden}", "aliases are not allowed"),
            ("#\naccount-secrets: !!binary aGlkZGVu", "tags are not allowed"),
            ("#\n? [hidden]\n: 1", "a key must be text"),
            ("#\na: \(String(repeating: "[", count: 17))hidden\(String(repeating: "]", count: 17))", "too deeply"),
            ("#\naccount-secrets: [\"hidden\\q\"]", "is not valid YAML or JSON: found unknown escape character"),
        ])
    func refusedFilesAreNotQuoted(text: String, message: String) {
        let problems = Self.problems(text)
        #expect(problems.map(\.message).joined().contains(message), "\(problems)")
        #expect(problems.count == 1 && problems[0].place?.hasSuffix("serve.yaml:2") == true, "\(problems)")
        #expect(!problems.map(\.description).joined().contains("hidden"))
    }

    @Test func everyProblemIsReportedAtOnce() {
        let problems = Self.problems("one: 1\ntwo: 2\ntimeouts: {idle: x}\napps: [{}]")
        #expect(problems.count == 4)
    }

    @Test func variablesAreChecked() {
        let unknown = Self.problems("#", environment: ["LEGACY_RECEIPTS_STORE_ULR": "x"])
        #expect(unknown.first?.place == "LEGACY_RECEIPTS_STORE_ULR")
        let wrong = Self.problems("#", environment: ["LEGACY_RECEIPTS_LISTEN_PORT": "http"])
        #expect(wrong.first?.key == "listen.port")
        #expect(wrong.first?.place == "LEGACY_RECEIPTS_LISTEN_PORT")
        #expect(Self.problems("#", environment: ["LEGACY_RECEIPTS_SEED": "1", "OTHER": "x"]).isEmpty)
        #expect(Self.problems("#", flags: ["no.such": "1"]).first?.key == "no.such")
    }

    @Test func missingFileIsNamed() {
        do {
            _ = try ConfigurationSources(file: "/nowhere/serve.yaml").load()
            Issue.record("it was read")
        } catch {
            #expect("\(error)".contains("/nowhere/serve.yaml"))
        }
    }

    @Test func jsonSaysTheSame() throws {
        let text = """
            {"apps": [{"bundle-id": "com.example.app", "shared-secrets": ["a", "b"], "apple-id": 9007199254740993}],
             "listeners": [{"port": 1234, "role": "sandbox"}], "timeouts": {"idle": 1.5}, "endpoint": {"learn": false}}
            """
        let configuration = try Self.load(text, name: "serve.json")
        #expect(configuration.endpoint.apps.first?.appleId == 9_007_199_254_740_993)
        #expect(configuration.endpoint.apps.first?.sharedSecrets == [SharedSecret("a"), SharedSecret("b")])
        #expect(configuration.listeners == [.init(port: 1234, role: .sandbox)])
        #expect(configuration.timeouts.idle == .milliseconds(1500))
        #expect(!configuration.endpoint.learnsFromReceipts)
    }

    @Test func secretsComeFromFilesBesideTheConfiguration() throws {
        let folder = try TemporaryFolder()
        try folder.write("one.txt", "first\n\n  second \n")
        try folder.write("account.txt", "third", mode: 0o644)
        let file = try folder.write(
            "serve.yaml",
            "apps: [{bundle-id: a.b, shared-secrets: [007], shared-secret-files: [one.txt]}]\n"
                + "account-secret-files: [account.txt]\n")
        let configuration = try ConfigurationSources(file: file).load()
        #expect(
            configuration.endpoint.apps[0].sharedSecrets
                == [SharedSecret("007"), SharedSecret("first"), SharedSecret("second")])
        #expect(configuration.endpoint.accountSecrets == [SharedSecret("third")])
        // The world can read one of them.
        let readable = configuration.warnings.filter { $0.contains("every user of this machine may read it") }
        #expect(readable.count == 1 && readable[0].contains("account.txt"))
        try folder.write("serve.yaml", "account-secrets: [x]", mode: 0o644)
        let ofFile = try ConfigurationSources(file: file).load().warnings
        #expect(ofFile.count { $0.contains("every user of this machine may read it") } == 1)
    }

    @Test func secretsAreNotInErrors() {
        let texts = [
            "account-secrets: {a: top-secret}", "apps: [{bundle-id: a, shared-secrets: {x: top-secret}}]",
            "account-secrets: [top-secret\nb: ]", "store: {url: 'mysql://user:top-secret@host'}",
            "account-secrets: \"top-secret\\q\"",
        ]
        for text in texts {
            let problems = Self.problems(text)
            #expect(!problems.isEmpty, "\(text)")
            #expect(!problems.map(\.description).joined().contains("top-secret"), "\(problems)")
        }
    }

    @Test func keysAndCertificatesMustBelongTogether() throws {
        let (one, other) = (try TestCertificate(), try TestCertificate())
        let text = "listen: {tls: {certificate: \(one.tls.certificate), private-key: \(other.tls.privateKey)}}"
        let problems = Self.problems(text)
        #expect(problems.count == 1)
        #expect(problems.first?.message.contains(other.tls.privateKey) == true)
        #expect(problems.first?.key == "listen.tls.private-key")
        #expect(
            Self.problems("listen: {tls: {certificate: \(one.tls.certificate), private-key: \(one.tls.privateKey)}}")
                .isEmpty)
    }

    @Test("A TLS file that cannot be read has the key that names it, and its place")
    func tlsFilesHaveTheirKeys() throws {
        let (certificate, none) = (try TestCertificate(), "/none/at/all.pem")
        let files = certificate.tls
        let missing = Self.problems("\nlisten: {tls: {certificate: \(none), private-key: \(files.privateKey)}}")
        #expect(missing.map(\.key) == ["listen.tls.certificate"])
        #expect(missing.first?.place?.hasSuffix("serve.yaml:2") == true, "\(missing)")
        let pair = ["listen.tls.certificate": files.certificate, "listen.tls.private-key": none]
        let flagged = Self.problems("log: {level: info}", flags: pair)
        #expect(flagged.map(\.key) == ["listen.tls.private-key"] && flagged.map(\.place) == ["--set"])
        let list = Self.problems(
            """
            listeners:
              - {port: 1}
              - {port: 2, tls: {certificate: \(files.privateKey), private-key: \(files.privateKey)}}
            """)
        #expect(list.map(\.key) == ["listeners[1].tls.certificate"], "\(list)")
        withExtendedLifetime(certificate) {}
    }

    @Test("A wrong value is reported once, flags in the order of their keys")
    func problemsAreReportedOnce() {
        let flags = ["timeouts.idle": "x", "limits.connections": "many", "admin.enabled": "perhaps", "bogus": "1"]
        let problems = Self.problems("log: {level: info}", flags: flags)
        #expect(problems.map(\.key) == ["admin.enabled", "bogus", "limits.connections", "timeouts.idle"])
        let tokens = ["look-up.enabled": "true", "look-up.token-files": ""]
        let empty = Self.problems("log: {level: info}", flags: tokens).filter { $0.message.contains("is empty") }
        #expect(empty.count == 1, "\(empty)")
    }

    // MARK: The example

    private static var example: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../tools/configuration/serve.yaml").standardizedFileURL
    }

    @Test func exampleGivesTheDefaultsOfEveryKey() throws {
        let text = try String(contentsOf: Self.example, encoding: .utf8)
        // As it stands: only comments, so the defaults.
        let configuration = try Self.load(text)
        #expect(configuration.listeners == VerifyReceiptServerConfiguration().listeners)
        // With every comment that is a value made one.
        let active = Self.uncommented(text)
        let problems = Self.problems(active).filter {
            !$0.message.contains("cannot be read") && !$0.message.contains("the file or folder does not exist")
        }
        #expect(problems.isEmpty, "\(problems)")
        for setting in Setting.all {
            let last = setting.key.split(separator: ".").last.map(String.init) ?? ""
            #expect(active.contains("\(last):"), "\(setting.key)")
            if !setting.fallback.isEmpty, setting.fallback != "127.0.0.1" {
                #expect(active.contains(setting.fallback), "\(setting.key): \(setting.fallback)")
            }
        }
        for key in [
            "apps", "bundle-id", "shared-secrets", "shared-secret-files", "apple-id", "catalogs", "validate",
            "listeners",
        ] {
            #expect(text.contains("\(key):"), "\(key)")
        }
    }

    /// A `#` and one blank begin a comment; a `#` alone or with an indentation after it is before a value.
    private static func uncommented(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard let mark = line.firstIndex(of: "#"), line[..<mark].allSatisfy({ $0 == " " }) else {
                return String(line)
            }
            let rest = line[line.index(after: mark)...]
            let isComment = rest.isEmpty || rest.hasPrefix(" ") && !rest.hasPrefix("  ")
            return isComment ? "" : String(line[..<mark]) + rest
        }.joined(separator: "\n")
    }
}
