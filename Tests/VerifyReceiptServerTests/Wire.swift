import Dispatch
import Foundation
import TestSupport

/// A TCP connection that sends exactly the given bytes. All its calls block: use ``Wire/run(_:)``.
final class Wire {
    private var descriptor: Int32
    private var received: [UInt8] = []

    /// Seconds after which a silent server fails the test, more than a busy machine may stand still.
    static let timeout: Int32 = 120

    /// - Parameters:
    ///   - port: the port to connect to.
    ///   - receiveBuffer: bytes that the system accepts before any read; nil for its default.
    init(port: Int, receiveBuffer: Int32? = nil) throws {
        #if os(Linux)
            let type = Int32(SOCK_STREAM.rawValue)
        #else
            let type = SOCK_STREAM
        #endif
        descriptor = socket(AF_INET, type, 0)
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let descriptor = descriptor
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        // The deinitializer closes the descriptor. To close it here too would close what another thread opened between.
        guard result == 0 else { throw TestFailure("cannot connect: \(String(cString: strerror(errno)))") }
    }

    deinit { close() }

    func close() {
        guard descriptor >= 0 else { return }
        closeDescriptor(descriptor)
        descriptor = -1
    }

    /// Ends the connection with a reset, as a crashed client does.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    /// No more will be sent; the answer is still read.
    func halfClose() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// - Returns: false if the server has closed the connection.
    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var offset = 0
        while offset < bytes.count {
            let count = bytes[offset...].withUnsafeBytes { sendSome(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return false }
            offset += count
        }
        return true
    }

    /// Whether something came that was not read, or the server has ended the connection.
    var hasSomething: Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return !received.isEmpty || pollSome(&poll, 0) > 0
    }

    /// Whether the server has ended the connection.
    var isClosedByPeer: Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard pollSome(&poll, 0) > 0 else { return false }
        var byte: UInt8 = 0
        return peekByte(descriptor, &byte) <= 0
    }

    /// Sends what the system takes.
    ///
    /// - Returns: false if it takes nothing for so many seconds, or the server has closed the connection.
    func send(_ text: String, timeout seconds: Int32) -> Bool {
        let bytes = Array(text.utf8)
        var offset = 0
        while offset < bytes.count {
            var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            guard pollSome(&poll, seconds * 1_000) > 0 else { return false }
            let count = bytes[offset...].withUnsafeBytes { sendNow(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return false }
            offset += count
        }
        return true
    }

    /// Everything until the server closes the connection.
    func readToEnd() throws -> String {
        while try readSome() {}
        return String(decoding: received, as: UTF8.self)
    }

    /// One HTTP/1.1 response with a Content-Length.
    func readResponse() throws -> HTTPText {
        while true {
            if let (response, length) = HTTPText.first(in: received) {
                received.removeFirst(length)
                return response
            }
            guard try readSome() else { throw TestFailure("the server closed the connection without an answer") }
        }
    }

    /// What came and was not taken.
    func peek() -> String { String(decoding: received, as: UTF8.self) }

    /// - Throws: ``TestFailure`` if the server closed the connection.
    func more() throws {
        guard try readSome() else { throw TestFailure("the server closed the connection") }
    }

    /// Whether something came; false at the end.
    private func readSome() throws -> Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard pollSome(&poll, Self.timeout * 1_000) > 0 else { throw TestFailure("the server is silent") }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = buffer.withUnsafeMutableBytes { readBytes(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return false }
        received += buffer[..<count]
        return true
    }

    /// Runs blocking work on a thread that is not one of Swift's few: the server under test needs those.
    static func run<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread { continuation.resume(with: Swift.Result { try work() }) }
            thread.start()
        }
    }

    /// Sends a request and reads the one answer.
    static func ask(_ port: Int, _ request: String) async throws -> HTTPText {
        try await run {
            let wire = try Wire(port: port)
            wire.send(request)
            return try wire.readResponse()
        }
    }
}

// The names of the class hide the system's.
private func closeDescriptor(_ descriptor: Int32) { close(descriptor) }
private func readBytes(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}
private func pollSome(_ descriptor: UnsafeMutablePointer<pollfd>, _ milliseconds: Int32) -> Int32 {
    poll(descriptor, 1, milliseconds)
}
private func peekByte(_ descriptor: Int32, _ byte: inout UInt8) -> Int {
    #if os(Linux)
        recv(descriptor, &byte, 1, Int32(MSG_PEEK))
    #else
        recv(descriptor, &byte, 1, MSG_PEEK)
    #endif
}
private func sendNow(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    #if os(Linux)
        send(descriptor, bytes, count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    #else
        send(descriptor, bytes, count, MSG_DONTWAIT)
    #endif
}
private func sendSome(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    #if os(Linux)
        send(descriptor, bytes, count, Int32(MSG_NOSIGNAL))
    #else
        send(descriptor, bytes, count, 0)
    #endif
}

/// A response as it came over the wire.
struct HTTPText: Sendable {
    let status: Int
    /// Names in lower case.
    let headers: [String: String]
    let body: String

    /// The response at the beginning of the bytes and its length; nil if it is not complete. Interim responses are
    /// skipped.
    static func first(in bytes: [UInt8]) -> (HTTPText, Int)? {
        let separator = Array("\r\n\r\n".utf8)
        var start = 0
        while let end = bytes[start...].firstRange(of: separator) {
            let lines = String(decoding: bytes[start..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
            let status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            guard status >= 200 else {
                start = end.upperBound
                continue
            }
            var headers: [String: String] = [:]
            for line in lines.dropFirst() {
                guard let colon = line.firstIndex(of: ":") else { continue }
                let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
                headers[line[..<colon].lowercased()] = value
            }
            let length = headers["content-length"].flatMap { Int($0) } ?? 0
            guard bytes.count >= end.upperBound + length else { return nil }
            let body = String(decoding: bytes[end.upperBound..<(end.upperBound + length)], as: UTF8.self)
            return (HTTPText(status: status, headers: headers, body: body), end.upperBound + length)
        }
        return nil
    }

    /// The member `status` of the body.
    var verifyStatus: Int? {
        (try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])?["status"] as? Int
    }

    var environment: String? {
        (try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])?["environment"] as? String
    }
}
