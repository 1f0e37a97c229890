import CZlib

/// The content of a gzip stream (RFC 1952), of which several may follow each other. It needs the same memory for any size.
final class GzipStream: ByteStream {
    /// Bytes of compressed input that are read at once.
    private static let inputSize = 64 << 10

    private let source: any ByteStream
    private let name: String
    private var zlib = z_stream()
    private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: inputSize, alignment: 16)
    /// Compressed bytes before those in `input`.
    private var consumed = 0
    private var inputCount = 0
    private var isAtEnd = false
    /// Whether the decompressor stands between two streams, of which the second one may be missing.
    private var isBetweenStreams = false
    /// Found behind bytes that were good.
    private var failure: InputError?

    /// Returns the content of a stream if it is compressed, and the stream as it is if not.
    static func unwrapping(
        _ stream: any ByteStream, name: String
    ) throws(InputError) -> (stream: any ByteStream, isCompressed: Bool) {
        let start = try StreamStart(of: stream)
        guard start.bytes.starts(with: [0x1F, 0x8B]) else { return (start, false) }
        return (try GzipStream(start, name: name), true)
    }

    private init(_ source: any ByteStream, name: String) throws(InputError) {
        self.source = source
        self.name = name
        // 15 is the largest window; 16 more accept the format of gzip alone (zlib.h, inflateInit2).
        let status = inflateInit2_(&zlib, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else {
            throw InputError(
                code: .unreadable, input: name, message: "\(name) cannot be decompressed: out of memory.")
        }
    }

    deinit {
        inflateEnd(&zlib)
        input.deallocate()
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        if let failure { throw failure }
        guard let output = buffer.baseAddress, buffer.count > 0 else { return 0 }
        let count = min(buffer.count, Int(UInt32.max))
        zlib.next_out = output.assumingMemoryBound(to: Bytef.self)
        zlib.avail_out = UInt32(count)
        while zlib.avail_out == UInt32(count) {
            if zlib.avail_in == 0, !isAtEnd { try refill() }
            if isBetweenStreams {
                guard zlib.avail_in > 0 else { return 0 }
                // gzip itself ignores zeros that fill up a tape.
                if zlib.next_in.pointee == 0 {
                    zlib.next_in += 1
                    zlib.avail_in -= 1
                    continue
                }
                inflateReset(&zlib)
                isBetweenStreams = false
            }
            guard zlib.avail_in > 0 else { throw damaged("it ends in the middle of the compressed data") }
            switch inflate(&zlib, Z_NO_FLUSH) {
            case Z_OK, Z_BUF_ERROR: break
            case Z_STREAM_END: isBetweenStreams = true
            default:
                let error = damaged(zlib.msg.map { String(cString: $0) } ?? "the data is invalid")
                guard zlib.avail_out < UInt32(count) else { throw error }
                failure = error
            }
        }
        return count - Int(zlib.avail_out)
    }

    private func refill() throws(InputError) {
        consumed += inputCount
        inputCount = try source.read(into: input)
        isAtEnd = inputCount == 0
        zlib.next_in = input.baseAddress?.assumingMemoryBound(to: Bytef.self)
        zlib.avail_in = UInt32(inputCount)
    }

    private func damaged(_ reason: String) -> InputError {
        let offset = consumed + inputCount - Int(zlib.avail_in)
        return InputError(
            code: .unreadable, input: name,
            message: "\(name) is damaged gzip data at byte \(offset): \(reason). The records before it were read.")
    }
}

/// A stream of which the first bytes were looked at.
private final class StreamStart: ByteStream {
    private(set) var bytes: [UInt8] = []
    private let rest: any ByteStream
    private var position = 0

    init(of stream: any ByteStream) throws(InputError) {
        rest = stream
        let start = UnsafeMutableRawBufferPointer.allocate(byteCount: 2, alignment: 1)
        defer { start.deallocate() }
        while bytes.count < start.count {
            let missing = UnsafeMutableRawBufferPointer(rebasing: start[bytes.count...])
            let count = try stream.read(into: missing)
            guard count > 0 else { break }
            bytes += missing.prefix(count)
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        guard position < bytes.count else { return try rest.read(into: buffer) }
        let count = min(buffer.count, bytes.count - position)
        bytes[position..<position + count].withUnsafeBytes { buffer.copyMemory(from: $0) }
        position += count
        return count
    }
}
