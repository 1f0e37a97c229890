internal import LegacyReceipts

extension KnownReceipt {
    /// SHA-256 of the bytes, 64 hexadecimal digits.
    package var digest: String { Fingerprint(of: bytes).description }
}
