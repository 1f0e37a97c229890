import Foundation

/// Reads whole small files.
enum BoundedFile {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    static func read(_ path: String, maximumSize: Int) throws -> Data {
        var information = stat()
        guard stat(path, &information) == 0 else { throw Failure(description: String(cString: strerror(errno))) }
        guard information.st_mode & S_IFMT != S_IFDIR else { throw Failure(description: "it is a folder") }
        let handle: FileHandle
        do {
            handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        } catch {
            throw Failure(description: "it cannot be opened")
        }
        defer { try? handle.close() }
        // One byte more than allowed, because the size of a pipe is not known in advance.
        let data: Data
        do {
            data = try handle.read(upToCount: maximumSize + 1) ?? Data()
        } catch {
            throw Failure(description: "it cannot be read")
        }
        guard data.count <= maximumSize else { throw Failure(description: "it has more than \(maximumSize) bytes") }
        return data
    }

    /// The reason why this process cannot append to a file or create it; nil if none is found. Does not create the
    /// file: if another user runs the check, the server could not write it.
    static func obstacleToWriting(_ path: String) -> String? {
        var information = stat()
        guard stat(path, &information) == 0 else {
            guard errno == ENOENT else { return String(cString: strerror(errno)) }
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
            return access(folder, W_OK | X_OK) == 0 ? nil : "the folder: \(String(cString: strerror(errno)))"
        }
        guard information.st_mode & S_IFMT != S_IFDIR else { return "it is a folder" }
        return access(path, W_OK) == 0 ? nil : String(cString: strerror(errno))
    }

    /// Whether every user of the machine can read the file.
    static func isReadableByEverybody(_ path: String) -> Bool {
        var information = stat()
        return stat(path, &information) == 0 && information.st_mode & S_IROTH != 0
    }
}
