import Foundation
import Yams

/// A node of a configuration file with its line.
struct ConfigurationNode {
    enum Value {
        /// Nothing after the key, `~` or `null`.
        case absent
        /// A scalar, and whether it was written without quotes.
        case scalar(String, isPlain: Bool)
        case sequence([ConfigurationNode])
        case mapping([Member])
    }

    struct Member {
        let key: String
        let line: Int
        let value: ConfigurationNode
    }

    let line: Int
    let value: Value

    var isAbsent: Bool { if case .absent = value { true } else { false } }

    var members: [Member]? {
        switch value {
        case .mapping(let members): members
        case .absent: []
        default: nil
        }
    }

    var elements: [ConfigurationNode]? {
        switch value {
        case .sequence(let elements): elements
        case .absent: []
        default: nil
        }
    }

    /// A text. Numbers and other unquoted words count as text, so that a secret of digits needs no quotes.
    var text: String? {
        if case .scalar(let text, _) = value { text } else { nil }
    }

    /// A word without quotes, such as a number or a boolean.
    var word: String? {
        if case .scalar(let text, isPlain: true) = value { text } else { nil }
    }
}

/// Reads a configuration file. JSON is read as YAML, its superset, so errors of both contain the line. JSON strings must not
/// contain surrogate escapes (`\ud83d\ude00`): write such characters directly.
///
/// The library swift-configuration reads the scalars (see ``ConfigurationValues``). It rejects files with lists of objects and
/// does not report unknown keys, so this reader does both.
enum ConfigurationDocument {
    /// In bytes; more than a configuration with ten thousand apps needs.
    static let maximumSize = 4 << 20

    /// - Throws: ``ConfigurationError`` that names the file.
    static func read(_ path: String) throws -> ConfigurationNode {
        let data: Data
        do {
            data = try BoundedFile.read(path, maximumSize: maximumSize)
        } catch {
            throw ConfigurationError([.init(key: "", place: path, "cannot be read: \(error)")])
        }
        guard let text = String(bytes: data, encoding: .utf8) else {
            throw ConfigurationError([.init(key: "", place: path, "is not UTF-8 text")])
        }
        return try parse(text, file: path)
    }

    static func parse(_ text: String, file: String) throws -> ConfigurationNode {
        do {
            // An empty file is an error: an editor leaves one during a save, and so does a failed redirection. The
            // defaults are then not intended. A file with only comments is valid.
            guard text.contains(where: { !$0.isWhitespace }) else {
                throw ConfigurationError([.init(key: "", place: file, "is empty")])
            }
            guard let root = try Yams.compose(yaml: text) else { return ConfigurationNode(line: 1, value: .absent) }
            return try convert(root, file: file, depth: 0)
        } catch let error as YamlError {
            throw ConfigurationError([describe(error, file: file)])
        }
    }

    private static func describe(_ error: YamlError, file: String) -> ConfigurationError.Problem {
        // The library's own description quotes the line, which may contain a secret.
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            .init(key: "", place: "\(file):\(mark.line)", "is not valid YAML or JSON: \(problem)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            .init(
                key: duplicates.joined(separator: ", "), place: "\(file):\(context.mark.line)",
                "the key occurs more than once")
        default:
            .init(key: "", place: file, "is not valid YAML or JSON")
        }
    }

    private static func convert(_ node: Yams.Node, file: String, depth: Int) throws -> ConfigurationNode {
        let line = node.mark?.line ?? 1
        guard depth < 16 else {
            throw ConfigurationError([.init(key: "", place: "\(file):\(line)", "is nested too deeply")])
        }
        switch node {
        case .scalar(let scalar):
            let isPlain = scalar.style == .plain || scalar.style == .any
            let isAbsent = isPlain && ["", "~", "null", "Null", "NULL"].contains(scalar.string)
            return ConfigurationNode(line: line, value: isAbsent ? .absent : .scalar(scalar.string, isPlain: isPlain))
        case .sequence(let sequence):
            return ConfigurationNode(
                line: line, value: .sequence(try sequence.map { try convert($0, file: file, depth: depth + 1) }))
        case .mapping(let mapping):
            let members = try mapping.map { key, value in
                guard let name = key.scalar?.string else {
                    throw ConfigurationError([
                        .init(key: "", place: "\(file):\(key.mark?.line ?? line)", "a key must be text")
                    ])
                }
                return ConfigurationNode.Member(
                    key: name, line: key.mark?.line ?? line, value: try convert(value, file: file, depth: depth + 1))
            }
            return ConfigurationNode(line: line, value: .mapping(members))
        case .alias:
            throw ConfigurationError([.init(key: "", place: "\(file):\(line)", "aliases are not allowed")])
        }
    }
}

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
