import AppStoreServer
import LegacyReceipts
import Purchases

/// A document that an app can send to verifyReceipt as `receipt-data`.
package struct SubmittableDocument: Sendable {
    package enum Content: Sendable, Hashable {
        /// The bytes of a receipt, without transport encoding.
        case receipt([UInt8])
        /// A signed transaction of StoreKit 2, which servers answer only if they are configured so.
        case signedTransaction(String)
    }

    /// As ``DocumentInspection/path``, with the key of the receipt if a recorded document has it.
    package let path: String
    package let content: Content
}

extension DocumentInspector {
    /// The receipts and signed transactions in an input, genuine or not, each once. They are the input itself, the one
    /// in a request, and the receipts in a recorded document. Empty if there is nothing that an app could send.
    package func submittable(in bytes: [UInt8]) -> [SubmittableDocument] {
        let documents = RecordReader().read(text: bytes[...], depth: 0).payload.documents
        var found: [SubmittableDocument] = []
        var contents: Set<SubmittableDocument.Content> = []
        func add(_ content: SubmittableDocument.Content?, _ path: String) {
            guard let content, contents.insert(content).inserted else { return }
            found.append(SubmittableDocument(path: path, content: content))
        }
        for document in documents {
            switch document.payload {
            case .receipt(let text): add(submittableReceipt(text), document.path)
            case .jws(let text):
                let jws = String(decoding: text, as: UTF8.self)
                guard signedData.inspect(jws, bundleId: nil).kind == .transaction else { continue }
                add(.signedTransaction(jws), document.path)
            case .reply(let value), .transactions(let value), .notification(let value):
                for receipt in (try? RecordedReply(value))?.embeddedReceipts ?? [] {
                    let path = document.path.isEmpty ? receipt.key : MemberPath.joined(document.path, receipt.key)
                    add(submittableReceipt(Array(receipt.text.utf8)[...]), path)
                }
            case .storeKit2, .transactionID, .several, .unrecognized: continue
            }
        }
        // A form of a receipt that only a whole input has.
        if documents.isEmpty { add(submittableReceipt(bytes[...]), "") }
        return found
    }

    /// Nil if the text is not a receipt.
    private func submittableReceipt(_ text: ArraySlice<UInt8>) -> SubmittableDocument.Content? {
        guard let container = try? ReceiptContainer(stored: text) else { return nil }
        if case .failure(let error) = receipts.inspect(container).verdict, error.verdict == .notAReceipt { return nil }
        return .receipt(container.bytes)
    }
}
