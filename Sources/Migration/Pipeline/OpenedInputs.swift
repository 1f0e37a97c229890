import TransactionStore

/// Inputs that could not be opened in an earlier run and can be read now. The migration that reads them replaces the lines
/// that the earlier run quarantined because of that.
struct OpenedInputs {
    /// The inputs of the migration.
    let inputs: [String]
    /// The inputs because of which the migration starts from the beginning again. Empty if it starts for the first time.
    let causes: [String]

    /// The keys of the lines about inputs that can be read now, also of other commands, and of the lines that depend on the
    /// causes.
    ///
    /// A file of a folder can define the tables of the files after it. Without it, the columns of their rows have numbers, so
    /// the lines of the rows are other ones afterwards.
    /// - Throws: `TransactionStoreError`, or `CancellationError`.
    func outdatedLines(in store: any MigrationStore) async throws -> [[UInt8]] {
        let causes = Set(causes)
        let folders = inputs.map(Self.folder).filter { folder in causes.contains { $0.hasPrefix(folder) } }
        var keys: [[UInt8]] = []
        try await store.forEachQuarantinePage { page in
            for record in page where !folders.isEmpty || QuarantineLine.isOfInput(record.line) {
                guard let line = QuarantineLine(record.line[...]) else { continue }
                let input = line.input
                let isOutdated =
                    line.unopenedInput != nil
                    ? causes.contains(input) || isRead(input)
                    : line.hasNumberedColumns && folders.contains { input.hasPrefix($0) }
                if isOutdated { keys.append(record.key) }
            }
        }
        return keys
    }

    /// Whether this migration reads an input that could not be opened.
    private func isRead(_ input: String) -> Bool {
        guard inputs.contains(where: { $0 == input || input.hasPrefix(Self.folder($0)) }) else { return false }
        // The name of a file in a folder is no pattern.
        return SystemCalls.isReadable(input) || inputs.contains(input) && PathPattern.isMatched(input)
    }

    private static func folder(_ input: String) -> String { input.hasSuffix("/") ? input : input + "/" }
}
