package import AppStoreModels

extension JWSTransactionDecodedPayload {
    /// Whether its transaction ids are decimal numbers, as all of the App Store are. Tables and spreadsheets make others of
    /// them: `5.3E14`, `530001234567000.0`, or `NULL`, which would join the purchases of many customers.
    package var hasDecimalIds: Bool {
        [transactionId, originalTransactionId].allSatisfy { $0?.isDecimal ?? true }
    }
}

extension String {
    /// Whether all characters are decimal digits.
    var isDecimal: Bool { utf8.allSatisfy { (0x30...0x39).contains($0) } }
}
