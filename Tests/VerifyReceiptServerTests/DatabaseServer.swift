import Foundation
import Testing

/// A database server of one test, started by `tools/postgres.sh`.
struct DatabaseServer {
    static let script = ProcessInfo.processInfo.environment["LEGACY_RECEIPTS_POSTGRES_SCRIPT"]

    let url: String
    private let directory: String

    init() throws {
        let lines = try Self.run(["start"]).split(separator: "\n")
        func value(_ name: String) throws -> String {
            let line = try #require(lines.first { $0.hasPrefix("export \(name)='") })
            return String(line.dropFirst("export \(name)='".count).dropLast())
        }
        url = try value("LEGACY_RECEIPTS_POSTGRES")
        directory = try value("LEGACY_RECEIPTS_POSTGRES_DIRECTORY")
    }

    /// `stop`, `crash`, `resume` or `remove`.
    func control(_ command: String) throws { _ = try Self.run([command, directory]) }

    private static func run(_ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = [try #require(script)] + arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(arguments)")
        return String(decoding: data, as: UTF8.self)
    }
}
