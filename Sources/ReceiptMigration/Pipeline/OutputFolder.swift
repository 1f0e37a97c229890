#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The files of one migration. Each is written under a name that ends in `.partial` and takes its own name only when all
/// of them are complete and on the disk, the summary last: a file without `.partial` is whole.
final class OutputFolder {
    private let path: String
    private var files: [OutputFile] = []

    /// Makes the folder, and its files empty.
    ///
    /// - Throws: ``MigrationError``.
    init(path: String, names: [String], overwrites: Bool) throws(MigrationError) {
        self.path = path
        try Self.makeFolder(path)
        for name in names {
            let file = "\(path)/\(name)"
            if !overwrites, access(file, F_OK) == 0 {
                throw MigrationError(
                    .outputExists, path: file,
                    "The output folder holds \(file) from an earlier migration; choose another folder or allow overwriting."
                )
            }
        }
        for name in names { files.append(try OutputFile(path: "\(path)/\(name)")) }
    }

    deinit { for file in files { file.abandon() } }

    func write(_ bytes: [UInt8], to index: Int) throws(MigrationError) {
        try files[index].write(bytes)
    }

    /// Completes every file: contents to the disk, then the names.
    func complete() throws(MigrationError) {
        for file in files { try file.synchronize() }
        for file in files { try file.rename() }
        files = []
        let descriptor = open(path, O_RDONLY)
        if descriptor >= 0 {
            fsync(descriptor)
            close(descriptor)
        }
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

/// One output file.
final class OutputFile {
    private let path: String
    private var descriptor: Int32

    private var partialPath: String { path + ".partial" }

    init(path: String) throws(MigrationError) {
        self.path = path
        descriptor = open(path + ".partial", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw failure("made") }
    }

    func write(_ bytes: [UInt8]) throws(MigrationError) {
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
    }

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

// Methods named as the system calls would hide them.
private func moveFile(_ from: String, _ to: String) -> Int32 { rename(from, to) }
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
private func systemError() -> String { String(cString: strerror(errno)) }
