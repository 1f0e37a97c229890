import Foundation
import Synchronization

/// Sends verifyReceipt requests over persistent connections and prints the result as one JSON object. It runs as a
/// separate process, so its work does not count as the server's:
///
///     legacy-receipts-benchmark load PORT CONNECTIONS SECONDS RATE FILE [PATH]
///
/// RATE is the number of requests per second. Each request is sent at its scheduled time, even if earlier requests
/// have no answer yet, and its latency counts from that time. With 0, each request is sent after the answer to the
/// previous one. FILE contains one body per line. With PATH, the bodies go there instead of to `/verifyReceipt`, each
/// once.
struct LoadGenerator {
    struct Result: Codable, Sendable {
        var requests = 0
        /// Answers that are not HTTP 200 with status 0.
        var failures = 0
        var seconds = 0.0
        /// Milliseconds.
        var p50 = 0.0
        var p99 = 0.0
    }

    let port: Int
    let connections: Int
    let seconds: Double
    let rate: Double
    let requests: [[UInt8]]
    /// Whether each request is sent once and any 200 is a success. Otherwise requests repeat until the end of the
    /// time.
    var isOnce = false

    /// Runs as the child process and prints the result.
    static func main(_ arguments: [String]) throws {
        guard arguments.count == 5 || arguments.count == 6, let port = Int(arguments[0]),
            let connections = Int(arguments[1]),
            let seconds = Double(arguments[2]), let rate = Double(arguments[3])
        else { throw CocoaError(.featureUnsupported) }
        let path = arguments.count == 6 ? arguments[5] : "/verifyReceipt"
        let bodies = try String(contentsOfFile: arguments[4], encoding: .utf8).split(separator: "\n")
        let requests = bodies.map { body in
            Array(
                ("POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)").utf8)
        }
        let generator = LoadGenerator(
            port: port, connections: connections, seconds: seconds, rate: rate, requests: requests,
            isOnce: arguments.count == 6)
        print(String(decoding: try JSONEncoder().encode(generator.run()), as: UTF8.self))
    }

    /// Runs the load in a separate process.
    static func launch(_ arguments: [String]) async throws -> Result {
        try await OwnProcess.run(["load"] + arguments)
    }

    /// One thread per connection, because blocking calls are the cheapest for the client.
    func run() -> Result {
        let all = Mutex<(latencies: [UInt64], failures: Int)>(([], 0))
        let start = DispatchTime.now().uptimeNanoseconds + 50_000_000
        let threads = DispatchGroup()
        for number in 0..<connections {
            threads.enter()
            Thread {
                let (latencies, failures) = work(number, start: start)
                all.withLock {
                    $0.latencies += latencies
                    $0.failures += failures
                }
                threads.leave()
            }.start()
        }
        threads.wait()
        // The start is a moment ahead. If no connection is made, it has not come yet.
        let end = DispatchTime.now().uptimeNanoseconds
        let elapsed = end > start ? Double(end - start) / 1e9 : 0
        let (latencies, failures) = all.withLock { ($0.latencies.sorted(), $0.failures) }
        guard !latencies.isEmpty else { return Result(failures: failures) }
        let at = { (share: Double) in Double(latencies[Int(Double(latencies.count - 1) * share)]) / 1e6 }
        return Result(
            requests: latencies.count, failures: failures, seconds: elapsed, p50: at(0.5), p99: at(0.99))
    }

    private func work(_ number: Int, start: UInt64) -> ([UInt64], Int) {
        guard let socket = LoadSocket(port: port) else { return ([], 1) }
        var latencies: [UInt64] = []
        var failures = 0
        let end = start + UInt64(seconds * 1e9)
        let interval = rate > 0 ? UInt64(Double(connections) / rate * 1e9) : 0
        var due = start + (rate > 0 ? interval * UInt64(number) / UInt64(connections) : 0)
        var next = number
        while true {
            let now = DispatchTime.now().uptimeNanoseconds
            if rate > 0 {
                guard due < end else { break }
                if due > now { usleep(UInt32((due - now) / 1_000)) }
            } else {
                guard now < end else { break }
                due = now
            }
            if isOnce, next >= requests.count { break }
            if !socket.exchange(requests[next % requests.count], isOnce ? 0 : 600) {
                failures += 1
                if failures > 10 { break }
            }
            latencies.append(DispatchTime.now().uptimeNanoseconds - due)
            next += connections
            due += interval
        }
        return (latencies, failures)
    }
}

/// A persistent connection that sends a request and reads one answer with a Content-Length.
private final class LoadSocket {
    private let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: 1 << 18)

    init?(port: Int) {
        #if os(Linux)
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        let descriptor = descriptor
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// Whether the answer is HTTP 200 with more bytes than `minimum`, so it is not a rejection.
    func exchange(_ request: [UInt8], _ minimum: Int) -> Bool {
        let isSent = request.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest)
                let count = send(descriptor, part.baseAddress, part.count, 0)
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
        guard isSent else { return false }
        // The client uses the same cores, so it reads in place and parses as little as possible.
        return buffer.withUnsafeMutableBytes { buffer in
            var filled = 0
            var expected: Int?
            while expected == nil || filled < expected ?? 0 {
                let free = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                let count = recv(descriptor, free.baseAddress, free.count, 0)
                guard count > 0 else { return false }
                filled += count
                if expected == nil { expected = Self.length(UnsafeRawBufferPointer(rebasing: buffer[..<filled])) }
                guard filled < buffer.count else { return false }
            }
            return filled > minimum && buffer[..<12].elementsEqual("HTTP/1.1 200".utf8)
        }
    }

    /// The length of the whole answer; nil before its header is complete.
    private static func length(_ bytes: UnsafeRawBufferPointer) -> Int? {
        let name = Array("content-length: ".utf8)
        var lineStart = 0
        var content = 0
        for index in bytes.indices where bytes[index] == 0x0A {
            // An empty line ends the header.
            if index - lineStart <= 1 { return index + 1 + content }
            let line = bytes[lineStart..<index]
            if line.count > name.count, zip(line, name).allSatisfy({ $0 | 0x20 == $1 | 0x20 }) {
                content = line.dropFirst(name.count).prefix { (0x30...0x39).contains($0) }
                    .reduce(0) { $0 * 10 + Int($1 - 0x30) }
            }
            lineStart = index + 1
        }
        return nil
    }
}
