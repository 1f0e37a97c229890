import Foundation
import NIOCore
import ServiceLifecycle

/// Why a socket could not be opened.
struct ListenError: Error, CustomStringConvertible {
    let description: String
}

/// Says which socket it is that cannot be opened.
struct NamedListener: Service, CustomStringConvertible {
    let description: String
    let server: any Service

    func run() async throws {
        do {
            try await server.run()
        } catch let error as IOError {
            let reason = String(cString: strerror(error.errnoCode))
            throw ListenError(description: "cannot listen on \(description): \(reason)")
        } catch let error as SocketAddressError {
            throw ListenError(description: "cannot listen on \(description): \(error)")
        }
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
                // The first that fails ends all.
                try await group.waitForAll()
            }
        } onGracefulShutdown: {
            onStop()
        }
    }
}
