import AppStoreServer
import Testing

@Suite struct SignedDataErrorTests {
    @Test func twoErrorsAreEqualWhenTheirCodesAre() {
        for code in SignedDataError.Code.allCases {
            let here = SignedDataError(code, at: .header, "in these words")
            let there = SignedDataError(code, at: .certificate(2), "in others", in: "data.signedTransactionInfo")
            #expect(here == there && Set([here, there]).count == 1, "\(code)")
        }
        let all = Set(SignedDataError.Code.allCases.map { SignedDataError($0, "in these words") })
        #expect(all.count == SignedDataError.Code.allCases.count)
    }
}
