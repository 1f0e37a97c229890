import AppStoreModels
import AppStoreServer
import Foundation
import TestSupport
import Testing

/// Python programs with Apple's own library, which run when LEGACY_RECEIPTS_PYTHON names a Python interpreter that has the
/// packages of tools/judges/requirements.txt.
enum PythonCheck {
    static let python = ProcessInfo.processInfo.environment["LEGACY_RECEIPTS_PYTHON"]

    /// Runs a check with the lines as its input.
    static func run(_ script: String, _ lines: [[String: any Sendable]] = []) throws -> (status: Int32, output: String)
    {
        let input = try lines.map { try JSONSerialization.data(withJSONObject: $0) + Data("\n".utf8) }.reduce(Data(), +)
        let outcome = try ChildProcess.runWhileBlocking(
            try #require(python), [PackageFolder.path("tools/judges/" + script)], input: Array(input))
        return (outcome.status, outcome.output + outcome.errors)
    }

    static func json(_ value: some Encodable) throws -> any Sendable {
        try JSONSerialization.jsonObject(with: JSONEncoder().encode(value)) as? [String: any Sendable] ?? [:]
    }
}
