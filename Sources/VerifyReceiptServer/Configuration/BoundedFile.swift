import Foundation

/// Reads whole small files.
package enum BoundedFile {
    /// Why a file cannot be read, as a clause.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    package static func read(_ path: String, maximumSize: Int) throws(Failure) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(description: systemError) }
        defer { close(descriptor) }
        return try read(descriptor, maximumSize: maximumSize)
    }

    /// Reads an open file, such as standard input, to its end.
    package static func read(_ descriptor: Int32, maximumSize: Int) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = chunk.withUnsafeMutableBytes { readSome(descriptor, $0) }
            if count == 0 { return bytes }
            if count > 0 {
                bytes += chunk[..<count]
                guard bytes.count <= maximumSize else {
                    throw Failure(description: "it has more than \(maximumSize) bytes")
                }
            } else if errno != EINTR {
                throw Failure(description: systemError)
            }
        }
    }

    /// The text of the system's last error.
    private static var systemError: String { String(cString: strerror(errno)) }

    /// The reason why this process cannot append to a file or create it; nil if none is found. Does not create the
    /// file: if another user runs the check, the server could not write it.
    static func obstacleToWriting(_ path: String) -> String? {
        var information = stat()
        guard stat(path, &information) == 0 else {
            guard errno == ENOENT else { return systemError }
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
            return access(folder, W_OK | X_OK) == 0 ? nil : "the folder: \(systemError)"
        }
        guard information.st_mode & S_IFMT != S_IFDIR else { return "it is a folder" }
        return access(path, W_OK) == 0 ? nil : systemError
    }

    /// Whether every user of the machine can read the file.
    static func isReadableByEverybody(_ path: String) -> Bool {
        var information = stat()
        return stat(path, &information) == 0 && information.st_mode & S_IROTH != 0
    }
}

// Outside of the enum, because a member of the enum would hide the system's function.
private func readSome(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, buffer.baseAddress, buffer.count)
}
