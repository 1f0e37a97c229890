import Foundation
import TransactionStore

/// Backups of a store, by the programs of PostgreSQL.
extension PostgreSQLTransactionStore {
    /// Writes the schema of a store into a new file, while programs use the store. It has everything that was committed before the
    /// call, in the custom format of `pg_dump`: `pg_restore --no-owner --dbname=… FILE` makes the store again.
    ///
    /// `pg_restore` reads the file to its end, which then gets its name: after an interruption there is none. Both programs must
    /// be in `PATH`, of the server's version or newer (Debian: `postgresql-client`).
    ///
    /// - Parameters:
    ///   - url: the store, as for ``init(url:options:)``.
    ///   - copy: the new file, which must not exist. Only its owner can read it.
    ///   - patience: how long `pg_dump` may write nothing before it is stopped, in seconds.
    /// - Throws: `TransactionStoreError`: `invalidURL`, `invalidArgument` if a file is in the way, `unavailable` if a program is
    ///   missing or stands still, `notWritable` if the file cannot be written, `engine` with what the program said.
    ///   `CancellationError`.
    public static func backUp(from url: String, to copy: String, patience: Double = 300) async throws {
        let address = try PostgreSQLAddress(url)
        let schema = try Schema.quoted(address.schema ?? Options().schema)
        let secrets = try address.secretEnvironment()
        var status = stat()
        guard lstat(copy, &status) != 0 else { throw isInTheWay(copy) }
        let unfinished = copy + ".new-\(UUID().uuidString)"
        let descriptor = PrivateFile.make(unfinished)
        guard descriptor >= 0 else {
            throw TransactionStoreError(.notWritable, "Cannot write \(copy): \(String(cString: strerror(errno)))")
        }
        defer { PrivateFile.remove(unfinished, descriptor) }
        let dump = ClientProgram(
            name: "pg_dump",
            arguments: [
                "--format=custom", "--no-password", "--lock-wait-timeout=30000", "--schema=\(schema)",
                "--file=\(unfinished)", "--dbname=\(address.connectionString)",
            ], environment: secrets)
        try await dump.run(patience: patience, progress: { PrivateFile.size(descriptor) }, redacted: address.redacted)
        // It reads a local file; a disk that works gives a megabyte per second.
        let restore = ClientProgram(name: "pg_restore", arguments: ["--file=/dev/null", unfinished], environment: [:])
        let seconds = patience + Double(PrivateFile.size(descriptor)) / 1_000_000
        try await restore.run(patience: seconds, progress: { 0 }, redacted: address.redacted)
        guard fsync(descriptor) == 0 else {
            throw TransactionStoreError(.notWritable, "The backup does not reach the disk: \(copy)")
        }
        // Unlike a rename, this never replaces a file.
        guard link(unfinished, copy) == 0 else {
            throw errno == EEXIST
                ? isInTheWay(copy) : TransactionStoreError(.notWritable, "Cannot name the backup \(copy).")
        }
    }

    private static func isInTheWay(_ path: String) -> TransactionStoreError {
        TransactionStoreError(.invalidArgument, "There is a file \(path); a backup never replaces one.")
    }
}

/// A file that only its owner can read.
private enum PrivateFile {
    /// The descriptor of a new file; negative if there is none.
    static func make(_ path: String) -> Int32 { open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600) }

    static func remove(_ path: String, _ descriptor: Int32) {
        close(descriptor)
        unlink(path)
    }

    /// In bytes.
    static func size(_ descriptor: Int32) -> Int64 {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
    }
}

/// A program of PostgreSQL that runs to its end, or until it stands still.
private struct ClientProgram {
    private static let step = Duration.milliseconds(50)
    /// How many bytes of its messages an error has.
    private static let maximumMessage = 1_000

    let name: String
    let arguments: [String]
    /// Is added to that of this process.
    let environment: [String: String]

    /// - Parameters:
    ///   - patience: how long `progress` may stay the same, in seconds.
    ///   - progress: a number that changes while the program works.
    ///   - redacted: a message without secrets.
    /// - Throws: `TransactionStoreError`, `CancellationError`.
    func run(patience: Double, progress: () -> Int64, redacted: (String) -> String) async throws {
        let inherited = ProcessInfo.processInfo.environment
        let files = (inherited["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }
        guard let file = files.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
            throw TransactionStoreError(
                .unavailable, "The program \(name) is not in PATH. Debian has it in postgresql-client.")
        }
        // A file, because the program does not wait for anyone to read it.
        let messages = FileManager.default.temporaryDirectory.appending(path: "\(name)-\(UUID().uuidString)").path
        let descriptor = PrivateFile.make(messages)
        guard descriptor >= 0 else { throw TransactionStoreError(.notWritable, "Cannot write \(messages).") }
        unlink(messages)
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let process = Process()
        process.executableURL = URL(filePath: file)
        process.arguments = arguments
        process.environment = inherited.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = handle
        do { try process.run() } catch {
            throw TransactionStoreError(.unavailable, "\(name) cannot be started: \(error.localizedDescription)")
        }
        try await end(process, patience, progress)
        guard process.terminationStatus != 0 || process.terminationReason != .exit else { return }
        try? handle.seek(toOffset: 0)
        let text = String(decoding: (try? handle.read(upToCount: Self.maximumMessage)) ?? Data(), as: UTF8.self)
        let message = redacted(text).split(whereSeparator: \.isNewline).joined(separator: " ")
        throw TransactionStoreError(.engine, "\(name) ended with \(process.terminationStatus): \(message)")
    }

    private func end(_ process: Process, _ patience: Double, _ progress: () -> Int64) async throws {
        var (last, changed) = (progress(), ContinuousClock.now)
        do {
            while process.isRunning {
                try await Task.sleep(for: Self.step)
                let now = progress()
                if now != last { (last, changed) = (now, .now) }
                guard ContinuousClock.now - changed < .seconds(patience) else {
                    throw TransactionStoreError(
                        .unavailable, "\(name) was stopped because it did nothing for \(Int(patience)) s.")
                }
            }
        } catch {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            throw error
        }
    }
}
