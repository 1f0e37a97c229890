import Foundation
import LegacyReceipts
import ReceiptForge
import Testing

/// The form of an input, detected from its structure, never from a prefix only.
@Suite("Container forms")
struct ContainerTests {
    static let receipt = message(DERWriter.set(inOrderGiven: leastAttributes + [purchase()]))
    static let encoded = String(decoding: base64(receipt), as: UTF8.self)

    @Test("Raw lengthBytes, DER and BER")
    func raw() throws {
        let der = try ReceiptContainer(stored: Self.receipt)
        #expect(der.form == .pkcs7)
        #expect(der.bytes == Self.receipt)
        let ber = BERWriter.indefinite(
            ASN1Tag.sequence, DERWriter.objectIdentifier(.signedData), DERWriter.explicit(0, DERWriter.sequence()))
        #expect(try ReceiptContainer(stored: ber).form == .pkcs7)
        #expect(try ReceiptContainer(stored: base64(ber)).form == .pkcs7)
    }

    @Test("Every length form of the outermost element", arguments: [1, 2, 3, 4, 8])
    func lengthForms(lengthBytes: Int) throws {
        let contents = DERWriter.objectIdentifier(.signedData) + DERWriter.explicit(0, DERWriter.sequence())
        let length = [UInt8](repeating: 0, count: lengthBytes - 1) + [UInt8(contents.count)]
        let bytes = [0x30, 0x80 | UInt8(lengthBytes)] + length + contents
        #expect(try ReceiptContainer(stored: bytes).form == .pkcs7)
        #expect(try ReceiptContainer(stored: base64(bytes)).form == .pkcs7)
    }

    @Test(
        "Base64 as people store it",
        arguments: [
            { $0 }, { $0 + "\n" }, { "\r\n " + $0 + " \r\n" }, { "\u{FEFF}" + $0 }, { "\"" + $0 + "\"" },
            { " \"" + $0 + "\"\n" }, { $0.replacing("=", with: "") },
            { $0.replacing("+", with: "-").replacing("/", with: "_") }, { $0.replacing("/", with: "\\/") },
            { "\"" + $0.replacing("/", with: "\\/") + "\"" }, { $0 + "\0" },
        ] as [@Sendable (String) -> String])
    func stored(change: @Sendable (String) -> String) throws {
        let container = try ReceiptContainer(stored: Array(change(Self.encoded).utf8))
        #expect(container.form == .pkcs7)
        #expect(container.bytes == Self.receipt)
    }

    @Test("Base64 in lines of every length", arguments: 1...80)
    func lines(width: Int) throws {
        for separator in ["\n", "\r\n", " ", "\\n"] {
            let characters = Array(Self.encoded)
            let text = stride(from: 0, to: characters.count, by: width)
                .map { String(characters[$0..<min($0 + width, characters.count)]) }.joined(separator: separator)
            #expect(
                try ReceiptContainer(stored: Array(text.utf8)).bytes == Self.receipt, "\(separator.debugDescription)")
        }
    }

    @Test("Plus that a form decoder turned into blanks", arguments: 0..<40)
    func plusAsBlank(salt: UInt8) throws {
        let bytes = message(
            DERWriter.set(inOrderGiven: leastAttributes + [attribute(4, [UInt8](repeating: 0xFB ^ salt, count: 30))]))
        let text = String(decoding: base64(bytes), as: UTF8.self)
        let damaged = text.replacing("+", with: " ")
        #expect(try ReceiptContainer(stored: Array(damaged.utf8)).bytes == bytes)
    }

    @Test("Plus that a form decoder turned into blanks, in BER whose lengths are indefinite", arguments: 0..<40)
    func plusAsBlankInBER(salt: UInt8) throws {
        // Attributes of three different lengths, so that plus signs stand at every place of a group of four digits.
        let content = DERWriter.set(
            inOrderGiven: leastAttributes
                + [30, 31, 32].map { attribute(4, [UInt8](repeating: 0xFB ^ salt, count: $0)) })
        let bytes = BERWriter.indefinite(
            ASN1Tag.sequence, DERWriter.objectIdentifier(.signedData),
            BERWriter.indefinite(
                ASN1Tag.context(0),
                BERWriter.indefinite(
                    ASN1Tag.sequence, DERWriter.integer(1), DERWriter.setOf([]),
                    BERWriter.indefinite(
                        ASN1Tag.sequence, DERWriter.objectIdentifier(.data),
                        BERWriter.indefinite(
                            ASN1Tag.context(0), BERWriter.segmentedOctetString(content, segmentLength: 50))),
                    DERWriter.setOf([]))))
        let text = String(decoding: base64(bytes), as: UTF8.self)
        let container = try ReceiptContainer(stored: Array(text.replacing("+", with: " ").utf8))
        #expect(container.form == .pkcs7)
        #expect(container.bytes == bytes)
        // Blanks that were put between the digits are no plus signs.
        let spaced = text.replacing("/", with: " /")
        if !text.contains("+") { #expect(try ReceiptContainer(stored: Array(spaced.utf8)).bytes == bytes) }
    }

    @Test("Base64 twice is unwrapped")
    func twice() throws {
        #expect(try ReceiptContainer(stored: base64(base64(Self.receipt))).bytes == Self.receipt)
    }

    @Test("Property lists: OpenStep, JSON, XML; raw and in base64")
    func propertyLists() throws {
        for text in [
            "{\n\t\"a\" = \"b\";\n}", "{\"a\": \"b\"}", "<?xml version=\"1.0\"?><plist><dict></dict></plist>",
            "  \n{a=b;}",
            "\u{FEFF}{a=b;}",
        ] {
            #expect(try ReceiptContainer(stored: Array(text.utf8)).form == .propertyList)
            #expect(try ReceiptContainer(stored: base64(Array(text.utf8))).form == .propertyList)
        }
    }

    @Test(
        "Other input is rejected and never guessed by its first characters",
        arguments: [
            "MIITuAYJKoZIhvcNAQcCoIITqTCCE6UCAQExCzAJBgUrDgMC", "hello", "MII", "foobar==",
            "eyJhbGciOiJFUzI1NiJ9.e30.c2ln",
        ])
    func neither(text: String) {
        #expect(throws: ReceiptError.self) { try ReceiptDecoder().decode(stored: Array(text.utf8)) }
    }

    @Test("Empty and blank inputs are refused as empty", arguments: ["", " ", "\n\n", "\u{FEFF}", "\"\"", "\0"])
    func empty(text: String) {
        expectRefusal(.empty) { try ReceiptContainer(stored: Array(text.utf8)) }
    }

    @Test("Valid base64 of something else is not a receipt", arguments: ["Zm9vYmFy", "AAAA", "MAMCAQE="])
    func unsupported(text: String) {
        expectRefusal(.unrecognizedInput) { try ReceiptContainer(stored: Array(text.utf8)) }
        expectRefusal(.unrecognizedInput) { try ReceiptContainer(requestText: Array(text.utf8)) }
    }

    @Test("As a request, out of a larger buffer: the same, with offsets from its own beginning")
    func requestTextInABuffer() throws {
        let text = Array(Self.encoded.utf8)
        let buffer = Array("....".utf8) + text + Array("....".utf8)
        #expect(try ReceiptContainer(requestText: buffer[4..<(4 + text.count)]).bytes == Self.receipt)
        let wrong = expectRefusal(.invalidBase64) { try ReceiptContainer(requestText: buffer[3..<(3 + text.count)]) }
        #expect(wrong?.location == .byte(0))
        let exact = DecodingLimits(maximumSize: Self.receipt.count)
        let less = DecodingLimits(maximumSize: Self.receipt.count - 1)
        #expect(throws: Never.self) { try ReceiptContainer(requestText: buffer[4..<(4 + text.count)], limits: exact) }
        expectRefusal(.tooLarge) { try ReceiptContainer(requestText: buffer[4..<(4 + text.count)], limits: less) }
    }

    @Test("As a request: strict base64 and nothing else")
    func requestText() throws {
        #expect(try ReceiptContainer(requestText: Array(Self.encoded.utf8)).bytes == Self.receipt)
        for text in [
            Self.encoded + "\n", " " + Self.encoded, "\"" + Self.encoded + "\"",
            Self.encoded.replacing("=", with: "") + "x\n",
        ] {
            expectRefusal(.invalidBase64) { try ReceiptContainer(requestText: Array(text.utf8)) }
        }
        #expect(throws: ReceiptError.self) { try ReceiptContainer(requestText: Self.receipt) }
        expectRefusal(.empty) { try ReceiptContainer(requestText: []) }
    }

    @Test(
        "Base64 receipts begin with many prefixes; all are distinguished by structure",
        arguments: [0, 1, 60, 200, 5000, 70_000])
    func prefixes(padding: Int) throws {
        let bytes = message(
            DERWriter.set(inOrderGiven: leastAttributes + [attribute(6, [UInt8](repeating: 1, count: padding))]))
        #expect(try ReceiptContainer(stored: base64(bytes)).bytes == bytes)
    }
}
