import AppStoreModels
import Foundation

/// The token of one purchase.
struct AccountTokenRow: Hashable, Sendable {
    /// The original transaction id.
    let id: String
    /// A UUID in lower case.
    let token: String

    init?(_ id: String, _ token: String) {
        guard Self.problem(id, token) == nil else { return nil }
        self.id = id
        self.token = token.lowercased()
    }

    /// What is wrong with the texts; nil for nothing.
    static func problem(_ id: String, _ token: String) -> String? {
        guard id.utf8.count <= 20, id.isDecimal else {
            return "'\(id)' is not an original transaction id, which has 1 to 20 digits."
        }
        return UUID(uuidString: token) == nil ? "'\(token)' is not a UUID." : nil
    }
}

/// The CSV file of `set-account-token`.
enum AccountTokenFile {
    /// More rows than an app has customers in one file; each takes some 200 bytes of memory.
    static let maximumRows = 10_000_000
    private static let maximumMistakes = 10

    /// The rows in the order of the file, each purchase once.
    ///
    /// - Throws: `CommandFailure` that names the lines that are wrong.
    static func rows(_ path: String) throws -> [AccountTokenRow] {
        var rows: [AccountTokenRow] = []
        var tokens: [String: String] = [:]
        var mistakes: [String] = []
        var idFirst: Bool?
        var number = 0
        try FileLines.forEach(path) { line in
            number += 1
            let fields = FileLines.fields(number == 1 && line.hasPrefix("\u{FEFF}") ? line.dropFirst() : line[...])
            guard let isIdFirst = idFirst else {
                idFirst = fields.first == "originalTransactionId"
                guard Set(fields) == ["originalTransactionId", "appAccountToken"], fields.count == 2 else {
                    throw CommandFailure(
                        "The first line of \(path) must be the header originalTransactionId,appAccountToken.")
                }
                return
            }
            guard fields != [""] else { return }
            guard mistakes.count < maximumMistakes else { return }
            guard fields.count == 2 else {
                mistakes.append("Line \(number) has \(fields.count) columns instead of 2.")
                return
            }
            let (id, token) = isIdFirst ? (fields[0], fields[1]) : (fields[1], fields[0])
            guard let row = AccountTokenRow(id, token) else {
                mistakes.append("Line \(number): \(AccountTokenRow.problem(id, token) ?? "")")
                return
            }
            guard let known = tokens.updateValue(row.token, forKey: row.id) else {
                guard rows.count < maximumRows else {
                    throw CommandFailure("\(path) has more than \(maximumRows) rows: split it.")
                }
                rows.append(row)
                return
            }
            if known != row.token { mistakes.append("Line \(number): \(row.id) has another token above.") }
        }
        guard number > 0 else { throw CommandFailure("\(path) is empty.") }
        guard mistakes.isEmpty else {
            throw CommandFailure("Nothing was sent, correct \(path):\n" + mistakes.joined(separator: "\n"))
        }
        return rows
    }
}

/// The answers to the rows of a file, on disk as they come: what a later run need not send again.
///
/// The first line names the app and the environment, so that answers of the sandbox never count in production.
final class AccountTokenLog {
    let path: String
    private let file: FileHandle
    private(set) var outcomes: [AccountTokenRow: String] = [:]

    /// The outcome of a token that is set; all others are Apple's error number.
    static let set = "set"

    /// - Throws: `CommandFailure` if the file cannot be used, belongs to another scope, or another process has it.
    init(_ path: String, scope: String) throws {
        self.path = path
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw CommandFailure("Cannot write \(path): \(SystemError.text(errno)).") }
        file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw CommandFailure("Another process writes \(path): wait until it ends.")
        }
        let header = "# \(scope)"
        var isFirst = true
        let length = try FileLines.forEach(path, wholeLinesOnly: true) { line in
            if isFirst {
                isFirst = false
                guard line == header else {
                    throw CommandFailure("\(path) is not the log of \(scope): move it away to start anew.")
                }
                return
            }
            let fields = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            guard fields.count == 3, let row = AccountTokenRow(fields[0], fields[1]) else {
                throw CommandFailure("\(path) has a line that is none of its own: '\(line)'.")
            }
            outcomes[row] = fields[2]
        }
        // A process that was killed leaves half a line.
        try use { try file.truncate(atOffset: length) }
        if isFirst { try write(header) }
    }

    /// - Throws: `CommandFailure` if the line cannot be written.
    func append(_ row: AccountTokenRow, _ outcome: String) throws {
        outcomes[row] = outcome
        try write("\(row.id),\(row.token),\(outcome)")
    }

    private func write(_ line: String) throws {
        try use {
            try file.seekToEnd()
            try file.write(contentsOf: Data((line + "\n").utf8))
        }
    }

    private func use(_ action: () throws -> Void) throws {
        do {
            try action()
        } catch {
            throw CommandFailure("Cannot write \(path): \(error.localizedDescription)")
        }
    }
}

/// Reads text files line by line, in bounded memory.
enum FileLines {
    /// The fields of a line without spaces around them, with or without quotes. Ids, UUIDs and numbers contain no comma.
    static func fields(_ line: Substring) -> [String] {
        line.split(separator: ",", omittingEmptySubsequences: false).map { field in
            let text = field.trimmingCharacters(in: .whitespaces)
            return text.count > 1 && text.hasPrefix("\"") && text.hasSuffix("\"")
                ? String(text.dropFirst().dropLast()) : text
        }
    }

    /// Bytes. An id and a UUID have at most 57.
    static let maximumLength = 1_000

    /// Calls `body` with each line, without its end.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - wholeLinesOnly: leaves out a last line without a line feed.
    ///   - body: gets the line.
    /// - Returns: the number of bytes in the lines that have a line feed.
    /// - Throws: `CommandFailure` for a file that cannot be read, a long line, or text that is not UTF-8; what `body` throws.
    @discardableResult
    static func forEach(
        _ path: String, wholeLinesOnly: Bool = false, _ body: (String) throws -> Void
    ) throws -> UInt64 {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw CommandFailure("Cannot read \(path): \(SystemError.text(errno)).")
        }
        defer { try? file.close() }
        var rest: [UInt8] = []
        var length: UInt64 = 0
        func line(_ bytes: ArraySlice<UInt8>) throws {
            let text = bytes.last == 0x0D ? bytes.dropLast() : bytes
            guard text.count <= maximumLength, let line = String(validating: text, as: UTF8.self) else {
                throw CommandFailure("Cannot use \(path): it has a line that is too long or not UTF-8.")
            }
            try body(line)
        }
        while true {
            let chunk: Data?
            do {
                chunk = try file.read(upToCount: 1 << 16)
            } catch {
                throw CommandFailure("Cannot read \(path): \(error.localizedDescription)")
            }
            guard let chunk, !chunk.isEmpty else { break }
            rest += chunk
            var start = rest.startIndex
            while let end = rest[start...].firstIndex(of: 0x0A) {
                try line(rest[start..<end])
                start = end + 1
            }
            rest.removeSubrange(..<start)
            length += UInt64(start)
            // Only the last line may have no line feed; `line` rejects a longer one.
            if rest.count > maximumLength + 1 { try line(rest[...]) }
        }
        if !rest.isEmpty, !wholeLinesOnly { try line(rest[...]) }
        return length
    }
}
