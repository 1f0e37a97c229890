import ArgumentParser
import Dispatch
import Foundation
import Synchronization

/// Ends a run cleanly after Ctrl-C (SIGINT) or SIGTERM.
final class Interruption: Sendable {
    private struct State {
        var isListening = false
        /// The first signal.
        var signal: Int32?
        /// Cancels the work in progress.
        var cancel: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// The signal that arrived while ``run(_:)`` or ``listening(_:)`` was running.
    var signal: Int32? { state.withLock { $0.signal } }

    /// Ends the command if a signal ended ``run(_:)``.
    /// - Parameter message: for standard error.
    /// - Throws: the `ExitCode` of the signal.
    func endIfInterrupted(_ message: String?) throws {
        guard let signal else { return }
        if let message { Terminal.error(message) }
        throw ExitCode(128 + signal)
    }

    /// Runs `body`. If a signal ends it, the command ends with the exit code of the signal.
    /// - Parameters:
    ///   - message: for standard error in that case.
    ///   - body: the work, which is cancelled by a signal.
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
        // Before the work begins, so that no signal ends the process in the middle of it.
        try await listening { () async throws -> Result in
            let task = Task { try await body() }
            let isEnded = state.withLock { state in
                state.cancel = { task.cancel() }
                return state.signal != nil
            }
            if isEnded { task.cancel() }
            defer { state.withLock { $0.cancel = nil } }
            return try await task.value
        }
    }

    /// Receives signals until `body` ends. A signal that comes before a ``run(_:)`` inside it cancels that at its beginning.
    /// So the command can create files before, and remove them after the interrupted run.
    func listening<Result>(_ body: () async throws -> Result) async throws -> Result {
        let isFirst = state.withLock { state in
            defer { state.isListening = true }
            return !state.isListening
        }
        guard isFirst else { return try await body() }
        let sources = signalSources()
        defer {
            for source in sources { source.cancel() }
            for number in [SIGINT, SIGTERM] { restore(number) }
            state.withLock { $0.isListening = false }
        }
        return try await body()
    }

    /// Returns when the sources receive signals, because a signal before that is lost.
    private func signalSources() -> [any DispatchSourceSignal] {
        let queue = DispatchQueue(label: "interruption")
        let receiving = DispatchGroup()
        let sources = [SIGINT, SIGTERM].map { number in
            ignore(number)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { [self] in
                let (isFirst, cancel) = state.withLock { state in
                    defer { state.signal = state.signal ?? number }
                    return (state.signal == nil, state.cancel)
                }
                guard isFirst else { _exit(128 + number) }
                cancel?()
            }
            receiving.enter()
            source.setRegistrationHandler { receiving.leave() }
            source.resume()
            return source
        }
        _ = receiving.wait(timeout: .now() + 1)
        return sources
    }
}

// The property would hide the system's function.
private func ignore(_ number: Int32) { signal(number, SIG_IGN) }
private func restore(_ number: Int32) { signal(number, SIG_DFL) }
