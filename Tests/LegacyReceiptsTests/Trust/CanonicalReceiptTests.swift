import LegacyReceipts
import OpenSSLOracle
import ReceiptForge
import Testing

/// The form of a receipt that is stored, compared and handed out: what the signature and the chain need, and nothing else.
@Suite struct CanonicalReceiptTests {
    private static let junk = [UInt8](repeating: 0x41, count: 3_000)

    /// Every place of a signed message where unsigned bytes have room.
    enum Padding: String, CaseIterable {
        case trailingBytes, revocationLists, unsignedAttributes, digestAlgorithms, digestParameters
        case signatureParameters, certificates, attributeCertificates, versions, longLengths, everything
    }

    private static func padded(_ bytes: [UInt8], _ padding: Padding) throws -> [UInt8] {
        func isWanted(_ place: Padding) -> Bool { padding == place || padding == .everything }
        let text = Element.primitive(0x04, junk)
        var message = try #require(Element(bytes))
        try message.change([1, 0]) { signedData in
            var children = signedData.children
            if isWanted(.versions) { children[0] = .primitive(0x02, [0x03]) }
            if isWanted(.digestAlgorithms) {
                let identifier = Element.primitive(0x06, [0x2A, 0x03] + [UInt8](repeating: 0x81, count: 60) + [0x01])
                children[1] = .constructed(
                    0x31, children[1].children + (0..<20).map { _ in .constructed(0x30, [identifier, text]) })
            }
            if isWanted(.certificates) {
                let other = try #require(Element(try TestCertificateAuthority.iTunesStoreIntermediateDER))
                children[3] = .constructed(0xA0, [other] + children[3].children + [children[3].children[0]])
            }
            if isWanted(.attributeCertificates) {
                children[3] = .constructed(0xA0, children[3].children + [.constructed(0xA2, [text])])
            }
            var signer = children[4].children[0].children
            if isWanted(.versions) { signer[0] = .primitive(0x02, [0x03]) }
            if isWanted(.digestParameters) { signer[2] = .constructed(0x30, [signer[2].children[0], text]) }
            if isWanted(.signatureParameters) { signer[3] = .constructed(0x30, [signer[3].children[0], text]) }
            if isWanted(.unsignedAttributes) { signer.append(.constructed(0xA1, [text])) }
            children[4] = .constructed(0x31, [.constructed(0x30, signer)])
            if isWanted(.revocationLists) { children.insert(.constructed(0xA1, [text]), at: 4) }
            signedData = .constructed(0x30, children)
        }
        let result = message.encoded(longLengths: isWanted(.longLengths))
        return isWanted(.trailingBytes) ? result + junk : result
    }

    private func receipt() throws -> [UInt8] { try plainReceipt().signedData(.g5).encoded() }

    @Test(arguments: Padding.allCases)
    func everyPaddedVariantOfAReceiptHasTheSameForm(_ padding: Padding) throws {
        let bytes = try receipt()
        let variant = try Self.padded(bytes, padding)
        #expect(variant != bytes && variant.count > bytes.count || padding == .versions)
        let verifier = try testVerifier()
        let container = try ReceiptContainer(stored: variant)
        #expect(try verifier.verify(container).canonicalBytes(of: container.bytes) == bytes)
    }

    @Test func theFormVerifiesAndHasTheSamePayload() throws {
        let variants = [
            try Self.padded(receipt(), .everything),
            try plainReceipt().signedData(.g5).with {
                $0.encoding = .ber(segmentLength: 100)
            }.encoded(), try plainReceipt().signedData(.g5).with { $0.certificates.reverse() }.encoded(),
        ]
        for variant in variants {
            let verifier = try testVerifier()
            let verified = try verifier.verifyAppReceipt(variant)
            let canonical = verified.canonicalBytes(of: variant)
            let again = try verifier.verifyAppReceipt(canonical)
            #expect(again.payload.inAppPurchases == verified.payload.inAppPurchases)
            #expect(again.payload.bundleId == verified.payload.bundleId && again.payload.trailingByteCount == 0)
            #expect(again.canonicalBytes(of: canonical) == canonical)
            #expect(canonical == (try receipt()))
            let verdict = verifyCMS(
                canonical, at: duringG5.milliseconds / 1_000, trusting: [try TestCertificateAuthority.rootDER])
            #expect(verdict.isGenuine)
        }
    }

    /// The lengths of a certificate and of its signature are not signed. If they could have any form of BER, one receipt
    /// would have many canonical forms.
    @Test(arguments: [0, 1], [false, true])
    func aReceiptWithACertificateThatIsNotDERIsRefused(_ index: Int, isSignature: Bool) throws {
        for zeros in 1...6 {
            func lengthened(_ element: [UInt8]) -> [UInt8] {
                [element[0], element[1] + UInt8(zeros)] + [UInt8](repeating: 0, count: zeros) + element.dropFirst(2)
            }
            var message = try plainReceipt().signedData(.g5)
            let certificate = message.certificates[index]
            var parts = try #require(Element(certificate)).children.map { $0.encoded() }
            #expect(parts.count == 3 && certificate[1] == 0x82 && parts[2][1] == 0x82)
            if isSignature {
                parts[2] = lengthened(parts[2])
                let content = parts.flatMap { $0 }
                message.certificates[index] =
                    [0x30, 0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
            } else {
                message.certificates[index] = lengthened(certificate)
            }
            let error = expectRefusal(.malformedCertificate) {
                try testVerifier().verifyAppReceipt(message.encoded())
            }
            #expect(error?.location == .certificate(index))
        }
    }

    @Test func signedAttributesStayExactlyAsTheyWereSigned() throws {
        let verifier = try ForgedCases.verifier()
        for name in ["signed-attributes", "signed-attributes-sha1"] {
            let bytes = try #require(try ForgedCases.all().first { $0.name == name }).bytes
            let container = try ReceiptContainer(stored: bytes)
            let verified = try verifier.verify(container)
            let canonical = verified.canonicalBytes(of: container.bytes)
            #expect(canonical == container.bytes, "\(name)")
            #expect(try verifier.verifyAppReceipt(canonical).evidence == verified.evidence)
        }
    }

    @Test func outerKeysOfATransactionReceiptThatAgreeWithNothingSignedGo() throws {
        let receipt = ForgedTransactionReceipt.production(
            product: "com.example.orchard.tree", pod: "35", serial: "0000535213977", at: ForgedInstant(2015, 3, 1))
        let bytes = try ForgedTransactionSignature.version2(at: receipt.purchaseDate).signed(receipt)
        let verifier = try testVerifier()
        #expect(try verifier.verifyTransactionReceipt(bytes).canonicalBytes(of: bytes) == bytes)
        let text = String(decoding: bytes, as: UTF8.self)
        let variants = [
            text.replacing("\t", with: "    "), text + "\n\n", "/* \(String(repeating: "x", count: 5_000)) */" + text,
            text.replacing("}", with: "\t\"padding\" = \"\(String(repeating: "x", count: 5_000))\";\n}"),
        ]
        for variant in variants {
            let variant = Array(variant.utf8)
            let verified = try verifier.verifyTransactionReceipt(variant)
            #expect(verified.canonicalBytes(of: variant) == bytes)
        }
        let other = Array(text.replacing("\"pod\" = \"35\"", with: "\"pod\" = \"36\"").utf8)
        let canonical = try verifier.verifyTransactionReceipt(other).canonicalBytes(of: other)
        #expect(!String(decoding: canonical, as: UTF8.self).contains("pod"))
        #expect(try verifier.verifyTransactionReceipt(canonical).payload.environment == .production)
    }

    /// The environment that a receipt is answered in must not change with its form.
    @Test func theClaimOfAnEnvironmentStays() throws {
        let receipt = ForgedTransactionReceipt.sandbox(
            product: "com.example.orchard.tree", id: "1000000283499967", at: ForgedInstant(2015, 3, 1))
        let bytes = try ForgedTransactionSignature.version2(at: receipt.purchaseDate).signed(receipt)
        let edited = Array(
            String(decoding: bytes, as: UTF8.self).replacing("\t\"environment\" = \"Sandbox\";\n", with: "").utf8)
        for variant in [bytes, edited] {
            let verified = try testVerifier().verifyTransactionReceipt(variant)
            let canonical = verified.canonicalBytes(of: variant)
            let again = try testVerifier().verifyTransactionReceipt(canonical).payload
            #expect(again.environment == verified.payload.environment)
            #expect(again.hasEnvironmentContradiction == verified.payload.hasEnvironmentContradiction)
            #expect(canonical == variant)
        }
    }

    /// Real receipts are DER with three certificates and have the form already. Client code has changed the layout of some
    /// transaction receipts; their signed parts stay.
    @Test(
        .enabled(if: RealReceipts.arePresent), arguments: RealReceipts.entries(of: "production", "sandbox", "ios6"))
    func realReceiptsHaveTheFormAlready(_ entry: RealReceipts.Entry) throws {
        let container = try ReceiptContainer(stored: RealReceipts.text(entry))
        let verified = try ReceiptVerifier().verify(container)
        let canonical = verified.canonicalBytes(of: container.bytes)
        let again = try ReceiptVerifier().verify(try ReceiptContainer(stored: canonical))
        #expect(again.evidence == verified.evidence)
        switch verified.payload {
        case .app: #expect(canonical == container.bytes, "\(entry.file)")
        case .transaction(let receipt):
            let text = String(decoding: container.bytes, as: UTF8.self)
            #expect(canonical == container.bytes || !text.hasPrefix("{\n\t\"signature\" = "), "\(entry.file)")
            guard case .transaction(let form) = again.payload else { return }
            #expect(form.purchaseInfoBytes == receipt.purchaseInfoBytes && form.signature == receipt.signature)
        }
    }

    /// Xcode writes BER. Its canonical form is DER of the same content, which verifies where Xcode's receipts are accepted.
    @Test(.enabled(if: RealReceipts.arePresent), arguments: RealReceipts.entries(of: "xcode"))
    func xcodeReceiptsBecomeDER(_ entry: RealReceipts.Entry) throws {
        var policy = TrustPolicy.apple
        policy.acceptsXcodeReceipts = true
        let verifier = try ReceiptVerifier(trust: policy)
        let container = try ReceiptContainer(stored: RealReceipts.text(entry))
        guard let verified = try? verifier.verify(container) else { return }
        let canonical = verified.canonicalBytes(of: container.bytes)
        #expect(canonical.count < container.bytes.count)
        #expect(try verifier.verifyAppReceipt(canonical).evidence == verified.evidence)
    }
}

extension Verified<AppReceipt> {
    fileprivate func canonicalBytes(of bytes: [UInt8]) -> [UInt8] {
        map { LegacyReceipt.app($0) }.canonicalBytes(of: bytes)
    }
}

extension Verified<TransactionReceipt> {
    fileprivate func canonicalBytes(of bytes: [UInt8]) -> [UInt8] {
        map { LegacyReceipt.transaction($0) }.canonicalBytes(of: bytes)
    }
}

/// A DER element that can be changed.
private indirect enum Element {
    case primitive(UInt8, [UInt8])
    case constructed(UInt8, [Element])

    var children: [Element] {
        if case .constructed(_, let children) = self { children } else { [] }
    }

    init?(_ bytes: [UInt8]) {
        var rest = bytes[...]
        guard let element = Self.read(&rest), rest.isEmpty else { return nil }
        self = element
    }

    private static func read(_ bytes: inout ArraySlice<UInt8>) -> Element? {
        guard let tag = bytes.popFirst(), let first = bytes.popFirst() else { return nil }
        var count = Int(first)
        if first >= 0x80 {
            count = 0
            for _ in 0..<Int(first & 0x7F) { count = count << 8 | Int(bytes.popFirst() ?? 0) }
        }
        guard bytes.count >= count else { return nil }
        var content = bytes.prefix(count)
        bytes = bytes.dropFirst(count)
        guard tag & 0x20 != 0 else { return .primitive(tag, Array(content)) }
        var children: [Element] = []
        while !content.isEmpty {
            guard let child = read(&content) else { return nil }
            children.append(child)
        }
        return .constructed(tag, children)
    }

    mutating func change(_ path: ArraySlice<Int>, _ body: (inout Element) throws -> Void) throws {
        guard let first = path.first, case .constructed(let tag, var children) = self else { return try body(&self) }
        try children[first].change(path.dropFirst(), body)
        self = .constructed(tag, children)
    }

    mutating func change(_ path: [Int], _ body: (inout Element) throws -> Void) throws { try change(path[...], body) }

    /// - Parameters:
    ///   - longLengths: four bytes for every length outside of the certificates, as BER allows.
    ///   - depth: the number of values around this one.
    func encoded(longLengths: Bool = false, depth: Int = 0) -> [UInt8] {
        let isMessage = depth < 3
        var content: [UInt8]
        let tag: UInt8
        switch self {
        case .primitive(let own, let bytes): (tag, content) = (own, bytes)
        case .constructed(let own, let children):
            tag = own
            content = children.flatMap { $0.encoded(longLengths: longLengths && isMessage, depth: depth + 1) }
        }
        let count = content.count
        let bytes = (0..<4).reversed().map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }
        if longLengths, isMessage { return [tag, 0x84] + bytes + content }
        if count < 0x80 { return [tag, UInt8(count)] + content }
        let length = bytes.drop { $0 == 0 }
        return [tag, 0x80 | UInt8(length.count)] + length + content
    }
}
