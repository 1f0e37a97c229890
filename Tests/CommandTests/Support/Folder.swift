import Foundation
import TestSupport
import Testing

typealias Folder = TemporaryFolder

extension TemporaryFolder {
    func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: url.appending(path: name))) }

    func text(_ name: String) throws -> String {
        try #require(String(validating: bytes(name), as: UTF8.self), "\(name) is not UTF-8")
    }

    /// The names in a folder in it, sorted; none if there is no such folder.
    func names(_ name: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: file(name))) ?? []).sorted()
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
