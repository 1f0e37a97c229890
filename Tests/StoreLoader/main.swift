import AppStoreModels
import Foundation
import Purchases
import SQLiteTransactionStore
import TransactionStore

#if canImport(PostgreSQLTransactionStore)
    import PostgreSQLTransactionStore
#endif

// Loads batches of facts and prints the number of each batch once it is applied, so that a test can kill it at any moment
// and see what the store kept. After the last batch it waits to be killed: on a loaded machine, a test may take seconds
// to do it, and then has more to check than it has time for.
//
//     legacy-receipts-store-loader STORE-URL FIRST-BATCH LAST-BATCH [SCHEMA]

func open(_ url: StoreURL, schema: String?) async throws -> any TransactionStore {
    switch url {
    case .sqlite(let path): return try SQLiteTransactionStore.open(path: path)
    case .postgreSQL(let address):
        #if canImport(PostgreSQLTransactionStore)
            var options = PostgreSQLTransactionStore.Options()
            if let schema { options.schema = schema }
            return try await PostgreSQLTransactionStore.open(url: address, options: options)
        #else
            throw TransactionStoreError(.invalidURL, "built without PostgreSQL: \(address.count) characters")
        #endif
    }
}

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count >= 3, let first = Int(arguments[1]), let last = Int(arguments[2]), first <= last else {
    FileHandle.standardError.write(
        Data("legacy-receipts-store-loader STORE-URL FIRST-BATCH LAST-BATCH [SCHEMA]\n".utf8))
    exit(2)
}
let store = try await open(StoreURL(arguments[0]), schema: arguments.count > 3 ? arguments[3] : nil)
for batch in first...last {
    _ = try await store.apply(LoadedBatch(number: batch).sets)
    // One call of write(2) per line, so that no line is half printed.
    let line = Array("\(batch)\n".utf8)
    guard write(1, line, line.count) == line.count else { exit(3) }
}
try await Task.sleep(for: .seconds(300))
exit(4)

/// What the loader makes of a number. `CrashTests` checks it by its shape.
struct LoadedBatch {
    let number: Int

    /// Twenty customers of three transactions each, one customer that is in every batch, and a notification.
    var sets: [FactSet] {
        let scope = StoreScope(environment: .production, bundleId: "com.example.app")
        let date = Int64(number)
        let customers = (0..<20).map { place -> FactSet in
            let original = number * 1000 + place * 10
            return FactSet(
                scope: scope, transactions: (0..<3).map { fact(original + $0, original: original, at: date) },
                renewalInfos: [renewal(original, at: date)],
                receipt: KnownReceipt(form: .app, bytes: Array("receipt of \(original)".utf8), signedDate: date))
        }
        let notification = ProcessedNotification(
            notificationUUID: "batch-\(number)", notificationType: "TEST", subtype: nil, signedDate: date, body: [])
        let shared = FactSet(
            scope: scope, transactions: [fact(1, original: 1, at: date)], notification: notification)
        return [shared] + customers
    }

    private func fact(_ id: Int, original: Int, at date: Int64) -> TransactionFact {
        var payload = JWSTransactionDecodedPayload()
        payload.transactionId = String(id)
        payload.originalTransactionId = String(original)
        payload.productId = "batch-\(number)"
        return TransactionFact(
            payload: payload, legacy: nil, origin: FactOrigin(source: .signedTransaction, signedDate: date))
    }

    private func renewal(_ original: Int, at date: Int64) -> RenewalInfoFact {
        var payload = JWSRenewalInfoDecodedPayload()
        payload.originalTransactionId = String(original)
        return RenewalInfoFact(payload: payload, origin: FactOrigin(source: .notificationV2, signedDate: date))
    }
}
