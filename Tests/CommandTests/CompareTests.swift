import Foundation
import LegacyReceipts
import ReceiptForge
import SharedReceipts
import Testing

@Suite struct CompareTests {
    // Not inlined, as the next one and `compare`: Swift 6.3.1 crashes in release while it splits the tests as coroutines
    // that these were inlined into.
    @inline(never)
    private func receipt(_ name: String) throws -> String {
        Forged.base64(try ReceiptContainer(stored: Forged.named(name).bytes).bytes)
    }

    @inline(never)
    private func pair(_ name: String, _ reply: String) throws -> String {
        #"{"request":{"receipt-data":"\#(try receipt(name))"},"response":\#(reply)}"#
    }

    @inline(never)
    private func compare(_ folder: Folder, _ arguments: [String], input: [UInt8]? = nil) async throws -> Outcome {
        try await Command.run(["compare", "--trust-root", "root.der"] + arguments, input: input, in: folder)
    }

    @Test func whereNothingIsWrongTheStatusIsZero() async throws {
        let folder = try Folder.withRoot()
        try folder.write("pairs.ndjson", Array(try pair("sandbox-sha256", #"{"status":21007}"#).utf8))
        let outcome = try await compare(folder, ["pairs.ndjson"])
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("pairs: 1, identical: 1, without fault: 1"))
    }

    @Test func aFaultOfOursIsNamedAndTheStatusIsOne() async throws {
        let folder = try Folder.withRoot()
        try folder.write("pairs.ndjson", Array(try pair("production-sha256", #"{"status":21003}"#).utf8))
        let outcome = try await compare(folder, ["pairs.ndjson"])
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("mismatch:"))
        #expect(outcome.output.contains(": status: Apple: 21003, ours: 0 (status)"))
    }

    @Test func purchasesThatOnlyOurReplyGrantsAreNamedAndTheStatusIsOne() async throws {
        let folder = try Folder.withRoot()
        try folder.write("pairs.ndjson", Array(try pair("production-sha256", #"{"status":21010}"#).utf8))
        let outcome = try await compare(folder, ["pairs.ndjson"])
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("\nentitlement: 1 pair grants differently\n"))
        #expect(outcome.output.contains("\nentitlement differs:\n"))
        #expect(outcome.output.contains("granted by ours only, Apple's reply has status 21010 (status)"))
        #expect(!outcome.output.contains("mismatch:"))
    }

    @Test func temporaryFailuresAloneMeasureNothing() async throws {
        let folder = try Folder.withRoot()
        let failure = try pair("production-sha256", #"{"status":21009}"#)
        try folder.write("pairs.ndjson", Array(failure.utf8))
        let alone = try await compare(folder, ["pairs.ndjson"])
        #expect(alone.status == 1)
        #expect(alone.output.contains("entitlement not comparable, a temporary failure at Apple: 1"))
        let more = try pair("sandbox-sha256", #"{"status":21007}"#)
        try folder.write("pairs.ndjson", Array((failure + "\n" + more).utf8))
        #expect(try await compare(folder, ["pairs.ndjson"]).status == 0)
    }

    @Test(arguments: [("--learn-latest", "upper bound: "), ("--learn-earlier", "learned from earlier pairs only")])
    func theOutputNamesTheLearningMode(option: String, text: String) async throws {
        let folder = try Folder.withRoot()
        try folder.write("pairs.ndjson", Array(try pair("sandbox-sha256", #"{"status":21007}"#).utf8))
        let outcome = try await compare(folder, [option, "pairs.ndjson"])
        #expect(outcome.status == 0 && outcome.output.contains("\n" + text))
    }

    @Test func jsonSaysTheSame() async throws {
        let folder = try Folder.withRoot()
        let outcome = try await compare(
            folder, ["--json", "-"], input: Array(try pair("production-sha256", #"{"status":21003}"#).utf8))
        let object = try outcome.object()
        #expect(object["pairs"] as? Int == 1 && outcome.status == 1)
        #expect((object["counts"] as? [String: Any])?["mismatch"] as? Int == 1)
    }

    @Test func noSecretAndNoReceiptIsPrinted() async throws {
        let folder = try Folder.withRoot()
        let receipt = try self.receipt("production-sha256")
        let secret = "0123456789abcdef0123456789abcdef"
        try folder.write("secret", Array((secret + "\n").utf8))
        let record =
            #"{"request":{"receipt-data":"\#(receipt)","password":"\#(secret)"},"response":{"status":0,"latest_receipt":"\#(receipt)"}}"#
        for options in [[], ["--json"]] {
            let outcome = try await Command.run(
                ["compare", "--trust-root", "root.der", "--shared-secret-file", "secret", "-"] + options,
                input: Array(record.utf8), in: folder)
            for text in [outcome.output, outcome.error] {
                #expect(!text.contains(secret) && !text.contains(receipt.prefix(64)))
            }
        }
    }

    @Test func theSharedSecretOfTheFileIsTheOneThatCounts() async throws {
        let folder = try Folder.withRoot()
        try folder.write("secret", Array("0123456789abcdef0123456789abcdef\n".utf8))
        let receipt = try self.receipt("production-sha256")
        let record =
            #"{"request":{"receipt-data":"\#(receipt)","password":"wrong"},"response":{"status":21004,"environment":"Production"}}"#
        let outcome = try await compare(folder, ["--shared-secret-file", "secret", "-"], input: Array(record.utf8))
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("identical: 1"))
    }

    @Test func usageAndInputErrors() async throws {
        let folder = try Folder.withRoot()
        try folder.write("nothing.ndjson", Array("{}\n".utf8))
        let usage: [[String]] = [
            [], ["--learn-latest", "--store", "sqlite:x", "-"], ["--learn-earlier", "--store", "sqlite:x", "-"],
            ["--learn-latest", "--learn-earlier", "-"], ["--differences", "-1", "-"], ["gone.json"],
            ["nothing.ndjson"], ["--trust-root", "nothing.ndjson", "-"], ["--set", "x", "-"],
            ["--set", "no.key=1", "-"],
            ["--config", "gone.yaml", "-"], ["--store", "mysql://x", "-"],
        ]
        for arguments in usage {
            let outcome = try await Command.run(["compare"] + arguments, in: folder)
            #expect(outcome.status == 2, "\(arguments)")
            #expect(!outcome.error.isEmpty, "\(arguments)")
        }
    }

    @Test func theCoverageTableIsMarkdown() async throws {
        let outcome = try await Command.run("compare", "--coverage")
        #expect(outcome.status == 0)
        #expect(outcome.output.hasPrefix("| status | field | supported | source |\n|---|---|---|---|\n"))
    }

    @Test(.enabled(if: SharedReceipts.arePresent)) func theRecordedPairsOfTheAppStore() async throws {
        let index = try #require(SharedReceipts.folder).appending(path: "index.json").path
        let outcome = try await Command.run("compare", "--learn-latest", "--json", index)
        let object = try outcome.object()
        #expect(object["pairs"] as? Int == 6)
        // Two names that the author of one recording replaced in the reply and not in the receipt.
        #expect((object["counts"] as? [String: Any])?["mismatch"] as? Int == 2)
        let fields = try #require(object["fields"] as? [String: [String: Any]])
        #expect(fields["receipt.bid"]?["mismatch"] as? Int == 1)
        #expect(fields["receipt.product_id"]?["mismatch"] as? Int == 1)
        #expect(fields["latest_receipt_info[]"] == nil)
        // The same recording: its product has another name in the reply.
        let entitlement = try #require(object["entitlement"] as? [String: Any])
        #expect(entitlement["pairsCompared"] as? Int == 6 && entitlement["pairsDiffering"] as? Int == 1)
        #expect(object["isUpperBound"] as? Bool == true)
    }
}
