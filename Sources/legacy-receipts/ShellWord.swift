import AppStoreModels
import TransactionStore

/// Words of a command line for a POSIX shell.
enum ShellWord {
    /// The word, in quotes if it needs them.
    static func quoted(_ word: String) -> String {
        let isPlain =
            !word.isEmpty && word.utf8.allSatisfy { $0.isASCIIAlphanumeric || "-_./:=@,+%".utf8.contains($0) }
        return isPlain ? word : word.inQuotes("'", escapedAs: "'\\''")
    }

    /// A command line.
    static func line(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

    /// Arguments without these options, with their values, and without these flags.
    static func arguments(
        _ arguments: some Sequence<String>, withoutOptions options: [String], flags: [String] = []
    ) -> [String] {
        var result: [String] = []
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            if argument == "--" { return result + [argument] + rest }
            if flags.contains(argument) || options.contains(where: { argument.hasPrefix($0 + "=") }) { continue }
            if options.contains(argument) {
                _ = rest.popFirst()
                continue
            }
            result.append(argument)
        }
        return result
    }
}

/// A command line for a message, without the passwords of PostgreSQL addresses.
struct ShownCommand {
    let words: [String]
    /// What a person must add, one sentence for each kind.
    let omissions: [String]

    init(_ words: [String]) {
        var omissions: [String] = []
        self.words = words.map { word -> String in
            let isOption = word.hasPrefix("--")
            let option = isOption ? word.prefix { $0 != "=" } : ""
            let value = isOption ? word.dropFirst(option.count + 1) : word[...]
            guard let url = try? StoreURL(String(value)), case .postgreSQL = url else { return word }
            if let omission = url.omission, !omissions.contains(omission) { omissions.append(omission) }
            return "\(option)\(isOption ? "=" : "")\(url)"
        }
        self.omissions = omissions
    }

    var line: String { ShellWord.line(words) }
}
