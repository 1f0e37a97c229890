// Every Swift sample of README.md and of the DocC catalogs, character for character. `SampleTests` runs them, and checks
// that the documents show nothing else.

import AppStoreModels
import Foundation
import LegacyReceipts
import Migration
import ProductCatalog
import Purchases
import ReceiptForge
import ReplyComparison
import SQLiteTransactionStore

// MARK: README.md

let verifier = ReceiptVerifier()  // create one and keep it
let mapper = ReceiptMapper()

func transactions(in stored: [UInt8]) throws(ReceiptError) -> [JWSTransactionDecodedPayload] {
    let verified = try verifier.verify(stored: stored)  // throws unless Apple signed it
    return mapper.map(verified).transactions.map(\.payload)
}

// MARK: LegacyReceipts

/// Whether a receipt proves that one product of our app was bought, in production.
func isBought(_ productId: String, in stored: [UInt8], verifier: ReceiptVerifier) throws(ReceiptError) -> Bool {
    let verified = try verifier.verify(stored: stored)
    guard verified.payload.bundleId == "com.example.orchard", verified.payload.environment == .production else {
        return false
    }
    return switch verified.payload {
    case .app(let receipt): receipt.inAppPurchases.contains { $0.productId == productId && $0.cancellationDate == nil }
    case .transaction(let receipt): receipt.productId == productId && receipt.cancellationDate == nil
    }
}

/// The status that verifyReceipt would answer.
func status(of stored: [UInt8], verifier: ReceiptVerifier) -> Int {
    do throws(ReceiptError) {
        _ = try verifier.verify(stored: stored)
        return 0
    } catch {
        switch error.verdict {
        case .notAReceipt: return 21002
        case .notGenuine: return 21003
        }
    }
}

/// Grants access for verified receipts only: an `Unverified` receipt does not compile here.
func grant(_ receipt: Verified<AppReceipt>, to account: String) -> [String] {
    receipt.payload.inAppPurchases.map { "\(account): \($0.productId)" }
}

/// For a support page: the result of each check of a customer's receipt.
func report(on stored: [UInt8], verifier: ReceiptVerifier) throws(ReceiptError) -> [String] {
    let inspection = verifier.inspect(try ReceiptContainer(stored: stored))
    return inspection.checks.map { "\($0.name.rawValue): \($0.outcome)" }
}

// MARK: Purchases

/// A stored receipt as modern transactions, in Apple's JSON.
func modernJSON(of stored: [UInt8], verifier: ReceiptVerifier) throws -> [Data] {
    let catalog = try ProductCatalog(entries: [])  // or ProductCatalog.load(paths: ["products.yaml"])
    let verified = try verifier.verify(stored: stored)
    let mapped = ReceiptMapper(catalog: catalog).map(verified)
    for transaction in mapped.transactions {
        print(transaction.payload.productId ?? "", transaction.provenance[.type].text)  // "attribute 1707"
    }
    return try mapped.transactions.map { try JSONEncoder().encode($0.payload) }
}

/// What the customer of a receipt was entitled to at a moment, according to the receipt.
func entitlements(of receipt: Verified<LegacyReceipt>, bytes: [UInt8], at date: Int64) -> [Entitlement] {
    guard let facts = FactSet(receipt, bytes: bytes), let customer = Customer(resolving: [facts]) else { return [] }
    return customer.purchaseHistory(catalog: nil).entitlements(at: date)
}

/// A reply that a backend stored. It is not signed, and so the result has another type.
func recorded(_ json: [UInt8], mapper: ReceiptMapper) throws(RecordedReplyError) -> RecordedMapping {
    mapper.map(try RecordedReply(json: json))
}

// MARK: ProductCatalog

/// The length of a product's period or term, such as `P1M`.
func length(of productId: String, catalogs paths: [String]) throws(CatalogError) -> String? {
    let product = try ProductCatalog.load(paths: paths).product(productId)
    return (product?.period ?? product?.duration)?.iso8601
}

// MARK: Migration

/// The command `legacy-receipts migrate` as a call.
func migrate(_ paths: [String], into path: String, trust: TrustPolicy, date: Int64) async throws -> Int {
    let options = MigrationOptions(trust: trust, environments: [.production], jobs: 4)
    let store = try SQLiteTransactionStore.open(path: path)
    let migration = StoreMigration(options: StoreMigration.Options(migration: options, date: date))
    let summary = try await migration.run(inputs: paths, into: store)
    try await store.close()
    return summary.records.quarantined
}

// MARK: AppStoreModels

/// A line of `migrate --stream` with the output `transactions`.
struct MigratedLine: Decodable {
    let transaction: JWSTransactionDecodedPayload
    let provenance: [String: String]
    let standing: String
}

func activeSubscriptions(ndjson: String, at date: Int64) throws -> [JWSTransactionDecodedPayload] {
    try ndjson.split(separator: "\n")
        .map { try JSONDecoder().decode(MigratedLine.self, from: Data($0.utf8)).transaction }
        .filter { $0.type == .autoRenewableSubscription && $0.isUpgraded != true && $0.revocationDate == nil }
        .filter { ($0.purchaseDate ?? .max) <= date && date < ($0.expiresDate ?? .min) }
}

// MARK: ReceiptForge

/// A receipt with one purchase, signed by the test authority, in the form that an app sends.
func forged() throws -> [UInt8] {
    let date = ForgedInstant(2024, 3, 15, 10, 20, 30)
    let receipt = ForgedAppReceipt.production(bundleId: "com.example.orchard", created: date).with {
        $0.purchases = [
            ForgedPurchase(.nonConsumable, product: "com.example.orchard.tree", id: "530001234500001", at: date)
        ]
    }
    return Array(Data(try receipt.signedData(.g5).encoded()).base64EncodedString().utf8)
}

/// A verifier that trusts the test authority. No verifier trusts it by default.
func testVerifier() throws -> ReceiptVerifier {
    try ReceiptVerifier(trust: TrustPolicy(additionalRoots: [TestCertificateAuthority.rootDER]))
}

/// A receipt whose content was replaced after signing.
func forgedWithSwappedPayload() throws -> [UInt8] {
    let date = ForgedInstant(2024, 3, 15)
    let honest = ForgedAppReceipt.production(bundleId: "com.example.orchard", created: date)
    let greedy = honest.with {
        $0.purchases = [ForgedPurchase(.nonConsumable, product: "everything", id: "530001234500002", at: date)]
    }
    return try greedy.signedData(.g5).with { $0.signers[0].signsInstead = honest.content }.encoded()
}

// MARK: ReplyComparison

/// Whether our replies can take the place of Apple's, with a table for people.
func report(_ pairs: [(apples: [UInt8], ours: [UInt8])]) -> (hasParity: Bool, table: String) {
    var report = ParityReport(maximumExamples: 20)
    for (number, pair) in pairs.enumerated() {
        let place = "pair \(number + 1)"
        do {
            report.add(try ReplyComparison(apples: pair.apples, ours: pair.ours), place: place)
        } catch let error as ReplyComparisonError {
            report.addFailed(place: place, error: error)
        } catch {
            report.addSkipped(place: place, reason: "\(error)")
        }
    }
    return (report.hasParity, report.table())
}
