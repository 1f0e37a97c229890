#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The error of a command that writes a folder.
protocol OutputFailure: Error {
    /// The name of the operation: "migration", "export".
    static var activity: String { get }
    /// The consequence of a write error, as a sentence.
    static var consequence: String { get }

    /// - Parameters:
    ///   - path: the file or folder that cannot be created, written or read back.
    ///   - message: a sentence for a person.
    init(output path: String, _ message: String)
}

/// The files of a migration or an export, which appear together.
///
/// Each file is written with a name that ends in `.partial`. When all files are complete and on disk, they are renamed
/// one by one. The last file marks a complete run: if it exists, all files are of the same run. While it is missing,
/// its `.partial` file marks the folder as one of ours. A lock excludes a second process; it ends with the process.
final class OutputFolder<Failure: OutputFailure> {
    private let path: String
    private let descriptor: Int32
    private var files: [OutputFile<Failure>] = []

    /// Creates the folder and its parent folders if they do not exist.
    init(path: String) throws(Failure) {
        self.path = path
        try Self.makeFolder(path)
        descriptor = openFolder(path)
        // Not every file system supports locks. The deinitializer closes the descriptor.
        if descriptor >= 0, lockFile(descriptor) != 0, errno == EWOULDBLOCK {
            throw Failure(
                output: path,
                "Another \(Failure.activity) is writing into the output folder \(path) at this moment.")
        }
    }

    deinit {
        for file in files { file.abandon() }
        if descriptor >= 0 { close(descriptor) }
    }

    func path(of name: String) -> String { "\(path)/\(name)" }

    /// The path of the first name that exists, even as a link to nothing.
    func firstTaken(of names: [String]) -> String? { names.lazy.map(path(of:)).first(where: isThere) }

    /// Whether the folder has the last file of an earlier run, or the mark of an interrupted one.
    func isMarked(by last: String) -> Bool { firstTaken(of: [last, last + ".partial"]) != nil }

    /// A new file, to be completed with the others.
    func makeFile(_ name: String) throws(Failure) -> OutputFile<Failure> {
        let file = try OutputFile<Failure>(path: path(of: name))
        files.append(file)
        return file
    }

    /// A file without a name, which disappears when it is closed.
    func makeSpool(_ name: String) throws(Failure) -> OutputFile<Failure> {
        let file = try OutputFile<Failure>(path: path(of: name))
        file.removeName()
        return file
    }

    /// Renames the files to their final names.
    ///
    /// - Parameters:
    ///   - last: the file that is renamed last.
    ///   - outdated: files of an earlier run in another format; they are removed.
    ///   - keepsUnchanged: whether to leave a file of an earlier run with the same bytes.
    /// - Returns: the names of the renamed files, without the last one.
    @discardableResult
    func complete(
        last: OutputFile<Failure>, removing outdated: [String], keepsUnchanged: Bool
    ) throws(Failure) -> Set<String> {
        for file in files { try file.synchronize() }
        var changed: [OutputFile<Failure>] = []
        for file in files where file !== last {
            if keepsUnchanged, try file.isSameAsEarlier() { file.abandon() } else { changed.append(file) }
        }
        // Remove it first, because the folder can have files of two runs from here on. If this fails halfway, the
        // partial file stays and marks the folder.
        files.removeAll { $0 === last }
        unlink(path(of: last.name))
        for name in outdated { unlink(path(of: name)) }
        var placed: [OutputFile<Failure>] = []
        do throws(Failure) {
            for file in changed + [last] {
                try file.rename()
                placed.append(file)
            }
        } catch {
            for file in placed { unlink(path(of: file.name)) }
            throw error
        }
        files = []
        if descriptor >= 0 { fsync(descriptor) }
        return Set(changed.map(\.name))
    }

    private static func makeFolder(_ path: String) throws(Failure) {
        var made = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            made += (made.isEmpty || made == "/" ? "" : "/") + part
            if mkdir(made, 0o777) != 0, errno != EEXIST {
                throw Failure(output: path, "The output folder \(path) cannot be made: \(systemError()).")
            }
        }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw Failure(output: path, "The output folder \(path) is not a folder.")
        }
    }
}

/// One file of an output folder, until it has its final name.
final class OutputFile<Failure: OutputFailure> {
    private let path: String
    private var descriptor: Int32
    private var buffer: [UInt8] = []
    private var hasName = true

    private var partialPath: String { path + ".partial" }

    var name: String { String(path.split(separator: "/").last ?? "") }

    /// Always creates a new file. An existing file with the partial name (from a killed run, or a link to elsewhere) is
    /// removed and never written to. The folder is locked, so no other process uses it.
    init(path: String) throws(Failure) {
        self.path = path
        descriptor = newFile(path + ".partial")
        if descriptor < 0, errno == EEXIST, unlink(path + ".partial") == 0 { descriptor = newFile(path + ".partial") }
        guard descriptor >= 0 else { throw failure("made") }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func write(_ bytes: some Collection<UInt8>) throws(Failure) {
        buffer.append(contentsOf: bytes)
        if buffer.count >= bufferSize { try flush() }
    }

    /// Appends the content of another file.
    func write(contentsOf other: OutputFile) throws(Failure) {
        try other.flush()
        guard lseek(other.descriptor, 0, SEEK_SET) == 0 else { throw other.failure("read") }
        var chunk = [UInt8](repeating: 0, count: bufferSize)
        while true {
            let count = try other.read(other.descriptor, into: &chunk)
            if count == 0 { return }
            try write(chunk[..<count])
        }
    }

    /// Passes the written bytes to the system.
    func flush() throws(Failure) {
        var offset = 0
        while offset < buffer.count {
            let count = buffer.withUnsafeBytes {
                systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: $0[offset...]))
            }
            if count < 0 {
                if errno == EINTR { continue }
                throw failure("written")
            }
            offset += count
        }
        buffer.removeAll(keepingCapacity: true)
    }

    func synchronize() throws(Failure) {
        try flush()
        // Pipes and devices cannot be synchronized, and need not be.
        if fsync(descriptor) != 0, errno != EINVAL, errno != ENOTSUP { throw failure("written") }
    }

    /// Whether a plain file with the final name exists and has the same bytes.
    func isSameAsEarlier() throws(Failure) -> Bool {
        let earlier = openForComparison(path)
        guard earlier >= 0 else { return false }
        defer { close(earlier) }
        var (status, own) = (stat(), stat())
        guard fstat(earlier, &status) == 0, status.st_mode & S_IFMT == S_IFREG, fstat(descriptor, &own) == 0,
            own.st_size == status.st_size, lseek(descriptor, 0, SEEK_SET) == 0
        else { return false }
        var (chunk, other) = ([UInt8](repeating: 0, count: bufferSize), [UInt8](repeating: 0, count: bufferSize))
        while true {
            let count = try readFully(descriptor, into: &chunk)
            guard try readFully(earlier, into: &other) == count, chunk[..<count] == other[..<count] else {
                return false
            }
            if count == 0 { return true }
        }
    }

    func rename() throws(Failure) {
        let result = close(descriptor)
        descriptor = -1
        guard result == 0 else { throw failure("written") }
        guard moveFile(partialPath, path) == 0 else { throw failure("renamed to its final name") }
        hasName = false
    }

    func removeName() {
        unlink(partialPath)
        hasName = false
    }

    /// Removes a file that is not needed.
    func abandon() { if hasName { removeName() } }

    /// - Returns: the number of bytes; less than the size of the chunk only at the end.
    private func readFully(_ descriptor: Int32, into chunk: inout [UInt8]) throws(Failure) -> Int {
        var filled = 0
        while filled < chunk.count {
            let count = try read(descriptor, into: &chunk, from: filled)
            if count == 0 { break }
            filled += count
        }
        return filled
    }

    private func read(
        _ descriptor: Int32, into chunk: inout [UInt8], from start: Int = 0
    ) throws(Failure) -> Int {
        while true {
            let count = chunk.withUnsafeMutableBytes {
                systemRead(descriptor, UnsafeMutableRawBufferPointer(rebasing: $0[start...]))
            }
            if count >= 0 { return count }
            if errno != EINTR { throw failure("read") }
        }
    }

    private func failure(_ verb: String) -> Failure {
        Failure(
            output: path, "The output file \(path) cannot be \(verb): \(systemError()). \(Failure.consequence)")
    }
}

/// The number of bytes that are written or read at once.
private let bufferSize = 1 << 18

/// Fails if anything with the name exists, even a link.
private func newFile(_ path: String) -> Int32 {
    open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
}

/// Does not follow a link, which is not one of our files, and does not wait for a pipe.
private func openForComparison(_ path: String) -> Int32 { open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) }
private func openFolder(_ path: String) -> Int32 { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }

/// Whether anything with the name exists, even a link to nothing.
private func isThere(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
}

// Methods with the names of the system calls would shadow them.
private func moveFile(_ from: String, _ to: String) -> Int32 { rename(from, to) }
private func lockFile(_ descriptor: Int32) -> Int32 { flock(descriptor, LOCK_EX | LOCK_NB) }
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
private func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, bytes.baseAddress, bytes.count)
}
private func systemError() -> String { String(cString: strerror(errno)) }
