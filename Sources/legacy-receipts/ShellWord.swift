import AppStoreModels

/// Words of a command line for a POSIX shell.
enum ShellWord {
    /// The word, in quotes if it needs them.
    static func quoted(_ word: String) -> String {
        let isPlain =
            !word.isEmpty && word.utf8.allSatisfy { $0.isASCIIAlphanumeric || "-_./:=@,+%".utf8.contains($0) }
        return isPlain ? word : word.inQuotes("'", escapedAs: "'\\''")
    }
}
