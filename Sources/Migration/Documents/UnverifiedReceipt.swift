import AppStoreModels
import Encodings
import LegacyReceipts
import Purchases

/// A receipt inside a recorded document that could not be verified. The rows of the document are migrated without it.
struct UnverifiedReceipt: Sendable {
    let kind: RecordKind
    let reason: QuarantineReason
    /// Whether a run with other options may verify it.
    let mayBeVerified: Bool
    /// The receipt in base64, always in the same form; as it was stored if it is too large to be decoded.
    let text: [UInt8]
    /// The columns beside the document.
    let carried: [CarriedColumn]

    /// Nil for a placeholder. Documents are often stored with one in place of the receipt.
    init?(
        _ error: ReceiptError, kind: RecordKind, stored: ArraySlice<UInt8>, carried: [CarriedColumn],
        limits: DecodingLimits
    ) {
        guard Self.isReceipt(error) else { return nil }
        self.kind = kind
        self.carried = carried
        reason = QuarantineReason(error)
        mayBeVerified = Self.mayBeVerified(error)
        text = Self.text(stored, limits)
    }

    private static func isReceipt(_ error: ReceiptError) -> Bool {
        error.verdict == .notGenuine || error.code == .tooLarge
    }

    /// Whether a run with other options may verify a receipt with this error. No option helps if the signature of the
    /// receipt is invalid, and a store keeps nothing from a receipt of Xcode.
    static func mayBeVerified(_ error: ReceiptError) -> Bool {
        switch error.code {
        case .certificateMissing, .signerCount, .unsupportedSignerIdentifier, .signerCertificateNotFound,
            .unsupportedDigestAlgorithm, .unsupportedSignatureAlgorithm, .signedAttributesMismatch, .digestMismatch,
            .signatureMismatch, .xcodeReceipt:
            false
        default: isReceipt(error)
        }
    }

    /// The receipt in base64. All encodings of a receipt give the same text.
    static func text(_ stored: ArraySlice<UInt8>, _ limits: DecodingLimits) -> [UInt8] {
        guard let container = try? ReceiptContainer(stored: stored, limits: limits) else { return Array(stored) }
        return Array(Base64.encode(container.bytes).utf8)
    }

    /// The receipt as a separate record. It has no place, so a store keeps a receipt once for each user, even if many
    /// records contain it.
    /// - Parameter columns: those of the user, and those that are kept beside it.
    func record(_ columns: [CarriedColumn]) -> InputRecord {
        InputRecord(
            place: .none, original: text[...], length: text.count, carried: columns,
            payload: .receipt(text[...]), path: MemberPath.embedded)
    }
}
