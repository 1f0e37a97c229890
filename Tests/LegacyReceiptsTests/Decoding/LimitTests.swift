import LegacyReceipts
import ReceiptForge
import Testing

/// Every limit of ``DecodingLimits``, on both sides of it.
@Suite("Limits")
struct LimitTests {
    @Test("The defaults are those of Apple's endpoint and of the receipts known")
    func defaults() {
        let limits = DecodingLimits.standard
        #expect(limits.maximumSize == 3_145_728)
        #expect(limits == DecodingLimits())
        #expect(limits.maximumDepth >= 9)
        #expect(limits.maximumCertificates >= 3)
        #expect(limits.maximumAttributes > 4000)
        #expect(limits.maximumKeys >= 30)
        #expect(DecodingLimits.maximumSigners == 1)
    }

    @Test("Size of the decoded receipt: at the limit accepted, one byte more refused; raw, base64 and strict base64")
    func size() throws {
        let bytes = message(DERWriter.set(inOrderGiven: leastAttributes + [purchase()]))
        let exact = DecodingLimits(maximumSize: bytes.count)
        let less = DecodingLimits(maximumSize: bytes.count - 1)
        let encoded = base64(bytes)
        #expect(throws: Never.self) { try decode(bytes, limits: exact) }
        #expect(throws: Never.self) { try decode(encoded, limits: exact) }
        #expect(throws: Never.self) { try ReceiptContainer(requestText: encoded, limits: exact) }
        expectRefusal(.tooLarge) { try decode(bytes, limits: less) }
        expectRefusal(.tooLarge) { try decode(encoded, limits: less) }
        expectRefusal(.tooLarge) { try ReceiptContainer(requestText: encoded, limits: less) }
    }

    @Test("Size at the default limit")
    func defaultSize() throws {
        let frame = message(DERWriter.set(inOrderGiven: leastAttributes)).count
        let padding = DecodingLimits.defaultMaximumSize - frame
        let bytes = message(DERWriter.set(inOrderGiven: leastAttributes)) + [UInt8](repeating: 0, count: padding)
        #expect(try decode(bytes).trailingByteCount == padding)
        #expect(try decode(base64(bytes)).trailingByteCount == padding)
        expectRefusal(.tooLarge) { try decode(bytes + [0]) }
        expectRefusal(.tooLarge) { try decode(base64(bytes + [0])) }
        expectRefusal(.tooLarge) { try ReceiptContainer(requestText: base64(bytes + [0])) }
    }

    @Test("A transaction receipt has the same size limit")
    func transactionSize() throws {
        let text = Array(transactionText().utf8)
        #expect(throws: Never.self) {
            try ReceiptDecoder(limits: DecodingLimits(maximumSize: text.count)).decode(stored: text)
        }
        expectRefusal(.tooLarge) {
            try ReceiptDecoder(limits: DecodingLimits(maximumSize: text.count - 1)).decode(stored: text)
        }
    }

    @Test("The verifier has the same size limit, at the limit accepted and one byte beyond it refused: app receipts")
    func verifiedSize() throws {
        let bytes = try plainReceipt().signedData(.g5).encoded()
        let exact = try testVerifier(limits: DecodingLimits(maximumSize: bytes.count))
        let less = try testVerifier(limits: DecodingLimits(maximumSize: bytes.count - 1))
        #expect(try exact.verifyAppReceipt(bytes).payload.bundleId == "com.example.orchard")
        let error = expectRefusal(.tooLarge) { try less.verifyAppReceipt(bytes) }
        #expect(error?.verdict == .notAReceipt)
        // Bytes after the message count too: no input may use more memory than the limit.
        expectRefusal(.tooLarge) { try exact.verifyAppReceipt(bytes + [0]) }
    }

    @Test("The verifier has the same size limit, at the limit accepted and one byte beyond it refused: transactions")
    func verifiedTransactionSize() throws {
        let date = ForgedInstant(2013, 5, 6, 7, 8, 9)
        let receipt = ForgedTransactionReceipt.production(
            product: "com.example.gold", pod: "30", serial: "0000181531396", at: date)
        let bytes = try ForgedTransactionSignature.version2(at: date).signed(receipt)
        let exact = try testVerifier(limits: DecodingLimits(maximumSize: bytes.count))
        let less = try testVerifier(limits: DecodingLimits(maximumSize: bytes.count - 1))
        #expect(try exact.verifyTransactionReceipt(bytes).payload.productId == "com.example.gold")
        let error = expectRefusal(.tooLarge) { try less.verifyTransactionReceipt(bytes) }
        #expect(error?.verdict == .notAReceipt)
        expectRefusal(.tooLarge) { try exact.verifyTransactionReceipt(bytes + [0x0A]) }
    }

    @Test("Text far beyond the limit is refused before it is decoded")
    func hugeText() {
        let limits = DecodingLimits(maximumSize: 1000)
        expectRefusal(.tooLarge) { try decode([UInt8](repeating: 0x20, count: 100_000), limits: limits) }
        expectRefusal(.tooLarge) { try decode([UInt8](repeating: 0x41, count: 100_000), limits: limits) }
    }

    /// Content wrapped in so many constructed OCTET STRINGs.
    private func nested(_ levels: Int) -> [UInt8] {
        let content = DERWriter.set(inOrderGiven: leastAttributes)
        return message(content) { content in
            (0..<levels).reduce(DERWriter.octetString(content)) { inner, _ in BERWriter.indefinite(0x24, inner) }
        }
    }

    @Test("Depth: content at level 5 plus its segments", arguments: [5, 6, 16, 40])
    func depth(limit: Int) throws {
        let limits = DecodingLimits(maximumDepth: limit)
        #expect(throws: Never.self) { try decode(nested(limit - 5), limits: limits) }
        let error = expectRefusal(.nestedTooDeeply) { try decode(nested(limit - 4), limits: limits) }
        #expect(error?.verdict == .notAReceipt)
    }

    @Test("A hundred thousand levels are refused without a crash, wherever they are")
    func attackersDepth() {
        let open =
            [UInt8](repeating: 0, count: 200_000).enumerated().map { $0.offset % 2 == 0 ? 0x24 : 0x80 } as [UInt8]
        expectRefusal(.nestedTooDeeply) { try decode(message([]) { _ in open }) }
        let sequences = open.map { $0 == 0x24 ? 0x30 : $0 }
        let inDigests = DERWriter.sequence(
            DERWriter.objectIdentifier(.signedData),
            DERWriter.explicit(0, [0x30, 0x80, 0x02, 1, 1, 0x31, 0x80] + sequences))
        expectRefusal(.nestedTooDeeply) { try decode(inDigests) }
        let inValue = message(DERWriter.set(inOrderGiven: leastAttributes + [attribute(17, sequences)]))
        #expect(throws: ReceiptError.self) { try decode(inValue) }
    }

    @Test("Attributes: those of purchases count too")
    func attributes() throws {
        // 3 + 2 attribute 17, each with 2 of its own.
        let attributes = leastAttributes + [purchase(), purchase()]
        let exact = DecodingLimits(maximumAttributes: 9)
        #expect(try decode(attributes, limits: exact).inAppPurchases.count == 2)
        let error = expectRefusal(.tooManyAttributes) {
            try decode(attributes, limits: DecodingLimits(maximumAttributes: 8))
        }
        #expect(error?.verdict == .notAReceipt)
    }

    @Test("Attributes of the receipt itself are limited too, and the error names them")
    func appAttributes() throws {
        let attributes = leastAttributes + [integer(1, 1), integer(9, 1)]
        #expect(throws: Never.self) { try decode(attributes, limits: DecodingLimits(maximumAttributes: 5)) }
        for limit in 0..<5 {
            expectRefusal(.tooManyAttributes, "limit \(limit)") {
                try decode(attributes, limits: DecodingLimits(maximumAttributes: limit))
            }
        }
    }

    @Test("Keys of a property list, outer and inner")
    func keys() throws {
        let text = transactionText(inner: innerEntries + (0..<20).map { ("key-\($0)", "x") })
        let count = innerEntries.count + 20
        #expect(throws: Never.self) { try decodeTransaction(text, limits: DecodingLimits(maximumKeys: count)) }
        expectRefusal(.malformedPropertyList) {
            try decodeTransaction(text, limits: DecodingLimits(maximumKeys: count - 1))
        }
        let outer = transactionText(outer: (0..<50).map { ("key-\($0)", "x") })
        #expect(throws: Never.self) { try decodeTransaction(outer, limits: DecodingLimits(maximumKeys: 52)) }
        expectRefusal(.malformedPropertyList) {
            try decodeTransaction(outer, limits: DecodingLimits(maximumKeys: 51))
        }
    }

    @Test("Certificates: as many as the limit are accepted, one more is refused as not genuine")
    func certificates() throws {
        let chain = try TestCertificateAuthority.shared().chain(.g5)
        let receipt = ForgedAppReceipt.production(bundleId: "com.example.orchard", created: ForgedInstant(2024, 1, 2))
        let verifier = try testVerifier(limits: DecodingLimits(maximumCertificates: 5))
        let five = chain.map(\.der) + [chain[2].der, chain[1].der]
        let signed = try receipt.signedData(.g5)
        let accepted = try signed.with { $0.certificates = five }.encoded()
        #expect(throws: Never.self) { try verifier.verifyAppReceipt(accepted) }
        let refused = try signed.with { $0.certificates = five + [chain[0].der] }.encoded()
        expectRefusal(.tooManyCertificates) { try verifier.verifyAppReceipt(refused) }
        let error = expectRefusal(.tooManyCertificates) {
            try testVerifier().verifyAppReceipt(
                signed.with { $0.certificates = Array(repeating: chain[0].der, count: 9) }.encoded())
        }
        #expect(error?.verdict == .notGenuine)
    }

    @Test("Extensions of a certificate: 64 are read, 65 are refused")
    func extensions() throws {
        let authority = try TestCertificateAuthority.shared()
        // Nine that the forge writes itself; markers that say nothing fill up the rest.
        let plain = TestCertificateAuthority.leafDescription(.g5)
        func verify(_ extra: Int) throws -> Verified<AppReceipt> {
            let leaf = try plain.with { description in
                description.markers += (0..<extra).map {
                    ForgedObjectIdentifier(1, 3, 6, 1, 4, 1, 32473, 2, UInt64($0))
                }
            }.issued(by: authority.intermediate(.g5))
            return try testVerifier().verifyAppReceipt(
                signedReceipt(chain: [leaf, authority.intermediate(.g5), authority.root]))
        }
        let own = try extensionCount(plain.issued(by: authority.intermediate(.g5)).der)
        #expect(throws: Never.self) { try verify(64 - own) }
        expectRefusal(.malformedCertificate) { try verify(65 - own) }
    }

    @Test("A receipt with 100,000 purchases is read, its order kept")
    func manyPurchases() throws {
        let count = 100_000
        let attributes = leastAttributes + (0..<count).map { purchase("p", String($0)) }
        let bytes = message(DERWriter.set(inOrderGiven: attributes))
        let limits = DecodingLimits(maximumSize: bytes.count, maximumAttributes: 3 * count + 3)
        let receipt = try decode(bytes, limits: limits)
        #expect(receipt.inAppPurchases.count == count)
        #expect(receipt.inAppPurchases.enumerated().allSatisfy { $0.element.transactionId == String($0.offset) })
    }
}
