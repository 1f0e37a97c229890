import Foundation
import Testing

/// What a process printed and how it ended.
struct Outcome {
    let output: String
    let error: String
    /// The exit code; 128 and the signal's number where a signal ended it, as shells say.
    let status: Int32

    /// The output as one JSON object.
    func object() throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
    }
}

/// The command as it was built beside the tests, run as a process.
enum Command {
    static let path: String = {
        #if os(Linux)
            let products = Bundle.main.bundleURL
        #else
            let products = Bundle(for: Anchor.self).bundleURL.deletingLastPathComponent()
        #endif
        return products.appending(path: "legacy-receipts").path
    }()

    private final class Anchor {}

    /// - Parameter input: standard input; nothing at all if nil.
    static func run(_ arguments: String..., input: [UInt8]? = nil, in folder: Folder? = nil) async throws -> Outcome {
        try await run(arguments, input: input, in: folder)
    }

    static func run(_ arguments: [String], input: [UInt8]? = nil, in folder: Folder? = nil) async throws -> Outcome {
        try await launch(path, arguments, input: input, in: folder)
    }

    /// Runs a shell script in which `$COMMAND` is the command.
    static func shell(_ script: String, in folder: Folder) async throws -> Outcome {
        try await launch("/bin/sh", ["-c", script], input: nil, in: folder)
    }

    /// Whether a program is there to be called by a shell script.
    static func hasProgram(_ name: String) -> Bool {
        ["/usr/bin", "/bin", "/usr/local/bin"].contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(name)")
        }
    }

    /// Whether util-linux's `script` is there, which gives a program a terminal; others take other options.
    static var hasScript: Bool {
        #if os(Linux)
            hasProgram("script")
        #else
            false
        #endif
    }

    private static func launch(
        _ program: String, _ arguments: [String], input: [UInt8]?, in folder: Folder?
    ) async throws -> Outcome {
        // Files, not pipes: nothing can block, however much is printed.
        let streams = try Folder()
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        if let folder { process.currentDirectoryURL = folder.url }
        var environment = ProcessInfo.processInfo.environment
        environment["COMMAND"] = path
        environment["COLUMNS"] = "80"
        environment["TERM"] = "xterm"
        process.environment = environment
        let given = try input.map { try FileHandle(forReadingFrom: URL(filePath: streams.write("in", $0))) }
        let output = try FileHandle(forWritingTo: URL(filePath: streams.write("out", "")))
        let errors = try FileHandle(forWritingTo: URL(filePath: streams.write("err", "")))
        // A process that has ended keeps them open, and Process.run crashes where more than some 1,300 files are open.
        defer { for handle in [given, output, errors] { try? handle?.close() } }
        process.standardInput = given ?? FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        try await withCheckedThrowingContinuation { (ended: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in ended.resume() }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                ended.resume(throwing: error)
            }
        }
        let signal: Int32 = process.terminationReason == .uncaughtSignal ? 128 : 0
        return Outcome(
            output: try streams.text("out"), error: try streams.text("err"), status: signal + process.terminationStatus)
    }
}
