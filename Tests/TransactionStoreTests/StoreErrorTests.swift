import Testing
import TransactionStore

@Suite struct StoreErrorTests {
    @Test func twoErrorsAreEqualWhenTheirCodesAre() {
        let here = TransactionStoreError(.busy, "in these words")
        let there = TransactionStoreError(.busy, "in others")
        #expect(here == there && Set([here, there]).count == 1)
        #expect(here != TransactionStoreError(.unavailable, "in these words"))
    }
}
