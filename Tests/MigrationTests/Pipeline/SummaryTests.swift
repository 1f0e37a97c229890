import AppStoreModels
import Foundation
import LegacyReceipts
import Migration
import TestSupport
import Testing

/// The numbers of a migration.
struct SummaryTests {
    /// A file of hostile rows must not make a summary as large as itself.
    @Test("Products beyond the limit are counted together, and none is lost")
    func theSummaryNamesABoundedNumberOfProducts() async throws {
        let folder = try TemporaryFolder()
        let limit = MigrationSummary.maximumProducts
        let rows = (0..<(limit + 3)).map {
            #"{"product_id":"product.\#($0)","transaction_id":"53\#(1_000_000 + $0)","purchase_date_ms":"1690848000000"}"#
        }
        try folder.write("rows.json", "[\(rows.joined(separator: ","))]")
        let summary = try await streamRecords(
            MigrationOptions(trust: .apple), inputs: [folder.file("rows.json")], to: folder.file("output"))
        #expect(summary.transactions == limit + 3)
        #expect(summary.transactionsByProduct.count == limit + 1)
        #expect(summary.transactionsByProduct["(other)"] == 3)
        #expect(summary.transactionsByProduct.values.reduce(0, +) == limit + 3)
    }

    @Test("Types, environments and years beyond the limit are counted together, and long names are cut")
    func theSummaryHasABoundedNumberOfNames() async throws {
        let folder = try TemporaryFolder()
        let (count, limit) = (MigrationSummary.maximumNames + 100, MigrationSummary.maximumNames)
        let long = String(repeating: "n", count: 1_000)
        let records = (0..<count).map { index in
            """
            {"transactionId":"53\(1_000_000 + index)","originalTransactionId":"530000000","bundleId":"com.example.app",\
            "productId":"\(long)","purchaseDate":\(index * 31_622_400_000),"type":"type \(index)",\
            "environment":"Other \(index)"}
            """
        }
        try folder.write("records.ndjson", Array(records.joined(separator: "\n").utf8))
        let summary = try await streamRecords(
            MigrationOptions(trust: .apple), inputs: [folder.file("records.ndjson")], to: folder.file("output"))
        #expect(summary.transactions == count)
        for counts in [summary.transactionsByType, summary.migratedByEnvironment, summary.transactionsByYear] {
            #expect(counts.count == limit + 1 && counts["(other)"] != nil)
            #expect(counts.values.reduce(0, +) == count)
        }
        #expect(summary.transactionsByProduct.keys.map(\.utf8.count) == [259])
    }

    @Test("Records count by the object of the client or of the API around the document, wherever it is in the record")
    func wrappers() async throws {
        let folder = try TemporaryFolder()
        let receipt = "\"\(Made.receipt())\""
        let records = [
            #"{"Store":"AppleAppStore","TransactionID":"1","Payload":\#(receipt)}"#,
            #"{"Store":"AppleAppStore","TransactionID":"1","Payload":{"payload":\#(receipt)}}"#,
            #"{"Store":"GooglePlay","TransactionID":"1","Payload":\#(receipt)}"#,
            #"{"receipt-data":\#(receipt),"password":"x"}"#,
            #"{"user":1,"data":{"source":"app_store","serverVerificationData":\#(receipt)}}"#,
            #"{"transaction":{"type":"ios-appstore","id":"1","appStoreReceipt":\#(receipt)}}"#,
            #"{"id":"1","type":"ios-appstore","appStoreReceipt":\#(receipt),"transactionReceipt":\#(receipt)}"#,
            #"{"transaction":{"type":"apple-sk2","id":"1","jwsRepresentation":"\#(Made.jws)"}}"#,
            #"{"purchases":[{"productId":"p","transactionId":"1","transactionReceipt":\#(receipt)}]}"#,
            #"{"transactionId":"1","jwsRepresentationIos":"\#(Made.jws)"}"#,
            #"{"productId":"p","purchaseState":1,"originalOrderId":"1","transactionReceipt":\#(receipt)}"#,
            #"{"purchase":{"productIdentifier":"p","transactionId":"1","receipt":\#(receipt)}}"#,
            #"{"id":"1","productId":"p","platform":"ios","isAutoRenewing":true,"purchaseToken":"\#(Made.jws)"}"#,
            #"{"id":"1","productId":"p","platform":"android","isAutoRenewing":true,"purchaseToken":"abc"}"#,
            #"{"user":1,"receipt":\#(receipt)}"#, #"{"type":"x","jwsRepresentation":"\#(Made.jws)"}"#,
            #"{"revision":"1","hasMore":false,"signedTransactions":["\#(Made.jws)","\#(Made.jws)"]}"#,
            #"{"user":1,"answer":{"data":[{"lastTransactions":[{"signedTransactionInfo":"\#(Made.jws)"}]}]}}"#,
            #"{"hasMore":false,"notificationHistory":[{"signedPayload":"\#(Made.jws)"}]}"#,
            #"{"user":1,"signedTransactions":["\#(Made.jws)"]}"#,
        ]
        try folder.write("records.ndjson", Array(records.joined(separator: "\n").utf8))
        let summary = try await streamRecords(
            MigrationOptions(trust: .apple), inputs: [folder.file("records.ndjson")], to: folder.file("output"))
        #expect(summary.recordsRead == records.count)
        #expect(
            summary.wrappers == [
                "unity": 2, "requestBody": 1, "flutter": 1, "cordova": 3, "reactNativeIAP": 2, "expo": 1,
                "openIAP": 1, "capacitor": 1, "appStoreServerAPI": 3,
            ])
        let json = try JSONValue.parse(summary.json())
        #expect(json["wrappers"]?["cordova"]?.integer == 3)
    }
}
