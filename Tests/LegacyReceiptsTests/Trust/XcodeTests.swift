import LegacyReceipts
import OpenSSLOracle
import ReceiptForge
import Testing

/// Receipts of Xcode's StoreKit testing (Reference.md V7.4): anyone can make them.
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

    @Test(
        "The key of Xcode's certificate signs no receipt of another type, where Xcode's receipts are accepted",
        arguments: ["Production", "ProductionSandbox", "ProductionVPP", nil])
    func pinnedCertificate(type: String?) throws {
        let message = try Self.xcodeReceipt.with { $0.receiptType = type }.signedDataOfXcode()
        var policy = TrustPolicy(acceptsXcodeReceipts: true)
        policy.xcodeCertificate = Fingerprint(of: message.certificates[0])
        let verifier = try ReceiptVerifier(trust: policy)
        expectRefusal(.untrustedRoot) { try verifier.verifyAppReceipt(message.encoded()) }
        #expect(throws: Never.self) { try verifier.verifyAppReceipt(signed(Self.xcodeReceipt)) }
    }

    /// The chain decides before the signature does: the key of that certificate is on every developer's Mac.
    @Test(
        "Xcode's real certificate in a production receipt leads to no trusted root",
        .enabled(if: RealReceipts.arePresent))
    func realCertificate() throws {
        let receipts = try RealReceipts.receipts(of: "xcode")
        let certificates = receipts.compactMap { messageFacts($0)?.certificates.first }
        let certificate = try #require(certificates.first)
        let names = try IssuerAndSerial(certificate: certificate)
        let message = try plainReceipt().signedDataOfXcode().with {
            $0.certificates = [certificate]
            $0.signers[0].issuer = names.issuer
            $0.signers[0].serial = names.serial
        }
        let verifier = try ReceiptVerifier(trust: TrustPolicy(acceptsXcodeReceipts: true))
        let error = expectRefusal(.untrustedRoot) { try verifier.verifyAppReceipt(message.encoded()) }
        // It was found to be the certificate of Xcode, not just one without a path.
        #expect(error?.message.contains("Xcode") == true)
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

/// What a SignerInfo names a certificate by, read from the certificate (RFC 5280, 4.1).
private struct IssuerAndSerial {
    /// The name, encoded.
    let issuer: [UInt8]
    /// The bytes of the number.
    let serial: [UInt8]

    init(certificate: [UInt8]) throws {
        var rest = try Self.content(try Self.content(certificate[...]))
        if rest.first == 0xA0 { rest = try Self.after(rest) }
        serial = Array(try Self.content(rest))
        let name = try Self.after(try Self.after(rest))
        issuer = Array(name[..<(try Self.after(name)).startIndex])
    }

    private static func header(_ bytes: ArraySlice<UInt8>) throws -> (start: Int, end: Int) {
        let first = bytes.startIndex
        guard bytes.count > 5 else { throw UnexpectedKind() }
        let length = Int(bytes[first + 1])
        let more = length < 0x80 ? 0 : length - 0x80
        guard more <= 2 else { throw UnexpectedKind() }
        let size = more == 0 ? length : bytes[(first + 2)..<(first + 2 + more)].reduce(0) { $0 << 8 | Int($1) }
        let start = first + 2 + more
        guard start + size <= bytes.endIndex else { throw UnexpectedKind() }
        return (start, start + size)
    }

    private static func content(_ bytes: ArraySlice<UInt8>) throws -> ArraySlice<UInt8> {
        let (start, end) = try header(bytes)
        return bytes[start..<end]
    }

    private static func after(_ bytes: ArraySlice<UInt8>) throws -> ArraySlice<UInt8> {
        bytes[try header(bytes).end...]
    }
}
