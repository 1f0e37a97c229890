/// The names that columns and JSON members with receipts or ids have.
package enum ColumnNames {
    package enum Meaning: Sendable {
        /// A receipt, a JWS or a reply.
        case receipt
        case originalTransactionID
        case transactionID
        /// The id of an order, or of a purchase in any store.
        case orderID
        /// The store or the platform of a purchase.
        case store
        /// Google's name of an app.
        case packageName
        /// Google's id of a purchase; in some exports, Apple's receipt.
        case purchaseToken

        /// Whether the column can contain a receipt or another document.
        package var mayBeReceipt: Bool { self == .receipt || self == .purchaseToken }
        /// Whether the column contains data that a migration reads.
        package var isPayload: Bool { mayBeReceipt || self == .originalTransactionID || self == .transactionID }
    }

    /// The meaning of a name, compared without case, blanks, hyphens, underscores and dots.
    package static func meaning(of name: String) -> Meaning? {
        // No known name is longer; avoids copying a huge name.
        guard name.utf8.count <= 64 else { return nil }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { normalized in
            var count = 0
            for byte in name.utf8 {
                guard byte < 0x80 else { return nil }
                guard let compared = compared(byte) else { continue }
                normalized.initializeElement(at: count, to: compared)
                count += 1
            }
            guard count < meanings.count else { return nil }
            let normalized = normalized[..<count]
            return meanings[count].first { $0.name.elementsEqual(normalized) }?.meaning
        }
    }

    /// A byte of a name as names are compared: in lower case, and nil for a blank, a hyphen, an underscore or a dot.
    static func compared(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
        case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: " "): nil
        default: byte
        }
    }

    private struct Entry: Sendable {
        let name: [UInt8]
        let meaning: Meaning
    }

    /// By the length of the name, which rules out most names without a comparison.
    private static let meanings: [[Entry]] = {
        var entries: [Entry] = []
        func add(_ names: [String], _ meaning: Meaning) {
            entries += names.map { Entry(name: Array($0.utf8), meaning: meaning) }
        }
        add(["originaltransactionid", "originaltransactionidentifier"], .originalTransactionID)
        add(["transactionid", "transactionidentifier"], .transactionID)
        add(["orderid", "storetransactionid", "storetransactionidentifier", "storeoriginaltransactionid"], .orderID)
        add(
            [
                "store", "storename", "purchasestore", "storetype", "platform", "provider", "purchaseprovider",
                "paymentprovider", "paymentplatform", "paymentgateway", "gateway", "subscriptionplatform",
                "appstorename",
            ], .store)
        add(["packagename"], .packageName)
        add(["purchasetoken"], .purchaseToken)
        add(receiptNames, .receipt)
        let longest = entries.map(\.name.count).max() ?? 0
        return (0...longest).map { length in entries.filter { $0.name.count == length } }
    }()

    private static let receiptNames = [
        "receipt", "receiptdata", "receiptbase64", "base64receipt", "receiptb64", "base64", "b64", "rawreceipt",
        "encodedreceipt", "receiptstring", "receiptblob", "latestreceipt", "latestreceiptdata", "lastreceipt",
        "applereceipt", "iosreceipt", "itunesreceipt", "appreceipt", "appstorereceipt", "unityreceipt",
        "transactionreceipt", "purchasereceipt", "iapreceipt", "payload", "receiptpayload", "verificationdata",
        "serververificationdata", "jws", "jwstransaction", "jwsrepresentation", "jwsrepresentationios",
        "signedtransaction", "signedtransactioninfo", "signedpayload", "verifyreceiptresponse", "verifyreceipt",
        "receiptresponse",
    ]
}
