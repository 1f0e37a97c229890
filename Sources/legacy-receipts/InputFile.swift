import Foundation
import VerifyReceiptServer

/// Reads small files completely.
enum InputFile {
    /// Bytes. Several times the largest receipt in base64 with line breaks. A longer file is of another kind.
    static let maximumSize = 16 << 20

    /// - Parameter path: a path, or `-` for standard input.
    /// - Throws: ``CommandFailure``.
    static func read(_ path: String) throws(CommandFailure) -> [UInt8] {
        let isInput = path == "-"
        do throws(BoundedFile.Failure) {
            return isInput
                ? try BoundedFile.read(STDIN_FILENO, maximumSize: maximumSize)
                : try BoundedFile.read(path, maximumSize: maximumSize)
        } catch {
            throw CommandFailure("Cannot read \(isInput ? "standard input" : path): \(error).")
        }
    }
}
