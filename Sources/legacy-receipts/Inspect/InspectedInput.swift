import AppStoreModels
import LegacyReceipts
import Migration

extension DocumentInspection.Content {
    /// The input of an inspection in which no document was found, as the receipt that it may be. Other JSON is unreadable,
    /// although it begins like a property list.
    static func reading(_ bytes: [UInt8], _ verifier: ReceiptVerifier, device: DeviceIdentifier? = nil) -> Self {
        do throws(ReceiptError) {
            guard !isOtherJSON(bytes) else {
                throw ReceiptError(.unrecognizedInput, "the JSON contains no document of the App Store")
            }
            return .receipt(verifier.inspect(try ReceiptContainer(stored: bytes), device: device))
        } catch {
            return .unreadable(error)
        }
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
