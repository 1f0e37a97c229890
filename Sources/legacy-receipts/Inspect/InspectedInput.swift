import AppStoreModels
import LegacyReceipts

/// The input of an inspection in which no document was found.
enum InspectedInput {
    /// The receipt that the bytes may be.
    /// - Throws: ``ReceiptError`` `unrecognizedInput` for other JSON too, which begins like a property list.
    static func container(_ bytes: [UInt8]) throws(ReceiptError) -> ReceiptContainer {
        guard !isOtherJSON(bytes) else {
            throw ReceiptError(.unrecognizedInput, "the JSON contains no document of the App Store")
        }
        return try ReceiptContainer(stored: bytes)
    }

    /// Whether the bytes are a JSON array, or a JSON object without the members of a transaction receipt.
    private static func isOtherJSON(_ bytes: [UInt8]) -> Bool {
        switch try? JSONValue.parse(bytes) {
        case .array?: true
        case .object(let object)?: object["signature"] == nil && object["purchase-info"] == nil
        default: false
        }
    }
}
