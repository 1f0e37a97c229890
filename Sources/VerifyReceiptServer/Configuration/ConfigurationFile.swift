import Configuration
import Foundation

/// A scalar of a configuration file, checked against its ``Setting``.
struct ConfigurationFileEntry {
    let setting: Setting
    let value: ConfigValue
    let line: Int
}

/// What a configuration file holds.
struct ConfigurationFile {
    let path: String
    private(set) var entries: [ConfigurationFileEntry] = []
    var apps: [AppEntry] = []
    /// Nil if the file does not have the key.
    private(set) var listeners: [VerifyReceiptServerConfiguration.Listener]?
    private(set) var listenersLine: Int?
    private(set) var problems: [ConfigurationError.Problem] = []

    /// Whether secrets stand in the file itself.
    var holdsSecrets: Bool {
        apps.contains { !$0.secrets.isEmpty } || entries.contains { $0.setting.kind == .secrets }
    }

    /// - Throws: ``ConfigurationError`` if the file cannot be read at all. Wrong keys and values go to ``problems``.
    init(path: String) throws {
        try self.init(path: path, root: ConfigurationDocument.read(path))
    }

    init(path: String, root: ConfigurationNode) throws {
        self.path = path
        guard let members = root.members else {
            throw ConfigurationError([.init(key: "", place: path, "has to hold keys and values at its top")])
        }
        read(members, prefix: "")
    }

    private mutating func read(_ members: [ConfigurationNode.Member], prefix: String) {
        for member in members {
            let key = prefix + member.key
            switch key {
            case "apps": readApps(member)
            case "listeners": readListeners(member)
            default:
                if let setting = Setting.all.first(where: { $0.key == key }) {
                    read(member, as: setting)
                } else if Setting.all.contains(where: { $0.key.hasPrefix(key + ".") }) {
                    guard let inner = member.value.members else {
                        note(key, member.line, "has to hold keys and values")
                        continue
                    }
                    read(inner, prefix: key + ".")
                } else {
                    note(key, member.line, "there is no such key\(ConfigurationValues.suggestion(for: key))")
                }
            }
        }
    }

    private mutating func read(_ member: ConfigurationNode.Member, as setting: Setting) {
        let hasNothing = setting.holdsSecrets && member.value.elements?.isEmpty == true
        guard !member.value.isAbsent, !hasNothing else {
            return note(setting.key, member.line, ConfigurationValues.isEmpty)
        }
        guard let value = content(of: member.value, as: setting.kind) else {
            note(setting.key, member.line, "has to be \(setting.kind.expectation)")
            return
        }
        entries.append(ConfigurationFileEntry(setting: setting, value: value, line: member.line))
    }

    private func content(of node: ConfigurationNode, as kind: Setting.Kind) -> ConfigValue? {
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

    /// A path of the file counts from the file's folder.
    func resolved(_ path: String) -> String {
        URL(fileURLWithPath: path, relativeTo: URL(fileURLWithPath: self.path).deletingLastPathComponent()).path
    }

    /// A list of texts, or one text.
    func texts(_ node: ConfigurationNode) -> [String]? {
        if let text = node.text { return [text] }
        guard let elements = node.elements else { return nil }
        let texts = elements.compactMap(\.text)
        return texts.count == elements.count ? texts : nil
    }

    mutating func note(_ key: String, _ line: Int, _ message: String) {
        problems.append(.init(key: key, place: "\(path):\(line)", message))
    }
}

// MARK: - Lists of objects

extension ConfigurationFile {
    private mutating func readListeners(_ member: ConfigurationNode.Member) {
        listenersLine = member.line
        guard let elements = member.value.elements, !elements.isEmpty else {
            note("listeners", member.line, "has to be a list with at least one listener")
            return
        }
        var result: [VerifyReceiptServerConfiguration.Listener] = []
        for (index, element) in elements.enumerated() {
            let key = "listeners[\(index)]"
            guard let members = element.members else {
                note(key, element.line, "has to hold keys and values")
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
        _ member: ConfigurationNode.Member, of listener: inout VerifyReceiptServerConfiguration.Listener, key: String
    ) {
        switch member.key {
        case "host":
            guard let text = member.value.text, !text.isEmpty else {
                return note(key, member.line, "has to be a host name or an address")
            }
            listener.host = text
        case "port":
            guard let port = member.value.word.flatMap({ Int($0) }), (0...65_535).contains(port) else {
                return note(key, member.line, "has to be a whole number from 0 to 65535")
            }
            listener.port = port
        case "role":
            guard let role = member.value.text.flatMap(VerifyReceiptServerConfiguration.Role.init(rawValue:)) else {
                let roles = VerifyReceiptServerConfiguration.Role.allCases.map(\.rawValue)
                return note(key, member.line, "has to be one of \(roles.joined(separator: ", "))")
            }
            listener.role = role
        case "tls":
            listener.tls = readTLS(member, key: key)
        default:
            note(key, member.line, "there is no such key")
        }
    }

    private mutating func readTLS(
        _ member: ConfigurationNode.Member, key: String
    ) -> VerifyReceiptServerConfiguration.TLSFiles? {
        var paths: [String: String] = [:]
        for inner in member.value.members ?? [] {
            guard inner.key == "certificate" || inner.key == "private-key" else {
                note("\(key).\(inner.key)", inner.line, "there is no such key")
                continue
            }
            if let text = inner.value.text { paths[inner.key] = resolved(text) }
        }
        guard let certificate = paths["certificate"], let privateKey = paths["private-key"] else {
            note(key, member.line, "has to hold certificate and private-key, both paths")
            return nil
        }
        return VerifyReceiptServerConfiguration.TLSFiles(certificate: certificate, privateKey: privateKey)
    }
}
