import AppStoreModels
import ArgumentParser
import Foundation
import VerifyReceiptServer

/// Standard output and standard error.
enum Terminal {
    /// Prints a text and a line feed.
    ///
    /// - Throws: ``CommandFailure`` if it cannot be written. A closed pipe (`| head`) is not an error.
    static func output(_ text: String) throws(CommandFailure) {
        let number = write(Array((text + "\n").utf8), to: STDOUT_FILENO)
        guard number != 0, number != EPIPE else { return }
        throw CommandFailure("Standard output cannot be written: \(SystemError.text(number)).")
    }

    /// Writes bytes as they are.
    ///
    /// - Throws: ``CommandFailure`` if they cannot be written; `ExitCode.success` if the reader has closed the pipe.
    static func output(_ bytes: [UInt8]) throws { try output(bytes[...]) }

    /// Writes bytes as they are.
    ///
    /// - Throws: ``CommandFailure`` if they cannot be written; `ExitCode.success` if the reader has closed the pipe.
    static func output(_ bytes: ArraySlice<UInt8>) throws {
        let number = writeAll(bytes, to: STDOUT_FILENO).error
        guard number != 0 else { return }
        if number == EPIPE { throw ExitCode.success }
        throw CommandFailure("Standard output cannot be written: \(SystemError.text(number)).")
    }

    /// Prints an error message. Quoted input cannot move the cursor.
    static func error(_ message: String) {
        let lines = message.split(separator: "\n", omittingEmptySubsequences: false).map { Printable.text(String($0)) }
        _ = write(Array((lines.joined(separator: "\n") + "\n").utf8), to: STDERR_FILENO)
    }

    /// Rewrites the last line of a terminal, cut where the terminal ends.
    static func rewriteLine(_ line: String) {
        _ = write(Array("\r\u{1B}[2K\u{1B}[?7l\(line)\u{1B}[?7h".utf8), to: STDERR_FILENO)
    }

    /// Whether standard error is a terminal on which a line can be rewritten.
    static var isErrorTerminal: Bool {
        isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

    /// Whether the reader of standard output has closed its pipe.
    static var isOutputClosed: Bool {
        var state = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        return poll(&state, 1, 0) > 0 && Int32(state.revents) & Int32(POLLERR | POLLHUP) != 0
    }

    /// Whether a short line can be written at once. An error counts, because the write reports it.
    static var isOutputReady: Bool {
        var state = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
        return poll(&state, 1, 0) != 0
    }

    /// The system's error number, or 0.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        writeAll(bytes[...], to: descriptor).error
    }
}

/// An error that the arguments do not cause: input, output, or the contents of a file.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// The result of `body`. An error of `body` becomes a failure with these words before it.
    static func naming<Result>(_ words: String, _ body: () throws -> Result) throws(CommandFailure) -> Result {
        do {
            return try body()
        } catch {
            throw CommandFailure("\(words): \(error)")
        }
    }
}

enum SystemError {
    static func text(_ number: Int32) -> String {
        strerror(number).map { String(cString: $0) } ?? "error \(number)"
    }
}
