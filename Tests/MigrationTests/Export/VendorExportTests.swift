import AppStoreModels
import Foundation
import Migration
import Purchases
import TestSupport
import Testing
import TransactionStore
import TransactionStoreConformance

@Suite("Import files of vendors")
struct VendorExportTests {
    @inline(never)
    private static func claim(_ purchase: String, _ user: String, _ scope: StoreScope = StoreSamples.scope) -> UserClaim
    {
        UserClaim(
            scope: scope, identity: CustomerIdentity(.originalTransactionId, purchase), userId: user, carried: "")
    }

    /// 1000 and 1001 are of one customer with a receipt and one user, who is named beside 1000; 1010 has a receipt and several
    /// users; 1020 has a user and no receipt; 1030 is of the sandbox; 1040 has a receipt and no user; 1050 a user with a comma.
    @inline(never)
    private static func withStore(_ body: (any CompleteTransactionStore) async throws -> Void) async throws {
        func set(_ ids: [String], receipt: String?, scope: StoreScope = StoreSamples.scope) -> FactSet {
            FactSet(
                scope: scope, transactions: ids.map { Samples.purchase($0, "p", .nonConsumable, from: 1) },
                receipt: receipt.map { StoreSamples.receipt($0) })
        }
        try await Samples.withStore([
            set(["1000", "1001"], receipt: "one"), set(["1010"], receipt: "two"), set(["1020"], receipt: nil),
            set(["1030"], receipt: "three", scope: Samples.sandbox), set(["1040"], receipt: "four"),
            set(["1050"], receipt: "five"),
        ]) { store in
            _ = try await store.apply(
                MigrationStep(users: [
                    claim("1000", "u1"), claim("1010", "u2"), claim("1010", "u3"), claim("1020", "u4"),
                    claim("1030", "u5", Samples.sandbox), claim("1050", "u,6"),
                ]))
            try await body(store)
        }
    }

    @inline(never)
    private static func rows(_ name: String, _ folder: TemporaryFolder) throws -> [[String]] {
        try CSV.rows(String(contentsOfFile: folder.file(name), encoding: .utf8))
    }

    @Test("of RevenueCat have each user with the app receipt, and count what they leave out")
    func revenueCat() async throws {
        let folder = try TemporaryFolder()
        try await Self.withStore { store in
            let summary = try await VendorExport(.revenuecat).run(store, to: folder.path)
            let rows = try Self.rows("revenuecat.csv", folder)
            let receipts = [StoreSamples.receipt("one"), StoreSamples.receipt("five")]
            #expect(rows.first == ["app_user_id", "receipt"])
            #expect(
                Set(rows.dropFirst())
                    == Set(zip(["u1", "u,6"], receipts).map { [$0, Data($1.bytes).base64EncodedString()] }))
            #expect(
                summary.counts.map(\.count) == [2, 0, 1, 1, 1, 0, 1], "\(String(decoding: summary.json, as: UTF8.self))"
            )
            #expect(try folder.files()["revenuecat.json"] == summary.json)
        }
    }

    @Test("of Adapty have each purchase with its user, and no quotation")
    func adapty() async throws {
        let folder = try TemporaryFolder()
        try await Self.withStore { store in
            let summary = try await VendorExport(.adapty).run(store, to: folder.path)
            let rows = try Self.rows("adapty.csv", folder)
            #expect(rows.first == ["user_id", "apple_original_transaction_id"])
            #expect(Set(rows.dropFirst()) == [["u1", "1000"], ["u1", "1001"], ["u4", "1020"]])
            #expect(
                summary.counts.map(\.count) == [3, 0, 1, 1, 0, 1, 1], "\(String(decoding: summary.json, as: UTF8.self))"
            )
            #expect(try folder.files()["adapty.csv"]?.contains(UInt8(ascii: "\"")) == false)
        }
    }

    /// 2000 begins with an introductory offer; 2100 changed its product, and its user has every special character; nothing
    /// states the price of 2200, and its user is a telephone number; the user of 2300 and the product of 2600 are formulas;
    /// 2400 has no receipt; 2500 has two users.
    @inline(never)
    private static func withPrices(_ body: (any CompleteTransactionStore) async throws -> Void) async throws {
        func bought(
            _ id: String, _ original: String, _ product: String, day: Int64, _ price: Int64?,
            _ currency: String = "USD",
            _ configure: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
        ) -> TransactionFact {
            StoreSamples.fact(id, original: original, product: product, source: .appStoreServerAPI) {
                $0.purchaseDate = StoreSamples.june + day * StoreSamples.day
                $0.price = price
                $0.currency = price == nil ? nil : currency
                configure(&$0)
            }
        }
        func set(_ original: String, hasReceipt: Bool = true, _ facts: [TransactionFact]) -> FactSet {
            StoreSamples.set(facts, receipt: hasReceipt ? StoreSamples.receipt("receipt \(original)") : nil)
        }
        try await Samples.withStore([
            set(
                "2000",
                [
                    bought("2002", "2000", "monthly", day: 60, nil) { $0.storefront = "USA" },
                    bought("2001", "2000", "monthly", day: 30, 9_990),
                    bought("2000", "2000", "monthly", day: 0, 990) { $0.offerType = .introductory },
                ]),
            set(
                "2100",
                [
                    bought("2100", "2100", "basic", day: 0, 4_990, "EUR"),
                    bought("2101", "2100", "premium", day: 30, 12_505, "EUR") { $0.storefront = "DEU" },
                ]),
            set("2200", [bought("2200", "2200", "lifetime", day: 0, nil)]),
            set("2300", [bought("2300", "2300", "lifetime", day: 0, 1_000)]),
            set("2400", hasReceipt: false, [bought("2400", "2400", "lifetime", day: 0, 1_000)]),
            set("2500", [bought("2500", "2500", "lifetime", day: 0, 1_000)]),
            set("2600", [bought("2600", "2600", "@SUM(1)", day: 0, 1_000)]),
        ]) { store in
            _ = try await store.apply(
                MigrationStep(users: [
                    claim("2000", "u1"), claim("2100", "u,\"2\"\r\n"), claim("2200", "+4912345"),
                    claim("2300", "=HYPERLINK(1)"), claim("2400", "u4"), claim("2500", "u5"), claim("2500", "u6"),
                    claim("2600", "u7"),
                ]))
            try await body(store)
        }
    }

    @Test(
        "have the columns of the vendor's guide, with special characters quoted and without formulas",
        arguments: [
            (VendorExport.Vendor.revenuecat, [4, 0, 0, 1, 1, 1, 0]), (.adapty, [4, 0, 0, 1, 0, 2, 0]),
            (.qonversion, [3, 1, 0, 1, 1, 2, 0]), (.apphud, [3, 1, 0, 1, 1, 2, 0]),
        ])
    func expectedFiles(vendor: VendorExport.Vendor, counts: [Int]) async throws {
        let folder = try TemporaryFolder()
        try await Self.withPrices { store in
            let summary = try await VendorExport(vendor).run(store, to: folder.path)
            #expect(summary.counts.map(\.count) == counts, "\(String(decoding: summary.json, as: UTF8.self))")
        }
        let name = "\(vendor.rawValue).csv"
        let expected = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Vendors/\(name)")
        let found = try #require(try folder.files()[name])
        #expect(
            String(decoding: found, as: UTF8.self) == String(decoding: try Data(contentsOf: expected), as: UTF8.self))
    }

    @Test("are the same the second time, and never replace a file that no export wrote")
    func files() async throws {
        let (folder, foreign) = (try TemporaryFolder(), try TemporaryFolder())
        try foreign.write("adapty.csv", "mine")
        try await Self.withStore { store in
            for vendor in VendorExport.Vendor.allCases {
                _ = try await VendorExport(vendor).run(store, to: folder.path)
            }
            let before = try folder.files()
            let names = VendorExport.Vendor.allCases.flatMap { ["\($0.rawValue).csv", "\($0.rawValue).json"] }
            #expect(before.keys.sorted() == names.sorted())
            for vendor in VendorExport.Vendor.allCases {
                _ = try await VendorExport(vendor).run(store, to: folder.path)
            }
            #expect(try folder.files() == before)
            let error = await #expect(throws: MigrationError.self) {
                try await VendorExport(.adapty).run(store, to: foreign.path)
            }
            #expect(error?.code == .outputConflict)
        }
        #expect(try foreign.files() == ["adapty.csv": Array("mine".utf8)])
    }
}
