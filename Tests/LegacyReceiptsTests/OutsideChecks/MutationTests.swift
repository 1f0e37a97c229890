import Foundation
import LegacyReceipts
import ReceiptForge
import TestSupport
import TestTraits
import Testing

/// Whatever is done to a genuine receipt: nothing traps, and nothing is accepted with changed content.
@Suite("Mutations of genuine receipts", .computing)
struct MutationTests {
    static let count = librariesAreOptimized ? 200_000 : 20_000

    /// From LEGACY_RECEIPTS_SEED, so that a failure can be repeated; another one each day otherwise.
    static let seed: UInt64 =
        ProcessInfo.processInfo.environment["LEGACY_RECEIPTS_SEED"].flatMap { UInt64($0) }
        ?? UInt64(Date().timeIntervalSince1970) / 86_400

    /// What was accepted with changed content.
    struct Failure: Sendable, CustomStringConvertible {
        let original: Int
        let mutated: [UInt8]
        var description: String { "receipt \(original) as \(Data(mutated).base64EncodedString())" }
    }

    /// A receipt that the verifier accepts, with what it says.
    struct Original: Sendable {
        let bytes: [UInt8]
        let receipt: LegacyReceipt
    }

    private static func originals(_ verifier: ReceiptVerifier, _ inputs: [[UInt8]]) -> [Original] {
        inputs.compactMap { bytes in
            (try? verifier.verify(stored: bytes)).map { Original(bytes: bytes, receipt: $0.payload) }
        }
    }

    private static func run(
        _ count: Int, seed: UInt64, _ originals: [Original], _ verifier: ReceiptVerifier
    ) -> (accepted: Int, failures: [Failure]) {
        var mutator = Mutator(seed: seed, donors: originals.map(\.bytes))
        let genuine = Set(originals.map { SignedContent($0.receipt) })
        var accepted = 0
        var failures: [Failure] = []
        for round in 0..<count {
            let index = round % originals.count
            let mutated = mutator.mutate(originals[index].bytes)
            guard let verified = try? verifier.verify(stored: mutated) else { continue }
            accepted += 1
            let content = SignedContent(verified.payload)
            // A splice may turn one genuine receipt into another whole one.
            if !genuine.contains(content) {
                failures.append(Failure(original: index, mutated: mutated))
            }
            if case .transaction(let receipt) = verified.payload, receipt.hasSandboxTransactionId,
                receipt.environment == .production
            {
                failures.append(Failure(original: index, mutated: mutated))
            }
        }
        return (accepted, failures)
    }

    private func expectNoneAccepted(_ originals: [Original], _ verifier: ReceiptVerifier, _ count: Int) async {
        print("mutations: \(count) of \(originals.count) receipts, LEGACY_RECEIPTS_SEED=\(Self.seed)")
        let tasks = max(2, ProcessInfo.processInfo.activeProcessorCount)
        let results = await withTaskGroup(of: (accepted: Int, failures: [Failure]).self) { group in
            for task in 0..<tasks {
                group.addTask {
                    Self.run(count / tasks, seed: Self.seed &* 1000 &+ UInt64(task), originals, verifier)
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        for failure in results.flatMap(\.failures) {
            Issue.record("accepted with changed content (LEGACY_RECEIPTS_SEED=\(Self.seed)): \(failure)")
        }
        // Changes of what is not signed are accepted; if none were, the test would not be reaching the signature.
        #expect(results.reduce(0) { $0 + $1.accepted } > 0)
    }

    @Test("Forged receipts", .timeLimit(.minutes(10)))
    func forged() async throws {
        let verifier = try ForgedCases.verifier()
        let inputs = try ForgedCases.small.filter { $0.expected.verdict == .genuine }.compactMap(\.container)
            .filter { $0.count < 20_000 }
        let originals = Self.originals(verifier, inputs)
        try #require(originals.count > 20)
        await expectNoneAccepted(originals, verifier, Self.count / 2)
    }

    @Test("Real receipts", .enabled(if: RealReceipts.arePresent), .timeLimit(.minutes(10)))
    func real() async throws {
        let verifier = ReceiptVerifier()
        let inputs = try RealReceipts.receipts(of: "production", "sandbox", "ios6").filter { $0.count < 20_000 }
        let originals = Self.originals(verifier, inputs)
        try #require(originals.count > 20)
        await expectNoneAccepted(originals, verifier, Self.count / 2)
    }

    @Test("Inputs of random bytes, and of receipts as damaged base64, are refused or read, and never trap")
    func noise() throws {
        var generator = SeededGenerator(seed: Self.seed)
        let verifier = try ForgedCases.verifier()
        for _ in 0..<Self.count / 10 {
            var bytes = (0..<Int.random(in: 0..<200, using: &generator))
                .map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            let starts: [[UInt8]] = [
                [], [0x30, 0x80, 0x06], Array("{".utf8), Array("<plist><dict>".utf8), Array("MII".utf8),
                DERWriterPrefix.signedData,
            ]
            bytes = (starts.randomElement(using: &generator) ?? []) + bytes
            #expect((try? verifier.verify(stored: bytes)) == nil)
        }
        let texts = try ForgedCases.small.filter { $0.form == .base64 }.map(\.bytes)
        var mutator = Mutator(seed: Self.seed, donors: texts)
        for round in 0..<Self.count / 20 {
            _ = try? verifier.verify(stored: mutator.mutate(texts[round % texts.count]))
        }
    }
}

enum DERWriterPrefix {
    /// The beginning of a SignedData message, so that noise gets a little further.
    static let signedData =
        [0x30, 0x80] + DERWriter.objectIdentifier(.signedData) + [0xA0, 0x80, 0x30, 0x80, 0x02, 0x01, 0x01, 0x31, 0x00]
}
