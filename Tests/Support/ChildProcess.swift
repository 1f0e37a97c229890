import CSpawn
import Foundation
import Synchronization

/// A program that a test starts, with its output in files.
///
/// Foundation's `Process` learns that a program has ended from a socket, and readers of its output from a pipe. A program that
/// another thread starts at the same moment can inherit both, and then the wait continues until that other program ends: a
/// test that starts a server never came to its end. This asks the kernel, closes every inherited file, and each wait has a
/// limit.
package final class ChildProcess: Sendable {
    /// What a program printed and how it ended.
    package struct Outcome: Sendable {
        /// The exit code; 128 and the signal's number where a signal ended it, as shells say.
        package let status: Int32
        package let outputBytes: [UInt8]
        package let errorBytes: [UInt8]

        package var output: String { String(decoding: outputBytes, as: UTF8.self) }
        package var errors: String { String(decoding: errorBytes, as: UTF8.self) }
    }

    package let identifier: Int32
    private let program: String
    private let ending = Mutex<Int32?>(nil)

    /// Starts a program, which is looked for in `PATH` unless its name contains a slash.
    /// - Parameters:
    ///   - program: the name or the path of the program.
    ///   - arguments: its arguments.
    ///   - environment: variables that are set beside those of the tests.
    ///   - directory: the working directory.
    ///   - input: the file of the standard input.
    ///   - output: the file of the standard output, which must exist.
    ///   - errors: the file of the standard error, which must exist. It may be that of the output.
    @inline(never)
    package init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], directory: String? = nil,
        input: String = "/dev/null", output: String = "/dev/null", errors: String = "/dev/null"
    ) throws {
        self.program = program
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t? = nil
            var attributes: posix_spawnattr_t? = nil
        #else
            var actions = posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #endif
        func check(_ code: Int32, _ what: String) throws {
            guard code == 0 else { throw TestFailure("\(program): \(what): \(String(cString: strerror(code)))") }
        }
        try check(posix_spawn_file_actions_init(&actions), "file actions")
        defer { posix_spawn_file_actions_destroy(&actions) }
        try check(posix_spawnattr_init(&attributes), "attributes")
        defer { posix_spawnattr_destroy(&attributes) }
        if let directory {
            try check(spawn_in_directory(&actions, directory), "directory \(directory)")
        }
        try check(posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0), "input")
        try check(posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_APPEND, 0), "output")
        try check(posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_APPEND, 0), "errors")
        // The servers of the tests ignore signals, which a program would inherit.
        var all = sigset_t()
        var none = sigset_t()
        sigfillset(&all)
        sigemptyset(&none)
        try check(posix_spawnattr_setsigdefault(&attributes, &all), "signals")
        try check(posix_spawnattr_setsigmask(&attributes, &none), "signals")
        #if canImport(Darwin)
            let flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_CLOEXEC_DEFAULT
        #else
            let flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
        #endif
        try check(spawn_without_files_from(&actions, 3), "files")
        try check(posix_spawnattr_setflags(&attributes, Int16(flags)), "flags")
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { "\($0)=\($1)" }
        var started = pid_t()
        let code = Self.withCStrings([program] + arguments) { words in
            Self.withCStrings(variables) { posix_spawnp(&started, program, &actions, &attributes, words, $0) }
        }
        try check(code, "start")
        identifier = started
    }

    /// Ends a program that still runs.
    deinit {
        guard ending.withLock({ $0 }) == nil else { return }
        kill(identifier, SIGKILL)
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) == -1, errno == EINTR {}
    }

    /// The exit code; 128 and the signal's number where a signal ended it; nil while it runs.
    package var status: Int32? {
        ending.withLock { ending in
            guard ending == nil else { return ending }
            var status: Int32 = 0
            switch waitpid(identifier, &status, WNOHANG) {
            case identifier:
                let signal = status & 0x7f
                ending = signal == 0 ? (status >> 8) & 0xff : 128 + signal
            case 0: break
            default: ending = errno == EINTR ? nil : 255
            }
            return ending
        }
    }

    package var isRunning: Bool { status == nil }

    package func signal(_ signal: Int32) { if isRunning { kill(identifier, signal) } }

    /// Waits for the end, and returns the exit code as ``status`` does.
    /// - Throws: `TestFailure` if it runs longer, which also ends it; `CancellationError`.
    @inline(never)
    package func end(within seconds: Double = 300, isolation: isolated (any Actor)? = #isolation) async throws -> Int32
    {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while true {
            if let status { return status }
            try giveUp(after: deadline, seconds)
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    /// As ``end(within:isolation:)``, on this thread.
    package func endWhileBlocking(within seconds: Double = 300) throws -> Int32 {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while true {
            if let status { return status }
            try giveUp(after: deadline, seconds)
            usleep(2_000)
        }
    }

    private func giveUp(after deadline: ContinuousClock.Instant, _ seconds: Double) throws {
        guard ContinuousClock.now >= deadline else { return }
        signal(SIGKILL)
        throw TestFailure("\(program) ran longer than \(seconds) seconds")
    }

    /// Runs a program to its end.
    @inline(never)
    package static func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], directory: String? = nil,
        input: [UInt8]? = nil, within seconds: Double = 300, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Outcome {
        let streams = try Streams(input)
        let process = try streams.start(program, arguments, environment, directory)
        return try streams.outcome(try await process.end(within: seconds))
    }

    /// Runs a program to its end on this thread, where nothing can wait otherwise.
    @inline(never)
    package static func runWhileBlocking(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], directory: String? = nil,
        input: [UInt8]? = nil, within seconds: Double = 300
    ) throws -> Outcome {
        let streams = try Streams(input)
        let process = try streams.start(program, arguments, environment, directory)
        return try streams.outcome(try process.endWhileBlocking(within: seconds))
    }

    /// The files of a program that runs to its end.
    private struct Streams {
        private let folder: TemporaryFolder
        private let input: String

        init(_ bytes: [UInt8]?) throws {
            folder = try TemporaryFolder()
            input = try bytes.map { [folder] in try folder.write("in", $0) } ?? "/dev/null"
        }

        func start(
            _ program: String, _ arguments: [String], _ environment: [String: String], _ directory: String?
        ) throws -> ChildProcess {
            try ChildProcess(
                program, arguments, environment: environment, directory: directory, input: input,
                output: folder.write("out", ""), errors: folder.write("err", ""))
        }

        func outcome(_ status: Int32) throws -> Outcome {
            func bytes(_ name: String) throws -> [UInt8] {
                Array(try Data(contentsOf: URL(filePath: folder.file(name))))
            }
            return Outcome(status: status, outputBytes: try bytes("out"), errorBytes: try bytes("err"))
        }
    }

    /// The texts as the null-terminated array that C wants.
    private static func withCStrings<Result>(
        _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let pointers = texts.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        return body(pointers + [nil])
    }
}
