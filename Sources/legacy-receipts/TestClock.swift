import AppStoreModels
import AppStoreServer
import Foundation
import ServiceLifecycle
import Synchronization

/// The time of a `sandbox`, so that tests can step it.
final class TestClock: Service {
    /// A reading of the sandbox's clock.
    private struct Reading {
        /// Milliseconds since 1970.
        let date: Int64
        /// Whether the clock only advances on request.
        let isStepped: Bool
        let instant = ContinuousClock.now
    }

    /// How long after a step the time follows, at most, apart from the request itself.
    private static let step = Duration.milliseconds(50)

    private let url: String
    private let transport: AsyncHTTPClientTransport
    private let reading: Mutex<Reading>

    /// - Throws: `CommandFailure` if no sandbox answers at the address.
    init(from url: String) async throws {
        let transport = AsyncHTTPClientTransport()
        self.url = url
        self.transport = transport
        reading = Mutex(try await Self.read(url, transport))
    }

    /// The configuration must trust the sandbox's root. A server that trusts only Apple takes no time from a sandbox.
    /// - Throws: `CommandFailure` if the sandbox's root is not among those of the trust.
    func check(_ trust: SignedDataTrust, named name: String) async throws {
        let answer = try await Self.get("trust", url, transport)
        let root = try answer["signedDataRoot"]?.string.flatMap { try PEM.certificates(Array($0.utf8))?.first }
        guard let root, trust.additionalRoots.contains(root) else {
            throw CommandFailure("A test clock needs a sandbox whose root is trusted: it is not among \(name).")
        }
    }

    /// The sandbox's time, in milliseconds since 1970.
    func now() -> Int64 {
        let reading = reading.withLock { $0 }
        guard !reading.isStepped else { return reading.date }
        let (seconds, attoseconds) = reading.instant.duration(to: .now).components
        return reading.date + seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }

    /// Follows the sandbox's clock until cancellation. If the sandbox does not answer, the last time counts.
    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                try await Task.sleep(for: Self.step)
                guard let next = try? await Self.read(self.url, self.transport) else { continue }
                self.reading.withLock { $0 = next }
            }
        }
    }

    private static func read(_ url: String, _ transport: AsyncHTTPClientTransport) async throws -> Reading {
        let answer = try await get("clock", url, transport)
        guard let date = answer["now"]?.integer else {
            throw CommandFailure("No sandbox answers at \(url). Check the address.")
        }
        return Reading(date: date, isStepped: answer["clock"]?.string == "stepped")
    }

    /// - Throws: `CommandFailure`
    private static func get(
        _ path: String, _ url: String, _ transport: AsyncHTTPClientTransport
    ) async throws -> JSONValue {
        let base = url.hasSuffix("/") ? String(url.dropLast()) : url
        let request = APITransportRequest(
            method: "GET", url: "\(base)/sandbox/v1/\(path)", headers: [], body: nil, timeout: .seconds(5),
            maximumResponseSize: 1 << 20)
        guard let response = try? await transport.send(request), response.status == 200,
            let value = try? JSONValue.parse(response.body)
        else { throw CommandFailure("No sandbox answers at \(url). Check the address.") }
        return value
    }
}
