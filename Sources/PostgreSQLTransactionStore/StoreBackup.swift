import Foundation
import TransactionStore

/// Backs up a store with PostgreSQL's client programs.
extension PostgreSQLTransactionStore {
    /// Writes the schema of a store into a new file, while programs use the store. The file contains everything that
    /// was committed before the call, in the custom format of `pg_dump`. To restore it, run `pg_restore --no-owner
    /// --dbname=… FILE`.
    ///
    /// The file is read by `pg_restore` as a check and gets its name last, so an interrupted call leaves no file of
    /// that name. Both programs must be in `PATH` and have at least the server's version (Debian: `postgresql-client`).
    ///
    /// - Parameters:
    ///   - url: the store, as for ``init(url:options:)``.
    ///   - copy: the new file, which must not exist. Only its owner can read it.
    ///   - timeout: how long `pg_dump` may write nothing before it is stopped, in seconds.
    /// - Throws: `TransactionStoreError`: `invalidURL`, `invalidArgument` if the new file exists, `unavailable` if a
    ///   program is missing or makes no progress, `notWritable` if the file cannot be written, `engine` with the
    ///   program's message. `CancellationError`.
    public static func backUp(from url: String, to copy: String, timeout: Double = 300) async throws {
        let address = try PostgreSQLAddress(url)
        let schema = try Schema.quoted(address.schema ?? Options().schema)
        let secrets = try address.secretEnvironment()
        let file = try NewFile(copy)
        let unfinished = file.unfinished
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
        try await dump.run(timeout: timeout, progress: { PrivateFile.size(descriptor) }, redacted: address.redacted)
        // Allows a second per megabyte, which any working disk reads faster.
        let restore = ClientProgram(name: "pg_restore", arguments: ["--file=/dev/null", unfinished], environment: [:])
        let seconds = timeout + Double(PrivateFile.size(descriptor)) / 1_000_000
        try await restore.run(timeout: seconds, progress: { 0 }, redacted: address.redacted)
        guard fsync(descriptor) == 0 else {
            throw TransactionStoreError(.notWritable, "The backup cannot be flushed to the disk: \(copy)")
        }
        try file.finish()
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

/// Runs one of PostgreSQL's client programs. A program that makes no progress is stopped.
private struct ClientProgram {
    private static let step = Duration.milliseconds(50)
    /// How many characters of the program's messages an error contains.
    private static let maximumMessage = 1_000

    let name: String
    let arguments: [String]
    /// Added to the environment of this process.
    let environment: [String: String]

    /// - Parameters:
    ///   - timeout: how long `progress` may stay the same, in seconds.
    ///   - progress: a number that changes while the program works.
    ///   - redacted: removes the secrets from a message.
    /// - Throws: `TransactionStoreError`, `CancellationError`.
    func run(timeout: Double, progress: () -> Int64, redacted: (String) -> String) async throws {
        let inherited = ProcessInfo.processInfo.environment
        let files = (inherited["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }
        guard let file = files.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
            throw TransactionStoreError(
                .unavailable, "The program \(name) is not in PATH. Debian has it in postgresql-client.")
        }
        // A file rather than a pipe, because a full pipe would block the program.
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
        try await end(process, timeout, progress)
        guard process.terminationStatus != 0 || process.terminationReason != .exit else { return }
        try? handle.seek(toOffset: 0)
        // Four times as much is read, so that a secret at the end of the message is whole when it is redacted.
        let text = String(decoding: (try? handle.read(upToCount: 4 * Self.maximumMessage)) ?? Data(), as: UTF8.self)
        let message = redacted(text).split(whereSeparator: \.isNewline).joined(separator: " ")
            .prefix(Self.maximumMessage)
        throw TransactionStoreError(.engine, "\(name) ended with \(process.terminationStatus): \(message)")
    }

    private func end(_ process: Process, _ timeout: Double, _ progress: () -> Int64) async throws {
        var (last, changed) = (progress(), ContinuousClock.now)
        do {
            while process.isRunning {
                try await Task.sleep(for: Self.step)
                let now = progress()
                if now != last { (last, changed) = (now, .now) }
                guard ContinuousClock.now - changed < .seconds(timeout) else {
                    throw TransactionStoreError(
                        .unavailable, "\(name) was stopped because it did nothing for \(Int(timeout)) s.")
                }
            }
        } catch {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            throw error
        }
    }
}
