#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The files of one migration. Each is written under a name that ends in `.partial` and takes its own name only when all
/// of them are complete and on the disk, the last one last: a file without `.partial` is whole.
final class OutputFolder {
    private let path: String
    private let lock: FolderLock
    private let outdated: [String]
    private var files: [OutputFile] = []

    /// Creates the folder with empty files.
    ///
    /// - Parameters:
    ///   - names: the files. The presence of the last one means that all are complete.
    ///   - others: files of an earlier migration with other options. They are removed when this migration is complete.
    /// - Throws: ``MigrationError``.
    init(path: String, names: [String], others: [String] = [], overwrites: Bool) throws(MigrationError) {
        self.path = path
        outdated = others.map { "\(path)/\($0)" }
        try Self.makeFolder(path)
        lock = try FolderLock(path)
        for name in names + others where !overwrites {
            let file = "\(path)/\(name)"
            if isThere(file) {
                throw MigrationError(
                    .outputExists, path: file, "The output folder holds \(file) from an earlier migration.")
            }
        }
        for name in names { files.append(try OutputFile(path: "\(path)/\(name)")) }
    }

    deinit { for file in files { file.abandon() } }

    func write(_ bytes: ArraySlice<UInt8>, to index: Int) throws(MigrationError) {
        try files[index].write(bytes)
    }

    /// Completes every file: contents to the disk, then the names.
    func complete() throws(MigrationError) {
        for file in files { try file.synchronize() }
        // If this migration stops halfway, the last file of an earlier one must not be beside the new files.
        files.last?.removeEarlier()
        for file in outdated { unlink(file) }
        do throws(MigrationError) {
            for file in files { try file.rename() }
        } catch {
            for file in files where file.isRenamed { file.removeEarlier() }
            throw error
        }
        files = []
        lock.synchronize()
    }

    private static func makeFolder(_ path: String) throws(MigrationError) {
        var made = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            made += (made.isEmpty || made == "/" ? "" : "/") + part
            if mkdir(made, 0o777) != 0, errno != EEXIST {
                throw MigrationError(.output, path: path, "The output folder \(path) cannot be made: \(systemError()).")
            }
        }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw MigrationError(.output, path: path, "The output folder \(path) is not a folder.")
        }
    }
}

/// Keeps a second migration from writing into the same folder at the same time. The lock ends with the process, however
/// that ends.
private final class FolderLock {
    private let descriptor: Int32

    init(_ path: String) throws(MigrationError) {
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // Not every file system supports locks.
        if descriptor >= 0, lockFile(descriptor) != 0, errno == EWOULDBLOCK {
            // The deinitializer closes the descriptor.
            throw MigrationError(
                .output, path: path, "Another migration is writing into the output folder \(path) at this moment.")
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Puts the names of the files on the disk.
    func synchronize() { if descriptor >= 0 { fsync(descriptor) } }
}

/// One output file.
final class OutputFile {
    private let path: String
    private var descriptor: Int32
    private(set) var isRenamed = false

    private var partialPath: String { path + ".partial" }

    /// The file is always a new one: what bears its name (the rest of a migration that was killed, or a link that leads
    /// elsewhere) is removed and never written to. The folder is locked, so nothing of it is in use.
    init(path: String) throws(MigrationError) {
        self.path = path
        descriptor = makeFile(path + ".partial")
        if descriptor < 0, errno == EEXIST, unlink(path + ".partial") == 0 { descriptor = makeFile(path + ".partial") }
        guard descriptor >= 0 else { throw failure("made") }
    }

    func write(_ bytes: ArraySlice<UInt8>) throws(MigrationError) {
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes {
                systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: $0[offset...]))
            }
            if count < 0 {
                if errno == EINTR { continue }
                throw failure("written")
            }
            offset += count
        }
    }

    func synchronize() throws(MigrationError) {
        // Pipes and devices cannot be synchronized, and need not be.
        if fsync(descriptor) != 0, errno != EINVAL, errno != ENOTSUP { throw failure("written") }
        let result = close(descriptor)
        descriptor = -1
        if result != 0 { throw failure("written") }
    }

    func rename() throws(MigrationError) {
        if moveFile(partialPath, path) != 0 { throw failure("renamed to its final name") }
        isRenamed = true
    }

    /// Removes what bears the final name.
    func removeEarlier() { unlink(path) }

    /// Closes and removes a file that will not be completed.
    func abandon() {
        if descriptor >= 0 { close(descriptor) }
        unlink(partialPath)
    }

    private func failure(_ verb: String) -> MigrationError {
        MigrationError(
            .output, path: path,
            "The output file \(path) cannot be \(verb): \(systemError()). Nothing of this migration is complete.")
    }
}

/// Fails where anything bears the name, also a link.
private func makeFile(_ path: String) -> Int32 {
    open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
}

/// Whether something bears the name; a link counts, wherever it leads.
private func isThere(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
}

// Methods named as the system calls would hide them.
private func moveFile(_ from: String, _ to: String) -> Int32 { rename(from, to) }
private func lockFile(_ descriptor: Int32) -> Int32 { flock(descriptor, LOCK_EX | LOCK_NB) }
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
private func systemError() -> String { String(cString: strerror(errno)) }
