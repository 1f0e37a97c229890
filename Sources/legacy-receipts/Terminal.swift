import Foundation

/// Standard error and what kind of thing it is.
enum Terminal {
    static func error(_ message: String) {
        FileHandle.standardError.write(Data((message + "\n").utf8))
    }

    /// Rewrites the last line of a terminal.
    static func rewriteLine(_ line: String) {
        FileHandle.standardError.write(Data(("\r\u{1B}[2K" + line).utf8))
    }

    static var isErrorTerminal: Bool { isatty(STDERR_FILENO) == 1 }
}
