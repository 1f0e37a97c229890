import ArgumentParser

// The options that many commands have in the same form: files, which a shell completes, and dates.

extension Option<String> {
    init(file help: String) {
        self.init(help: ArgumentHelp(help, valueName: "file"), completion: .file())
    }
}

extension Option<String?> {
    init(name: NameSpecification = .long, file help: String, completion: CompletionKind = .file()) {
        self.init(name: name, help: ArgumentHelp(help, valueName: "file"), completion: completion)
    }
}

extension Option<[String]> {
    init(wrappedValue: [String], name: NameSpecification = .long, file help: String) {
        self.init(
            wrappedValue: wrappedValue, name: name, help: ArgumentHelp(help, valueName: "file"), completion: .file())
    }
}

extension Option<Int64?> {
    /// In milliseconds since 1970.
    init(date help: String) {
        self.init(help: ArgumentHelp(help, valueName: "date"), transform: DateArguments.milliseconds)
    }
}
