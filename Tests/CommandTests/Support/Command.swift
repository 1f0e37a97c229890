import Foundation
import TestSupport
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

    /// - Parameters:
    ///   - arguments: the arguments of the command.
    ///   - input: standard input; nothing at all if nil.
    ///   - folder: the working directory; nil for that of the tests.
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

    /// For a shell script: waits until `serve`, which logs into the file `log`, listens for look-ups, and sets `$port`.
    static let lookUpPort = #"""
        tries=0
        until grep -q '"look-up"' log; do
            tries=$((tries + 1))
            [ $tries -lt 1200 ] || break
            sleep 0.1
        done
        port=$(sed -n '/"role":"look-up"/s/.*"port":"\{0,1\}\([0-9]*\).*/\1/p' log)
        """#

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
        let ended = try await ChildProcess.run(
            program, arguments, environment: ["COMMAND": path, "COLUMNS": "80", "TERM": "xterm"],
            directory: folder?.url.path, input: input)
        return Outcome(output: ended.output, error: ended.errors, status: ended.status)
    }
}
