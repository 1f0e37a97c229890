import Foundation

/// Bytes that arrive in pieces.
protocol ByteStream: AnyObject {
    /// Fills the buffer with the available bytes, and returns their number; 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int
}

/// A file, a pipe or standard input.
final class FileStream: ByteStream {
    private let descriptor: Int32
    private let ownsDescriptor: Bool
    private let name: String

    init(path: String, name: String) throws(InputError) {
        descriptor = try SystemCalls.openFile(path, name: name)
        ownsDescriptor = true
        self.name = name
    }

    init(descriptor: Int32, name: String) {
        self.descriptor = descriptor
        ownsDescriptor = false
        self.name = name
    }

    deinit {
        if ownsDescriptor { close(descriptor) }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        try SystemCalls.readBytes(descriptor, into: buffer, name: name)
    }
}

/// Bytes in memory, and then those of another stream.
final class MemoryStream: ByteStream {
    private var remaining: ArraySlice<UInt8>
    private let rest: (any ByteStream)?

    init(_ bytes: [UInt8], then rest: (any ByteStream)? = nil) {
        remaining = bytes[...]
        self.rest = rest
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        if remaining.isEmpty, let rest { return try rest.read(into: buffer) }
        let count = min(buffer.count, remaining.count)
        remaining.prefix(count).withUnsafeBytes { buffer.copyMemory(from: $0) }
        remaining = remaining.dropFirst(count)
        return count
    }
}

/// A window over a stream: `fill()` adds bytes at its end, and `consume(_:)` removes them at its front.
///
/// Positions are relative to the front of the window, so they stay valid across `fill()`; pointers do not.
final class InputBuffer {
    private let stream: any ByteStream
    private let chunkSize: Int
    private var storage: UnsafeMutableRawBufferPointer
    private var start = 0
    private var end = 0
    /// Whether the stream has ended; the window may still contain bytes.
    private(set) var isAtEnd = false
    /// Why the stream ended early, after some bytes. The records in these bytes are read first.
    private(set) var failure: InputError?
    /// Whether carriage returns are read as line feeds.
    private var replacesCarriageReturns = false
    /// The byte offset of the front of the window in the input.
    private(set) var offset: Int

    /// - Parameters:
    ///   - stream: the input.
    ///   - chunkSize: bytes per read.
    ///   - offset: the number of bytes of the input before those of the stream.
    init(_ stream: any ByteStream, chunkSize: Int, offset: Int = 0) {
        self.stream = stream
        self.offset = offset
        self.chunkSize = max(1, chunkSize)
        storage = .allocate(byteCount: max(64, chunkSize), alignment: 16)
    }

    deinit {
        storage.deallocate()
    }

    var count: Int { end - start }

    /// The bytes in the window; valid until the next `fill()` or `consume(_:)`.
    var window: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(
            start: storage.baseAddress.map { ($0 + start).assumingMemoryBound(to: UInt8.self) }, count: count)
    }

    /// Reads one more chunk. False if the stream has ended.
    func fill() throws(InputError) -> Bool {
        guard !isAtEnd else { return false }
        makeRoom()
        let free = UnsafeMutableRawBufferPointer(rebasing: storage[end..<min(storage.count, end + chunkSize)])
        var count = 0
        do throws(InputError) {
            count = try stream.read(into: free)
        } catch {
            guard error.code == .unreadable, offset + self.count > 0 else { throw error }
            failure = error
        }
        guard count > 0 else {
            isAtEnd = true
            return false
        }
        if replacesCarriageReturns { replaceCarriageReturns(in: end..<(end + count)) }
        end += count
        return true
    }

    /// Reads carriage returns as line feeds from the front of the window on.
    func replaceCarriageReturns() {
        replacesCarriageReturns = true
        replaceCarriageReturns(in: start..<end)
    }

    private func replaceCarriageReturns(in range: Range<Int>) {
        for index in range where storage[index] == 0x0D { storage[index] = 0x0A }
    }

    /// Reads until the window has `count` bytes or the stream ends.
    func fill(upTo count: Int) throws(InputError) {
        while self.count < count, try fill() {}
    }

    func consume(_ count: Int) {
        start += count
        offset += count
    }

    /// Moves the window to the front if at least as much is free there, else doubles the storage. So every byte is
    /// moved a bounded number of times.
    private func makeRoom() {
        guard storage.count - end < chunkSize else { return }
        if start >= count, storage.count - count >= chunkSize {
            storage.copyMemory(from: UnsafeRawBufferPointer(rebasing: storage[start..<end]))
        } else {
            let larger = UnsafeMutableRawBufferPointer.allocate(
                byteCount: max(storage.count * 2, count + chunkSize), alignment: 16)
            larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: storage[start..<end]))
            storage.deallocate()
            storage = larger
        }
        (start, end) = (0, count)
    }
}
