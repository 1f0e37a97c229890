import Foundation
import ReceiptForge
import SharedReceipts
import Testing

@Suite("Forged transaction receipts")
struct TransactionReceiptTests {
    private static let date = ForgedInstant(2013, 9, 24, 22, 10, 4, milliseconds: 138)
    private static let receipt = ForgedTransactionReceipt.sandbox(product: "apples", id: "1000000088116547", at: date)

    /// The value of a key in Apple's quoted form.
    private func value(_ key: String, _ text: String) throws -> String {
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("\t\"\(key)\" = \"") })
        return String(line.dropFirst(key.count + 7).dropLast(2))
    }

    @Test("the outer property list is tab-indented, quoted, and ends without a line break")
    func outerForm() throws {
        let text = String(
            decoding: try ForgedTransactionSignature.version2(at: Self.date).signed(Self.receipt), as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.first == "{" && lines.last == "}")
        #expect(
            lines.dropFirst().dropLast().map { $0.prefix { $0 != "=" } } == [
                "\t\"signature\" ", "\t\"purchase-info\" ", "\t\"environment\" ", "\t\"pod\" ", "\t\"signing-status\" ",
            ])
        let inner = try #require(Data(base64Encoded: try value("purchase-info", text)))
        let innerText = String(decoding: inner, as: UTF8.self)
        #expect(
            innerText.hasPrefix("{\n\t\"original-purchase-date-pst\" = \"2013-09-24 15:10:04 America/Los_Angeles\";\n"))
        #expect(innerText.hasSuffix(";\n}"))
    }

    @Test("the signature blob is version, signature, length, leaf", arguments: [2, 3, 4] as [UInt8])
    func blobLayout(version: UInt8) throws {
        let signature =
            switch version {
            case 2: try ForgedTransactionSignature.version2(at: Self.date)
            case 3: try ForgedTransactionSignature.version3()
            default: try ForgedTransactionSignature.version4()
            }
        let text = String(decoding: try signature.signed(Self.receipt), as: UTF8.self)
        let blob = [UInt8](try #require(Data(base64Encoded: try value("signature", text))))
        let size = version == 2 ? 128 : 256
        #expect(blob[0] == version)
        let length = blob[(1 + size)..<(5 + size)].reduce(0) { $0 << 8 | Int($1) }
        #expect(blob.count == 5 + size + length)
        #expect(Array(blob[(5 + size)...]) == signature.certificate.der)
        #expect(try TestCertificateAuthority.transactionReceiptLeavesDER.contains(Array(blob[(5 + size)...])))
    }

    @Test(
        "OpenSSL verifies version byte and purchase-info with the leaf's key, of the genuine ones and of no others",
        .enabled(if: OpenSSL.isAvailable))
    func signaturesVerify() throws {
        var checked = 0
        for item in Catalog.cases where item.expected.kind == .transactionReceipt {
            let text = String(decoding: try #require(item.container), as: UTF8.self)
            guard !item.name.hasPrefix("ios6-outer") else { continue }
            let blob = [UInt8](try #require(Data(base64Encoded: try value("signature", text))))
            let size = blob[0] == 2 ? 128 : 256
            let information = [UInt8](try #require(Data(base64Encoded: try value("purchase-info", text))))
            let certificate = Array(OpenSSL.pem(Array(blob[(5 + size)...])).utf8)
            let accepted = try OpenSSL.withFiles(
                [[blob[0]] + information, Array(blob[1...size]), certificate, []]
            ) { files in
                _ = try OpenSSL.run(["x509", "-in", files[2], "-noout", "-pubkey", "-out", files[3]])
                let digest = blob[0] == 4 ? "-sha256" : "-sha1"
                return try OpenSSL.run(["dgst", digest, "-verify", files[3], "-signature", files[1], files[0]]).status
                    == 0
            }
            #expect(accepted == (item.expected.reason != "signatureMismatch"), "\(item.name)")
            checked += 1
        }
        #expect(checked > 20)
    }

    @Test("facts are the inner keys with underscores, all of them strings")
    func facts() throws {
        let facts = try #require(Catalog.named("ios6-v2-subscription").expected.receipt)
        guard case .object(let members) = facts else {
            Issue.record("not an object")
            return
        }
        #expect(members.allSatisfy { !$0.0.contains("-") })
        guard case .string("1382652604138")? = facts["expires_date"] else {
            Issue.record("expires_date is not a month after the purchase")
            return
        }
    }

    @Test("property lists in OpenStep and XML form are read back by Foundation", arguments: PropertyListStyle.allCases)
    func stylesAreReadable(style: PropertyListStyle) throws {
        let entries = [(key: "product-id", value: "a.b_c$1"), ("quantity", "1"), ("note", "x \"y\" \\ <z> & 日")]
        let data = Data(style.text(entries).utf8)
        let read = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: String]
        #expect(read == Dictionary(uniqueKeysWithValues: entries))
    }

    @Test("keys stand in the order of real receipts", .enabled(if: SharedReceipts.arePresent))
    func keyOrder() throws {
        func keys(_ text: String) -> [String] { text.matches(of: #/"([a-z-]+)" = /#).map { String($0.1) } }
        func inner(_ receipt: [UInt8]) throws -> String {
            let text = String(decoding: receipt, as: UTF8.self)
            let match = try #require(text.firstMatch(of: #/"purchase-info" = "([^"]*)"/#))
            return String(decoding: try #require(Data(base64Encoded: String(match.1))), as: UTF8.self)
        }
        let plain = Self.receipt
        let subscription = Self.receipt.with {
            $0.expiresDate = Self.date.adding(months: 1)
            $0.webOrderLineItemId = "1"
        }
        for real in try RealReceipts.all(in: "ios6").map(inner).map(keys) {
            let forged = (real.contains("expires-date") ? subscription : plain).purchaseInfo.map(\.key)
            #expect(forged.filter(real.contains) == real)
        }
    }
}
