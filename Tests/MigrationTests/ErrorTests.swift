import Migration
import ProductCatalog
import Purchases
import Testing

/// What a program branches on decides whether two errors are the same; places and words do not.
@Suite struct ErrorTests {
    @Test func twoCatalogErrorsAreEqualWhenTheirCodesAre() {
        let place = CatalogSource(file: "catalog.yaml", line: 3)
        for code in CatalogError.Code.allCases {
            let here = CatalogError(code, at: place, "in these words")
            let there = CatalogError(code, at: CatalogSource(file: "metadata.xml"), and: place, "in others")
            #expect(here == there && Set([here, there]).count == 1, "\(code)")
        }
        let all = Set(CatalogError.Code.allCases.map { CatalogError($0, at: place, "in these words") })
        #expect(all.count == CatalogError.Code.allCases.count)
    }

    @Test func twoMigrationErrorsAreEqualWhenTheirCodesAre() {
        for code in MigrationError.Code.allCases {
            let here = MigrationError(code, path: "in.csv", "in these words")
            let there = MigrationError(code, path: "", "in others")
            #expect(here == there && Set([here, there]).count == 1, "\(code)")
        }
        let all = Set(MigrationError.Code.allCases.map { MigrationError($0, path: "", "in these words") })
        #expect(all.count == MigrationError.Code.allCases.count)
    }

    @Test func twoErrorsOfRecordedRepliesAreEqualWhenTheirCodesAre() {
        for code in RecordedReplyError.Code.allCases {
            let here = RecordedReplyError(code, at: "status", status: 21003)
            let there = RecordedReplyError(code, at: "receipt.in_app[2]", offset: 7)
            #expect(here == there && Set([here, there]).count == 1, "\(code)")
        }
        let all = Set(RecordedReplyError.Code.allCases.map { RecordedReplyError($0) })
        #expect(all.count == RecordedReplyError.Code.allCases.count)
    }

    @Test func twoErrorsOfInputsAreEqualWhenTheirCodesAre() {
        let here = InputError(code: .notFound, input: "a.csv", message: "in these words")
        #expect(here == InputError(code: .notFound, input: "-", systemError: 2, message: "in others"))
        #expect(here != InputError(code: .unreadable, input: "a.csv", message: "in these words"))
    }

    @Test func twoProblemsOfRecordsAreEqualWhenTheirCodesAre() {
        let here = InputProblem(.invalidJSON, "in these words")
        #expect(here == InputProblem(.invalidJSON, "in others"))
        #expect(here != InputProblem(.invalidUTF8, "in these words"))
    }
}
