import ArgumentParser

// The options that many commands have in the same form: files, which a shell completes, and dates.

extension ArgumentHelp {
    /// - Parameters:
    ///   - name: what the usage calls the value of the option.
    ///   - text: what the option does.
    static func value(_ name: String, _ text: String) -> ArgumentHelp { ArgumentHelp(text, valueName: name) }
}

extension Option<String> {
    init(file help: String) { self.init(help: .value("file", help), completion: .file()) }
}

extension Option<String?> {
    init(name: NameSpecification = .long, file help: String, completion: CompletionKind = .file()) {
        self.init(name: name, help: .value("file", help), completion: completion)
    }
}

extension Option<[String]> {
    init(wrappedValue: [String], name: NameSpecification = .long, file help: String) {
        self.init(wrappedValue: wrappedValue, name: name, help: .value("file", help), completion: .file())
    }
}

extension Option<Int64?> {
    /// In milliseconds since 1970.
    init(date help: String) { self.init(help: .value("date", help), transform: DateArguments.milliseconds) }
}
