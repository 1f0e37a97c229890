import ArgumentParser
import Dispatch
import Foundation
import Synchronization

/// Ends a run cleanly after Ctrl-C (SIGINT) or SIGTERM.
final class Interruption: Sendable {
    private let received = Mutex<Int32?>(nil)

    /// The signal that arrived while ``run(_:)`` was running.
    var signal: Int32? { received.withLock { $0 } }

    /// Ends the command if a signal ended ``run(_:)``.
    /// - Parameter message: for standard error.
    /// - Throws: the `ExitCode` of the signal.
    func endIfInterrupted(_ message: String?) throws {
        guard let signal else { return }
        if let message { Terminal.error(message) }
        throw ExitCode(128 + signal)
    }

    /// Runs `body`. If a signal ends it, the command ends with the exit code of the signal.
    /// - Parameter message: for standard error in that case.
    static func running<Result: Sendable>(
        ifEnded message: @autoclosure () -> String? = nil, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let interruption = Interruption()
        do {
            return try await interruption.run(body)
        } catch {
            try interruption.endIfInterrupted(message())
            throw error
        }
    }

    /// Runs `body` and cancels it when a signal comes. A second signal ends the process at once.
    func run<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
        let task = Task { try await body() }
        let queue = DispatchQueue(label: "interruption")
        let sources = [SIGINT, SIGTERM].map { number in
            ignore(number)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { [self] in
                let isFirst = received.withLock { received in
                    defer { received = received ?? number }
                    return received == nil
                }
                guard isFirst else { _exit(128 + number) }
                task.cancel()
            }
            source.resume()
            return source
        }
        defer {
            for source in sources { source.cancel() }
            for number in [SIGINT, SIGTERM] { restore(number) }
        }
        return try await task.value
    }
}

// The property would hide the system's function.
private func ignore(_ number: Int32) { signal(number, SIG_IGN) }
private func restore(_ number: Int32) { signal(number, SIG_DFL) }
