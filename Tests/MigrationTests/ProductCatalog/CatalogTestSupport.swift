import Foundation
import ProductCatalog
import Testing

enum CatalogExamples {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Examples")
    static let yaml = folder.appending(path: "catalog.yaml").path()
    static let storekit = folder.appending(path: "Example.storekit").path()
    static let feed = folder.appending(path: "Example.itmsp").path()
}

/// The refusal of `work`, or `nil` (and a failed test) if it went well.
func catalogError(
    _ work: () throws -> Void, _ location: SourceLocation = #_sourceLocation
) -> CatalogError? {
    do {
        try work()
        Issue.record("was not refused", sourceLocation: location)
        return nil
    } catch {
        guard let error = error as? CatalogError else {
            Issue.record("threw \(error)", sourceLocation: location)
            return nil
        }
        return error
    }
}

func ownEntries(_ text: String) throws(CatalogError) -> [CatalogEntry] {
    try CatalogFileReader.entries(Data(text.utf8), file: "c.yaml")
}

func catalog(_ text: String) throws(CatalogError) -> ProductCatalog {
    try ProductCatalog(entries: ownEntries(text))
}
