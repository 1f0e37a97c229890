import Foundation
import LegacyReceipts

func base64(_ bytes: [UInt8]) -> [UInt8] { Array(Data(bytes).base64EncodedString().utf8) }

/// The inner keys without which a transaction receipt is none.
let innerEntries = [
    ("product-id", "gold"), ("transaction-id", "30000181531396"), ("purchase-date-ms", "1445593676041"),
]

/// The inner property list in Apple's layout.
func innerText(_ entries: [(String, String)]) -> String {
    "{\n" + entries.map { "\t\"\($0.0)\" = \"\($0.1)\";\n" }.joined() + "}"
}

/// A transaction receipt with a signature that is none: enough for decoding.
func transactionText(
    inner: [(String, String)] = innerEntries, outer: [(String, String)] = [], signature: [UInt8] = [2]
) -> String {
    let entries = [
        ("signature", Data(signature).base64EncodedString()),
        ("purchase-info", Data(innerText(inner).utf8).base64EncodedString()),
    ]
    return innerText(entries + outer)
}

/// A transaction receipt whose inner list is this text.
func transactionText(innerText: String) -> String {
    "{\n\t\"purchase-info\" = \"\(Data(innerText.utf8).base64EncodedString())\";\n}"
}
