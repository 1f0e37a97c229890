import Foundation
import LegacyReceipts
let verifier = ReceiptVerifier()
for path in CommandLine.arguments.dropFirst() {
    let data = [UInt8](FileManager.default.contents(atPath: path) ?? Data())
    do throws(ReceiptError) {
        let v = try verifier.verify(stored: data)
        switch v.payload {
        case .app(let r): print(path, "OK", r.receiptType?.rawValue ?? "-", r.bundleId, r.inAppPurchases.count, v.evidence.digestAlgorithm.rawValue, "unknown", r.unknownAttributes.map{$0.type}, Set(r.inAppPurchases.flatMap{$0.unknownAttributes.map{$0.type}}), r.trailingByteCount)
        case .transaction(let r): print(path, "OK", r.environment, r.bundleId ?? "-", r.transactionId, r.hasEnvironmentContradiction)
        }
    } catch { print(path, error.code, error.verdict, error.message) }
}
