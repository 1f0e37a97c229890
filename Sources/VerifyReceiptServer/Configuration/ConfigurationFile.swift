import Configuration
import Foundation
import ProductCatalog

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
    private(set) var apps: [Element] = []
    /// Nil if the file does not have the key.
    private(set) var listeners: [Element]?
    private(set) var problems: [ConfigurationError.Problem] = []

    /// An element of a list of objects.
    struct Element {
        /// As `apps[2]`.
        let key: String
        let place: String
        let entries: [ConfigurationFileEntry]
    }

    /// Whether the file itself contains secrets.
    var containsSecrets: Bool {
        (entries + apps.flatMap(\.entries)).contains { $0.setting.kind == .secrets }
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
        entries = read(members, of: Setting.all)
    }

    /// In bytes; more than a configuration with ten thousand apps needs.
    private static let maximumSize = 4 << 20

    private static func document(_ path: String) throws -> YAMLNode? {
        func problem(_ message: String) -> ConfigurationError {
            ConfigurationError([.init(key: "", place: path, message)])
        }
        let bytes: [UInt8]
        do {
            bytes = try BoundedFile.read(path, maximumSize: maximumSize)
        } catch {
            throw problem("cannot be read: \(error)")
        }
        guard let text = String(bytes: bytes, encoding: .utf8) else { throw problem("is not UTF-8 text") }
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

    /// - Parameters:
    ///   - members: the members of one object in the file.
    ///   - settings: those that the members may set.
    ///   - element: the key of the element of a list, with a dot; empty outside of lists.
    ///   - prefix: the levels above the members, with a dot; empty for none.
    private mutating func read(
        _ members: [YAMLNode.Member], of settings: [Setting], in element: String = "", prefix: String = ""
    ) -> [ConfigurationFileEntry] {
        var entries: [ConfigurationFileEntry] = []
        for member in members {
            let key = prefix + member.key
            if element.isEmpty, key == "apps" {
                apps = elements(of: member, Setting.ofApp) ?? []
            } else if element.isEmpty, key == "listeners" {
                listeners = elements(of: member, Setting.ofListener)
            } else if let setting = settings.first(where: { $0.key == key }) {
                if let entry = entry(member, setting, element + key) { entries.append(entry) }
            } else if settings.contains(where: { $0.key.hasPrefix(key + ".") }) {
                guard let inner = self.members(of: member.node, element + key, member.line) else { continue }
                if key == "tls", inner.isEmpty {
                    note(element + key, member.line, "must contain the paths certificate and private-key")
                }
                entries += read(inner, of: settings, in: element, prefix: key + ".")
            } else {
                let suggestion = element.isEmpty ? ConfigurationValues.suggestion(for: key) : ""
                note(element + key, member.line, "unknown key\(suggestion)")
            }
        }
        return entries
    }

    private mutating func elements(of member: YAMLNode.Member, _ settings: [Setting]) -> [Element]? {
        guard let nodes = member.node.elements else {
            note(member.key, member.line, "must be a list")
            return nil
        }
        if nodes.isEmpty { note(member.key, member.line, ConfigurationValues.isEmpty) }
        var elements: [Element] = []
        for (index, node) in nodes.enumerated() {
            let key = "\(member.key)[\(index)]"
            guard let members = members(of: node, key, node.line) else { continue }
            let entries = read(members, of: settings, in: key + ".")
            elements.append(Element(key: key, place: "\(path):\(node.line)", entries: entries))
        }
        return elements
    }

    private mutating func members(of node: YAMLNode, _ key: String, _ line: Int) -> [YAMLNode.Member]? {
        let members = node.members
        if members == nil { note(key, line, "must contain keys and values") }
        return members
    }

    private mutating func entry(
        _ member: YAMLNode.Member, _ setting: Setting, _ key: String
    ) -> ConfigurationFileEntry? {
        let hasNothing = setting.containsSecrets && member.node.elements?.isEmpty == true
        guard !member.node.isNull, !hasNothing else {
            note(key, member.line, ConfigurationValues.isEmpty)
            return nil
        }
        let node = member.node
        let value = setting.kind.content(text: node.text, word: node.word, texts: texts(node), path: resolved)
        guard let value else {
            note(key, member.line, "must be \(setting.kind.expectation)")
            return nil
        }
        return ConfigurationFileEntry(setting: setting, value: value, line: member.line)
    }

    /// A path in the file is relative to the file's folder. An empty one stays empty.
    private func resolved(_ path: String) -> String {
        guard !path.isEmpty else { return path }
        return URL(fileURLWithPath: path, relativeTo: URL(fileURLWithPath: self.path).deletingLastPathComponent()).path
    }

    /// A list of texts, or one text.
    private func texts(_ node: YAMLNode) -> [String]? {
        if let text = node.text { return [text] }
        guard let elements = node.elements else { return nil }
        let texts = elements.compactMap(\.text)
        return texts.count == elements.count ? texts : nil
    }

    private mutating func note(_ key: String, _ line: Int, _ message: String) {
        problems.append(.init(key: key, place: "\(path):\(line)", message))
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
