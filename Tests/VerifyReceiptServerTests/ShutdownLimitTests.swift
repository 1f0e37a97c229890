import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import Testing
import VerifyReceiptServer

/// A store that hangs does not keep the process.
@Suite(.timeLimit(.minutes(10))) struct ShutdownLimitTests {
    /// A request that waits for such a store: it ends neither on a stop nor on cancellation.
    private final class Hanging: Service {
        private let waiting = Mutex<CheckedContinuation<Void, Never>?>(nil)
        private let onRun: @Sendable () -> Void

        init(onRun: @escaping @Sendable () -> Void) { self.onRun = onRun }

        func run() async {
            await withCheckedContinuation { continuation in
                waiting.withLock { $0 = continuation }
                onRun()
            }
        }

        func release() {
            let continuation = waiting.withLock { waiting in
                defer { waiting = nil }
                return waiting
            }
            continuation?.resume()
        }
    }

    @Test func theProcessIsEndedAfterTheTime() async throws {
        let log = try CapturedLog()
        let logger = Logger(label: "test") { _ in ServerLogHandler(level: .info, writer: log.writer) }
        let (running, isRunning) = AsyncStream<Void>.makeStream()
        let (ends, end) = AsyncStream<Void>.makeStream()
        let hanging = Hanging { isRunning.finish() }
        let limit = ShutdownLimit(.milliseconds(100), logger: logger) { end.finish() }
        var configuration = ServiceGroupConfiguration(
            services: [
                .init(service: hanging), .init(service: limit, successTerminationBehavior: .ignore),
            ], logger: logger)
        configuration.maximumGracefulShutdownDuration = .milliseconds(50)
        let group = ServiceGroup(configuration: configuration)
        async let run: Void = group.run()
        for await _ in running {}
        await group.triggerGracefulShutdown()
        // The group itself waits for ever.
        for await _ in ends {}
        #expect(log.text.contains("does not end"))
        hanging.release()
        try? await run
    }
}
