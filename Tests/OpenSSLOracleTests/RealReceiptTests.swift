import Foundation
import OpenSSLOracle
import TestSupport
import Testing

@Suite(.enabled(if: RealReceipts.arePresent)) struct RealReceiptTests {
    private func verdict(_ bytes: [UInt8], at time: Int64) -> CMSVerdict {
        verifyCMS(bytes, at: time, anchorsFromMessage: [RealReceipts.appleRootCA])
    }

    @Test(arguments: ["production", "sandbox"]) func applesReceiptsAreGenuineAtTheirCreation(kind: String) throws {
        let entries = try RealReceipts.entries(of: kind)
        #expect(entries.count > 10)
        for entry in entries {
            let bytes = try RealReceipts.bytes(entry)
            let time = try RealReceipts.creationTime(entry)
            let facts = try #require(messageFacts(bytes))
            let content = try #require(facts.content)
            #expect(verdict(bytes, at: time) == .genuine(content: content), "\(entry.file)")
            #expect(facts.signers.count == 1 && facts.certificates.count == 3, "\(entry.file)")
            #expect(facts.signers.allSatisfy { $0.signedAttributeCount == 0 }, "\(entry.file)")
            #expect(!verifyCMS(bytes, at: time).isGenuine, "\(entry.file) without an anchor")
            #expect(!verdict(bytes, at: 4_102_444_800).isGenuine, "\(entry.file) in the year 2100")
        }
    }

    @Test(arguments: ["production", "sandbox"]) func flippedBitsAreNotGenuine(kind: String) throws {
        for entry in try RealReceipts.entries(of: kind) {
            let bytes = try RealReceipts.bytes(entry)
            let time = try RealReceipts.creationTime(entry)
            let facts = try #require(messageFacts(bytes))
            for part in [try #require(facts.content), try #require(facts.signers.first).signature] {
                let start = try #require(offset(of: part, in: bytes))
                for position in stride(from: start, to: start + part.count, by: max(1, part.count / 8)) {
                    var changed = bytes
                    changed[position] ^= 0x01
                    #expect(!verdict(changed, at: time).isGenuine, "\(entry.file) at \(position)")
                }
            }
        }
    }

    @Test func aLeafOfTheCorpusMatchesTheReference() throws {
        let serials = try ["production", "sandbox"].flatMap { try RealReceipts.entries(of: $0) }
            .flatMap { try unwrap(messageFacts(try RealReceipts.bytes($0))).certificates }
            .map { try unwrap(certificateFacts($0)) }
            .filter { $0.extensions.contains("1.2.840.113635.100.6.11.1") }
            .map(\.serialNumber)
        for serial in Set(serials) {
            #expect(Self.knownLeaves.contains { serial.hasPrefix($0) }, "\(serial)")
        }
        #expect(serials.contains("0EEB5787E79E098D"))
    }

    /// Reference.md V7.3; the last one's serial is known by its beginning only.
    private static let knownLeaves = [
        "1859432172749CFC", "0EEB5787E79E098D", "52A4B9C5E1B11881", "2DAB031BBDD66573D20729793C4497C4",
        "58F7BAE4C282410B27D6567D5180A8F1", "15E79FCE52550A65017C91DFE4EEB359", "7D3920",
    ]

    @Test func xcodeReceiptsAreNotGenuine() throws {
        let entries = try RealReceipts.entries(of: "xcode")
        #expect(!entries.isEmpty)
        for entry in entries {
            let bytes = try RealReceipts.bytes(entry)
            let time = try RealReceipts.creationTime(entry)
            guard case .notGenuine(let reason) = verdict(bytes, at: time) else {
                Issue.record("\(entry.file): \(verdict(bytes, at: time))")
                continue
            }
            #expect(reason.contains("self-signed certificate"), "\(entry.file)")
            // With its own certificate as the anchor it would be: only the anchor is wrong.
            let facts = try #require(messageFacts(bytes))
            #expect(verifyCMS(bytes, at: time, trusting: facts.certificates).isGenuine, "\(entry.file)")
        }
    }

    @Test(arguments: ["malformed", "malformed-ios6", "not-a-receipt", "mac-2010"])
    func otherBytesAreNotGenuine(kind: String) throws {
        for entry in try RealReceipts.entries(of: kind) {
            guard let bytes = try? RealReceipts.bytes(entry) else { continue }
            #expect(!verdict(bytes, at: 1_400_000_000).isGenuine, "\(entry.file)")
        }
    }

    @Test func transactionReceiptsAreSignedOverVersionAndPurchaseInfo() throws {
        let entries = try RealReceipts.entries(of: "ios6")
        #expect(!entries.isEmpty)
        for entry in entries {
            let receipt = try TransactionReceipt(try RealReceipts.bytes(entry))
            func holds(_ message: [UInt8], _ digest: PKCS1Digest) -> Bool {
                verifyPKCS1(
                    signature: receipt.signature, over: message, digest: digest, certificateDER: receipt.certificate)
            }
            #expect(holds(receipt.signedBytes, .sha1), "\(entry.file)")
            #expect(!holds(receipt.signedBytes, .sha256), "\(entry.file)")
            #expect(!holds(Array(receipt.signedBytes.dropFirst()), .sha1), "\(entry.file)")
            var changed = receipt.signedBytes
            changed[changed.count / 2] ^= 0x01
            #expect(!holds(changed, .sha1), "\(entry.file)")
        }
    }
}
