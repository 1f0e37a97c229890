import Foundation
import Testing

/// A folder of one test, gone when the test is done.
final class Folder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appending(path: "legacy-receipts-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appending(path: name).path }

    /// Writes a file, and the folders above it.
    @discardableResult
    func write(_ name: String, _ bytes: some Sequence<UInt8>) throws -> URL {
        let file = url.appending(path: name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: file)
        return file
    }

    func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: url.appending(path: name))) }

    func text(_ name: String) throws -> String {
        try #require(String(validating: bytes(name), as: UTF8.self), "\(name) is not UTF-8")
    }

    /// The names in a folder in it, sorted; none if there is no such folder.
    func names(_ name: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path(name))) ?? []).sorted()
    }

    /// The objects of an NDJSON file.
    func lines(_ name: String) throws -> [[String: Any]] {
        try text(name).split(separator: "\n").map {
            try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    /// The payloads of an output file: what stands in each line under `transaction` or `appTransaction`.
    func payloads(_ name: String) throws -> [[String: Any]] {
        try lines(name).map { line in
            try #require((line["transaction"] ?? line["appTransaction"]) as? [String: Any])
        }
    }

    func object(_ name: String) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(bytes(name))) as? [String: Any])
    }
}
