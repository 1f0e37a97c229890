import CBzip2
import CZlib
import CZstd

/// The compressions that inputs may have, with the extensions of their files.
enum Compression: String, CaseIterable {
    /// RFC 1952.
    case gzip = ".gz"
    case bzip2 = ".bz2"
    /// RFC 8878.
    case zstd = ".zst"

    /// The number of first bytes that identify every compression.
    static let detectionLength = 10

    /// The compression of data with these first bytes; nil if it is none, or if there are too few bytes.
    init?(beginning bytes: [UInt8]) {
        guard let found = Self.allCases.first(where: { $0.matches(bytes) }) else { return nil }
        self = found
    }

    private func matches(_ bytes: [UInt8]) -> Bool {
        switch self {
        case .gzip: return bytes.starts(with: [0x1F, 0x8B])
        case .bzip2:
            // A text can begin with "BZh1". In bzip2, the magic number of a block or of the end follows (the digits of
            // π and of its root).
            guard bytes.starts(with: "BZh".utf8), bytes.count > 3, 0x31...0x39 ~= bytes[3] else { return false }
            let rest = bytes.dropFirst(4).prefix(6)
            return [[0x31, 0x41, 0x59, 0x26, 0x53, 0x59], [0x17, 0x72, 0x45, 0x38, 0x50, 0x90]].contains {
                $0.starts(with: rest)
            }
        case .zstd:
            // A frame, or a skippable frame, which parallel compressors write first (RFC 8878, 3.1).
            return bytes.starts(with: [0x28, 0xB5, 0x2F, 0xFD])
                || (bytes.first.map { $0 & 0xF0 == 0x50 } == true
                    && bytes.dropFirst().starts(with: [0x2A, 0x4D, 0x18]))
        }
    }

    /// Nil if there is not enough memory.
    fileprivate func makeDecompressor() -> (any Decompressor)? {
        switch self {
        case .gzip: GzipDecompressor()
        case .bzip2: Bzip2Decompressor()
        case .zstd: ZstdDecompressor()
        }
    }
}

/// The content of a compressed stream, in which several members or frames may follow each other. Its memory is bounded for
/// content of any size.
final class CompressedStream: ByteStream {
    /// The bytes of compressed input per read.
    private static let inputSize = 64 << 10

    private let source: any ByteStream
    private let name: String
    private let compression: Compression
    private let decompressor: any Decompressor
    private let storage = UnsafeMutableRawBufferPointer.allocate(byteCount: inputSize, alignment: 16)
    /// The part of `storage` that is not decompressed yet.
    private var input = 0..<0
    /// Compressed bytes before those in `storage`.
    private var consumed = 0
    private var isAtEnd = false
    /// Whether a member has ended and the next one, if any, has not begun.
    private var isBetweenMembers = false
    /// An error that was found after valid bytes; thrown by the next read.
    private var failure: InputError?

    /// Returns the content of a stream if it is compressed, else the stream unchanged.
    static func unwrapping(
        _ stream: any ByteStream, name: String
    ) throws(InputError) -> (stream: any ByteStream, compression: Compression?) {
        let start = InputBuffer(stream, chunkSize: Compression.detectionLength)
        try start.fill(upTo: Compression.detectionLength)
        if let failure = start.failure { throw failure }
        let bytes = Array(start.window)
        let whole = MemoryStream(bytes, then: stream)
        guard let compression = Compression(beginning: bytes) else { return (whole, nil) }
        return (try CompressedStream(whole, compression, name: name), compression)
    }

    private init(_ source: any ByteStream, _ compression: Compression, name: String) throws(InputError) {
        guard let decompressor = compression.makeDecompressor() else {
            throw InputError(
                code: .unreadable, input: name, message: "\(name) cannot be decompressed: out of memory.")
        }
        self.source = source
        self.name = name
        self.compression = compression
        self.decompressor = decompressor
    }

    deinit {
        storage.deallocate()
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        if let failure { throw failure }
        let output = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(UInt32.max)))
        guard !output.isEmpty else { return 0 }
        while true {
            if input.isEmpty, !isAtEnd { try refill() }
            if isBetweenMembers {
                guard !input.isEmpty else { return 0 }
                // Tapes are padded with zeros, and no member begins with one.
                if storage[input.lowerBound] == 0 {
                    input.removeFirst()
                    continue
                }
                guard decompressor.begin() else { throw damaged("out of memory") }
                isBetweenMembers = false
            }
            let step = decompressor.step(UnsafeRawBufferPointer(rebasing: storage[input]), into: output)
            input.removeFirst(step.consumed)
            switch step.outcome {
            case .goesOn:
                // A decompressor can have output left when all input is consumed.
                guard step.produced > 0 || step.consumed > 0 || !isAtEnd else {
                    throw damaged("it ends in the middle of the compressed data")
                }
            case .endOfMember: isBetweenMembers = true
            case .damaged(let reason):
                let error = damaged(reason)
                guard step.produced > 0 else { throw error }
                failure = error
            }
            if step.produced > 0 { return step.produced }
        }
    }

    private func refill() throws(InputError) {
        consumed += input.upperBound
        input = 0..<0
        let count = try source.read(into: storage)
        input = 0..<count
        isAtEnd = count == 0
    }

    private func damaged(_ reason: String) -> InputError {
        InputError(
            code: .unreadable, input: name,
            message: """
                \(name) is damaged \(compression) data at byte \(consumed + input.lowerBound): \(reason). The records before it \
                were read.
                """)
    }
}

/// The result of one step of a decompressor.
private struct DecompressionStep {
    enum Outcome {
        case goesOn
        case endOfMember
        /// The reason, as a part of a sentence.
        case damaged(String)
    }

    let consumed: Int
    let produced: Int
    let outcome: Outcome
}

/// Decompresses one member after another.
private protocol Decompressor: AnyObject {
    /// Begins the next member. False if there is not enough memory.
    func begin() -> Bool
    /// Decompresses until the input or the room for output is used up; both have at most `UInt32.max` bytes.
    func step(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> DecompressionStep
}

private final class GzipDecompressor: Decompressor {
    private var zlib = z_stream()

    init?() {
        // 15 is the largest window; adding 16 accepts only gzip (zlib.h, inflateInit2).
        let status = inflateInit2_(&zlib, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else { return nil }
    }

    deinit { inflateEnd(&zlib) }

    func begin() -> Bool { inflateReset(&zlib) == Z_OK }

    func step(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> DecompressionStep {
        // zlib declares the pointer without const.
        zlib.next_in = UnsafeMutablePointer(mutating: input.baseAddress?.assumingMemoryBound(to: Bytef.self))
        zlib.avail_in = UInt32(input.count)
        zlib.next_out = output.baseAddress?.assumingMemoryBound(to: Bytef.self)
        zlib.avail_out = UInt32(output.count)
        let outcome: DecompressionStep.Outcome
        switch inflate(&zlib, Z_NO_FLUSH) {
        case Z_OK, Z_BUF_ERROR: outcome = .goesOn
        case Z_STREAM_END: outcome = .endOfMember
        default: outcome = .damaged(zlib.msg.map { String(cString: $0) } ?? "the data is invalid")
        }
        return DecompressionStep(
            consumed: input.count - Int(zlib.avail_in), produced: output.count - Int(zlib.avail_out), outcome: outcome)
    }
}

private final class Bzip2Decompressor: Decompressor {
    private var bzip2 = bz_stream()
    private var hasBegun = false

    init?() {
        guard begin() else { return nil }
    }

    deinit {
        if hasBegun { BZ2_bzDecompressEnd(&bzip2) }
    }

    func begin() -> Bool {
        if hasBegun { BZ2_bzDecompressEnd(&bzip2) }
        bzip2 = bz_stream()
        hasBegun = BZ2_bzDecompressInit(&bzip2, 0, 0) == BZ_OK
        return hasBegun
    }

    func step(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> DecompressionStep {
        // bzip2 declares the pointer without const.
        bzip2.next_in = UnsafeMutablePointer(mutating: input.baseAddress?.assumingMemoryBound(to: CChar.self))
        bzip2.avail_in = UInt32(input.count)
        bzip2.next_out = output.baseAddress?.assumingMemoryBound(to: CChar.self)
        bzip2.avail_out = UInt32(output.count)
        let outcome: DecompressionStep.Outcome
        switch BZ2_bzDecompress(&bzip2) {
        case BZ_OK: outcome = .goesOn
        case BZ_STREAM_END: outcome = .endOfMember
        case BZ_DATA_ERROR_MAGIC: outcome = .damaged("no bzip2 stream begins here")
        case BZ_MEM_ERROR: outcome = .damaged("out of memory")
        default: outcome = .damaged("the data is invalid")
        }
        return DecompressionStep(
            consumed: input.count - Int(bzip2.avail_in), produced: output.count - Int(bzip2.avail_out), outcome: outcome
        )
    }
}

private final class ZstdDecompressor: Decompressor {
    /// The largest window is 2^27 bytes, 128 MiB, as in the program `zstd` without `--long`.
    private static let windowLog: Int32 = 27

    private let zstd: OpaquePointer

    init?() {
        guard let zstd = ZSTD_createDCtx() else { return nil }
        self.zstd = zstd
        guard ZSTD_isError(ZSTD_DCtx_setParameter(zstd, ZSTD_d_windowLogMax, Self.windowLog)) == 0 else { return nil }
    }

    deinit { ZSTD_freeDCtx(zstd) }

    func begin() -> Bool { ZSTD_isError(ZSTD_DCtx_reset(zstd, ZSTD_reset_session_only)) == 0 }

    func step(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> DecompressionStep {
        var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        let result = ZSTD_decompressStream(zstd, &target, &source)
        let outcome: DecompressionStep.Outcome
        if ZSTD_isError(result) == 0 {
            outcome = result == 0 ? .endOfMember : .goesOn
        } else if ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge {
            outcome = .damaged("its window is larger than 128 MiB: decompress it first with zstd --long=31")
        } else {
            outcome = .damaged(String(cString: ZSTD_getErrorName(result)))
        }
        return DecompressionStep(consumed: source.pos, produced: target.pos, outcome: outcome)
    }
}
