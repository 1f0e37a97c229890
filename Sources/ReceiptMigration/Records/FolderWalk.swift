/// The files below a folder, in the order of the bytes of their paths, one at a time.
///
/// Hidden entries are passed over, and so is whatever is neither a file nor a folder (a FIFO would block). A folder
/// is entered once, whatever the number of symbolic links to it, which also ends symbolic link loops. Only the names of the
/// folders between the root and the current file are held.
struct FolderWalk {
    private struct Folder: Hashable {
        let device: UInt64
        let inode: UInt64
    }

    private struct Level {
        let path: String
        var names: [String]
        var next = 0
    }

    private var levels: [Level] = []
    private var entered: Set<Folder> = []

    init(root: String) throws(InputError) {
        try enter(root, SystemCalls.status(root))
    }

    /// The next file's path, or nil at the end. After an error the walk goes on behind the entry that caused it.
    mutating func next() throws(InputError) -> String? {
        while let depth = levels.indices.last {
            guard levels[depth].next < levels[depth].names.count else {
                levels.removeLast()
                continue
            }
            // The trailing slash of a folder is part of its sort key, not of its path.
            var path = levels[depth].path + levels[depth].names[levels[depth].next]
            levels[depth].next += 1
            if path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
            let status = try SystemCalls.status(path)
            switch status.kind {
            case .file: return path
            case .folder: try enter(path, status)
            case .other: continue
            }
        }
        return nil
    }

    private mutating func enter(_ path: String, _ status: SystemCalls.FileStatus) throws(InputError) {
        guard entered.insert(Folder(device: status.device, inode: status.inode)).inserted else { return }
        guard levels.count < InputLimits.folderDepth else {
            throw InputError(
                code: .foldersTooDeep, input: path,
                message: "Cannot list \(path): more than \(InputLimits.folderDepth) folders inside folders.")
        }
        let prefix = path.utf8.last == UInt8(ascii: "/") ? path : path + "/"
        var names: [String] = []
        try SystemCalls.forEachEntry(of: path) { bytes in
            if bytes.first != UInt8(ascii: ".") { names.append(String(decoding: bytes, as: UTF8.self)) }
        }
        // A folder sorts as if its name ended with the slash, or "a.b" would come after what is in "a".
        for index in names.indices where Self.isFolder(prefix + names[index]) { names[index] += "/" }
        names.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        levels.append(Level(path: prefix, names: names))
    }

    /// A broken link is no folder; the error comes when it is its turn.
    private static func isFolder(_ path: String) -> Bool {
        do throws(InputError) {
            return try SystemCalls.status(path).kind == .folder
        } catch {
            return false
        }
    }
}
