import CBzip2
import CZstd

/// Compressed data for tests, without the programs.
package enum CompressionFormat: String, CaseIterable, Sendable {
    case gzip, bzip2, zstd

    package var suffix: String {
        switch self {
        case .gzip: ".gz"
        case .bzip2: ".bz2"
        case .zstd: ".zst"
        }
    }

    /// One member or frame.
    package func compressed(_ content: [UInt8]) -> [UInt8] {
        switch self {
        case .gzip: Self.gzipMember(content)
        case .bzip2: Self.bzip2Stream(content)
        case .zstd: Self.zstdFrame(content)
        }
    }

    /// A gzip stream with blocks that are not compressed (RFC 1952; RFC 1951, 3.2.4).
    package static func gzipMember(_ content: [UInt8], blockSize: Int = 60_000) -> [UInt8] {
        var bytes: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]
        var rest = content[...]
        repeat {
            let block = rest.prefix(blockSize)
            rest = rest.dropFirst(blockSize)
            let length = UInt16(block.count)
            bytes.append(rest.isEmpty ? 1 : 0)
            for word in [length, ~length] { bytes += [UInt8(word & 255), UInt8(word >> 8)] }
            bytes += block
        } while !rest.isEmpty
        for number in [checksum(content), UInt32(content.count)] {
            bytes += (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        }
        return bytes
    }

    /// CRC-32 (RFC 1952, 8).
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var sum: UInt32 = .max
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 {
                let isOdd = sum & 1 == 1
                sum >>= 1
                if isOdd { sum ^= 0xEDB8_8320 }
            }
        }
        return ~sum
    }

    /// In blocks of 100,000 bytes.
    private static func bzip2Stream(_ content: [UInt8]) -> [UInt8] {
        var size = UInt32(content.count + content.count / 50 + 1_000)
        var content = content.map { CChar(bitPattern: $0) }
        let count = UInt32(content.count)
        var bytes = [CChar](repeating: 0, count: Int(size))
        let status = BZ2_bzBuffToBuffCompress(&bytes, &size, &content, count, 1, 0, 0)
        precondition(status == BZ_OK)
        return bytes.prefix(Int(size)).map { UInt8(bitPattern: $0) }
    }

    /// With a checksum, as the program writes it.
    package static func zstdFrame(_ content: [UInt8], windowLog: Int32 = 0) -> [UInt8] {
        let context = ZSTD_createCCtx()
        defer { ZSTD_freeCCtx(context) }
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
        ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, windowLog)
        var bytes = [UInt8](repeating: 0, count: ZSTD_compressBound(content.count))
        var input = ZSTD_inBuffer(src: nil, size: content.count, pos: 0)
        var count = 0
        content.withUnsafeBytes { content in
            bytes.withUnsafeMutableBytes { bytes in
                input.src = content.baseAddress
                var output = ZSTD_outBuffer(dst: bytes.baseAddress, size: bytes.count, pos: 0)
                // Without the size of the content, the frame states the window.
                while ZSTD_compressStream2(context, &output, &input, ZSTD_e_continue) != 0, input.pos < input.size {}
                while ZSTD_compressStream2(context, &output, &input, ZSTD_e_end) != 0 {}
                count = output.pos
            }
        }
        return Array(bytes.prefix(count))
    }
}
