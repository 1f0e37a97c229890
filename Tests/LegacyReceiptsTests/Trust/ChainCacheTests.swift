import Dispatch
import LegacyReceipts
import ReceiptForge
import Synchronization
import TestSupport
import Testing

/// The cache of chains makes verdicts faster and never different.
@Suite("Chain cache")
struct ChainCacheTests {
    /// What a verifier says, in a form that two of them can be compared by.
    private static func verdict(_ verifier: ReceiptVerifier, _ bytes: [UInt8]) -> Result<LegacyReceipt, ReceiptError> {
        do throws(ReceiptError) {
            return .success(try verifier.verify(stored: bytes).payload)
        } catch {
            return .failure(error)
        }
    }

    private static let policies: [@Sendable (inout TrustPolicy) -> Void] = [
        { _ in }, { $0.acceptsXcodeReceipts = true },
    ]

    @Test(
        "A cold cache and a warm one give the same verdicts, in any order of receipts",
        arguments: [1, 2, 3] as [UInt64])
    func shuffled(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let inputs = try ForgedCases.small.map(\.bytes)
        for policy in Self.policies {
            let warm = try testVerifier(policy)
            let expected = try inputs.map { Self.verdict(try testVerifier(policy), $0) }
            for _ in 0..<2 {
                for index in inputs.indices.shuffled(using: &generator) {
                    #expect(Self.verdict(warm, inputs[index]) == expected[index], "case \(index)")
                }
            }
        }
    }

    // Not an async function: the optimizer of Swift 6.3.1 crashes on one.
    @Test("Several threads at once get the verdicts of one")
    func concurrent() throws {
        let inputs = try ForgedCases.small.map(\.bytes)
        let expected = try inputs.map { Self.verdict(try testVerifier(), $0) }
        let shared = try testVerifier()
        let differences = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 8) { seed in
            var generator = SeededGenerator(seed: UInt64(seed))
            let found = inputs.indices.shuffled(using: &generator)
                .count { Self.verdict(shared, inputs[$0]) != expected[$0] }
            differences.withLock { $0 += found }
        }
        #expect(differences.withLock { $0 } == 0)
    }

    @Test("An entry that several threads add takes one place")
    func addedTwice() {
        let cache = BoundedCache<Int>(maximum: 2)
        for entry in [1, 2, 2] { cache.insert(entry, unless: { $0 == entry }) }
        #expect(cache.current == [1, 2])
    }

    @Test("The cache keeps the newest 64 chains, and verdicts stay right beyond the bound")
    func bounded() throws {
        let authority = try TestCertificateAuthority.shared()
        let verifier = try testVerifier()
        let intermediate = try authority.intermediate(.g5)
        let receipts = try (0..<74).map { number in
            let leaf = try TestCertificateAuthority.leafDescription(.g5)
                .with { $0.serial = [0x7E, UInt8(number / 200), UInt8(number % 200 + 1)] }.issued(by: intermediate)
            return try signedReceipt(chain: [leaf, intermediate, authority.root])
        }
        for bytes in receipts {
            #expect(throws: Never.self) { try verifier.verifyAppReceipt(bytes) }
        }
        #expect(verifier.chainLookups.hits == 0 && verifier.chainLookups.misses == 74)
        for bytes in receipts.suffix(64) {
            #expect(throws: Never.self) { try verifier.verifyAppReceipt(bytes) }
        }
        #expect(verifier.chainLookups.hits == 64)
        for bytes in receipts.prefix(10) {
            #expect(throws: Never.self) { try verifier.verifyAppReceipt(bytes) }
        }
        #expect(verifier.chainLookups.hits == 64)
    }

    @Test("Chains that are refused are not kept")
    func refusedChains() throws {
        let verifier = ReceiptVerifier()
        for generation in TestCertificateAuthority.Generation.allCases {
            let bytes = try plainReceipt().signedData(generation).encoded()
            for _ in 0..<2 { #expect(throws: ReceiptError.self) { try verifier.verifyAppReceipt(bytes) } }
        }
        #expect(verifier.chainLookups.hits == 0)
    }

    @Test(
        "A cached chain is not reused at another time, for another leaf, or with other certificates"
    )
    func notConfused() throws {
        let authority = try TestCertificateAuthority.shared()
        let chain = try authority.chain(.g5)
        let verifier = try testVerifier()
        #expect(throws: Never.self) { try verifier.verifyAppReceipt(signedReceipt(chain: chain)) }
        expectRefusal(.certificateExpired) {
            try verifier.verifyAppReceipt(signedReceipt(chain: chain, created: ForgedInstant(2029, 1, 1)))
        }
        expectRefusal(.certificateNotYetValid) {
            try verifier.verifyAppReceipt(signedReceipt(chain: chain, created: ForgedInstant(2021, 1, 1)))
        }
        // The leaf of the same name and serial number, another key.
        let other = try TestCertificateAuthority.leafDescription(.g5).with { $0.key = .foreignLeaf }
            .issued(by: ForgedIssuer.foreignTwin())
        expectRefusal(.certificateSignatureMismatch) {
            try verifier.verifyAppReceipt(signedReceipt(chain: [other, chain[1], chain[2]]))
        }
        // The same signer, signing with another key.
        expectRefusal(.signatureMismatch) {
            try verifier.verifyAppReceipt(signedReceipt(chain: chain) { $0.signers[0].key = .foreignLeaf })
        }
    }

    @Test("A leaf known from app receipts does not sign transaction receipts of version 2, warm or cold")
    func kinds() throws {
        let authority = try TestCertificateAuthority.shared()
        let date = ForgedInstant(2017, 5, 6)
        let verifier = try testVerifier()
        #expect(throws: Never.self) {
            try verifier.verifyAppReceipt(
                signedReceipt(chain: authority.chain(.g1), created: date, digest: .sha1))
        }
        let receipt = ForgedTransactionReceipt.production(product: "p", pod: "30", serial: "0000181531396", at: date)
        let three = try ForgedTransactionSignature.version3().signed(receipt)
        #expect(throws: Never.self) { try verifier.verifyTransactionReceipt(three) }
        #expect(throws: Never.self) { try verifier.verifyTransactionReceipt(three) }
        // The same leaf with version 2, whose signature has 128 bytes: the form cannot even be read.
        let two = try ForgedTransactionSignature(certificate: authority.leaf(.g1), version: 2).signed(receipt)
        #expect(throws: ReceiptError.self) { try verifier.verifyTransactionReceipt(two) }
    }
}

enum ForgedIssuer {
    /// An intermediate with the name of the genuine one and another key.
    static func foreignTwin() throws -> ForgedCertificate {
        try TestCertificateAuthority.intermediateDescription(.g5).with { $0.key = .foreignIntermediate }.issued(by: nil)
    }
}
