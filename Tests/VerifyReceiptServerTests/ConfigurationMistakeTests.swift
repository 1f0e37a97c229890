import Foundation
import TestSupport
import Testing
import VerifyReceipt
import VerifyReceiptServer

// Mistakes that would silently change answers. Each is rejected with the name of the key.

extension Configuration {
    // MARK: Listeners

    @Test(arguments: ["listen.host", "listen.port", "listen.role", "listen.tls.certificate"])
    func aListenerOutsideOfAFileWithListenersIsRefused(_ key: String) {
        let text = "listeners: [{port: 1}, {port: 2, role: sandbox}]"
        let value = ["listen.port": "3", "listen.role": "both"][key] ?? "0.0.0.0"
        let variable = "LEGACY_RECEIPTS_" + key.uppercased().replacing(".", with: "_")
        #expect(Self.problems(text, flags: [key: value]).map(\.key) == [key])
        #expect(Self.problems(text, environment: [variable: value]).map(\.place) == [variable])
    }

    /// Values of the image must not override a mounted configuration.
    @Test func theImageIsConfiguredByAFileThatAMountedOneReplaces() throws {
        let docker = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../tools/docker").standardizedFileURL
        let configuration = try ConfigurationSources(file: docker.appendingPathComponent("serve.yaml").path).load()
        let defaults = VerifyReceiptServerConfiguration()
        #expect(configuration.listeners == [.init(host: "0.0.0.0", port: 8080)])
        #expect(configuration.admin == .init(host: "0.0.0.0", port: 9090))
        #expect(configuration.storeURL == defaults.storeURL)
        let image = try String(contentsOf: docker.appendingPathComponent("Dockerfile"), encoding: .utf8)
        #expect(!image.contains(Setting.variablePrefix))
        #expect(image.contains("COPY tools/docker/serve.yaml /etc/legacy-receipts/serve.yaml\n"))
        #expect(image.contains(#"CMD ["serve", "--config", "/etc/legacy-receipts/serve.yaml"]"#))
    }

    @Test(arguments: [
        "sandbox.example.com:38711", "https://sandbox.example.com/", "sandbox.example.com/", "sandbox.example.com.",
        "*.example.com", "bücher.example", "a b",
    ])
    func sandboxHostsThatNeverMatchAreRefused(_ host: String) {
        #expect(Self.problems("sandbox-hosts: [ok.example.com, '\(host)']").map(\.key) == ["sandbox-hosts"])
    }

    @Test(arguments: ["Sandbox.Example.com", "localhost", "127.0.0.1", "host_name"])
    func sandboxHostsAreHostNames(_ host: String) throws {
        #expect(try Self.load("sandbox-hosts: [\(host)]").sandboxHosts == [host.lowercased()])
    }

    // MARK: Limits and files

    @Test(arguments: [
        ("limits: {body-bytes: 67108864, buffered-bytes: 1048576}", "limits.body-bytes"),
        ("limits: {body-bytes: 786433, buffered-bytes: 1048576}", "limits.body-bytes"),
        ("limits: {buffered-bytes: 1048576}", "limits.buffered-bytes"),
    ])
    func bodiesThatWouldNeverHaveRoomAreRefused(text: String, key: String) throws {
        #expect(Self.problems(text).map(\.key) == [key])
        #expect(try Self.load("limits: {body-bytes: 786432, buffered-bytes: 1048576}").limits.bodyBytes == 786_432)
    }

    @Test func aRecordThatCannotBeWrittenIsRefusedAndACheckMakesNone() throws {
        let folder = try TemporaryFolder()
        let problems = { (record: String) in
            Self.problems("shadow: {url: 'https://example.com', record: '\(folder.path)/\(record)'}").map(\.key)
        }
        #expect(problems("missing/record.ndjson") == ["shadow.record"])
        #expect(problems(".") == ["shadow.record"])
        #expect(problems("record.ndjson").isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        try folder.write("record.ndjson", "{}\n")
        #expect(problems("record.ndjson").isEmpty)
    }

    // MARK: Secrets

    /// A template whose variable is unset gives such files, and without a secret every password is accepted.
    @Test(arguments: [
        ("account-secrets: []", "account-secrets"), ("account-secrets:", "account-secrets"),
        ("account-secret-files: []", "account-secret-files"), ("account-secret-files: ~", "account-secret-files"),
        ("apps:", "apps"), ("apps: []", "apps"),
        ("apps: [{bundle-id: a.b, shared-secrets: []}]", "apps[0].shared-secrets"),
        ("apps: [{bundle-id: a.b, shared-secrets: }]", "apps[0].shared-secrets"),
        ("apps: [{bundle-id: a.b, shared-secrets: ['']}]", "apps[0].shared-secrets"),
        ("apps: [{bundle-id: a.b, shared-secret-files: []}]", "apps[0].shared-secret-files"),
        ("apps: [{bundle-id: a.b, catalogs: }]", "apps[0].catalogs"),
        ("apps: [{bundle-id: a.b, catalogs: ['']}]", "apps[0].catalogs"), ("trust: {roots: ['']}", "trust.roots"),
        ("endpoint: {unknown-bundle-ids: }", "endpoint.unknown-bundle-ids"), ("store: {url: }", "store.url"),
        ("notifications: {v1: null}", "notifications.v1"), ("sandbox-hosts:", "sandbox-hosts"),
    ])
    func anEmptyValueInAFileIsRefused(text: String, key: String) {
        #expect(Self.problems(text).map(\.key) == [key])
    }

    @Test func listsThatMayBeEmptyAreAWish() throws {
        let configuration = try Self.load(
            "sandbox-hosts: []\nendpoint: {presume: []}\napps: [{bundle-id: a.b, catalogs: []}]")
        #expect(configuration.sandboxHosts.isEmpty)
        #expect(configuration.endpoint.apps.count == 1)
    }

    @Test(arguments: [" ", "abc ", " abc", "abc\\n", "\\t"])
    func blankSecretsAndBlanksAtTheirEndsAreRefused(_ secret: String) {
        let ofApp = Self.problems("apps: [{bundle-id: a.b, shared-secrets: [good, \"\(secret)\"]}]")
        #expect(ofApp.map(\.key) == ["apps[0].shared-secrets"])
        let ofAccount = Self.problems("account-secrets: [\"\(secret)\"]")
        #expect(ofAccount.map(\.key) == ["account-secrets"])
        #expect(!(ofApp + ofAccount).map(\.description).joined().contains("abc"))
    }
}
