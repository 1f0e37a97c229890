import Foundation

/// This program as a separate process, for work whose time or memory must not count as that of the caller.
enum OwnProcess {
    private struct Failure: Error, CustomStringConvertible { let description: String }

    /// - Parameter arguments: those of the process, which prints its result as one JSON object.
    static func run<Output: Decodable & Sendable>(_ arguments: [String]) async throws -> Output {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).standardizedFileURL
        if let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") {
            process.executableURL = URL(fileURLWithPath: path)
        }
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        // On a thread that does not serve requests.
        let data = await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: output.fileHandleForReading.readDataToEndOfFile()) }.start()
        }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(description: "\(arguments.first ?? "") failed with status \(process.terminationStatus)")
        }
        return try JSONDecoder().decode(Output.self, from: data)
    }
}
