import AppStoreModels
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
            skipASCII()
            guard validCount < buffer.count else { return }
            let length = buffer.withUnsafeBufferPointer {
                UTF8Validation.characterLength(in: $0, at: validCount, end: $0.count)
            }
            let isCut = validCount + length > buffer.count
            guard length > 0, !isCut || !isSourceAtEnd else {
                throw CatalogError(
                    .badEncoding, at: CatalogSource(file: file, line: line), "the feed must be UTF-8 text")
            }
            if isCut { return }
            validCount += length
        }
    }

    /// Advances `validCount` past ASCII characters, which are nearly all of a feed.
    private func skipASCII() {
        (validCount, line) = buffer.withUnsafeBufferPointer { bytes -> (Int, Int) in
            var (end, line) = (validCount, self.line)
            while end < bytes.count, bytes[end] < 0x80 {
                if bytes[end] == 0x0A { line += 1 }
                end += 1
            }
            return (end, line)
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
