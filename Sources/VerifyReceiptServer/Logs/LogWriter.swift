import Dispatch
import Foundation
import Synchronization

/// Writes lines to a file descriptor from its own thread, so a slow reader of the log does not block requests. Lines that exceed
/// the buffer are dropped and counted in the log.
public final class LogWriter: Sendable {
    /// In bytes.
    private static let maximumBuffer = 4 << 20
    private static let maximumSpare = 256 << 10
    /// Lines that arrive close together are written together: waking a thread for each costs more than the line.
    private static let delay = DispatchTimeInterval.milliseconds(10)

    private struct State {
        var buffer: [UInt8] = []
        /// An empty buffer with allocated memory, so that writing a line does not allocate under the lock.
        var spare: [UInt8] = []
        var isScheduled = false
        var dropped = 0
    }

    /// Standard error.
    public static let standardError = LogWriter(descriptor: 2)

    private let descriptor: Int32
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "log")

    /// - Parameter descriptor: the file descriptor. The writer closes it in its deinitializer.
    public init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { closeDescriptor(descriptor) }

    /// Adds one line, given without its line end.
    func write(line: [UInt8]) {
        let mustSchedule = state.withLock { state -> Bool in
            guard state.buffer.count + line.count < Self.maximumBuffer else {
                state.dropped += 1
                return false
            }
            state.buffer += line
            state.buffer.append(0x0A)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if mustSchedule { queue.asyncAfter(deadline: .now() + Self.delay) { self.drain() } }
    }

    /// Waits until everything is written, at most two seconds.
    public func flush() {
        let done = DispatchSemaphore(value: 0)
        queue.async {
            self.drain()
            done.signal()
        }
        _ = done.wait(timeout: .now() + 2)
    }

    /// Writes the buffered lines together. Lines that arrive meanwhile are written next.
    private func drain() {
        var (bytes, dropped) = state.withLock { state -> ([UInt8], Int) in
            var taken = state.spare
            state.spare = []
            swap(&state.buffer, &taken)
            defer { state.dropped = 0 }
            state.isScheduled = false
            return (taken, state.dropped)
        }
        if dropped > 0 {
            put(Array("{\"level\":\"warning\",\"message\":\"log lines dropped\",\"count\":\(dropped)}\n".utf8))
        }
        put(bytes)
        guard bytes.count <= Self.maximumSpare else { return }
        bytes.removeAll(keepingCapacity: true)
        state.withLock { $0.spare = bytes }
    }

    private func put(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while true {
            let (count, error) = writeAll(rest, to: descriptor)
            guard error == EAGAIN else { return }
            rest = rest.dropFirst(count)
            usleep(1_000)
        }
    }
}

/// Writes bytes to a file descriptor. Foundation's file handles trap where writing fails.
///
/// - Returns: how many bytes were written, and the system's error number, which is 0 after all of them.
package func writeAll(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> (count: Int, error: Int32) {
    var rest = bytes
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if count >= 0 {
            rest = rest.dropFirst(count)
        } else if errno != EINTR {
            return (bytes.count - rest.count, errno)
        }
    }
    return (bytes.count, 0)
}

// Outside of the class, whose own method would shadow the system's.
private func closeDescriptor(_ descriptor: Int32) { _ = close(descriptor) }
