import AppStoreModels
import AppStoreServer
import Foundation

/// The token of one purchase.
struct AccountTokenRow: Sendable {
    /// The original transaction id.
    let id: String
    /// A UUID in lower case.
    let token: String

    init?(_ id: String, _ token: String) {
        guard Self.problem(id, token) == nil else { return nil }
        self.id = id
        self.token = token.lowercased()
    }

    /// The fault of the texts; nil if there is none.
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

    /// The rows in the order of the file, each purchase once.
    ///
    /// - Throws: `CommandFailure` that names the lines that are wrong.
    static func rows(_ path: String) throws -> [AccountTokenRow] {
        var rows: [AccountTokenRow] = []
        var tokens: [String: String] = [:]
        let file = CheckedCSV(
            path: path, required: ["originalTransactionId", "appAccountToken"],
            header: "originalTransactionId,appAccountToken")
        try file.forEachRow { field in
            let (id, token) = (field("originalTransactionId"), field("appAccountToken"))
            guard let row = AccountTokenRow(id, token) else { return AccountTokenRow.problem(id, token) }
            if let known = tokens.updateValue(row.token, forKey: row.id) {
                return known == row.token ? nil : "\(row.id) has another token above."
            }
            guard rows.count < maximumRows else {
                throw CommandFailure("\(path) has more than \(maximumRows) rows: split it.")
            }
            rows.append(row)
            return nil
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
    /// The last answer about each purchase.
    private var answers: [String: (token: String, outcome: String)] = [:]

    /// The outcome of a row; nil if it was never sent, or if another token was sent for the purchase after it.
    func outcome(of row: AccountTokenRow) -> String? {
        answers[row.id].flatMap { $0.token == row.token ? $0.outcome : nil }
    }

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
                    throw CommandFailure("\(path) is not the log of \(scope): move the file to start again.")
                }
                return
            }
            let fields = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            guard fields.count == 3, let row = AccountTokenRow(fields[0], fields[1]) else {
                throw CommandFailure("\(path) has a line that this command did not write: '\(line)'.")
            }
            // Earlier versions wrote an error about the app or its key for each row. It says nothing about the row.
            guard Int64(fields[2]).map({ APIErrorCode(rawValue: $0).concernsApp }) != true else { return }
            answers[row.id] = (row.token, fields[2])
        }
        // A process that was killed leaves half a line.
        try use { try file.truncate(atOffset: length) }
        if isFirst { try write(header) }
    }

    /// - Throws: `CommandFailure` if the line cannot be written.
    func append(_ row: AccountTokenRow, _ outcome: String) throws {
        answers[row.id] = (row.token, outcome)
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

/// A CSV file with a header. All of it is checked before anything is sent.
struct CheckedCSV {
    let path: String
    let required: [String]
    var optional: [String] = []
    /// The headers that are accepted, for the message.
    let header: String

    private static let maximumMistakes = 10

    /// Calls `check` with each row that is not empty.
    ///
    /// - Parameter check: gets the value of each column, which is empty for one that the file does not have, and returns what
    ///   is wrong with the row.
    /// - Throws: `CommandFailure` that names the lines that are wrong; what `check` throws.
    func forEachRow(_ check: (_ field: (String) -> String) throws -> String?) throws {
        var places: [String: Int] = [:]
        var mistakes: [String] = []
        var number = 0
        try FileLines.forEach(path) { line in
            number += 1
            let fields = FileLines.fields(number == 1 && line.hasPrefix("\u{FEFF}") ? line.dropFirst() : line[...])
            guard number > 1 else {
                for (place, name) in fields.enumerated() { places[name] = place }
                guard places.count == fields.count, required.allSatisfy({ places[$0] != nil }),
                    places.keys.allSatisfy((required + optional).contains)
                else { throw CommandFailure("The first line of \(path) must be the header \(header).") }
                return
            }
            guard fields != [""], mistakes.count < Self.maximumMistakes else { return }
            guard fields.count == places.count else {
                mistakes.append("Line \(number) has \(fields.count) columns instead of \(places.count).")
                return
            }
            let columns = places
            if let mistake = try check({ name in columns[name].map { fields[$0] } ?? "" }) {
                mistakes.append("Line \(number): \(mistake)")
            }
        }
        guard number > 0 else { throw CommandFailure("\(path) is empty.") }
        guard mistakes.isEmpty else {
            throw CommandFailure("Nothing was sent. Correct \(path):\n" + mistakes.joined(separator: "\n"))
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
