import Foundation

/// The files of an export, which appear together.
///
/// Each file is written under a name that ends in `.partial`. When all are complete and on the disk, they take their names, each
/// in one step. The last one names the others: where it is, all files are of one run. While it is missing, its `.partial` file
/// marks the folder as one of ours. A lock keeps a second process out; it ends with the process.
final class OutputFolder {
    private let path: String
    /// The paths of the folders that were missing, the outer ones first.
    private let made: [String]
    private let descriptor: Int32
    private var files: [OutputFile] = []

    /// Makes the folder, and the folders above it, if they are missing. They are removed again if nothing is written.
    init(path: String) throws(MigrationError) {
        self.path = path
        made = try Self.makeFolder(path)
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // Not every file system supports locks. The deinitializer closes the descriptor.
        if descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
            throw MigrationError(
                .output, path: path,
                "Another export is writing into the output folder \(path). Wait until it ends.")
        }
    }

    deinit {
        for file in files { file.abandon() }
        if descriptor >= 0 { close(descriptor) }
        // A folder with files stays.
        for folder in made.reversed() { rmdir(folder) }
    }

    func path(of name: String) -> String { "\(path)/\(name)" }

    /// The path of the first name that is taken, also by a link, wherever it leads.
    private func firstTaken(of names: [String]) -> String? { names.lazy.map(path(of:)).first(where: isThere) }

    /// Checks that files with these names are from an export: the folder has the last file of an earlier run, or the
    /// mark of a stopped run.
    func check(_ names: [String], areMarkedBy last: String) throws(MigrationError) {
        guard firstTaken(of: [last, last + ".partial"]) == nil, let taken = firstTaken(of: names) else { return }
        throw MigrationError(
            .outputConflict, path: taken, "\(taken) was not written by an export. Choose another folder.")
    }

    /// A new file, to be completed with the others.
    func makeFile(_ name: String) throws(MigrationError) -> OutputFile {
        let file = try OutputFile(path: path(of: name))
        files.append(file)
        return file
    }

    /// A file without a name, which is gone when it is closed.
    func makeSpool(_ name: String) throws(MigrationError) -> OutputFile {
        let file = try OutputFile(path: path(of: name))
        file.removeName()
        return file
    }

    /// Puts the files in their places. If no other file changes, the last file of an earlier run can stay.
    ///
    /// - Parameters:
    ///   - last: the file that comes last.
    ///   - outdated: files of an earlier run in another format; they are removed.
    ///   - isCurrent: whether the last file of an earlier run, by its content, describes the files of this run too.
    /// - Returns: the names of the files that took their places, without the last one.
    @discardableResult
    func complete(
        last: OutputFile, removing outdated: [String], isCurrent: ([UInt8]) -> Bool
    ) throws(MigrationError) -> Set<String> {
        for file in files { try file.synchronize() }
        var changed: [OutputFile] = []
        for file in files where file !== last {
            if file.isSameAsEarlier { file.abandon() } else { changed.append(file) }
        }
        if changed.isEmpty, firstTaken(of: outdated) == nil, let earlier = last.earlierContent, isCurrent(earlier) {
            last.abandon()
            files = []
            return []
        }
        // Beside it the files of two runs could be. If this fails halfway, its partial file stays and marks the folder.
        files.removeAll { $0 === last }
        unlink(path(of: last.name))
        for name in outdated { unlink(path(of: name)) }
        var placed: [OutputFile] = []
        do throws(MigrationError) {
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

    /// - Returns: the paths of the folders that were missing, the outer ones first.
    private static func makeFolder(_ path: String) throws(MigrationError) -> [String] {
        var made: [String] = []
        var folder = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            folder += (folder.isEmpty || folder == "/" ? "" : "/") + part
            if mkdir(folder, 0o777) == 0 {
                made.append(folder)
            } else if errno != EEXIST {
                throw MigrationError(
                    .output, path: path, "The output folder \(path) cannot be created: \(systemError()).")
            }
        }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw MigrationError(.output, path: path, "The output folder \(path) is not a folder.")
        }
        return made
    }
}

/// One file of an output folder, until it has its name.
final class OutputFile {
    private let path: String
    private var descriptor: Int32
    private var buffer: [UInt8] = []
    private var hasName = true

    private var partialPath: String { path + ".partial" }

    var name: String { String(path.split(separator: "/").last ?? "") }

    /// Always a new file. A file with its partial name (from a killed run, or a link to another place) is removed and
    /// never written to. The folder is locked, so no other process uses it.
    init(path: String) throws(MigrationError) {
        self.path = path
        descriptor = newFile(path + ".partial")
        if descriptor < 0, errno == EEXIST, unlink(path + ".partial") == 0 { descriptor = newFile(path + ".partial") }
        guard descriptor >= 0 else { throw failure("made") }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func write(_ bytes: some Collection<UInt8>) throws(MigrationError) {
        buffer.append(contentsOf: bytes)
        if buffer.count >= bufferSize { try flush() }
    }

    /// Appends what was written to another file.
    func write(contentsOf other: OutputFile) throws(MigrationError) {
        try other.flush()
        guard lseek(other.descriptor, 0, SEEK_SET) == 0 else { throw other.failure("read") }
        var chunk = [UInt8](repeating: 0, count: bufferSize)
        while true {
            let count = chunk.withUnsafeMutableBytes { Foundation.read(other.descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno != EINTR { throw other.failure("read") }
            if count == 0 { return }
            try write(chunk[..<max(0, count)])
        }
    }

    /// Hands what was written to the system.
    func flush() throws(MigrationError) {
        var offset = 0
        while offset < buffer.count {
            let count = buffer[offset...].withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                throw failure("written")
            }
            offset += count
        }
        buffer.removeAll(keepingCapacity: true)
    }

    func synchronize() throws(MigrationError) {
        try flush()
        // Pipes and devices cannot be synchronized, and need not be.
        if fsync(descriptor) != 0, errno != EINVAL, errno != ENOTSUP { throw failure("written") }
    }

    /// Whether the file that has the name already, a plain file, has the same bytes.
    var isSameAsEarlier: Bool { FileManager.default.contentsEqual(atPath: partialPath, andPath: path) }

    /// The content of the plain file that has the name already, if it is small; nil if there is none.
    var earlierContent: [UInt8]? {
        // This program writes no links, and reading a pipe would never end.
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            attributes[.type] as? FileAttributeType == .typeRegular,
            let content = try? FileHandle(forReadingAtPath: path)?.read(upToCount: bufferSize)
        else { return nil }
        return content.count < bufferSize ? Array(content) : nil
    }

    func rename() throws(MigrationError) {
        let result = close(descriptor)
        descriptor = -1
        guard result == 0 else { throw failure("written") }
        guard Foundation.rename(partialPath, path) == 0 else { throw failure("renamed to its final name") }
        hasName = false
    }

    func removeName() {
        unlink(partialPath)
        hasName = false
    }

    /// Removes a file that will not take its place.
    func abandon() { if hasName { removeName() } }

    private func failure(_ verb: String) -> MigrationError {
        MigrationError(
            .output, path: path,
            "The output file \(path) cannot be \(verb): \(systemError()). The export is not complete.")
    }
}

/// Bytes that a file collects before it writes them, and reads at once.
private let bufferSize = 1 << 18

/// Fails where anything bears the name, also a link.
private func newFile(_ path: String) -> Int32 {
    open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
}

/// Whether something bears the name; a link counts, wherever it leads.
private func isThere(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
}

private func systemError() -> String { String(cString: strerror(errno)) }
