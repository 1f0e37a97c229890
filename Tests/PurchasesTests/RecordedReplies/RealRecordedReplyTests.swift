import AppStoreModels
import Purchases
import SharedReceipts
import Testing

@Suite(.enabled(if: SharedReceipts.arePresent)) struct RealRecordedReplyTests {
    @Test(arguments: ["responses", "pairs", "notifications-v1"])
    func everyRecordedDocumentMapsOrHasAReason(folder: String) throws {
        var (transactions, renewals, errors) = (0, 0, [String]())
        let files = try SharedReceipts.files(folder).filter { $0.pathExtension == "json" }
        #expect(!files.isEmpty)
        for file in files {
            let name = "\(folder)/\(file.lastPathComponent)"
            let bytes = try SharedReceipts.bytes(file)
            let reply: RecordedReply
            do throws(RecordedReplyError) {
                reply = try RecordedReply(json: bytes)
            } catch {
                errors.append("\(name): \(error)")
                #expect(error.code == .statusNotAccepted, "\(name): \(error)")
                continue
            }
            let mapped = ReceiptMapper().map(reply)
            transactions += mapped.transactions.count
            renewals += mapped.renewalInfos.count
            #expect(try mapped.transactions.count == Self.transactionIds(bytes), "\(name)")
            for transaction in mapped.transactions {
                #expect(transaction.payload.productId != nil && transaction.payload.purchaseDate != nil, "\(name)")
                #expect(transaction.standing == .recorded)
                #expect(transaction.provenance.entries.allSatisfy { !$0.provenance.isSigned })
            }
        }
        print("\(folder): \(files.count) documents, \(transactions) transactions, \(renewals) renewals; \(errors)")
        // The only two that grant nothing: status 21002 and 21007.
        #expect(errors.count == (folder == "responses" ? 2 : 0))
        #expect(transactions > 0)
    }

    /// How many different purchases a document names, found without knowing its structure.
    private static func transactionIds(_ bytes: [UInt8]) throws -> Int {
        var ids: Set<String> = []
        var pending = [try JSONValue.parse(bytes)]
        while let value = pending.popLast() {
            if let object = value.object {
                if let product = object["product_id"]?.string,
                    let date = object["purchase_date_ms"] ?? object["purchase_date"]
                {
                    ids.insert("\(product) " + (object["transaction_id"].map { "\($0)" } ?? "\(date)"))
                }
                // `recip` is an edited copy of `in_app` that no client knows.
                pending += object.members.filter { $0.key != "recip" }.map(\.value)
            }
            pending += value.array ?? []
        }
        return ids.count
    }
}
