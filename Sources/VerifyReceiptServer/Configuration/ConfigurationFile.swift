import AppStoreModels
import Configuration
import Foundation
import ProductCatalog
import VerifyReceipt

/// A scalar of a configuration file, checked against its ``Setting``.
struct ConfigurationFileEntry {
    let setting: Setting
    let value: ConfigValue
    let line: Int
}

/// The content of a configuration file.
struct ConfigurationFile {
    let path: String
    private(set) var entries: [ConfigurationFileEntry] = []
    var apps: [AppEntry] = []
    /// Nil if the file does not have the key.
    private(set) var listeners: [VerifyReceiptServerConfiguration.Listener]?
    private(set) var problems: [ConfigurationError.Problem] = []

    /// Whether the file itself contains secrets.
    var containsSecrets: Bool {
        apps.contains { !$0.secrets.isEmpty } || entries.contains { $0.setting.kind == .secrets }
    }

    /// Reads YAML or JSON. JSON strings must not contain surrogate escapes (`\ud83d\ude00`): write such characters directly.
    ///
    /// swift-configuration reads the scalars (see ``ConfigurationValues``). It rejects files with lists of objects and does
    /// not report unknown keys, so this reader does both.
    ///
    /// - Throws: ``ConfigurationError`` if the file cannot be read at all. Wrong keys and values go to ``problems``.
    init(path: String) throws {
        self.path = path
        // A file with only comments has no nodes.
        guard let root = try Self.document(path) else { return }
        guard let members = root.members else {
            throw ConfigurationError([.init(key: "", place: path, "must contain keys and values at its top")])
        }
        read(members, prefix: "")
    }

    /// In bytes; more than a configuration with ten thousand apps needs.
    private static let maximumSize = 4 << 20

    private static func document(_ path: String) throws -> YAMLNode? {
        func problem(_ message: String) -> ConfigurationError {
            ConfigurationError([.init(key: "", place: path, message)])
        }
        let data: Data
        do {
            data = try BoundedFile.read(path, maximumSize: maximumSize)
        } catch {
            throw problem("cannot be read: \(error)")
        }
        guard let text = String(bytes: data, encoding: .utf8) else { throw problem("is not UTF-8 text") }
        // An empty file is an error: an editor leaves one during a save, and so does a failed redirection. The
        // defaults are then not intended.
        guard text.contains(where: { !$0.isWhitespace }) else { throw problem("is empty") }
        do throws(YAMLProblem) {
            return try YAMLDocument.compose(text)
        } catch {
            throw ConfigurationError([Self.problem(error, path: path)])
        }
    }

    private static func problem(_ problem: YAMLProblem, path: String) -> ConfigurationError.Problem {
        let place = problem.line.map { "\(path):\($0)" } ?? path
        switch problem.code {
        case .syntax(let reason?):
            return .init(key: "", place: place, "is not valid YAML or JSON: \(reason)")
        case .syntax(nil): return .init(key: "", place: place, "is not valid YAML or JSON")
        case .tooDeep: return .init(key: "", place: place, "is nested too deeply")
        case .anchor: return .init(key: "", place: place, "aliases are not allowed")
        case .tag: return .init(key: "", place: place, "tags are not allowed")
        case .keyIsNotText: return .init(key: "", place: place, "a key must be text")
        case .duplicateKeys(let keys):
            return .init(key: keys.joined(separator: ", "), place: place, "the key occurs more than once")
        }
    }

    private mutating func read(_ members: [YAMLNode.Member], prefix: String) {
        for member in members {
            let key = prefix + member.key
            switch key {
            case "apps": readApps(member)
            case "listeners": readListeners(member)
            default:
                if let setting = Setting.of(key) {
                    read(member, as: setting)
                } else if Setting.all.contains(where: { $0.key.hasPrefix(key + ".") }) {
                    guard let inner = member.node.members else {
                        note(key, member.line, "must contain keys and values")
                        continue
                    }
                    read(inner, prefix: key + ".")
                } else {
                    note(key, member.line, "unknown key\(ConfigurationValues.suggestion(for: key))")
                }
            }
        }
    }

    private mutating func read(_ member: YAMLNode.Member, as setting: Setting) {
        let hasNothing = setting.containsSecrets && member.node.elements?.isEmpty == true
        guard !member.node.isNull, !hasNothing else {
            return note(setting.key, member.line, ConfigurationValues.isEmpty)
        }
        guard let value = content(of: member.node, as: setting.kind) else {
            note(setting.key, member.line, "must be \(setting.kind.expectation)")
            return
        }
        entries.append(ConfigurationFileEntry(setting: setting, value: value, line: member.line))
    }

    private func content(of node: YAMLNode, as kind: Setting.Kind) -> ConfigValue? {
        switch kind {
        case .text, .choice: node.text.map { ConfigValue(.string($0), isSecret: false) }
        case .path: node.text.map { ConfigValue(.string(resolved($0)), isSecret: false) }
        case .texts, .choices: texts(node).map { ConfigValue(.stringArray($0), isSecret: false) }
        case .secrets: texts(node).map { ConfigValue(.stringArray($0), isSecret: true) }
        case .paths: texts(node).map { ConfigValue(.stringArray($0.map(resolved)), isSecret: false) }
        case .integer: node.word.flatMap { Int($0) }.map { ConfigValue(.int($0), isSecret: false) }
        case .seconds: node.word.flatMap { Double($0) }.map { ConfigValue(.double($0), isSecret: false) }
        case .boolean: node.word.flatMap { Bool($0) }.map { ConfigValue(.bool($0), isSecret: false) }
        }
    }

    /// A path in the file is relative to the file's folder.
    func resolved(_ path: String) -> String {
        URL(fileURLWithPath: path, relativeTo: URL(fileURLWithPath: self.path).deletingLastPathComponent()).path
    }

    /// A list of texts, or one text.
    func texts(_ node: YAMLNode) -> [String]? {
        if let text = node.text { return [text] }
        guard let elements = node.elements else { return nil }
        let texts = elements.compactMap(\.text)
        return texts.count == elements.count ? texts : nil
    }

    /// The value of a member; nil with a problem if it is not as expected.
    private mutating func value<Value>(
        of member: YAMLNode.Member, _ key: String, _ expectation: String, _ read: (YAMLNode) -> Value?
    ) -> Value? {
        let value = read(member.node)
        if value == nil { note(key, member.line, "must be \(expectation)") }
        return value
    }

    private mutating func choice<Choice: RawRepresentable & CaseIterable>(
        of member: YAMLNode.Member, _ key: String
    ) -> Choice? where Choice.RawValue == String {
        let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        return value(of: member, key, "one of \(words)") { $0.text.flatMap { Choice(rawValue: $0) } }
    }

    private mutating func flag(of member: YAMLNode.Member, _ key: String) -> Bool? {
        value(of: member, key, "true or false") { $0.word.flatMap { Bool($0) } }
    }

    mutating func note(_ key: String, _ line: Int, _ message: String) {
        problems.append(.init(key: key, place: "\(path):\(line)", message))
    }
}

// MARK: - Lists of objects

extension ConfigurationFile {
    private mutating func readListeners(_ member: YAMLNode.Member) {
        guard let elements = member.node.elements, !elements.isEmpty else {
            note("listeners", member.line, "must be a list with at least one listener")
            return
        }
        var result: [VerifyReceiptServerConfiguration.Listener] = []
        for (index, element) in elements.enumerated() {
            let key = "listeners[\(index)]"
            guard let members = element.members else {
                note(key, element.line, "must contain keys and values")
                continue
            }
            var listener = VerifyReceiptServerConfiguration.Listener()
            var hasPort = false
            for member in members {
                if member.key == "port" { hasPort = true }
                read(member, of: &listener, key: "\(key).\(member.key)")
            }
            if !hasPort { note("\(key).port", element.line, "is missing") }
            if listener.port != 0, result.contains(where: { $0.host == listener.host && $0.port == listener.port }) {
                note(key, element.line, "another listener has \(listener.host):\(listener.port)")
            }
            result.append(listener)
        }
        listeners = result
    }

    private mutating func read(
        _ member: YAMLNode.Member, of listener: inout VerifyReceiptServerConfiguration.Listener, key: String
    ) {
        switch member.key {
        case "host":
            let host = value(of: member, key, "a host name or an address") { $0.text.flatMap { $0.isEmpty ? nil : $0 } }
            listener.host = host ?? listener.host
        case "port":
            let port = value(of: member, key, "a whole number from 0 to 65535") { $0.word.flatMap { UInt16($0) } }
            listener.port = port.map { Int($0) } ?? listener.port
        case "role": listener.role = choice(of: member, key) ?? listener.role
        case "tls":
            listener.tls = readTLS(member, key: key)
        default:
            note(key, member.line, "unknown key")
        }
    }

    private mutating func readTLS(
        _ member: YAMLNode.Member, key: String
    ) -> VerifyReceiptServerConfiguration.TLSFiles? {
        var paths: [String: String] = [:]
        for inner in member.node.members ?? [] {
            guard inner.key == "certificate" || inner.key == "private-key" else {
                note("\(key).\(inner.key)", inner.line, "unknown key")
                continue
            }
            if let text = inner.node.text { paths[inner.key] = resolved(text) }
        }
        guard let certificate = paths["certificate"], let privateKey = paths["private-key"] else {
            note(key, member.line, "must contain the paths certificate and private-key")
            return nil
        }
        return VerifyReceiptServerConfiguration.TLSFiles(certificate: certificate, privateKey: privateKey)
    }
}

// The list `apps`: each entry is one app.

extension ConfigurationFile {
    /// One app before its files are read.
    struct AppEntry {
        var bundleId = ""
        var secrets: [String] = []
        var secretFiles: [String] = []
        var appleId: Int64?
        var catalogs: [String] = []
        var order: EndpointConfiguration.Order?
        var sandboxAtProduction: EndpointConfiguration.SandboxAtProduction?
        var answersValidations = false
        var freshness = FreshnessEntry()
        var appStoreServer = AppStoreServerEntry()
        let key: String
        let place: String
    }

    /// The freshness settings in an app's entry.
    struct FreshnessEntry {
        var mode: Freshness.Source?
        /// Seconds.
        var maximumAge: Double?
        var isRequired: Bool?
    }

    /// The settings of the In-App Purchase key in an app's entry.
    struct AppStoreServerEntry {
        var issuerID: String?
        var keyID: String?
        var privateKeyFile: String?
    }

    mutating func readApps(_ member: YAMLNode.Member) {
        guard let elements = member.node.elements else {
            note("apps", member.line, "must be a list")
            return
        }
        guard !elements.isEmpty else { return note("apps", member.line, ConfigurationValues.isEmpty) }
        for (index, element) in elements.enumerated() {
            let key = "apps[\(index)]"
            guard let members = element.members else {
                note(key, element.line, "must contain keys and values")
                continue
            }
            var app = AppEntry(key: key, place: "\(path):\(element.line)")
            for member in members { read(member, of: &app) }
            if app.bundleId.isEmpty {
                note("\(key).bundle-id", element.line, "is missing")
            } else if let other = apps.first(where: { $0.bundleId == app.bundleId }) {
                note("\(key).bundle-id", element.line, "\(app.bundleId) is at \(other.place) already")
            }
            apps.append(app)
        }
    }

    private mutating func read(_ member: YAMLNode.Member, of app: inout AppEntry) {
        let key = "\(app.key).\(member.key)"
        switch member.key {
        case "bundle-id":
            guard let text = member.node.text, Self.isBundleId(text) else {
                note(key, member.line, "must be a bundle id: letters, digits, dots and hyphens")
                return
            }
            app.bundleId = text
        case "apple-id":
            app.appleId = value(of: member, key, "a whole number above 0") { node in
                node.word.flatMap { Int64($0) }.flatMap { $0 > 0 ? $0 : nil }
            }
        case "shared-secrets", "shared-secret-files", "catalogs":
            guard let texts = texts(member.node), !texts.contains("") else {
                return note(key, member.line, "must be a list of strings")
            }
            // An app without a secret accepts every password.
            let mayBeEmpty = member.key == "catalogs" && !member.node.isNull
            guard mayBeEmpty || !texts.isEmpty else { return note(key, member.line, ConfigurationValues.isEmpty) }
            switch member.key {
            case "shared-secrets":
                if !texts.allSatisfy(Self.isSecret) { note(key, member.line, Self.secretExpectation) }
                app.secrets = texts
            case "shared-secret-files": app.secretFiles = texts.map(resolved)
            default: app.catalogs = texts.map(resolved)
            }
        case "order": app.order = choice(of: member, key)
        case "sandbox-at-production": app.sandboxAtProduction = choice(of: member, key)
        case "validate": app.answersValidations = flag(of: member, key) ?? false
        case "freshness":
            readMembers(of: member, key: key) { inner, key, file in file.read(inner, key, of: &app.freshness) }
        case "app-store-server":
            readMembers(of: member, key: key) { inner, key, file in file.read(inner, key, of: &app.appStoreServer) }
        default:
            note(key, member.line, "unknown key")
        }
    }

    private mutating func readMembers(
        of member: YAMLNode.Member, key: String,
        _ read: (YAMLNode.Member, String, inout ConfigurationFile) -> Void
    ) {
        guard let members = member.node.members else {
            return note(key, member.line, "must contain keys and values")
        }
        for inner in members { read(inner, "\(key).\(inner.key)", &self) }
    }

    private mutating func read(_ member: YAMLNode.Member, _ key: String, of entry: inout FreshnessEntry) {
        switch member.key {
        case "mode": entry.mode = choice(of: member, key)
        case "maximum-age":
            let ages = Setting.maximumAges
            entry.maximumAge = value(of: member, key, Setting.Kind.seconds(ages).expectation) { node in
                node.word.flatMap { Double($0) }.flatMap { ages.contains($0) ? $0 : nil }
            }
        case "required": entry.isRequired = flag(of: member, key)
        default: note(key, member.line, "unknown key")
        }
    }

    private mutating func read(_ member: YAMLNode.Member, _ key: String, of entry: inout AppStoreServerEntry) {
        guard ["issuer-id", "key-id", "private-key-file"].contains(member.key) else {
            return note(key, member.line, "unknown key")
        }
        guard let text = member.node.text, !text.isEmpty else {
            return note(key, member.line, "must be text")
        }
        switch member.key {
        case "issuer-id": entry.issuerID = text
        case "key-id": entry.keyID = text
        default: entry.privateKeyFile = resolved(text)
        }
    }

    static let secretExpectation = "must contain non-blank secrets without leading or trailing blanks"

    /// Whether a text can be a secret from App Store Connect. Blanks at its ends come from copying; in files they are
    /// ignored.
    static func isSecret(_ text: String) -> Bool {
        !text.isEmpty && text == text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Apple's rule (CFBundleIdentifier), plus the underscore, which some bundle ids contain anyway.
    private static func isBundleId(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || "._-".utf8.contains($0) }
    }
}

extension YAMLNode {
    fileprivate var members: [Member]? {
        if isNull { return [] }
        return if case .mapping(let members) = value { members } else { nil }
    }

    fileprivate var elements: [YAMLNode]? {
        if isNull { return [] }
        return if case .sequence(let elements) = value { elements } else { nil }
    }

    /// A text. Numbers and other unquoted words count as text, so that a secret of digits needs no quotes.
    fileprivate var text: String? {
        if case .scalar(let text, _) = value, !isNull { text } else { nil }
    }

    /// A word without quotes, such as a number or a boolean.
    fileprivate var word: String? {
        if case .scalar(let text, isPlain: true) = value, !isNull { text } else { nil }
    }
}
