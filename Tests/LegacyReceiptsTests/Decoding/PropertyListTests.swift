import Foundation
import LegacyReceipts
import ReceiptForge
import Testing

/// The property lists of transaction receipts in every layout they are found in (Reference.md V6).
@Suite("Property lists")
struct PropertyListTests {
    /// The inner list read from this text.
    private func entries(_ inner: String) throws -> [TransactionReceipt.Entry] {
        try decodeTransaction(transactionText(innerText: inner)).purchaseInfo
    }

    private static let least = "\"product-id\"=\"p\";\"transaction-id\"=\"1\";\"purchase-date-ms\"=\"0\";"

    /// The value of `key` beside the least keys.
    private func value(_ entry: String) throws -> String? {
        try entries("{" + Self.least + entry + "}").last?.value
    }

    @Test(
        "Layouts of the same list",
        arguments: [
            "{\n\t\"product-id\" = \"p.q\";\n\t\"transaction-id\" = \"12\";\n\t\"purchase-date-ms\" = \"5\";\n}",
            "{\r\n    \"product-id\" = \"p.q\";\r\n    \"transaction-id\" = 12;\r\n    \"purchase-date-ms\" = 5;\r\n}\r\n",
            "{\"product-id\"=\"p.q\";\"transaction-id\"=\"12\";\"purchase-date-ms\"=\"5\";}",
            "{ product-id = p.q; transaction-id = 12; purchase-date-ms = 5; }",
            "{ product-id = p.q ;\ttransaction-id = 12 ; purchase-date-ms = 5 }",
            "{'product-id' = 'p.q'; 'transaction-id' = '12'; 'purchase-date-ms' = '5';}",
            "// comment\n{ /* one */ \"product-id\" /* two */ = \"p.q\" /* three */; // four\n transaction-id=12;purchase-date-ms=5;}",
            "{\"product-id\": \"p.q\", \"transaction-id\": \"12\", \"purchase-date-ms\": 5}",
            "\u{FEFF}{\n\"product-id\" = \"p.q\";\n\n\n\"transaction-id\" = \"12\";\n\"purchase-date-ms\" = \"5\"\n}\n\n",
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            <dict>
                <key>product-id</key>
                <string>p.q</string>
                <!-- comment -->
                <key>transaction-id</key><string>12</string>
                <key>purchase-date-ms</key><integer>5</integer>
            </dict>
            </plist>

            """,
            "<plist><dict><key>product-id</key><string>p.q</string><key>transaction-id</key><integer>12</integer>"
                + "<key>purchase-date-ms</key><string>5</string></dict></plist>",
        ])
    func layouts(text: String) throws {
        #expect(
            try entries(text) == [
                .init(key: "product-id", value: "p.q"), .init(key: "transaction-id", value: "12"),
                .init(key: "purchase-date-ms", value: "5"),
            ])
    }

    @Test(
        "The outer list is read in every layout too, the signed bytes staying the same",
        arguments: PropertyListStyle.allCases)
    func outerLayouts(style: PropertyListStyle) throws {
        let inner = innerText(innerEntries)
        let text = style.text([
            ("purchase-info", Data(inner.utf8).base64EncodedString()), ("environment", "Sandbox"), ("pod", "100"),
            ("signing-status", "0"), ("other", "kept"),
        ])
        let receipt = try decodeTransaction(text)
        #expect(receipt.purchaseInfoBytes == Array(inner.utf8))
        #expect(receipt.claimedEnvironment == "Sandbox")
        #expect(receipt.pod == "100")
        #expect(receipt.signingStatus == "0")
        #expect(receipt.otherOuterEntries == [.init(key: "other", value: "kept")])
    }

    @Test("Base64 of the XML form may have line breaks and blanks, as <data> has")
    func xmlData() throws {
        let encoded = Data(innerText(innerEntries).utf8).base64EncodedString(options: .lineLength64Characters)
        let receipt = try decodeTransaction(
            "<plist version=\"1.0\"><dict><key>purchase-info</key><data>\n\t\(encoded)\n\t</data></dict></plist>")
        #expect(receipt.purchaseInfoBytes == Array(innerText(innerEntries).utf8))
    }

    @Test(
        "Escapes in quoted text",
        arguments: [
            (#""k" = "a\"b";"#, "a\"b"), (#""k" = "a\\b";"#, "a\\b"), (#""k" = "a\/b";"#, "a/b"),
            (#""k" = "\n\r\t";"#, "\n\r\t"), (#""k" = "\U00e9";"#, "é"), (#""k" = "\u00E9";"#, "é"),
            (#""k" = "\Ud83c\Udf4e";"#, "🍎"), (#""k" = "\uD83C\uDF4E";"#, "🍎"), (#""k" = "\101\060";"#, "A0"),
            (#""k" = "\7";"#, "\u{7}"), (#""k" = "\1012";"#, "A2"), (#"k = "";"#, ""),
            (#""k" = "a;b=c{}";"#, "a;b=c{}"),
            (#""k" = "// no comment /* nor here */";"#, "// no comment /* nor here */"), (#"k = 'a"b';"#, "a\"b"),
            (#""k" = "2012-09-21 01:31:38 Etc/GMT";"#, "2012-09-21 01:31:38 Etc/GMT"),
            (#"k = 2012-09-21 01:31:38 Etc/GMT;"#, "2012-09-21 01:31:38 Etc/GMT"), (#""k" = "日本";"#, "日本"),
            ("\"k\" = \"two\nlines\";", "two\nlines"),
        ])
    func escapes(entry: String, expected: String) throws {
        #expect(try value(entry) == expected)
    }

    @Test(
        "Entities in XML",
        arguments: [
            ("a&amp;b", "a&b"), ("&lt;&gt;", "<>"), ("&quot;&apos;", "\"'"), ("&#65;&#x42;&#X", nil), ("&#233;", "é"),
            ("&#x1F34E;", "🍎"), ("&#xD83C;", nil), ("&#1114112;", nil), ("&unknown;", nil), ("&amp", nil), ("&;", nil),
            ("a & b", nil), ("<b>x</b>", nil), ("<![CDATA[x]]>", nil),
        ])
    func entities(text: String, expected: String?) throws {
        let inner =
            "<plist><dict><key>product-id</key><string>\(text)</string><key>transaction-id</key><string>1</string>"
            + "<key>purchase-date-ms</key><string>0</string></dict></plist>"
        if let expected {
            #expect(try entries(inner).first?.value == expected)
        } else {
            expectRefusal(.malformedPropertyList) { try entries(inner) }
        }
    }

    @Test("Entity declarations are refused, not followed")
    func entityDeclarations() {
        let expanding = """
            <?xml version="1.0"?>
            <!DOCTYPE plist [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>
            <plist><dict><key>purchase-info</key><string>&b;&c;</string></dict></plist>
            """
        let error = expectRefusal(.malformedPropertyList) { try decodeTransaction(expanding) }
        #expect(error?.detail.contains("entities") == true)
    }

    @Test(
        "A value that is not a flat list of texts is rejected, with the place",
        arguments: [
            "{", "{\"a\"", "{\"a\" = ", "{\"a\" = \"b", "{\"a\" = \"b\"", "{\"a\" = \"b\";", "{\"a\" \"b\";}",
            "{\"a\" = {\"b\" = \"c\";};}", "{\"a\" = (\"b\");}", "{\"a\" = \"b\" \"c\" = \"d\";}", "{= \"b\";}",
            "{\"a\" = ;}",
            "{\"a\" = \"b\";} more", "{\"a\" = \"b\";}}", "{/* }", "{\"a\" = \"\\U12\";}", "{\"a\" = \"\\Ud83c\";}",
            "{\"a\" = \"\\Ud83cx\";}", "{\"a\" = \"\\Ud83c\\U0041\";}", "{\"a\" = \"\\Udf4e\";}",
            "{\"a\" = \"\\377\";}",
            "{\"a\" = \"\\", "{\"a\" = \"b\";;}", "<", "<plist>", "<plist><dict>",
            "<plist><dict><key>a</key></dict></plist>",
            "<plist><dict><string>a</string></dict></plist>", "<plist><array/></plist>",
            "<plist><dict><key>a</key><dict></dict></dict></plist>",
            "<plist><dict><key>a</key><string>b</dict></plist>",
            "<plist><dict></dict></plist>x", "<!-- ", "<?xml ", "<!DOCTYPE plist", "<html></html>",
        ])
    func refused(text: String) {
        let error = expectRefusal(.malformedPropertyList) { try decodeTransaction(text) }
        #expect(error?.verdict == .notAReceipt)
        if case .byte(let offset)? = error?.location {
            #expect(offset <= text.utf8.count)
        } else {
            #expect(error == nil, "an error about the outer list names a byte")
        }
        let inner = expectRefusal(.malformedPropertyList) { try entries(text) }
        #expect(inner?.location == .key("purchase-info"))
    }

    @Test("Text that is not UTF-8 is refused")
    func notUTF8() {
        let bytes = Array("{\"environment\" = \"".utf8) + [0xFF, 0xFE] + Array("\";}".utf8)
        expectRefusal(.malformedPropertyList) { try ReceiptDecoder().decode(stored: bytes) }
    }

    @Test("Many separate comments, blanks and long values are read in linear time")
    func longText() throws {
        let long = String(repeating: "x", count: 200_000)
        let text = "{" + String(repeating: "/* c */ // d\n \t", count: 20_000) + Self.least + "\"k\" = \"\(long)\";}"
        #expect(try entries(text).last?.value == long)
    }
}
