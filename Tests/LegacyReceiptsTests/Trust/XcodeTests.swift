import LegacyReceipts
import ReceiptForge
import Testing

/// Receipts of Xcode's StoreKit testing (Reference.md V7.4): anybody can make them.
@Suite("Xcode receipts")
struct XcodeTests {
    private static let xcodeReceipt = ForgedAppReceipt.xcode(bundleId: "com.example.orchard", created: duringG5)

    private func signed(_ receipt: ForgedAppReceipt) throws -> [UInt8] { try receipt.signedDataOfXcode().encoded() }

    @Test("Refused by default, with a code and a sentence that say what they are")
    func refused() throws {
        let bytes = try signed(Self.xcodeReceipt)
        for verifier in [ReceiptVerifier(), try testVerifier()] {
            let error = expectRefusal(.xcodeReceipt) { try verifier.verifyAppReceipt(bytes) }
            #expect(error?.message.contains("Xcode") == true)
            #expect(error?.verdict == .notGenuine)
        }
    }

    @Test("Accepted by explicit option, as Xcode's and nothing else")
    func accepted() throws {
        let verifier = try ReceiptVerifier(trust: TrustPolicy(acceptsXcodeReceipts: true))
        let verified = try verifier.verifyAppReceipt(signed(Self.xcodeReceipt))
        #expect(verified.payload.environment == .xcode)
        #expect(verified.evidence.anchor == .xcode)
        #expect(verified.payload.expirationDate == 64_092_211_200_000)
    }

    @Test(
        "Never accepted as another type, option or not",
        arguments: ["Production", "ProductionSandbox", "ProductionVPP", "ProductionVPPSandbox", "xcode", "Xcode ", nil])
    func otherType(type: String?) throws {
        let bytes = try signed(Self.xcodeReceipt.with { $0.receiptType = type })
        for accepts in [true, false] {
            let verifier = try ReceiptVerifier(trust: TrustPolicy(acceptsXcodeReceipts: accepts))
            let error = #expect(throws: ReceiptError.self) { try verifier.verifyAppReceipt(bytes) }
            #expect(error?.verdict == .notGenuine)
        }
    }

    @Test("The cache does not carry Xcode's chain to a receipt of another type")
    func cache() throws {
        let verifier = try ReceiptVerifier(trust: TrustPolicy(acceptsXcodeReceipts: true))
        let genuine = try signed(Self.xcodeReceipt)
        let forged = try signed(Self.xcodeReceipt.with { $0.receiptType = "Production" })
        for _ in 0..<3 {
            #expect(throws: Never.self) { try verifier.verifyAppReceipt(genuine) }
            #expect(throws: ReceiptError.self) { try verifier.verifyAppReceipt(forged) }
        }
    }

    @Test("Even when accepted, the signature must hold and the certificate be valid")
    func stillChecked() throws {
        let verifier = try ReceiptVerifier(trust: TrustPolicy(acceptsXcodeReceipts: true))
        let broken = try Self.xcodeReceipt.signedDataOfXcode().with { $0.signers[0].brokenSignature = true }.encoded()
        expectRefusal(.signatureMismatch) { try verifier.verifyAppReceipt(broken) }
        let early = ForgedAppReceipt.xcode(bundleId: "com.example.orchard", created: ForgedInstant(2019, 1, 1))
        expectRefusal(.certificateNotYetValid) { try verifier.verifyAppReceipt(signed(early)) }
    }

    @Test("The option does not open any other door")
    func otherDoors() throws {
        let verifier = try ReceiptVerifier(trust: TrustPolicy(acceptsXcodeReceipts: true))
        expectRefusal(.untrustedRoot) { try verifier.verifyAppReceipt(plainReceipt().signedData(.g5).encoded()) }
        let typed = plainReceipt().with { $0.receiptType = "Xcode" }
        expectRefusal(.untrustedRoot) { try verifier.verifyAppReceipt(typed.signedData(.g5).encoded()) }
    }
}
