import AppStoreModels
import Foundation

/// Writes small files.
enum OutputFile {
    /// Writes the whole file, or leaves an earlier one as it is.
    /// - Throws: ``CommandFailure``.
    static func write(_ bytes: some Collection<UInt8>, to path: String) throws(CommandFailure) {
        do {
            try Data(bytes).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw CommandFailure("\(Printable.text(path)) cannot be written: \(error.localizedDescription)")
        }
    }

    /// Makes a folder and the folders above it, unless they are there.
    /// - Throws: ``CommandFailure``.
    static func makeFolder(_ path: String) throws(CommandFailure) {
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw CommandFailure(
                "The output folder \(Printable.text(path)) cannot be created: \(error.localizedDescription)")
        }
    }
}
