import AppStoreServer
import Foundation
import ReceiptForge
import Testing

@Suite("Chains are remembered, verdicts are not")
struct SignedCacheTests {
    @Test("A chain is verified once for all payloads under it")
    func warm() async throws {
        let verifier = try Signed.verifier()
        for count in 1...5 {
            let jws = try Signed.sign(Signed.transaction { $0.quantity = Int32(count) })
            let payload = try await verifier.verifiedTransaction(jws, expecting: Signed.sandbox, now: 0).payload
            #expect(payload.quantity == Int32(count))
        }
        #expect(verifier.chainLookups.misses == 1 && verifier.chainLookups.hits == 4)
    }

    @Test("A cached chain is checked at each payload's own date")
    func dates() async throws {
        let verifier = try Signed.verifier()
        _ = try await verifier.verifiedTransaction(Signed.sign(Signed.transaction()), expecting: Signed.sandbox, now: 0)
        let early = try Signed.sign(Signed.transaction { $0.signedDate = 1_500_000_000_000 })
        #expect(try await Signed.refusal(of: early, by: verifier)?.code == .certificateNotYetValid)
        let late = try Signed.sign(Signed.transaction { $0.signedDate = 2_200_000_000_000 })
        #expect(try await Signed.refusal(of: late, by: verifier)?.code == .certificateExpired)
        #expect(verifier.chainLookups.misses == 1)
    }

    @Test("A forged signature, payload or environment is refused under a remembered chain too")
    func forgedWhenWarm() async throws {
        let verifier = try Signed.verifier()
        let good = try Signed.sign(Signed.transaction())
        _ = try await verifier.verifiedTransaction(good, expecting: Signed.sandbox, now: 0)
        var parts = try JWSParts(good)
        parts.signatureBytes[40] ^= 1
        #expect(try await Signed.refusal(of: parts.text, by: verifier)?.code == .signatureMismatch)
        #expect(
            try await Signed.refusal(of: good, by: verifier, expecting: Signed.production)?.code
                == .environmentMismatch)
    }

    @Test("A good chain over a bad signature is not cached, so forged payloads cannot fill the cache")
    func badSignature() async throws {
        let verifier = try Signed.verifier()
        let forged = Signed.authority.signedPayload(try Signed.transaction()).with { $0.key = .foreignSignedDataLeaf }
        for _ in 0..<3 {
            #expect(try await Signed.refusal(of: forged.text(), by: verifier)?.code == .signatureMismatch)
        }
        #expect(verifier.chainLookups.hits == 0)
    }

    @Test("A bad chain is never kept")
    func badChain() async throws {
        let verifier = try Signed.verifier()
        let jws = try TestSignedDataAuthority.foreign(impostor: true).sign(payload: Signed.transaction())
        for _ in 0..<3 {
            #expect(try await Signed.refusal(of: jws, by: verifier)?.code == .certificateSignatureMismatch)
        }
        #expect(verifier.chainLookups.hits == 0)
    }

    @Test("A chain is found again by the very bytes of the header only")
    func otherHeader() async throws {
        let verifier = try Signed.verifier()
        let forged = Signed.authority.signedPayload(try Signed.transaction())
        let spaced = forged.with { $0.header = $0.headerBytes + [0x20] }
        for _ in 0..<2 {
            for jws in [try forged.text(), try spaced.text()] {
                _ = try await verifier.verifiedTransaction(jws, expecting: Signed.sandbox, now: 0)
            }
        }
        #expect(verifier.chainLookups.misses == 2 && verifier.chainLookups.hits == 2)
    }

    @Test("The cache is bounded, and forgets the oldest")
    func bounded() async throws {
        let verifier = try Signed.verifier()
        let forged = Signed.authority.signedPayload(try Signed.transaction())
        let headers = try (0..<40).map { count in
            try forged.with { $0.header = $0.headerBytes + [UInt8](repeating: 0x20, count: count) }.text()
        }
        for jws in headers { _ = try await verifier.verifiedTransaction(jws, expecting: Signed.sandbox, now: 0) }
        #expect(verifier.chainLookups.hits == 0)
        for jws in headers.suffix(32) {
            _ = try await verifier.verifiedTransaction(jws, expecting: Signed.sandbox, now: 0)
        }
        #expect(verifier.chainLookups.hits == 32)
        _ = try await verifier.verifiedTransaction(forged.text(), expecting: Signed.sandbox, now: 0)
        #expect(verifier.chainLookups.hits == 32)
        let large = forged.with { $0.header = $0.headerBytes + [UInt8](repeating: 0x20, count: 20_000) }
        for _ in 0..<2 { _ = try await verifier.verifiedTransaction(large.text(), expecting: Signed.sandbox, now: 0) }
        #expect(verifier.chainLookups.hits == 32)
    }

    @Test("Many tasks verify at once")
    func concurrent() async throws {
        let verifier = try Signed.verifier()
        let jws = try Signed.sign(Signed.transaction())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<64 {
                group.addTask { _ = try await verifier.verifiedTransaction(jws, expecting: Signed.sandbox, now: 0) }
            }
            try await group.waitForAll()
        }
        #expect(verifier.chainLookups.hits + verifier.chainLookups.misses == 64)
    }
}
