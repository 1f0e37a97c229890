import LegacyReceipts
import ReceiptForge
import Testing

/// DER and BER, as Apple's and Xcode's receipts are written (Reference.md V5.1 and V5.4).
@Suite("Encoding forms")
struct EncodingFormTests {
    static let content = DERWriter.set(
        inOrderGiven: leastAttributes + [integer(1, 1 << 40), attribute(4, Array(0..<16)), purchase("p", "7")])

    static let expected = Result { try decode(message(content)) }

    @Test(
        "Segments of any size are joined before they are read", arguments: [1, 2, 7, 100, 127, 128, 255, 256, 100_000])
    func segments(length: Int) throws {
        let expected = try Self.expected.get()
        for nested in [false, true] {
            for definite in [false, true] {
                let bytes = message(Self.content) {
                    BERWriter.segmentedOctetString($0, segmentLength: length, nested: nested, definite: definite)
                }
                #expect(try decode(bytes) == expected, "nested \(nested), definite \(definite)")
            }
        }
    }

    @Test("Segments of segments of segments, and empty segments among them")
    func deepSegments() throws {
        let half = Self.content.count / 2
        let deep = BERWriter.indefinite(
            0x24, DERWriter.octetString([]), BERWriter.indefinite(0x24),
            DERWriter.value(
                0x24, BERWriter.indefinite(0x24, DERWriter.octetString(Array(Self.content[..<half])))),
            DERWriter.octetString(Array(Self.content[half...])), DERWriter.value(0x24, []))
        #expect(try decode(message([]) { _ in deep }) == Self.expected.get())
    }

    @Test("Content in a second OCTET STRING, primitive or segmented, is unwrapped")
    func doublyWrapped() throws {
        let expected = try Self.expected.get()
        #expect(try decode(message(DERWriter.octetString(Self.content))) == expected)
        #expect(try decode(message(BERWriter.segmentedOctetString(Self.content, segmentLength: 50))) == expected)
        let both = message(DERWriter.octetString(Self.content)) {
            BERWriter.segmentedOctetString($0, segmentLength: 33, nested: true)
        }
        #expect(try decode(both) == expected)
    }

    @Test("Content in three OCTET STRINGs, or with bytes after the second, is no receipt")
    func tooOftenWrapped() {
        let twice = DERWriter.octetString(DERWriter.octetString(Self.content))
        expectRefusal(.contentNotReceipt) { try decode(message(twice)) }
        #expect(throws: ReceiptError.self) { try decode(message(DERWriter.octetString(Self.content) + [0])) }
    }

    @Test("Indefinite lengths inside the content")
    func indefiniteContent() throws {
        let set = BERWriter.indefinite(
            ASN1Tag.set,
            of: [
                BERWriter.indefinite(
                    ASN1Tag.sequence, DERWriter.integer(2), DERWriter.integer(1),
                    BERWriter.segmentedOctetString(DERWriter.utf8String("com.example.orchard"), segmentLength: 4)),
                leastAttributes[0], leastAttributes[2],
                BERWriter.indefinite(
                    ASN1Tag.sequence, DERWriter.integer(17), DERWriter.integer(1),
                    BERWriter.segmentedOctetString(
                        BERWriter.indefinite(ASN1Tag.set, text(1702, "p"), text(1703, "7")), segmentLength: 9)),
            ])
        let receipt = try decode(message(set))
        #expect(receipt.bundleId == "com.example.orchard")
        #expect(Array(receipt.bundleIdEncoded) == DERWriter.utf8String("com.example.orchard"))
        #expect(receipt.inAppPurchases.map(\.transactionId) == ["7"])
    }

    @Test("Indefinite lengths around everything")
    func indefiniteMessage() throws {
        let bytes = BERWriter.indefinite(
            ASN1Tag.sequence, DERWriter.objectIdentifier(.signedData),
            BERWriter.indefinite(
                ASN1Tag.context(0),
                BERWriter.indefinite(
                    ASN1Tag.sequence, DERWriter.integer(1), BERWriter.indefinite(ASN1Tag.set),
                    BERWriter.indefinite(
                        ASN1Tag.sequence, DERWriter.objectIdentifier(.data),
                        BERWriter.indefinite(
                            ASN1Tag.context(0), BERWriter.segmentedOctetString(Self.content, segmentLength: 20))),
                    BERWriter.indefinite(ASN1Tag.set))))
        #expect(try decode(bytes) == Self.expected.get())
        // Without the last end-of-contents bytes it is cut off.
        expectRefusal(.truncated) { try decode(bytes.dropLast(2)) }
        #expect(throws: ReceiptError.self) { try decode(bytes.dropLast(1)) }
    }

    @Test("Lengths with leading zeros are legal in BER; lengths beyond the input are refused")
    func longLengths() throws {
        for zeros in [1, 2, 4] {
            let bytes =
                [0x04, UInt8(0x80 + zeros + 2)] + [UInt8](repeating: 0, count: zeros)
                + [UInt8(Self.content.count >> 8), UInt8(Self.content.count & 0xFF)]
            #expect(try decode(message(Self.content) { bytes + $0 }) == Self.expected.get())
        }
        for length in [
            [0x84, 0x7F, 0xFF, 0xFF, 0xFF], [0x88, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            [0x88, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x89, 1, 0, 0, 0, 0, 0, 0, 0, 0], [0xFF],
        ] as [[UInt8]] {
            #expect(throws: ReceiptError.self) { try decode(message(Self.content) { [0x04] + length + $0 }) }
        }
    }

    @Test("A receipt cut off anywhere is refused")
    func truncated() throws {
        let bytes = message(Self.content)
        for count in 0..<bytes.count {
            #expect(throws: ReceiptError.self, "\(count) bytes") { try decode(Array(bytes[..<count])) }
        }
        let error = expectRefusal(.truncated) { try decode(Array(bytes.dropLast())) }
        #expect(error?.verdict == .notAReceipt)
    }

    @Test("Bytes after the message are counted and otherwise ignored, as by Apple's endpoint", arguments: [1, 2, 1000])
    func trailing(count: Int) throws {
        let receipt = try decode(message(Self.content) + [UInt8](repeating: 0, count: count))
        #expect(receipt.trailingByteCount == count)
        #expect(receipt.inAppPurchases.map(\.transactionId) == ["7"])
    }

    @Test("Bytes after the set of attributes, or after value and version in an attribute, are refused")
    func extraContent() {
        #expect(throws: ReceiptError.self) { try decode(message(Self.content + [0])) }
        #expect(throws: ReceiptError.self) { try decode(message(Self.content + DERWriter.setOf([]))) }
        let four = DERWriter.sequence(
            DERWriter.integer(3), DERWriter.integer(1), DERWriter.octetString(DERWriter.utf8String("1")), DERWriter.null
        )
        expectRefusal(.malformedEncoding) { try decode(leastAttributes + [four]) }
        let two = DERWriter.sequence(DERWriter.integer(3), DERWriter.octetString(DERWriter.utf8String("1")))
        expectRefusal(.malformedEncoding) { try decode(leastAttributes + [two]) }
    }

    @Test("A message without content, or of another content type, is refused")
    func otherMessages() {
        let detached = DERWriter.sequence(
            DERWriter.objectIdentifier(.signedData),
            DERWriter.explicit(
                0,
                DERWriter.sequence(
                    DERWriter.integer(1), DERWriter.setOf([]),
                    DERWriter.sequence(DERWriter.objectIdentifier(.data)), DERWriter.setOf([]))))
        expectRefusal(.contentMissing) { try decode(detached) }
        let data = DERWriter.sequence(
            DERWriter.objectIdentifier(.data), DERWriter.explicit(0, DERWriter.octetString(Self.content)))
        expectRefusal(.notSignedData) { try decode(data) }
    }
}
