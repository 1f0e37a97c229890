import AppStoreModels
import ProductCatalog
import Testing
import VerifyReceipt

@Suite("The product catalog of an app")
struct AppCatalogTests {
    @Test("Of several entries for one app, the first with a catalog counts")
    func severalEntries() throws {
        var entry = CatalogEntry(subject: .productId("monthly"), source: CatalogSource(file: "catalog.yaml"))
        entry.type = .autoRenewableSubscription
        let configuration = EndpointConfiguration(apps: [
            AppConfiguration(bundleId: "com.example.orchard"),
            AppConfiguration(bundleId: "com.example.orchard", catalog: try ProductCatalog(entries: [entry])),
            AppConfiguration(bundleId: "com.example.other", catalog: ProductCatalog()),
        ])
        #expect(configuration.catalog(ofApp: "com.example.orchard")?.isEmpty == false)
        #expect(configuration.catalog(ofApp: "com.example.other")?.isEmpty == true)
        #expect(configuration.catalog(ofApp: "com.example.unknown")?.isEmpty == nil)
    }
}
