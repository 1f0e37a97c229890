import Foundation

/// The system calls for reading inputs, with `EINTR` handled and errors as values.
enum SystemCalls {
    struct FileStatus {
        enum Kind { case file, folder, other }

        let kind: Kind
        let device: UInt64
        let inode: UInt64
        /// The size of a file, in bytes.
        let size: Int
    }

    static func openFile(_ path: String, name: String) throws(InputError) -> Int32 {
        while true {
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            if descriptor >= 0 { return descriptor }
            if errno != EINTR { throw error(errno, name: name, doing: "open") }
        }
    }

    static func readBytes(
        _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, name: String
    ) throws(InputError) -> Int {
        while true {
            try waitForInput(descriptor, name: name)
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            if errno != EINTR { throw error(errno, name: name, doing: "read") }
        }
    }

    /// Waits for bytes, the end, or cancellation of the task, because a pipe can stay silent forever.
    private static func waitForInput(_ descriptor: Int32, name: String) throws(InputError) {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while true {
            let count = poll(&request, 1, 100)
            // Reading the descriptor reports its errors.
            if count > 0 || (count < 0 && errno != EINTR) { return }
            if Task.isCancelled {
                throw InputError(code: .interrupted, input: name, message: "Reading \(name) was interrupted.")
            }
        }
    }

    /// Follows symbolic links.
    static func status(_ path: String) throws(InputError) -> FileStatus {
        var status = stat()
        guard stat(path, &status) == 0 else { throw error(errno, name: path, doing: "open") }
        let kind: FileStatus.Kind
        switch status.st_mode & S_IFMT {
        case S_IFREG: kind = .file
        case S_IFDIR: kind = .folder
        default: kind = .other
        }
        return FileStatus(
            kind: kind, device: UInt64(truncatingIfNeeded: status.st_dev),
            inode: UInt64(truncatingIfNeeded: status.st_ino), size: Int(status.st_size))
    }

    /// Throws the error that opening this file or folder would throw. Does not list folders, which takes long for a million files,
    /// and does not open pipes and devices.
    static func checkReadable(_ path: String) throws(InputError) {
        switch try status(path).kind {
        case .file: close(try openFile(path, name: path))
        case .folder:
            guard let stream = opendir(path) else { throw error(errno, name: path, doing: "list") }
            closedir(stream)
        case .other: guard access(path, R_OK) == 0 else { throw error(errno, name: path, doing: "open") }
        }
    }

    /// Whether ``checkReadable(_:)`` throws nothing.
    static func isReadable(_ path: String) -> Bool { (try? checkReadable(path)) != nil }

    /// Calls `body` with the name, as bytes, of each entry of a folder but "." and "..".
    static func forEachEntry(of folder: String, _ body: (UnsafeBufferPointer<UInt8>) -> Void) throws(InputError) {
        guard let stream = opendir(folder) else { throw error(errno, name: folder, doing: "list") }
        defer { closedir(stream) }
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw error(errno, name: folder, doing: "list") }
                return
            }
            withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: UInt8.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)) { name in
                    let length = strnlen(UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self), 256)
                    let bytes = UnsafeBufferPointer(start: name, count: length)
                    if !bytes.elementsEqual([UInt8(ascii: ".")]), !bytes.elementsEqual("..".utf8) { body(bytes) }
                }
            }
        }
    }

    private static func error(_ number: Int32, name: String, doing verb: String) -> InputError {
        let code: InputError.Code
        switch number {
        case ENOENT, ENOTDIR: code = .notFound
        case EACCES, EPERM: code = .notPermitted
        default: code = .unreadable
        }
        let reason = strerror(number).map { String(cString: $0) } ?? "error \(number)"
        return InputError(
            code: code, input: name, systemError: number, message: "Cannot \(verb) \(name): \(reason).")
    }
}
