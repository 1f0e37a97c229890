import Foundation
import TransactionStore

/// A file that only its owner may read, created before SQLite opens it. SQLite itself creates files with the
/// permissions of the umask, and gives the log the permissions of the file.
enum PrivateFile {
    /// Creates an empty file if there is none. If that fails, SQLite reports the reason when it opens the file.
    ///
    /// The file is created under another name and then linked. Closing a descriptor of a file that SQLite has open
    /// elsewhere in the process would drop SQLite's locks ("How To Corrupt An SQLite Database File", 2.2).
    static func make(_ path: String) {
        guard FileIdentity(path) == nil else { return }
        let temporary = path + ".new-\(UUID().uuidString)"
        let descriptor = open(temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        close(descriptor)
        // Fails if another program was faster, or if a symbolic link points to a missing file.
        _ = link(temporary, path)
        unlink(temporary)
    }

    /// Waits until the content of a file that no connection has open is on the disk.
    static func synchronize(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return fsync(descriptor) == 0
    }
}

/// The free space of a disk.
enum DiskSpace {
    /// The number of free bytes below which a disk counts as full. A write of a few pages may still fit into the free
    /// pages of the file, but the next one does not.
    static let minimum: UInt64 = 1 << 20

    /// - Throws: `TransactionStoreError` `notWritable` if the disk that holds the file is full.
    static func check(of path: String) throws {
        let folder = URL(fileURLWithPath: FileIdentity.resolved(path)).deletingLastPathComponent().path
        var status = statvfs()
        guard statvfs(folder, &status) == 0, status.f_blocks > 0 else { return }
        // Part of the free space may be reserved for the superuser.
        let blocks = UInt64(geteuid() == 0 ? status.f_bfree : status.f_bavail)
        let (free, isHuge) = blocks.multipliedReportingOverflow(by: UInt64(status.f_frsize))
        guard !isHuge, free < minimum else { return }
        throw TransactionStoreError(.notWritable, "The disk is full: \(free) bytes are free.")
    }
}
