import AppStoreModels
import AppStoreServer
import Foundation
import ReceiptForge
import TestSupport
import TestTraits
import Testing

/// Mutations of genuine transactions. None may be accepted with other content, and none may trap.
@Suite("A changed JWS is rejected", .computing)
struct SignedMutationTests {
    // Without optimization a round takes ten times as long.
    private static let rounds = librariesAreOptimized ? 104_000 : 13_000

    private static let seed =
        ProcessInfo.processInfo.environment["LEGACY_RECEIPTS_SEED"].flatMap(UInt64.init) ?? .random(in: 0...(.max))

    private static let digits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/\u{0} \"".utf8)

    /// One change of some bytes, in a part of the text.
    private static func mutate(_ text: inout [UInt8], in range: Range<Int>, _ random: inout SeededGenerator) {
        guard let place = range.randomElement(using: &random) else { return }
        let digit = digits.randomElement(using: &random) ?? 0
        switch Int.random(in: 0..<8, using: &random) {
        case 0: text[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1, 2, 3: text[place] = digit
        case 4: text.insert(digit, at: place)
        case 5: text.remove(at: place)
        case 6: text.removeSubrange(place..<min(text.count, place + Int.random(in: 1..<40, using: &random)))
        default: text.swapAt(place, Int.random(in: 0..<text.count, using: &random))
        }
    }

    @Test("In header, payload and signature; more than 100,000 of them in a release build")
    func mutations() async throws {
        print("JWS mutations: \(Self.rounds), LEGACY_RECEIPTS_SEED=\(Self.seed)")
        let bytes = try Signed.transaction()
        let original = Array(try Signed.sign(bytes).utf8)
        let expected = try JSONDecoder().decode(JWSTransactionDecodedPayload.self, from: Data(bytes))
        let verifier = try Signed.verifier()
        // The header is some four fifths of the text, and a change in it costs a chain: it gets one round in sixteen.
        let header = try #require(original.firstIndex(of: UInt8(ascii: ".")))
        try await withThrowingTaskGroup(of: Int.self) { group in
            for part in 0..<4 {
                group.addTask {
                    var random = SeededGenerator(seed: Self.seed &+ UInt64(part))
                    var accepted = 0
                    for round in 0..<Self.rounds / 4 {
                        var text = original
                        let range = round % 16 == 0 ? 0..<original.count : header..<original.count
                        for _ in 0...Int.random(in: 0..<3, using: &random) where text.count >= original.count - 60 {
                            Self.mutate(&text, in: range.lowerBound..<min(range.upperBound, text.count), &random)
                        }
                        if try await Self.isAccepted(text, verifier, as: expected), text != original { accepted += 1 }
                    }
                    return accepted
                }
            }
            // Base64 is strict and ES256 signs the text itself: no other text can pass.
            for try await accepted in group { #expect(accepted == 0) }
        }
    }

    @inline(never)
    private static func isAccepted(
        _ text: [UInt8], _ verifier: SignedDataVerifier, as expected: JWSTransactionDecodedPayload
    ) async throws -> Bool {
        do {
            let jws = String(decoding: text, as: UTF8.self)
            let verified = try await verifier.verifiedTransaction(jws, expecting: Signed.anything, now: Signed.date)
            #expect(verified.payload == expected)
            return true
        } catch is SignedDataError {
            return false
        }
    }

    @Test("Random bytes in the certificates are refused without a trap")
    func certificateMutations() async throws {
        var random = SeededGenerator(seed: Self.seed)
        let verifier = try Signed.verifier()
        let forged = Signed.authority.signedPayload(try Signed.transaction())
        for round in 0..<600 {
            let changed = forged.with { forged in
                let index = round % 2
                for _ in 0...Int.random(in: 0..<3, using: &random) {
                    Self.mutate(&forged.certificates[index], in: 0..<forged.certificates[index].count, &random)
                }
            }
            guard changed.certificates != forged.certificates else { continue }
            #expect(
                try await Signed.refusal(of: changed.text(), by: verifier) != nil,
                "LEGACY_RECEIPTS_SEED=\(Self.seed), round \(round)")
        }
    }

    @Test("A certificate whose signature has unused bits is refused, although nothing signs their number")
    func unusedBits() async throws {
        let verifier = try Signed.verifier()
        let forged = Signed.authority.signedPayload(try Signed.transaction())
        for index in 0..<2 {
            let certificate = forged.certificates[index]
            let place = try #require(Self.unusedBits(of: certificate))
            for bits in UInt8(1)...7 {
                let changed = forged.with { $0.certificates[index][place] = bits }
                let refusal = try await Signed.refusal(of: changed.text(), by: verifier)
                #expect(refusal?.code == .malformedCertificate, "certificate \(index), \(bits) bits")
            }
        }
    }

    /// The place of the number of unused bits. The signature is the last element: BIT STRING, its length, that number, the bytes.
    private static func unusedBits(of certificate: [UInt8]) -> Int? {
        for length in 60..<128 {
            let place = certificate.count - length
            guard certificate[place - 2] == 0x03, certificate[place - 1] == UInt8(length) else { continue }
            return place
        }
        return nil
    }
}
