package import Foundation

/// A folder for the files of one test. It is removed with the last reference to it.
package final class TemporaryFolder: Sendable {
    package let url: URL

    package var path: String { url.path }

    /// Makes the folder.
    @inline(never)
    package init() throws {
        url = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appending(path: "legacy-receipts-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The path of a file in the folder. The file need not exist.
    package func file(_ name: String) -> String { url.appending(path: name).path }

    /// Writes a file and makes the folders that its name contains. Returns its path.
    @discardableResult
    @inline(never)
    package func write(_ name: String, _ bytes: some Sequence<UInt8>, mode: Int = 0o600) throws -> String {
        let file = url.appending(path: name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        return file.path
    }

    @discardableResult
    @inline(never)
    package func write(_ name: String, _ text: String, mode: Int = 0o600) throws -> String {
        try write(name, text.utf8, mode: mode)
    }
}
