import AppStoreModels

/// A file that is one JSON object, and has none of the columns that the caller names for receipts.
struct ObjectWithoutColumns {
    /// The names of its members.
    let names: [String]
    /// Whether it has a document in another member.
    let hasDocument: Bool

    /// Nil for any other file, and for one that cannot be read or is large.
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - options: how inputs are read.
    init?(_ path: String, _ options: InputOptions) {
        guard let text = Self.content(of: path), Self.isOneRecord(text, path, options),
            text.first(where: { !$0.isWhiteSpace }) == UInt8(ascii: "{"), QuarantineLine(text[...]) == nil,
            let members = (try? JSONValue.parse(text[...]))?.object?.members,
            case .unrecognized(let problem) = options.reader.read(text[...], table: nil).payload,
            problem.code == .missingColumn
        else { return nil }
        names = members.map(\.key)
        hasDocument = FormatDetector.hasDocument(text[...])
    }

    /// A FIFO is not opened: its bytes can be read only once.
    private static func content(of path: String) -> [UInt8]? {
        guard let status = try? SystemCalls.status(path), status.kind == .file,
            status.size <= InputLimits.detectionWindow, let stream = try? FileStream(path: path, name: path)
        else { return nil }
        let buffer = InputBuffer(stream, chunkSize: max(1, status.size))
        do throws(InputError) {
            var isMore = true
            // The file can grow meanwhile.
            while isMore, buffer.count <= InputLimits.detectionWindow { isMore = try buffer.fill() }
        } catch {
            return nil
        }
        guard buffer.isAtEnd else { return nil }
        return withExtendedLifetime(buffer) {
            Array(buffer.window.starts(with: [0xEF, 0xBB, 0xBF]) ? buffer.window.dropFirst(3) : buffer.window[...])
        }
    }

    private static func isOneRecord(_ text: [UInt8], _ path: String, _ options: InputOptions) -> Bool {
        text.withUnsafeBufferPointer { bytes in
            let detector = FormatDetector(
                input: path, options: options, head: bytes, beginning: bytes, isWhole: true)
            guard case .file? = try? detector.detect() else { return false }
            return true
        }
    }
}
