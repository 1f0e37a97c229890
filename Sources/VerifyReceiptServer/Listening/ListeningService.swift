import Foundation
import HummingbirdCore
import NIOCore
import ServiceLifecycle
import Synchronization

/// Why a socket could not be opened.
struct ListenError: Error, CustomStringConvertible {
    let description: String
}

/// One listening socket. Its errors name the socket. It stops in two steps: it continues to accept connections for the drain
/// time, so that load balancers can detect the shutdown, and then closes.
struct NamedListener<Connection: ServerChildChannel>: Service, CustomStringConvertible {
    let description: String
    let drain: Duration
    let socket: ListeningSocket
    let server: Server<Connection>

    func run() async throws {
        // Detached, because otherwise the server would receive the shutdown itself and close at once.
        let work = Task.detached { [server] in try await server.run() }
        do {
            try await withTaskCancellationHandler {
                try await withGracefulShutdownHandler {
                    try await work.value
                } onGracefulShutdown: { [drain, server] in
                    _ = Task {
                        try? await Task.sleep(for: drain)
                        try? await server.shutdownGracefully()
                    }
                }
            } onCancel: { [socket] in
                socket.close { work.cancel() }
            }
        } catch let error as IOError {
            let reason = String(cString: strerror(error.errnoCode))
            throw ListenError(description: "cannot listen on \(description): \(reason)")
        } catch let error as SocketAddressError {
            throw ListenError(description: "cannot listen on \(description): \(error)")
        }
    }
}

/// The listening socket of a server, once there is one.
///
/// The server logs an error if it is canceled while it waits for connections. So the socket is closed first, which ends
/// that wait, and only connections are canceled.
final class ListeningSocket: Sendable {
    private struct State {
        var channel: (any Channel)?
        /// Called when the socket is closed; nil until it must close.
        var onClose: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    func isOpen(_ channel: any Channel) async {
        let onClose = state.withLock { state in
            state.channel = channel
            return state.onClose
        }
        guard let onClose else { return }
        try? await channel.close()
        onClose()
    }

    func close(then onClose: @escaping @Sendable () -> Void) {
        let channel = state.withLock { state in
            state.onClose = onClose
            return state.channel
        }
        guard let channel else { return }
        channel.closeFuture.whenComplete { _ in onClose() }
        channel.close(promise: nil)
    }
}

/// All listeners as one, so that they are stopped together.
struct ListeningService: Service {
    let servers: [any Service]
    let onStop: @Sendable () -> Void

    func run() async throws {
        try await withGracefulShutdownHandler {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for server in servers { group.addTask { try await server.run() } }
                // The first failure ends all. `waitForAll` would wait for the others before it throws.
                while try await group.next() != nil {}
            }
        } onGracefulShutdown: {
            onStop()
        }
    }
}
