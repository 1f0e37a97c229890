import LegacyReceipts
import ReceiptForge

/// One attribute as a receipt has it, with its value already encoded.
func attribute(_ type: Int64, version: Int64 = 1, _ value: [UInt8]) -> [UInt8] {
    ForgedAttribute(type, version: version, value: value).encoded
}

func text(_ type: Int64, _ text: String) -> [UInt8] { attribute(type, DERWriter.utf8String(text)) }

func ia5(_ type: Int64, _ text: String) -> [UInt8] { attribute(type, DERWriter.ia5String(text)) }

func integer(_ type: Int64, _ number: Int64) -> [UInt8] { attribute(type, DERWriter.integer(number)) }

/// The attributes without which nothing is a receipt: bundle id and creation date, and the receipt type.
let leastAttributes = [
    text(0, "ProductionSandbox"), text(2, "com.example.orchard"), ia5(12, "2020-07-22T17:39:08Z"),
]

/// A purchase with product and transaction id and some more attributes.
func purchase(_ product: String = "apple", _ id: String = "1", _ more: [[UInt8]] = []) -> [UInt8] {
    attribute(17, DERWriter.set(inOrderGiven: [text(1702, product), text(1703, id)] + more))
}

/// An unsigned message around this content: enough for decoding, and for nothing else.
func message(_ content: [UInt8], octetString: (([UInt8]) -> [UInt8])? = nil) -> [UInt8] {
    DERWriter.sequence(
        DERWriter.objectIdentifier(.signedData),
        DERWriter.explicit(
            0,
            DERWriter.sequence(
                DERWriter.integer(1), DERWriter.setOf([]),
                DERWriter.sequence(
                    DERWriter.objectIdentifier(.data),
                    DERWriter.explicit(0, (octetString ?? DERWriter.octetString)(content))),
                DERWriter.setOf([]))))
}

/// Decodes a receipt of these attributes, in the order given.
func decode(_ attributes: [[UInt8]], limits: DecodingLimits = .standard) throws -> AppReceipt {
    try decode(message(DERWriter.set(inOrderGiven: attributes)), limits: limits)
}

func decode(_ bytes: [UInt8], limits: DecodingLimits = .standard) throws -> AppReceipt {
    switch try ReceiptDecoder(limits: limits).decode(stored: bytes).payload {
    case .app(let receipt): receipt
    case .transaction: throw UnexpectedKind()
    }
}

/// The only purchase of a receipt that has these attributes beside product and transaction id.
func decodePurchase(_ more: [[UInt8]]) throws -> InAppPurchase {
    let receipt = try decode(leastAttributes + [purchase("apple", "1", more)])
    guard receipt.inAppPurchases.count == 1 else { throw UnexpectedKind() }
    return receipt.inAppPurchases[0]
}

func decodeTransaction(_ text: String, limits: DecodingLimits = .standard) throws -> TransactionReceipt {
    switch try ReceiptDecoder(limits: limits).decode(stored: Array(text.utf8)).payload {
    case .app: throw UnexpectedKind()
    case .transaction(let receipt): receipt
    }
}

struct UnexpectedKind: Error {}
