import Foundation
import Testing

@Suite("sandbox", .timeLimit(.minutes(10)))
struct SandboxTests {
    @Test("The help has examples and fits into 80 columns")
    func help() async throws {
        let outcome = try await Command.run("sandbox", "--help")
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("EXAMPLES:\n  legacy-receipts"))
        let folded = outcome.output.split(separator: "\n").filter { $0.hasPrefix("  ") && $0.count > 80 }
        #expect(folded.isEmpty)
    }

    @Test(
        "A usage error exits with 2 and says what is wrong",
        arguments: [
            ([], "--products is required"), (["--products", "p", "--speed", "fast"], "--speed takes"),
            (["--products", "p", "--environment", "Moon"], "--environment takes"),
            (["--products", "none.storekit"], "The products cannot be used"),
            (["--products", "p.storekit", "--clock", "sundial"], "--clock takes"),
            (["--products", "p.storekit", "--port", "70000"], "--port takes"),
            (["--products", "p.storekit", "--key", "p.storekit"], "The key cannot be used"),
            (["--products", "p.storekit", "--fault", "fire"], "the kind of a fault must be one of"),
            (["--products", "p.storekit", "--fault", "hang,share=2"], "share: must be"),
        ] as [([String], String)])
    func usage(arguments: [String], message: String) async throws {
        let folder = try Folder()
        try folder.write("p.storekit", Array(AppStoreShell.subscription.utf8))
        let outcome = try await Command.run(["sandbox"] + arguments, in: folder)
        #expect(outcome.status == 2)
        #expect(outcome.error.contains(message), "\(outcome.error)")
        #expect(outcome.output.isEmpty)
    }

    @Test(
        "The products of a .storekit file are sold, and the receipt is genuine with the root that the sandbox writes",
        .enabled(if: Command.hasProgram("curl")))
    func sells() async throws {
        let folder = try Folder()
        try folder.write("p.storekit", Array(AppStoreShell.subscription.utf8))
        let outcome = try await Command.shell(
            """
            "$COMMAND" sandbox --products p.storekit --port 0 --root-out roots.pem --key-out key.p8 > out &
            pid=$!
            while ! grep -q "app-store-server.sandbox-url" out; do kill -0 $pid || exit 9; sleep 0.1; done
            url=$(sed -n 's/^The local App Store listens at \\(.*\\)\\.$/\\1/p' out)
            curl -s -d '{"customer": "ada", "productId": "com.example.monthly"}' $url/sandbox/v1/purchases > bought
            curl -s $url/sandbox/v1/customers/ada/receipt | sed 's/.*"receipt-data":"\\([^"]*\\)".*/\\1/' > receipt
            "$COMMAND" inspect --trust-root roots.pem receipt
            verdict=$?
            kill -TERM $pid
            wait $pid
            echo "sandbox ended with $?"
            exit $verdict
            """, in: folder)
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(outcome.output.contains("com.example.monthly"))
        #expect(outcome.output.contains("sandbox ended with 0"))
        let roots = try folder.text("roots.pem")
        #expect(roots.components(separatedBy: "BEGIN CERTIFICATE").count == 3)
        #expect(try folder.text("key.p8").contains("BEGIN PRIVATE KEY"))
        #expect(try folder.text("out").contains("trust.signed-data-roots"))
    }
}
