import AppStoreSandbox
import ArgumentParser
import Foundation

/// The developer's key, and the roots that must be trusted.
struct SandboxKeyOptions: ParsableArguments {
    @Option(file: "Write the sandbox's two roots to this file, PEM.")
    var rootOut: String?

    @Option(file: "Write the intermediate of iOS 6 receipts to this file, PEM.")
    var intermediateOut: String?

    @Option(name: .customLong("key"), file: "The In-App Purchase key: a .p8 file or its public key, PEM.")
    var keyFile: String?

    @Option(file: "Write the sandbox's own test key to this file as .p8, if --key is not given.")
    var keyOut: String?

    @Option(help: "The identifier of the key.")
    var keyID = "SANDBOXKEY"

    @Option(help: "The issuer identifier.")
    var issuerID = "5a4db07e-0000-4000-8000-000000000001"

    @Flag(help: "Turn off rate limits.")
    var noRateLimits = false

    /// The key that tokens and offers are checked with: the user's, or one made from the seed.
    func key(seed: UInt64) throws -> SandboxKey {
        do {
            guard let keyFile else {
                let pem = try SandboxKey.privateKeyPEM(seed: seed)
                if let keyOut { try Self.write(pem, to: keyOut, isPrivate: true) }
                return try SandboxKey(privateKeyPEM: pem, keyID: keyID, issuerID: issuerID)
            }
            let text = String(decoding: try InputFile.read(keyFile), as: UTF8.self)
            return text.contains("PRIVATE KEY")
                ? try SandboxKey(privateKeyPEM: text, keyID: keyID, issuerID: issuerID)
                : try SandboxKey(publicKeyPEM: text, keyID: keyID, issuerID: issuerID)
        } catch let error as SandboxError {
            throw CommandFailure("The key cannot be used: \(error.message)")
        }
    }

    func writeRoots() throws {
        let roots = try SandboxRoots()
        if let rootOut { try Self.write(roots.text, to: rootOut, isPrivate: false) }
        if let intermediateOut {
            try Self.write(roots.transactionReceiptIntermediate, to: intermediateOut, isPrivate: false)
        }
    }

    /// Hints for trusting the sandbox.
    var hints: @Sendable (Int) -> [String] {
        let file = rootOut ?? "FILE (write it with --root-out FILE, or take it from /sandbox/v1/trust)"
        let (keyID, issuerID) = (keyID, issuerID)
        return { port in
            [
                "For tests only:",
                "  legacy-receipts inspect and migrate: --trust-root \(file)",
                "  legacy-receipts serve: trust.roots and trust.signed-data-roots: [\(file)],",
                "    app-store-server.sandbox-url: http://127.0.0.1:\(port),",
                "    key-id \(keyID) and issuer-id \(issuerID)",
            ]
        }
    }

    private static func write(_ text: String, to path: String, isPrivate: Bool) throws {
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: isPrivate ? 0o600 : 0o644]
        guard FileManager.default.createFile(atPath: path, contents: Data(text.utf8), attributes: attributes) else {
            throw CommandFailure("Cannot write \(path).")
        }
    }
}
