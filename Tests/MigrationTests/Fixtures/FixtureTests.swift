import AppStoreModels
import Foundation
import LegacyReceipts
import Purchases
import ReceiptForge
import Testing

/// Every folder of LegacyFixtures, the forge's and those that people added.
@Suite("Fixtures")
struct FixtureTests {
    @Test("Verdict and decoded facts are as expected.json says", arguments: FixtureStore.names)
    func expectation(name: String) throws {
        let folder = try FixtureFolder(name)
        let checks = FixtureChecks(
            name: name, receipt: folder.receipt, isBase64: folder.receiptFile.hasSuffix(".b64"),
            expected: folder.expected)
        #expect(try checks.problems() == [])
    }

    @Test(
        "Migrating gives the transactions of the folder, and nothing signed for what is not genuine",
        arguments: FixtureStore.names)
    func transactions(name: String) async throws {
        let folder = try FixtureFolder(name)
        let migrated = try await FixtureMigration.shared.value[folder.name] ?? FixtureMigration.Output()
        if folder.expected["verdict"] == .string("genuine") {
            #expect(migrated.quarantined.isEmpty)
            if let transactions = try folder.lines("transactions.ndjson") {
                #expect(migrated.transactions == transactions.map(\.sortedText))
            }
            if let apps = try folder.lines("app-transactions.ndjson") {
                #expect(migrated.appTransactions == apps.map(\.sortedText))
            }
            #expect((migrated.transactions + migrated.appTransactions).isEmpty == false)
        } else {
            let lines = migrated.transactions + migrated.appTransactions
            #expect(lines.filter { !$0.contains(#""standing":"recorded""#) } == [])
            // A line is kept without the line feed that ends it.
            for original in migrated.quarantined {
                #expect(original == folder.receipt || original + [0x0A] == folder.receipt)
            }
        }
    }

    @Test("With nothing trusted but Apple, every fixture is refused", arguments: FixtureStore.names)
    func defaultTrust(name: String) throws {
        let folder = try FixtureFolder(name)
        #expect(throws: ReceiptError.self) { try ReceiptVerifier().verify(stored: folder.receipt) }
    }

    @Test("Every case of the forge has a folder, and the list names the forge's folders")
    func folders() throws {
        let forged = Set(try ForgedCase.all(largePurchaseCount: 0).filter { !$0.isLarge }.map(\.name))
        #expect(forged.subtracting(FixtureStore.names).sorted() == [])
        let list = String(decoding: try FixtureStore.bytes("forged-cases.txt"), as: UTF8.self)
        #expect(list.split(separator: "\n").map(String.init) == forged.sorted())
        #expect(forged.count > 150)
        #expect(forged.isDisjoint(with: FixtureStore.others))
    }

    @Test("Every folder says in one line what it shows", arguments: FixtureStore.names)
    func readme(name: String) throws {
        let lines = String(decoding: try FixtureStore.bytes("\(name)/README"), as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 1)
    }

    @Test("Cases too large for the repository, forged now")
    func large() throws {
        let cases = try ForgedCase.all(largePurchaseCount: 2_000).filter(\.isLarge)
        #expect(!cases.isEmpty)
        for forged in cases {
            let expected = try JSONValue.parse(Array(forged.expected.json.text.utf8))
            let checks = FixtureChecks(
                name: forged.name, receipt: forged.bytes, isBase64: forged.form == .base64, expected: expected)
            #expect(try checks.problems() == [], "\(forged.name)")
        }
    }

    @Test("The checks detect a wrong, missing or extra value and an unknown key")
    func checksCanFail() throws {
        let folder = try FixtureFolder("every-product-type")
        let text = String(decoding: try FixtureStore.bytes("every-product-type/expected.json"), as: UTF8.self)
        let edits = [
            ("\"verdict\": \"genuine\"", "\"verdict\": \"notGenuine\""), ("\"adam_id\": 6", "\"adam_id\": 7"),
            ("\"quantity\": \"10\"", "\"quantity\": \"1\""), ("\"quantity\": \"10\"", "\"quantitty\": \"10\""),
            ("\"25\": 3", "\"25\": 3, \"26\": 1"), ("\"11\": 512345678,", ""),
            ("\"kind\"", "\"genuine_for_xcode\": false, \"surprise\": 1, \"kind\""),
            ("\"environment\": \"Production\"", "\"environment\": \"Sandbox\""),
        ]
        for (old, new) in edits {
            try #require(text.contains(old))
            let expected = try JSONValue.parse(Array(text.replacing(old, with: new, maxReplacements: 1).utf8))
            let checks = FixtureChecks(
                name: folder.name, receipt: folder.receipt, isBase64: true, expected: expected)
            #expect(try checks.problems() != [], "\(new)")
        }
    }
}
