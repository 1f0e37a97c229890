import Dispatch
import Foundation
import Synchronization

/// A shell command that receives bytes on standard input. It has the standard output and the standard error of this process.
///
/// Foundation's `Process` passes on ignored signals. A command that ignores SIGPIPE or SIGTERM does not end when it should.
struct BatchCommand: Sendable {
    let script: String

    /// Runs the command to its end. If the task is cancelled, the command has some more time. Then, and at the deadline, all
    /// processes of its group receive SIGTERM, and SIGKILL five seconds later, or before if the deadline is urgent.
    ///
    /// - Parameters:
    ///   - input: the whole standard input. The command need not read it.
    ///   - grace: how long to wait for the command after the task is cancelled.
    ///   - deadline: when the command must end at the latest. It can move while the command runs.
    ///   - killDelay: how long the command has after the deadline, until SIGKILL.
    /// - Returns: the exit code, or 128 and the number of the signal that ended the command; nil if it was late.
    /// - Throws: ``CommandFailure`` if it cannot be started.
    func run(
        _ input: [UInt8], grace: Duration, killDelay: Duration = .seconds(5),
        deadline: @escaping @Sendable () -> ContinuousClock.Instant
    ) async throws -> Int32? {
        let cancellation = Cancellation()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int32?, any Error>) in
                // A thread of its own: it waits for the command.
                DispatchQueue(label: "batch command").async {
                    continuation.resume(
                        with: Result {
                            try wait(input, deadline, killDelay) {
                                cancellation.date.withLock { $0 }.map { $0 + grace }
                            }
                        })
                }
            }
        } onCancel: {
            cancellation.date.withLock { $0 = .now }
        }
    }

    private final class Cancellation: Sendable {
        let date = Mutex<ContinuousClock.Instant?>(nil)
    }

    /// - Parameters:
    ///   - input: the standard input of the command.
    ///   - deadline: when the command must end.
    ///   - killDelay: how long it has after that.
    ///   - end: when the command must end because the task is cancelled.
    private func wait(
        _ input: [UInt8], _ deadline: () -> ContinuousClock.Instant, _ killDelay: Duration,
        _ end: () -> ContinuousClock.Instant?
    ) throws -> Int32? {
        let pipe = try InputPipe()
        let process = try pipe.launch("/bin/sh", ["-c", script])
        var rest = input[...]
        var exit: Int32?
        var terminated: ContinuousClock.Instant?
        var (isLate, isKilled) = (false, false)
        while true {
            pipe.feed(&rest)
            if exit == nil {
                var status: Int32 = 0
                let ended = waitpid(process, &status, WNOHANG)
                if ended == process {
                    exit = status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
                } else if ended < 0, errno != EINTR {
                    throw CommandFailure("The command cannot be observed: \(SystemError.text(errno)).")
                }
            }
            // A shell can end before the processes that it started.
            if let exit, terminated == nil || isKilled || kill(-process, 0) != 0 { return isLate ? nil : exit }
            let now = ContinuousClock.now
            isLate = isLate || now >= deadline()
            if let terminated {
                let usual = terminated + .seconds(5)
                guard !isKilled, now >= (isLate ? min(usual, deadline() + killDelay) : usual) else { continue }
                kill(-process, SIGKILL)
                isKilled = true
            } else {
                guard isLate || end().map({ now >= $0 }) ?? false else { continue }
                kill(-process, SIGTERM)
                terminated = now
            }
        }
    }
}

/// The pipe to the standard input of a process.
private final class InputPipe {
    private var readEnd: Int32
    private var writeEnd: Int32

    /// - Throws: ``CommandFailure``.
    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw CommandFailure("Cannot create a pipe: \(SystemError.text(errno)).") }
        (readEnd, writeEnd) = (ends[0], ends[1])
        // The process has the read end as its standard input only: with a write end, its input would never end.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(writeEnd, F_SETFL, O_NONBLOCK)
    }

    deinit {
        closeReadEnd()
        closeWriteEnd()
    }

    private func closeReadEnd() {
        if readEnd >= 0 { _ = close(readEnd) }
        readEnd = -1
    }

    private func closeWriteEnd() {
        if writeEnd >= 0 { _ = close(writeEnd) }
        writeEnd = -1
    }

    /// Writes what fits, and waits some milliseconds if nothing does. Closes the pipe at the end of the bytes.
    func feed(_ rest: inout ArraySlice<UInt8>) {
        guard writeEnd >= 0, !rest.isEmpty else {
            closeWriteEnd()
            usleep(5_000)
            return
        }
        let count = rest.withUnsafeBytes { write(writeEnd, $0.baseAddress, $0.count) }
        if count > 0 {
            rest = rest.dropFirst(count)
        } else if errno == EAGAIN || errno == EINTR {
            var state = pollfd(fd: writeEnd, events: Int16(POLLOUT), revents: 0)
            _ = poll(&state, 1, 5)
        } else {
            // The process does not read on.
            rest = []
        }
    }

    /// Starts a process in a group of its own, so that Ctrl-C reaches it only through this process, with all signals as usual.
    ///
    /// - Throws: ``CommandFailure``.
    func launch(_ program: String, _ arguments: [String]) throws -> pid_t {
        #if canImport(Darwin)
            var (actions, attributes): (posix_spawn_file_actions_t?, posix_spawnattr_t?) = (nil, nil)
        #else
            var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_adddup2(&actions, readEnd, STDIN_FILENO)
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in [SIGPIPE, SIGXFSZ, SIGINT, SIGTERM] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        var list = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for text in list { free(text) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, program, &actions, &attributes, &list, environ)
        guard code == 0 else { throw CommandFailure("The command cannot be started: \(SystemError.text(code)).") }
        closeReadEnd()
        return process
    }
}
