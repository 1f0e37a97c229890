import Purchases
import Testing

/// Which of two rows with the same key is kept.
@Suite struct FactRowTests {
    /// A row with one of two values for each criterion.
    private func row(_ isGreater: (FactRow.Criterion) -> Bool) -> FactRow {
        func bytes(_ criterion: FactRow.Criterion) -> [UInt8] { isGreater(criterion) ? [2] : [1, 1] }
        return FactRow(
            kind: 1, source: isGreater(.source) ? 2 : 1, signedDate: isGreater(.signedDate) ? 2 : 1,
            payload: bytes(.payload), legacy: bytes(.legacy), revokes: isGreater(.revokes), document: bytes(.document))
    }

    @Test func theFirstCriterionThatDiffersDecides() {
        let criteria = FactRow.Criterion.allCases
        #expect(criteria == [.signedDate, .revokes, .payload, .legacy, .source, .document])
        for (place, criterion) in criteria.enumerated() {
            let later = criteria.dropFirst(place + 1)
            let (greater, less) = (row { $0 == criterion }, row { later.contains($0) })
            #expect(greater.replaces(less) && !less.replaces(greater), "\(criterion)")
        }
        let same = row { _ in true }
        #expect(!same.replaces(same))
    }
}
