import AppStoreModels
import AppStoreServer
import Foundation
import Testing

/// Python programs with Apple's own library, which run when LEGACY_RECEIPTS_PYTHON names a Python interpreter that has the
/// packages of tools/judges/requirements.txt.
enum Judge {
    static let python = ProcessInfo.processInfo.environment["LEGACY_RECEIPTS_PYTHON"]

    /// The folder tools/judges of the repository.
    private static let folder: URL? = {
        var folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        while folder.path != "/" {
            let judges = folder.appendingPathComponent("tools/judges")
            if FileManager.default.fileExists(atPath: judges.path) { return judges }
            folder.deleteLastPathComponent()
        }
        return nil
    }()

    /// Runs a judge with the lines as its input.
    static func run(_ script: String, _ lines: [[String: any Sendable]] = []) throws -> (status: Int32, output: String)
    {
        let input = try lines.map { try JSONSerialization.data(withJSONObject: $0) + Data("\n".utf8) }.reduce(Data(), +)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("judge-\(UUID().uuidString).ndjson")
        try input.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(python))
        process.arguments = [try #require(folder).appendingPathComponent(script).path]
        process.standardInput = try FileHandle(forReadingFrom: file)
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }

    static func json(_ value: some Encodable) throws -> any Sendable {
        try JSONSerialization.jsonObject(with: JSONEncoder().encode(value)) as? [String: any Sendable] ?? [:]
    }
}
