import Foundation

/// Reads small files completely.
enum InputFile {
    /// Bytes. Several times the largest receipt in base64 with line breaks. A longer file is of another kind.
    static let maximumSize = 16 << 20

    /// - Parameter path: a path, or `-` for standard input.
    /// - Throws: ``CommandFailure``.
    static func read(_ path: String) throws(CommandFailure) -> [UInt8] {
        if path == "-" { return try read(STDIN_FILENO, name: "standard input") }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        return try read(descriptor, name: path)
    }

    private static func read(_ descriptor: Int32, name: String) throws(CommandFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = chunk.withUnsafeMutableBytes { readSome(descriptor, $0) }
            if count == 0 { return bytes }
            if count > 0 {
                bytes += chunk[..<count]
                guard bytes.count <= maximumSize else {
                    throw CommandFailure(
                        "Cannot use \(name): it has more than \(maximumSize) bytes, too many for one receipt or certificate."
                    )
                }
            } else if errno != EINTR {
                throw failure(name)
            }
        }
    }

    private static func failure(_ name: String) -> CommandFailure {
        CommandFailure("Cannot read \(name): \(SystemError.text(errno)).")
    }
}

// Outside of the enum, whose own name would hide the system's.
private func readSome(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, buffer.baseAddress, buffer.count)
}
