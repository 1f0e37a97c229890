/// Decodes receipts without verifying them, for inspection only. Do not grant anything based on the result.
public struct ReceiptDecoder: Sendable {
    /// Input beyond a limit throws ``ReceiptError``: `tooLarge`, `nestedTooDeeply`, `tooManyCertificates`,
    /// `tooManyAttributes` or `malformedPropertyList`.
    public let limits: DecodingLimits

    /// A decoder with the given limits. ``DecodingLimits/standard`` accepts every receipt that Apple's endpoint
    /// accepts.
    public init(limits: DecodingLimits = .standard) { self.limits = limits }

    /// Decodes a stored receipt: raw bytes or base64, see ``ReceiptContainer/init(stored:limits:)-([UInt8],_)``.
    ///
    /// - Throws: ``ReceiptError``. Its ``ReceiptError/verdict`` separates inputs that are not receipts from receipts
    ///   that are not genuine.
    public func decode(stored input: [UInt8]) throws(ReceiptError) -> Unverified<LegacyReceipt> {
        try decode(try ReceiptContainer(stored: input, limits: limits))
    }

    /// Decodes a receipt without transport encoding.
    public func decode(_ container: ReceiptContainer) throws(ReceiptError) -> Unverified<LegacyReceipt> {
        switch container.form {
        case .pkcs7: Unverified(payload: .app(try appReceipt(SignedDataMessage(container.bytes, limits: limits))))
        case .propertyList:
            Unverified(payload: .transaction(try TransactionReceiptDecoder.decode(container.bytes, limits: limits)))
        }
    }

    func appReceipt(_ message: SignedDataMessage) throws(ReceiptError) -> AppReceipt {
        var receipt = try AppReceiptDecoder.decode(message.content, limits: limits)
        receipt.trailingByteCount = message.trailingByteCount
        return receipt
    }
}
