import AppStoreModels

/// The files below a folder, in the order of the bytes of their paths, one at a time.
///
/// It skips hidden entries and entries that are neither files nor folders (a FIFO would block). It enters each folder once, even
/// through several symbolic links, so link loops end. It keeps only the names of the folders from the root to the current file.
struct FolderWalk {
    enum Entry {
        /// A file's path.
        case file(String)
        /// A file, link or folder that cannot be read. The walk continues after it.
        case unreadable(InputError)
    }

    private struct Folder: Hashable {
        let device: UInt64
        let inode: UInt64
    }

    private struct Name {
        /// The trailing slash of a folder is part of its sort key, not of its path. Escaped if the name is not UTF-8.
        var text: String
        let isUTF8: Bool
    }

    private struct Level {
        let path: String
        var names: [Name]
        var next = 0
    }

    private var levels: [Level] = []
    private var entered: Set<Folder> = []

    init(root: String) throws(InputError) {
        try enter(root, SystemCalls.status(root))
    }

    /// The next file, or the error of an unreadable entry; nil at the end.
    mutating func next() -> Entry? {
        while let depth = levels.indices.last {
            guard levels[depth].next < levels[depth].names.count else {
                levels.removeLast()
                continue
            }
            let name = levels[depth].names[levels[depth].next]
            levels[depth].next += 1
            var path = levels[depth].path + name.text
            if path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
            do throws(InputError) {
                guard name.isUTF8 else {
                    throw InputError(
                        code: .nameNotUTF8, input: path,
                        message: "The name \(path) is not UTF-8: rename it, and migrate it again.")
                }
                let status = try SystemCalls.status(path)
                switch status.kind {
                case .file: return .file(path)
                case .folder: try enter(path, status)
                case .other: continue
                }
            } catch {
                return .unreadable(error)
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
        var names: [Name] = []
        try SystemCalls.forEachEntry(of: path) { bytes in
            guard bytes.first != UInt8(ascii: ".") else { return }
            let text = String(validating: bytes, as: UTF8.self)
            names.append(Name(text: text ?? Self.escaped(bytes), isUTF8: text != nil))
        }
        // A folder sorts with a slash at its end; otherwise "a.b" would come after the contents of "a".
        // A broken link is not a folder; the walk reports its error in its turn.
        for index in names.indices
        where names[index].isUTF8 && (try? SystemCalls.status(prefix + names[index].text))?.kind == .folder {
            names[index].text += "/"
        }
        names.sort { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }
        levels.append(Level(path: prefix, names: names))
    }

    /// The name with every byte that is not printable ASCII, and the backslash, as `\xHH`.
    private static func escaped(_ name: Bytes) -> String {
        name.map { byte in
            let isPlain = 0x20..<0x7F ~= byte && byte != UInt8(ascii: "\\")
            return isPlain ? String(UnicodeScalar(byte)) : "\\x" + Printable.hex([byte]).uppercased()
        }.joined()
    }
}
