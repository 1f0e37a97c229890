import Foundation
import TestSupport
import Testing

/// What all tests that run programs rely on.
@Suite("A program that a test runs")
struct ChildProcessTests {
    @Test("has its input, and its output, errors and exit code are known")
    func outcome() async throws {
        let outcome = try await ChildProcess.run(
            "sh", ["-c", "cat; echo \"$WORD\" >&2; pwd; exit 7"], environment: ["WORD": "oh"], directory: "/",
            input: Array("in ".utf8))
        #expect(outcome.output == "in /\n" && outcome.errors == "oh\n" && outcome.status == 7)
    }

    @Test("that a signal ends has 128 and the number of the signal")
    func signal() async throws {
        let process = try ChildProcess("sleep", ["600"])
        #expect(process.isRunning)
        process.signal(SIGTERM)
        #expect(try await process.end(within: 60) == 128 + SIGTERM)
        #expect(!process.isRunning)
    }

    @Test("is ended at its limit, also while another process runs")
    func limit() async throws {
        let other = try ChildProcess("sleep", ["600"])
        await #expect(throws: TestFailure.self) { try await ChildProcess.run("sleep", ["600"], within: 0.2) }
        #expect(throws: TestFailure.self) { try ChildProcess.runWhileBlocking("sleep", ["600"], within: 0.2) }
        #expect(other.isRunning)
    }

    @Test("that is not there is an error that names it")
    func missing() {
        #expect {
            try ChildProcess("/nowhere/program", [])
        } throws: {
            "\($0)".contains("/nowhere/program")
        }
    }

    #if os(Linux)
        @Test("inherits no files")
        func files() async throws {
            let pipe = Pipe()
            let outcome = try await ChildProcess.run("sh", ["-c", "echo /dev/fd/*"])
            try pipe.fileHandleForWriting.close()
            // 3 or more is the folder itself.
            #expect(outcome.output.split(separator: " ").count <= 4, "\(outcome.output)")
        }
    #endif
}
