import LegacyReceipts
import Testing

@Suite struct ReceiptErrorTests {
    @Test func twoErrorsAreEqualWhenTheirCodesAre() {
        for code in ReceiptError.Code.allCases {
            let here = ReceiptError(code, at: .byte(1), "in these words")
            let there = ReceiptError(code, at: .key("signature"), "in others")
            #expect(here == there && Set([here, there]).count == 1, "\(code)")
        }
        let all = Set(ReceiptError.Code.allCases.map { ReceiptError($0, "in these words") })
        #expect(all.count == ReceiptError.Code.allCases.count)
    }
}
