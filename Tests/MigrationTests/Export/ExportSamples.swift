import AppStoreModels
import Foundation
import Migration
import ProductCatalog
import Purchases
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore
import TransactionStoreConformance

/// Customers of all kinds, in June 2020 and after.
enum ExportSamples {
    private typealias Samples = StoreSamples

    static let june = StoreSamples.june
    static let day = StoreSamples.day
    /// 2020-07-20, the date of the exports.
    static let date = june + 49 * day
    static let token = "0b1f3d5e-0000-4000-8000-00000000000a"
    static let hostile = "=HYPERLINK(\"x\")\r\n,'\u{202E}<b>"
    static let sandbox = StoreScope(environment: .sandbox, bundleId: "com.example.app")

    static let products = """
        version: 1
        groups: {orchard: {identifier: "20456789"}}
        products:
          premium: {type: auto-renewable, period: P1M, group: orchard, level: 1}
          basic: {type: auto-renewable, period: P1M, group: orchard, level: 2}
          pass: {type: non-renewing, duration: P1M, entitlement: club}
        """

    /// A period of 30 days, or from one day to another.
    static func period(
        _ id: String, _ original: String, _ product: String = "basic", from: Int64, to: Int64? = nil,
        source: FactSource = .receipt, at: Int64? = nil, cancelled: Int64? = nil,
        _ configure: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) -> TransactionFact {
        var legacy = LegacyTransactionFields()
        legacy.cancellationDate = cancelled.map { june + $0 * day }
        legacy.isTrialPeriod = false
        return Samples.fact(
            id, original: original, product: product, source: source, at: june + (at ?? from) * day,
            legacy: source.kind == .signedTransaction ? nil : legacy
        ) {
            $0.purchaseDate = june + from * day
            $0.originalPurchaseDate = june
            $0.expiresDate = june + (to ?? from + 30) * day
            if source == .receipt { $0.type = .autoRenewableSubscription }
            configure(&$0)
        }
    }

    /// A purchase without an end.
    static func purchase(
        _ id: String, _ product: String, _ type: ProductType?, from: Int64, source: FactSource = .receipt
    ) -> TransactionFact {
        Samples.fact(id, product: product, source: source, at: june + from * day) {
            $0.purchaseDate = june + from * day
            $0.originalPurchaseDate = june + from * day
            $0.type = type
        }
    }

    private static func priced(_ payload: inout JWSTransactionDecodedPayload) {
        payload.type = .autoRenewableSubscription
        payload.subscriptionGroupIdentifier = "20456789"
        payload.price = 9990
        payload.currency = "USD"
        payload.storefront = "USA"
        payload.transactionReason = .renewal
        payload.appAccountToken = token.uppercased()
        payload.appTransactionId = "704"
        payload.signedDate = june + 31 * day
        payload.commitmentInfo = TransactionCommitmentInfo { $0.commitmentPrice = 119880 }
    }

    private static var app: AppTransactionFact {
        let payload = AppTransaction {
            $0.receiptType = .production
            $0.appAppleId = 42
            $0.applicationVersion = "7"
            $0.originalPurchaseDate = june - 400 * day
            $0.originalApplicationVersion = "1.0"
            $0.deviceVerificationNonce = "nonce"
            $0.appTransactionId = "704"
            $0.originalPlatform = .iOS
        }
        return AppTransactionFact(payload: payload, origin: FactOrigin(source: .signedTransaction, signedDate: june))
    }

    /// 100 renews and is known completely; 200 was upgraded to 201, which only their dates show; 300 has a cancellation that
    /// nothing explains; 400 is recorded only; 500 is in its grace period; 600 and 601 are passes of the customer of 100; 700
    /// is a lifetime purchase with a hostile name; 800 was canceled by a recorded row only; 900 is a sandbox purchase; and a
    /// receipt has no purchase at all.
    static let sets: [FactSet] = [
        Samples.set(period("100", "100", from: 0), receipt: Samples.receipt("receipt")),
        Samples.set(
            period("101", "100", "premium", from: 30, source: .appStoreServerAPI, at: 31, priced),
            identities: [CustomerIdentity(.appAccountToken, token)],
            renewals: [
                Samples.renewal("100", product: "premium", source: .appStoreServerAPI, at: june + 31 * day) {
                    $0.autoRenewStatus = .on
                    $0.productId = "premium"
                    $0.renewalPrice = 9990
                    $0.currency = "USD"
                    $0.eligibleWinBackOfferIds = ["come-back", "return"]
                }
            ], app: app),
        Samples.set(
            period("200", "200", from: 0, at: 40, cancelled: 10), period("201", "200", "premium", from: 10, at: 40)),
        Samples.set(period("300", "300", from: 0, at: 5, cancelled: 4)),
        Samples.set(period("400", "400", from: 0, source: .recordedReply, at: 3)),
        Samples.set(
            period("500", "500", from: 15, source: .notificationV2, at: 45) { $0.type = .autoRenewableSubscription },
            renewals: [
                Samples.renewal("500", product: "basic", at: june + 45 * day) {
                    $0.isInBillingRetryPeriod = true
                    $0.expirationIntent = .billingError
                    $0.gracePeriodExpiresDate = june + 51 * day
                }
            ]),
        FactSet(
            scope: Samples.scope, identities: [CustomerIdentity(.appAccountToken, token)],
            transactions: [
                purchase("600", "pass", .nonRenewingSubscription, from: 0),
                purchase("601", "pass", .nonRenewingSubscription, from: 20),
            ]),
        Samples.set(purchase("700", hostile, .nonConsumable, from: 1)),
        Samples.set(period("800", "800", from: 0, at: 20)),
        Samples.set(period("800", "800", from: 0, source: .recordedReply, at: 25, cancelled: 22)),
        Samples.set(period("900", "900", from: 0), scope: sandbox),
        Samples.set(receipt: Samples.receipt("nothing")),
    ]

    /// The purchase dates of ``distant`` by transaction id, and what PostgreSQL has in UTC.
    static let dates: [(id: String, milliseconds: Int64, text: String)] = [
        ("1101", 1_335_798_355_123, "2012-04-30 15:05:55.123"), ("1102", -1, "1969-12-31 23:59:59.999"),
        // Far from 1970, double precision is not exact to the millisecond.
        ("1103", 253_402_300_799_999, "9999-12-31 23:59:59.999"),
        ("1104", -210_866_803_200_000, "4714-11-24 00:00:00 BC"),
        ("1105", 9_224_318_015_999_999, "294276-12-31 23:59:59.999"),
        ("1106", -210_866_803_200_001, "-infinity"), ("1107", 9_224_318_016_000_000, "infinity"),
        ("1108", .min, "-infinity"), ("1109", .max, "infinity"),
    ]

    /// Purchases with dates in and out of PostgreSQL's range. 1107 has a member without a column, and the document of 1109 is
    /// of a date out of the range.
    static let distant: [FactSet] = dates.map { id, milliseconds, _ in
        Samples.set(
            Samples.fact(
                id, product: "lifetime", source: .appStoreServerAPI, at: id == "1109" ? .max : june
            ) {
                $0.purchaseDate = milliseconds
                $0.type = .nonConsumable
                if id == "1107" { $0.commitmentInfo = TransactionCommitmentInfo { $0.commitmentPrice = 119880 } }
            })
    }

    /// The customer of 100 has two records, and for 200 the records name two users.
    private static let users = [
        ("100", "u1", #"{"country":"DE"}"#), ("600", "u1", ""), ("200", "u2", ""), ("200", hostile, ""),
    ].map { purchase, user, carried in
        UserClaim(
            scope: Samples.scope, identity: CustomerIdentity(.originalTransactionId, purchase), userId: user,
            carried: carried)
    }

    private static let quarantined = QuarantinedRecord(
        line: Array(
            (#"{"reason":"unknownForm","verdict":"notAReceipt","message":"None of the forms.","source":{"input":"a,b.csv","#
                + #""row":7,"byteOffset":90,"length":2,"path":"receipt","kind":"unrecognized","sha256":"00"},"#
                + #""record":{"user":"=1"},"original":"\"\n"}"#).utf8))

    /// What `migrate --into` adds to the sets.
    static let step = MigrationStep(users: users, quarantined: [quarantined])

    @inline(never)
    static func withStore(
        _ sets: [FactSet] = sets, _ body: (SQLiteTransactionStore) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(
            path: folder.file("store.sqlite"), options: .init(durability: .normal))
        for set in sets { _ = try await store.apply([set]) }
        if !sets.isEmpty { _ = try await store.apply(step) }
        try await body(store)
        try await store.close()
    }

    @inline(never)
    static func export(_ format: TableExport.Format) throws -> TableExport {
        TableExport(format: format, catalog: try catalog(products), date: date)
    }
}

/// A table that was exported: rows by column; absent values are missing.
struct ExportedRows {
    let columns: [String]
    let rows: [[String: String]]

    /// Reads a CSV file, or an NDJSON file with the values as CSV has them.
    @inline(never)
    init(_ name: String, in folder: TemporaryFolder) throws {
        let outline = try #require(ExportedTables.outlines.first { $0.name == name })
        columns = outline.columns.map(\.name)
        if let text = try? String(contentsOfFile: folder.file("\(name).csv"), encoding: .utf8) {
            let all = try CSV.rows(text)
            #expect(all.first == columns)
            rows = all.dropFirst().map { row in
                Dictionary(uniqueKeysWithValues: zip(outline.columns.map(\.name), row).filter { !$0.1.isEmpty })
            }
            return
        }
        let text = try String(contentsOfFile: folder.file("\(name).ndjson"), encoding: .utf8)
        rows = try text.split(separator: "\n").map { try Self.values(of: Array($0.utf8)) }
    }

    /// The members of a JSON object, with the values as CSV has them.
    @inline(never)
    static func values(of json: [UInt8]) throws -> [String: String] {
        let object = try #require(try JSONValue.parse(json).object)
        return Dictionary(
            uniqueKeysWithValues: object.members.map { member in
                if let text = member.value.string { return (member.key, text) }
                var writer = JSONWriter()
                writer.value(member.value)
                return (member.key, String(decoding: writer.finish(), as: UTF8.self))
            })
    }

    subscript(column: String) -> [String] { rows.map { $0[column] ?? "" } }

    func row(_ column: String, _ value: String) throws -> [String: String] {
        try #require(rows.first { $0[column] == value }, "\(column) \(value)")
    }
}

extension TemporaryFolder {
    /// The files in the folder with their bytes.
    @inline(never)
    func files() throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            files[name] = Array(try Data(contentsOf: url.appending(path: name)))
        }
        return files
    }
}

typealias Samples = ExportSamples
