internal import Crypto
internal import Encodings

/// A SHA-256 value: the fingerprint of a certificate's DER, or the name of a receipt.
public struct Fingerprint: Hashable, Sendable, CustomStringConvertible {
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// Computes the SHA-256 of bytes.
    public init(of bytes: some Collection<UInt8>) {
        var hash = SHA256()
        if bytes.withContiguousStorageIfAvailable({ hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }) == nil {
            hash.update(data: Array(bytes))
        }
        words = hash.finalize().withUnsafeBytes { Self.load($0) }
    }

    /// Reads 64 hexadecimal digits. Colons and spaces between them are allowed. Nil for anything else.
    public init?(hex: String) {
        guard let bytes = [UInt8](hex: hex.utf8, isSeparator: { ": ".utf8.contains($0) }), bytes.count == 32 else {
            return nil
        }
        words = bytes.withUnsafeBytes { Self.load($0) }
    }

    /// Creates a value from eight-byte words in big-endian order, the form of fingerprints in source code.
    package init(_ a: UInt64, _ b: UInt64, _ c: UInt64, _ d: UInt64) { words = (a, b, c, d) }

    /// The hash with these 32 bytes; nil for another number of bytes.
    package init?(bytes: UnsafeBufferPointer<UInt8>) {
        guard bytes.count == 32 else { return nil }
        words = Self.load(UnsafeRawBufferPointer(bytes))
    }

    private static func load(_ bytes: UnsafeRawBufferPointer) -> (UInt64, UInt64, UInt64, UInt64) {
        func word(_ index: Int) -> UInt64 {
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
        }
        return (word(0), word(1), word(2), word(3))
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.words == right.words
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
    }

    /// The 32 bytes of the hash.
    public var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            for (index, word) in [words.0, words.1, words.2, words.3].enumerated() {
                for place in 0..<8 {
                    buffer[index * 8 + place] = UInt8(truncatingIfNeeded: word >> UInt64(56 - place * 8))
                }
            }
            count = 32
        }
    }

    /// 64 lowercase hexadecimal digits.
    public var description: String {
        String(unsafeUninitializedCapacity: 64) { buffer in
            for (index, word) in [words.0, words.1, words.2, words.3].enumerated() {
                for place in 0..<16 {
                    let digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - place * 4)) & 0xF
                    buffer[index * 16 + place] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
                }
            }
            return 64
        }
    }
}
