package import AppStoreModels

extension JWSTransactionDecodedPayload {
    /// Whether its transaction ids are decimal numbers, as all of the App Store are, or absent. Tables and spreadsheets make others of
    /// them: `5.3E14`, `530001234567000.0`, or `NULL`, which would join the purchases of many customers.
    package var hasDecimalIds: Bool {
        [transactionId, originalTransactionId].allSatisfy { $0.map { $0.isEmpty || $0.isDecimal } ?? true }
    }
}
