import Configuration
import Foundation

/// The scalars of a configuration, from flags, environment and file in this order, read through swift-configuration.
struct ConfigurationValues {
    private let reader: ConfigReader
    private let settings: [String: Setting]
    /// The option that gave the value of a key.
    private let flags: [String: String]
    private let variables: Set<String>
    private let fileLines: [String: Int]
    private let file: String?
    /// The element of a list that has the values; nil outside of lists.
    private let element: ConfigurationFile.Element?
    private(set) var problems: [ConfigurationError.Problem] = []

    /// The values of an element of a list.
    init(of element: ConfigurationFile.Element, _ settings: [Setting], file: String?) {
        self.init(settings, entries: element.entries, file: file, element: element)
    }

    /// - Parameters:
    ///   - settings: those that are read.
    ///   - flags: texts by key.
    ///   - options: the options that gave flags, by key; the others are from `--set`.
    ///   - environment: all variables of the process.
    ///   - entries: the values in the file.
    ///   - file: the path of the configuration file; nil without one.
    ///   - element: the element of a list that the values belong to; nil outside of lists.
    init(
        _ settings: [Setting] = Setting.all, flags: [String: String] = [:], options: [String: String] = [:],
        environment: [String: String] = [:], entries: [ConfigurationFileEntry], file: String?,
        element: ConfigurationFile.Element? = nil
    ) {
        let byKey = Dictionary(settings.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        self.settings = byKey
        self.element = element
        var problems: [ConfigurationError.Problem] = []
        var flagValues: [AbsoluteConfigKey: ConfigValue] = [:]
        for (key, text) in flags.sorted(by: { $0.key < $1.key }) {
            guard let setting = byKey[key] else {
                problems.append(.init(key: key, place: "--set", "unknown key\(Self.suggestion(for: key))"))
                continue
            }
            let texts = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            guard let content = setting.kind.content(text: text, word: text, texts: texts) else {
                problems.append(
                    .init(key: key, place: options[key] ?? "--set", "must be \(setting.kind.expectation)"))
                continue
            }
            flagValues[AbsoluteConfigKey(key.split(separator: ".").map(String.init))] = content
        }
        var fileValues: [AbsoluteConfigKey: ConfigValue] = [:]
        for entry in entries {
            fileValues[AbsoluteConfigKey(entry.setting.key.split(separator: ".").map(String.init))] = entry.value
        }
        let ours = environment.filter { name, _ in
            name.hasPrefix(Setting.variablePrefix) && !Setting.foreignVariables.contains(name)
        }
        let known = Set(settings.map(\.variable))
        for name in ours.keys.sorted() where !known.contains(name) {
            problems.append(.init(key: "", place: name, "no key has this environment variable"))
        }
        let unprefixed = ours.map { (String($0.key.dropFirst(Setting.variablePrefix.count)), $0.value) }
        reader = ConfigReader(providers: [
            InMemoryProvider(name: "flags", values: flagValues),
            EnvironmentVariablesProvider(
                environmentVariables: Dictionary(unprefixed, uniquingKeysWith: { first, _ in first })),
            InMemoryProvider(name: "file", values: fileValues),
        ])
        self.flags = flags.reduce(into: [:]) { $0[$1.key] = options[$1.key] ?? "--set" }
        variables = Set(ours.keys)
        fileLines = Dictionary(entries.map { ($0.setting.key, $0.line) }, uniquingKeysWith: { first, _ in first })
        self.file = file
        self.problems = problems
    }

    /// The source of a key's value; nil for the default.
    func place(of key: String) -> String? {
        if let option = flags[key] { return option }
        guard let setting = settings[key] else { return nil }
        if variables.contains(setting.variable) { return setting.variable }
        return fileLines[key].map { "\(file ?? ""):\($0)" }
    }

    func isGiven(_ key: String) -> Bool { place(of: key) != nil }

    /// Whether a flag or a variable sets the key and overrides the file.
    func isGivenOutsideOfFile(_ key: String) -> Bool {
        guard let setting = settings[key] else { return false }
        return flags[key] != nil || variables.contains(setting.variable)
    }

    mutating func note(_ key: String, _ message: String) {
        problems.append(.init(key: name(key), place: place(of: key) ?? element?.place, message))
    }

    /// The key with the element that has it: `apps[2].order`.
    func name(_ key: String) -> String { element.map { "\($0.key).\(key)" } ?? key }

    // MARK: Values

    mutating func text(_ key: String) -> String? {
        let fallback = settings[key]?.fallback
        let text = value(key) { try $0.requiredString(forKey: ConfigKey(key)) } ?? fallback
        if text?.isEmpty == true, isGiven(key) { note(key, Self.isEmpty) }
        return text?.isEmpty == true ? nil : text
    }

    mutating func texts(_ key: String, isSecret: Bool = false) -> [String] {
        let fallback = settings[key]?.fallback ?? ""
        let texts = value(key) { try $0.requiredStringArray(forKey: ConfigKey(key), isSecret: isSecret) }
        if let texts, texts.contains("") || texts.isEmpty, isGivenOutsideOfFile(key) || texts.contains("") {
            note(key, Self.isEmpty)
        }
        return texts?.filter { !$0.isEmpty } ?? (fallback.isEmpty ? [] : [fallback])
    }

    /// An empty value is an error, because an unset variable of a deployment becomes an empty string.
    static let isEmpty = "is empty; remove it to use the default"

    mutating func integer(_ key: String) -> Int {
        guard let setting = settings[key], case .integer(let range) = setting.kind else { return 0 }
        return number(of: setting, in: range, Int(setting.fallback)) { try $0.requiredInt(forKey: ConfigKey(key)) }
    }

    mutating func duration(_ key: String) -> Duration {
        guard let setting = settings[key], case .seconds(let range) = setting.kind else { return .zero }
        let seconds = number(of: setting, in: range, Double(setting.fallback)) {
            try $0.requiredDouble(forKey: ConfigKey(key))
        }
        return .milliseconds(Int64((seconds * 1_000).rounded()))
    }

    /// The number, or the default with a problem if it is out of range.
    private mutating func number<Number: Comparable>(
        of setting: Setting, in range: ClosedRange<Number>, _ fallback: Number?,
        _ read: (ConfigReader) throws -> Number
    ) -> Number {
        let fallback = fallback ?? range.lowerBound
        let number = value(setting.key, read) ?? fallback
        guard range.contains(number) else {
            note(setting.key, "must be \(setting.kind.expectation)")
            return fallback
        }
        return number
    }

    mutating func boolean(_ key: String) -> Bool {
        let fallback = settings[key]?.fallback == "true"
        return value(key) { try $0.requiredBool(forKey: ConfigKey(key)) } ?? fallback
    }

    /// One of the words of a choice.
    mutating func choice(_ key: String) -> String {
        guard let setting = settings[key], case .choice(let words) = setting.kind else { return "" }
        let word = text(key) ?? setting.fallback
        guard words.contains(word) else {
            note(key, "must be \(setting.kind.expectation)")
            return setting.fallback
        }
        return word
    }

    /// The value of a choice that has no default.
    mutating func given<Choice: RawRepresentable<String>>(_ key: String) -> Choice? {
        isGiven(key) ? Choice(rawValue: choice(key)) : nil
    }

    mutating func choices(_ key: String) -> Set<String> {
        guard let setting = settings[key], case .choices(let words) = setting.kind else { return [] }
        let given = texts(key)
        for word in given where !words.contains(word) { note(key, "must be \(setting.kind.expectation)") }
        return Set(given)
    }

    /// The value, or nil if there is none; a value of the wrong type is a problem.
    private mutating func value<Value>(_ key: String, _ read: (ConfigReader) throws -> Value) -> Value? {
        guard isGiven(key) else { return nil }
        do {
            return try read(reader)
        } catch {
            note(key, "must be \(settings[key]?.kind.expectation ?? "another type")")
            return nil
        }
    }

    /// A hint for a mistyped key.
    static func suggestion(for key: String) -> String {
        let last = key.split(separator: ".").last.map(String.init) ?? key
        let close = Setting.all.map(\.key).first { candidate in
            candidate.split(separator: ".").last.map(String.init) == last
                || candidate.replacing("-", with: "")
                    == key.replacing("_", with: "").replacing("-", with: "").lowercased()
        }
        return close.map { "; did you mean \($0)?" } ?? ""
    }
}

extension Setting.Kind {
    /// A value with the type of the setting; nil if it has another one.
    /// - Parameters:
    ///   - text: the value as a text.
    ///   - word: the value as a number or a boolean.
    ///   - texts: the value as a list.
    ///   - path: completes a path.
    func content(
        text: String?, word: String?, texts: [String]?, path: (String) -> String = { $0 }
    ) -> ConfigValue? {
        let content: ConfigContent? =
            switch self {
            case .text, .choice: text.map { .string($0) }
            case .path: text.map { .string(path($0)) }
            case .texts, .choices, .secrets: texts.map { .stringArray($0) }
            case .paths: texts.map { .stringArray($0.map(path)) }
            case .integer: word.flatMap { Int($0) }.map { .int($0) }
            case .seconds: word.flatMap { Double($0) }.map { .double($0) }
            case .boolean: word.flatMap { Bool($0) }.map { .bool($0) }
            }
        return content.map { ConfigValue($0, isSecret: self == .secrets) }
    }

    /// The expected form of a value, in words.
    var expectation: String {
        switch self {
        case .text: "a text"
        case .path: "a path"
        case .texts: "a list of texts"
        case .paths: "a list of paths"
        case .secrets: "a list of secrets"
        case .integer(let range) where range.upperBound == .max: "a whole number above \(range.lowerBound - 1)"
        case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .seconds(let range): "a number of seconds from \(range.lowerBound) to \(range.upperBound)"
        case .boolean: "true or false"
        case .choice(let words): "one of \(words.joined(separator: ", "))"
        case .choices(let words): "a list of words out of \(words.joined(separator: ", "))"
        }
    }
}
