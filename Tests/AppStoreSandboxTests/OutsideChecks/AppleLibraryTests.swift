import AppStoreModels
import AppStoreSandbox
import Foundation
import TestSupport
import Testing

/// Apple's own Python library, client and verifier, against a running sandbox.
@Suite(.enabled(if: AppleLibrary.python != nil, "LEGACY_RECEIPTS_PYTHON is not set"))
struct AppleLibraryTests {
    @Test("Apple's client and SignedDataVerifier work against the sandbox, every endpoint and every notification")
    func works() async throws {
        let (status, output) = try await AppleLibrary.check { $0 }
        #expect(status == 0 && output.contains("endpoints: 17") && output.contains("notifications: "), "\(output)")
    }

    @Test("The check detects a root that is not the sandbox's, and a token of another key")
    func refuses() async throws {
        let root = try SandboxRoots().receipts
        let other = try await AppleLibrary.check { $0.merging(["root": root]) { $1 } }
        #expect(other.status == 1 && other.output.contains("VerificationException"), "\(other.output)")
        let key = try DeveloperKey.pem(seed: 43)
        let stranger = try await AppleLibrary.check { $0.merging(["key": key]) { $1 } }
        #expect(stranger.status == 1 && stranger.output.contains("401"), "\(stranger.output)")
    }
}

/// The Python interpreter that LEGACY_RECEIPTS_PYTHON names, with the packages of tools/judges/requirements.txt.
enum AppleLibrary {
    static let python = ProcessInfo.processInfo.environment["LEGACY_RECEIPTS_PYTHON"]

    @inline(never)
    static func check(
        _ change: @escaping @Sendable ([String: String]) -> [String: String]
    ) async throws -> (status: Int32, output: String) {
        try await Receiver.run { receiver, url in
            let setup = RunningSandbox.Setup(change: {
                $0.notificationURL = url
                $0.sandbox.gracePeriodDays = 3
            })
            return try await RunningSandbox.run(setup) { sandbox in
                let settings = change([
                    "url": sandbox.url, "root": try SandboxRoots().signedData, "key": try DeveloperKey.pem(),
                    "keyId": DeveloperKey.keyID, "issuerId": DeveloperKey.issuerID, "bundleId": "com.example.app",
                ])
                return try await run("sandbox/check_sandbox.py", settings)
            }
        }
    }

    private static func run(
        _ script: String, _ input: [String: String]
    ) async throws -> (status: Int32, output: String) {
        let folder = try TemporaryFolder()
        try folder.write("input.json", JSONEncoder().encode(input))
        let outcome = try await ChildProcess.run(
            try #require(python), [PackageFolder.path("tools/judges/" + script), folder.file("input.json")],
            within: 1200)
        return (outcome.status, outcome.output + outcome.errors)
    }
}
