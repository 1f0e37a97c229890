import Foundation

/// Passes the bytes of a feed to the XML parser, only as whole characters of well-formed UTF-8.
///
/// Foundation's XML parser traps on names and text that are not UTF-8. The first bytes can be inspected before the
/// parser starts, from the same open file.
final class MetadataFeedStream: InputStream {
    private let handle: FileHandle?
    private var rest: Data
    /// Bytes that were read and not delivered. All are valid, except for an incomplete character at the end.
    private var buffer: [UInt8] = []
    /// How many bytes of `buffer` have been delivered.
    private var position = 0
    private var validCount = 0
    private var isSourceAtEnd = false
    private var line = 1
    private var status = Stream.Status.notOpen
    private let file: String
    /// Why the stream ended early.
    private(set) var failure: CatalogError?

    init(path: String, file: String) throws(CatalogError) {
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw CatalogError(.unreadable, at: CatalogSource(file: file), "cannot be opened")
        }
        self.handle = handle
        self.file = file
        rest = Data()
        super.init(data: Data())
    }

    init(bytes: Data, file: String) {
        handle = nil
        self.file = file
        rest = bytes
        super.init(data: Data())
    }

    /// The first bytes of the feed, at most `count`. The parser still receives them.
    func head(_ count: Int) throws(CatalogError) -> [UInt8] {
        while buffer.count < count, !isSourceAtEnd { try fill() }
        return Array(buffer.prefix(count))
    }

    private func nextChunk() throws(CatalogError) -> Data {
        let size = 65_536
        guard let handle else {
            let chunk = Data(rest.prefix(size))
            rest = rest.dropFirst(size)
            return chunk
        }
        do {
            return try handle.read(upToCount: size) ?? Data()
        } catch {
            throw CatalogError(
                .unreadable, at: CatalogSource(file: file), "cannot be read: \(error.localizedDescription)")
        }
    }

    /// Reads one more chunk from the source and advances `validCount` past its complete characters.
    private func fill() throws(CatalogError) {
        let chunk = try nextChunk()
        if position == validCount, position > 0 {
            buffer.removeFirst(position)
            (position, validCount) = (0, 0)
        }
        buffer.append(contentsOf: chunk)
        isSourceAtEnd = chunk.isEmpty
        while validCount < buffer.count {
            let ascii = UTF8Character.ascii(in: buffer, from: validCount)
            validCount = ascii.end
            line += ascii.lineFeeds
            guard validCount < buffer.count else { return }
            switch UTF8Character.length(buffer[validCount...]) {
            case .whole(let count): validCount += count
            case .unfinished where !isSourceAtEnd: return
            case .unfinished, .invalid:
                throw CatalogError(
                    .badEncoding, at: CatalogSource(file: file, line: line), "the feed must be UTF-8 text")
            }
        }
    }

    override func read(_ target: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        guard failure == nil else { return -1 }
        do throws(CatalogError) {
            while position == validCount, !isSourceAtEnd { try fill() }
        } catch {
            failure = error
            status = .error
            return -1
        }
        let count = min(maxLength, validCount - position)
        if count <= 0 {
            status = .atEnd
            return 0
        }
        buffer.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return }
            target.update(from: base + position, count: count)
        }
        position += count
        return count
    }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    override var hasBytesAvailable: Bool { failure == nil && (position < validCount || !isSourceAtEnd) }

    override var streamStatus: Stream.Status { status }

    override var streamError: (any Error)? { failure }

    override func open() { status = .open }

    override func close() {
        status = .closed
        try? handle?.close()
    }
}

/// One UTF-8 character by RFC 3629, section 4: no overlong forms, no surrogates, nothing beyond U+10FFFF.
private enum UTF8Character {
    enum Length {
        case whole(Int)
        case unfinished
        case invalid
    }

    /// The end of the ASCII characters from `start` on, which are nearly all of a feed.
    static func ascii(in bytes: [UInt8], from start: Int) -> (end: Int, lineFeeds: Int) {
        bytes.withUnsafeBufferPointer { bytes in
            var (end, lineFeeds) = (start, 0)
            while end < bytes.count, bytes[end] < 0x80 {
                if bytes[end] == 0x0A { lineFeeds += 1 }
                end += 1
            }
            return (end, lineFeeds)
        }
    }

    /// The length of the first character, which is not ASCII.
    static func length(_ bytes: ArraySlice<UInt8>) -> Length {
        guard let first = bytes.first else { return .unfinished }
        let count: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch first {
        case 0xC2...0xDF: count = 2
        case 0xE0: (count, second) = (3, 0xA0...0xBF)
        case 0xED: (count, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: count = 3
        case 0xF0: (count, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: count = 4
        case 0xF4: (count, second) = (4, 0x80...0x8F)
        default: return .invalid
        }
        for (offset, byte) in bytes.prefix(count).enumerated().dropFirst() {
            guard offset == 1 ? second.contains(byte) : (0x80...0xBF).contains(byte) else { return .invalid }
        }
        return bytes.count < count ? .unfinished : .whole(count)
    }
}
