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
    private typealias Samples = ExportSamples

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
                summary.counts.map(\.count) == [2, 1, 1, 1, 0, 1], "\(String(decoding: summary.json, as: UTF8.self))")
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
                summary.counts.map(\.count) == [3, 1, 1, 0, 1, 1], "\(String(decoding: summary.json, as: UTF8.self))")
            #expect(try folder.files()["adapty.csv"]?.contains(UInt8(ascii: "\"")) == false)
        }
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
            #expect(before.keys.sorted() == ["adapty.csv", "adapty.json", "revenuecat.csv", "revenuecat.json"])
            for vendor in VendorExport.Vendor.allCases {
                _ = try await VendorExport(vendor).run(store, to: folder.path)
            }
            #expect(try folder.files() == before)
            let error = await #expect(throws: ExportError.self) {
                try await VendorExport(.adapty).run(store, to: foreign.path)
            }
            #expect(error?.code == .outputConflict)
        }
        #expect(try foreign.files() == ["adapty.csv": Array("mine".utf8)])
    }
}
