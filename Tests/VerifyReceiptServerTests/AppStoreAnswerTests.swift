import AppStoreModels
import Foundation
import ReceiptForge
import TestSupport
import Testing

/// `legacy-receipts app-store` as a process, against a server on this machine that mixes genuine answers with others.
@Suite(.timeLimit(.minutes(10))) struct AppStoreAnswerTests {
    private struct Outcome {
        let status: Int32
        let output: String
        let error: String
    }

    private static func run(_ arguments: [String], answer: String) async throws -> Outcome {
        let folder = try TemporaryFolder()
        let server = try await LiveServiceStub(.compute { _ in (answer, 200) })
        try folder.write("key.p8", BackfillTests.key)
        try Data(TestSignedDataAuthority.standard.rootCertificate).write(
            to: URL(fileURLWithPath: folder.path + "/root.der"))
        let key = [
            "--bundle-id", Signed.bundleId, "--issuer-id", "57246542-96fe-1a63-e053-0824d011072a", "--key-id",
            "2X9R4HXF34", "--private-key", folder.path + "/key.p8", "--server-url", server.url, "--trust-root",
            folder.path + "/root.der",
        ]
        let outcome = try await ChildProcess.run(
            Bundle.main.bundleURL.appending(path: "legacy-receipts").path, ["app-store"] + arguments + key)
        try await server.stop()
        return Outcome(status: outcome.status, output: outcome.output, error: outcome.errors)
    }

    private static func transaction(
        _ id: String, _ configure: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) throws -> String {
        var payload = JWSTransactionDecodedPayload()
        payload.transactionId = id
        payload.originalTransactionId = id
        payload.productId = "product.\(id)"
        payload.bundleId = Signed.bundleId
        payload.environment = .production
        payload.signedDate = Signed.bought.milliseconds
        configure(&payload)
        return try Signed.jws(payload)
    }

    private static func renewal(_ original: String) throws -> String {
        var payload = JWSRenewalInfoDecodedPayload()
        payload.originalTransactionId = original
        payload.autoRenewProductId = "renewal.\(original)"
        payload.environment = .production
        payload.signedDate = Signed.bought.milliseconds
        return try Signed.jws(payload)
    }

    /// The signature of one transaction with the payload of another.
    private static func tampered() throws -> String {
        let (one, other) = (try transaction("100").split(separator: "."), try transaction("666").split(separator: "."))
        return [one[0], other[1], one[2]].joined(separator: ".")
    }

    @Test func genuineTransactionsOfAListAreShownAndTheOthersAreNamed() async throws {
        let list = [
            try Self.transaction("1"), try Self.tampered(),
            try Self.transaction("2") { $0.bundleId = "com.example.other" },
            try Self.transaction("3") { $0.environment = .sandbox }, "a.b.c", try Self.transaction("4"),
        ]
        let answer = "{\"hasMore\":false,\"signedTransactions\":[\(list.map { "\"\($0)\"" }.joined(separator: ","))]}"
        for arguments in [["history", "1"], ["refunds", "1"], ["order", "M1"], ["history", "1", "--json"]] {
            let outcome = try await Self.run(arguments, answer: answer)
            #expect(outcome.status == 3)
            for id in [1, 4] { #expect(outcome.output.contains("product.\(id)")) }
            for id in [2, 3, 666] { #expect(!outcome.output.contains("product.\(id)")) }
            for place in 2...5 { #expect(outcome.error.contains("Transaction \(place) is not genuine")) }
            #expect(outcome.error.split(separator: "\n").count == 4, "\(outcome.error)")
        }
    }

    @Test func renewalInfoOfAnotherSubscriptionIsNotShown() async throws {
        func item(_ transaction: String, _ renewal: String) -> String {
            "{\"status\":1,\"signedTransactionInfo\":\"\(transaction)\",\"signedRenewalInfo\":\"\(renewal)\"}"
        }
        let items = [
            item(try Self.transaction("1"), try Self.renewal("1")),
            item(try Self.transaction("2"), try Self.renewal("3")),
            "{\"status\":1}",
        ]
        let answer = "{\"data\":[{\"lastTransactions\":[\(items.joined(separator: ","))]}]}"
        let outcome = try await Self.run(["statuses", "1"], answer: answer)
        #expect(outcome.status == 3)
        #expect(outcome.output.contains("product.1") && outcome.output.contains("renewal.1"))
        #expect(!outcome.output.contains("product.2") && !outcome.output.contains("renewal.3"))
        #expect(outcome.error.contains("Subscription 2 is not genuine and is not shown: The renewal info belongs to"))
        #expect(outcome.error.contains("Subscription 3 is not genuine and is not shown: The answer has no signedTrans"))
    }

    @Test func tamperedTransactionIsNotShown() async throws {
        let outcome = try await Self.run(
            ["transaction", "100", "--json"], answer: "{\"signedTransactionInfo\":\"\(try Self.tampered())\"}")
        #expect(outcome.status == 3 && outcome.output.isEmpty)
        #expect(outcome.error.contains("is not genuine and is not shown: The leaf's signature does not match"))
        let empty = try await Self.run(["transaction", "100"], answer: "{}")
        #expect(empty.status == 3 && empty.error.contains("The answer has no signedTransactionInfo"))
    }

    /// Text of a payload cannot move the cursor or write lines of its own.
    @Test func hostileTextIsEscaped() async throws {
        let jws = try Self.transaction("1") { $0.productId = "\u{1B}[2Jevil\nstatus 0" }
        let answer = "{\"hasMore\":false,\"signedTransactions\":[\"\(jws)\"],\"signedTransactionInfo\":\"\(jws)\"}"
        for action in ["transaction", "history"] {
            let outcome = try await Self.run([action, "1"], answer: answer)
            #expect(outcome.status == 0 && outcome.output.contains("evil"))
            #expect(!outcome.output.contains("\u{1B}") && !outcome.output.contains("\nstatus 0"))
        }
    }
}
