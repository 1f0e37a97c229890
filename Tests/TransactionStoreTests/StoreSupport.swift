import Testing
import TransactionStore
import TransactionStoreConformance

typealias Samples = StoreSamples

/// The code of the error that a call throws; nil if it throws none. Every error of a store is a `TransactionStoreError`.
func code(_ body: () async throws -> Void) async -> TransactionStoreError.Code? {
    do {
        try await body()
        return nil
    } catch {
        let error = error as? TransactionStoreError
        #expect(error != nil, "every error is a TransactionStoreError")
        return error?.code
    }
}
