import Foundation
import TransactionStore

/// A file that only its owner may read, made before SQLite opens it: what SQLite makes itself is as readable as the umask
/// lets it be, and its log takes over the permissions of the file.
enum PrivateFile {
    /// Makes an empty file if there is none. What cannot be made is left to SQLite, which says why.
    ///
    /// The file is made under another name and then linked: closing a descriptor of a file that SQLite has open elsewhere in
    /// the process would drop SQLite's locks ("How To Corrupt An SQLite Database File", 2.2).
    static func make(_ path: String) {
        guard FileIdentity(path) == nil else { return }
        let temporary = path + ".new-\(UUID().uuidString)"
        let descriptor = open(temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        close(descriptor)
        // Fails if another program was quicker, or a symbolic link leads to a file that is not there.
        _ = link(temporary, path)
        unlink(temporary)
    }
}

/// How much of a disk is free.
enum DiskSpace {
    /// Bytes below which a disk counts as full: a write of a few pages may still fit into what the file has of its own,
    /// the next one does not.
    static let minimum: UInt64 = 1 << 20

    /// - Throws: `TransactionStoreError` `notWritable` if the disk that holds the file is full.
    static func check(of path: String) throws {
        let folder = URL(fileURLWithPath: FileIdentity.resolved(path)).deletingLastPathComponent().path
        var status = statvfs()
        guard statvfs(folder, &status) == 0, status.f_blocks > 0 else { return }
        // A part may be kept for the superuser.
        let blocks = UInt64(geteuid() == 0 ? status.f_bfree : status.f_bavail)
        let (free, isHuge) = blocks.multipliedReportingOverflow(by: UInt64(status.f_frsize))
        guard !isHuge, free < minimum else { return }
        throw TransactionStoreError(.notWritable, "The disk is full: \(free) bytes are free.")
    }
}
