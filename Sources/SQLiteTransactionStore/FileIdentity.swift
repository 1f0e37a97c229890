import Foundation

/// Identifies the file at a path, so that a replacement at the same path is detected.
struct FileIdentity: Equatable {
    private let device: UInt64
    private let inode: UInt64

    /// Nil if there is no file at the path.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(status.st_ino)
    }

    /// The path without symbolic links, or the path itself if there is no file.
    static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    static func isEmpty(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_size == 0
    }
}
