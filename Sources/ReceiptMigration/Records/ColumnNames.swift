/// What columns and JSON members that hold a receipt are called.
enum ColumnNames {
    enum Meaning: Sendable {
        /// A receipt, a JWS, a reply: whatever people call a receipt.
        case receipt
        case originalTransactionID
        case transactionID
    }

    /// The meaning of a name, compared without case, blanks, hyphens, underscores and dots.
    static func meaning(of name: String) -> Meaning? {
        // No name below is longer; this keeps a huge name from being copied.
        guard name.utf8.count <= 64 else { return nil }
        var normalised = ""
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): normalised.unicodeScalars.append(Unicode.Scalar(byte | 0x20))
            case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: " "): continue
            case 0x80...: return nil
            default: normalised.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
        return meanings[normalised]
    }

    private static let meanings: [String: Meaning] = {
        var meanings: [String: Meaning] = [
            "originaltransactionid": .originalTransactionID, "originaltransactionidentifier": .originalTransactionID,
            "transactionid": .transactionID, "transactionidentifier": .transactionID,
        ]
        for name in receiptNames { meanings[name] = .receipt }
        return meanings
    }()

    private static let receiptNames = [
        "receipt", "receiptdata", "receiptbase64", "base64receipt", "receiptb64", "base64", "b64", "rawreceipt",
        "encodedreceipt", "receiptstring", "receiptblob", "latestreceipt", "latestreceiptdata", "lastreceipt",
        "applereceipt", "iosreceipt", "itunesreceipt", "appreceipt", "appstorereceipt", "unityreceipt",
        "transactionreceipt", "purchasereceipt", "iapreceipt", "payload", "receiptpayload", "verificationdata",
        "serververificationdata", "jws", "jwstransaction", "jwsrepresentation", "jwsrepresentationios",
        "signedtransaction", "signedtransactioninfo", "signedpayload", "purchasetoken", "verifyreceiptresponse",
        "verifyreceipt", "receiptresponse",
    ]
}
