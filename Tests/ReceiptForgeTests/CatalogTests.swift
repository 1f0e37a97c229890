import Foundation
import ReceiptForge
import TestSupport
import Testing

enum Catalog {
    static let result = Result { try ForgedCase.all() }

    static var cases: [ForgedCase] { (try? result.get()) ?? [] }

    static func named(_ name: String) throws -> ForgedCase { try #require(cases.first { $0.name == name }) }
}

@Suite("The catalog of forged cases")
struct CatalogTests {
    @Test("every case can be forged")
    func everyCaseCanBeForged() throws {
        #expect(try Catalog.result.get().count >= 120)
    }

    @Test("names are unique and in kebab case")
    func namesAreUnique() {
        #expect(Set(Catalog.cases.map(\.name)).count == Catalog.cases.count)
        for item in Catalog.cases {
            #expect(item.name.wholeMatch(of: /[a-z0-9]+(-[a-z0-9]+)*/) != nil, "\(item.name)")
        }
    }

    @Test("every case says in one sentence what it shows")
    func everyCaseShowsSomething() {
        for item in Catalog.cases {
            #expect(item.shows.hasSuffix("."), "\(item.name)")
            #expect(!item.shows.contains("\n"), "\(item.name)")
            #expect(!item.expected.reason.isEmpty, "\(item.name)")
        }
    }

    @Test("forging twice gives the same bytes")
    func forgingIsReproducible() throws {
        let again = try ForgedCase.all()
        for (first, second) in zip(Catalog.cases, again) {
            #expect(first.bytes == second.bytes, "\(first.name)")
            #expect(first.expected.json.text == second.expected.json.text, "\(first.name)")
        }
    }

    @Test("no two cases have the same bytes")
    func casesDiffer() {
        #expect(Set(Catalog.cases.map(\.bytes)).count == Catalog.cases.count)
    }

    @Test("a genuine or disbelieved receipt comes with what it says, anything else without")
    func expectationsAreWhole() {
        for item in Catalog.cases {
            let readable = item.expected.verdict != .notAReceipt
            #expect((item.expected.receipt != nil) == readable, "\(item.name)")
            #expect((item.expected.kind != nil) == readable, "\(item.name)")
            #expect((item.expected.environment != nil) == readable, "\(item.name)")
            if readable { #expect(item.expected.validatedAt != nil, "\(item.name)") }
        }
    }

    @Test("expected.json is JSON whose ids keep all their digits")
    func expectationIsJSON() throws {
        struct Expected: Decodable {
            struct Receipt: Decodable {
                var adamId: Int64?
                var downloadId: Int64?
                var inApp: [[String: String]]?
            }
            var verdict: String
            var receipt: Receipt?
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        for item in Catalog.cases where item.name != "unknown-attributes" {
            let json = Data(item.expected.json.text.utf8)
            let decoded = try decoder.decode(Expected.self, from: json)
            #expect(decoded.verdict == item.expected.verdict.rawValue)
        }
        let wide = try decoder.decode(
            Expected.self, from: Data(Catalog.named("ids-beyond-2-53").expected.json.text.utf8))
        #expect(wide.receipt?.adamId == 9_007_199_254_740_995)
        #expect(wide.receipt?.downloadId == .max)
        #expect(wide.receipt?.inApp?.first?["transaction_id"] == "999999999999999999")
    }

    @Test("the large case is marked and can be left out")
    func largeCaseIsMarked() throws {
        let large = Catalog.cases.filter(\.isLarge)
        #expect(large.map(\.name) == ["many-purchases"])
        #expect(large.allSatisfy { $0.bytes.count > 1_000_000 })
        #expect(try ForgedCase.all(largePurchaseCount: 0).allSatisfy { !$0.isLarge && $0.bytes.count < 20_000 })
    }

    @Test("a case is written as receipt, expectation and a line of explanation")
    func caseIsWritten() throws {
        let directory = try TemporaryFolder()
        for name in ["production-sha256", "raw-der", "plain-text"] {
            let item = try Catalog.named(name)
            try item.write(to: directory.url)
            try item.write(to: directory.url)
            let folder = directory.url.appending(path: name)
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))
            #expect(files.sorted() == ["README", "expected.json", "receipt.\(item.form.rawValue)"])
            let stored = try Data(contentsOf: folder.appending(path: "receipt.\(item.form.rawValue)"))
            #expect([UInt8](stored) == item.bytes)
        }
    }

    @Test("purchases are expected in the order of their encoding")
    func purchasesAreInEncodedOrder() throws {
        let receipt = ForgedAppReceipt.bulk(3, purchases: 5).with {
            $0.purchases[2].promotionalOfferId = "a long promotional offer"
        }
        let content = receipt.content
        let places = receipt.purchasesAsEncoded.compactMap { purchase in
            purchase.transactionId.flatMap { id in firstIndex(of: DERWriter.utf8String(id), in: content) }
        }
        #expect(places.count == 5)
        #expect(places.dropFirst().elementsEqual(places.dropFirst().sorted()))
        // The longest comes last, whenever it was bought.
        #expect(receipt.purchasesAsEncoded.last?.promotionalOfferId != nil)
    }

    @Test("no purchase is later than its receipt")
    func purchasesPrecedeTheirReceipts() throws {
        var purchases = 0
        for item in Catalog.cases where item.expected.kind == .appReceipt && !item.name.hasPrefix("created-") {
            let receipt = try #require(item.expected.receipt)
            guard case .string(let created)? = receipt["receipt_creation_date_ms"],
                case .array(let entries)? = receipt["in_app"]
            else {
                Issue.record("\(item.name) has no creation date or no in_app")
                continue
            }
            for entry in entries {
                guard case .string(let bought)? = entry["purchase_date_ms"] else {
                    Issue.record("\(item.name) has a purchase without a date")
                    continue
                }
                #expect(try #require(Int64(bought)) <= #require(Int64(created)), "\(item.name)")
                purchases += 1
            }
        }
        #expect(purchases > 10_100)
    }

    @Test("bulk receipts differ and are of the usual size")
    func bulkReceipts() throws {
        let receipts = try forgeReceipts(count: 20)
        #expect(Set(receipts).count == 20)
        #expect(receipts.allSatisfy { (5_300...5_900).contains($0.count) }, "\(receipts.map(\.count))")
        #expect(try forgeReceipts(count: 1, from: 19) == [receipts[19]])
    }
}

func firstIndex(of part: [UInt8], in bytes: [UInt8]) -> Int? {
    guard bytes.count >= part.count else { return nil }
    return (0...(bytes.count - part.count)).first { bytes[$0..<$0 + part.count].elementsEqual(part) }
}
