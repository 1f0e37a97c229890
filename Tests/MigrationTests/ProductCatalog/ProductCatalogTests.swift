import AppStoreModels
import Foundation
import ProductCatalog
import TestSupport
import Testing

@Suite struct ProductCatalogTests {
    private func own(_ facts: String, _ file: String) throws(CatalogError) -> [CatalogEntry] {
        try CatalogFileReader.entries(Data("version: 1\nproducts:\n  a: {\(facts)}".utf8), file: file)
    }

    private func joined(_ one: String, _ other: String) throws(CatalogError) -> ProductCatalog {
        try ProductCatalog(entries: own(one, "one.yaml") + own(other, "other.yaml"))
    }

    @Test func sourcesCompleteEachOther() throws {
        let catalog = try ProductCatalog.load(
            paths: [CatalogExamples.storekit, CatalogExamples.feed, CatalogExamples.yaml])
        let season = try #require(catalog.product("com.example.season"))
        #expect(season.type == .nonRenewingSubscription)
        #expect(season.duration?.iso8601 == "P3M")
        #expect(season.source(of: .type)?.file == CatalogExamples.storekit)
        #expect(season.source(of: .duration)?.file == CatalogExamples.yaml)
        #expect(season.sources.count == 3)
        let yearly = try #require(catalog.product("com.example.premium.yearly"))
        #expect(yearly.offers.count == 5)
        #expect(yearly.entitlement == "premium")
    }

    @Test func xcodesLocalGroupIdentifierGivesWayToApples() throws {
        for paths in [
            [CatalogExamples.storekit, CatalogExamples.yaml], [CatalogExamples.yaml, CatalogExamples.storekit],
        ] {
            let catalog = try ProductCatalog.load(paths: paths)
            let yearly = try #require(catalog.product("com.example.premium.yearly"))
            #expect(yearly.subscriptionGroupIdentifier == "20456789")
            #expect(yearly.source(of: .subscriptionGroupIdentifier)?.file == CatalogExamples.yaml)
            #expect(catalog.remarks.contains { $0.contains("subscriptionGroupIdentifier 20456789") })
        }
    }

    @Test func theOrderOfSourcesDecidesLabelsOnly() throws {
        let catalog = try joined("referenceName: X, price: '1'", "referenceName: Y, price: '1'")
        #expect(catalog.product("a")?.referenceName == "X")
        #expect(catalog.remarks.count == 1)
        #expect(catalog.remarks.first?.contains("one.yaml:3: products.a; other.yaml:3: products.a") == true)
    }

    @Test(arguments: [
        ("type: consumable", "type: non-consumable"), ("period: P1M", "period: P2M"),
        ("duration: P1M", "duration: P30D"),
        ("bonusDuration: P1M", "bonusDuration: P2M"), ("stacks: true", "stacks: false"), ("level: 1", "level: 2"),
        ("familyShareable: true", "familyShareable: false"), ("adamId: 1", "adamId: 2"),
        ("entitlement: x", "entitlement: y"), ("period: P1M", "duration: P1M"), ("type: consumable", "period: P1M"),
        ("type: free-subscription", "duration: P1M"), ("type: free-subscription", "type: auto-renewable"),
        (
            "offers: [{type: winBack, id: x, period: P1M}]", "offers: [{type: winBack, id: x, period: P2M}]"
        ),
        (
            "offers: [{type: introductory, paymentMode: free, period: P1W}]",
            "offers: [{type: introductory, paymentMode: free, period: P1W, numberOfPeriods: 2}]"
        ),
    ])
    func aContradictionNamesBothPlaces(_ one: String, _ other: String) {
        for (first, second) in [(one, other), (other, one)] {
            let error = catalogError { _ = try joined(first, second) }
            #expect(error?.code == .conflict)
            #expect(Set([error?.place.file, error?.otherPlace?.file]) == ["one.yaml", "other.yaml"])
            #expect(
                error?.description.contains("one.yaml:3") == true && error?.description.contains("other.yaml:3") == true
            )
        }
    }

    @Test(arguments: [
        ("period: P1W", "period: P7D"), ("period: P1Y", "period: P12M"), ("type: consumable", "type: Consumable"),
        ("type: free-subscription", "type: non-renewing"), ("", "level: 1"),
        ("offers: [{type: winBack, id: x}]", "offers: [{type: winBack, id: x, period: P1M, paymentMode: free}]"),
        ("offers: [{type: winBack, id: x, period: P1W}]", "offers: [{type: promotional, id: x, period: P1M}]"),
        (
            "offers: [{type: introductory, paymentMode: free, period: P1W}]",
            "offers: [{type: introductory, paymentMode: payUpFront, period: P1M}]"
        ),
    ])
    func factsThatAgreeAreJoined(_ one: String, _ other: String) throws {
        for (first, second) in [(one, other), (other, one)] {
            let catalog = try joined(first, second)
            #expect(catalog.product("a")?.sources.map(\.file) == ["one.yaml", "other.yaml"])
            #expect(catalog.remarks.isEmpty)
        }
    }

    @Test func aFreeSubscriptionStaysFreeWhenXcodeCallsItNonRenewing() throws {
        #expect(try joined("type: non-renewing", "type: free-subscription").product("a")?.isFreeSubscription == true)
    }

    @Test func patternsOfSeveralFilesJoinToo() throws {
        func pattern(_ facts: String, _ file: String) throws -> [CatalogEntry] {
            try CatalogFileReader.entries(Data("version: 1\npatterns: {'*.m': {\(facts)}}".utf8), file: file)
        }
        let catalog = try ProductCatalog(entries: pattern("period: P1M", "1") + pattern("level: 2", "2"))
        #expect(catalog.product("x.m")?.period?.iso8601 == "P1M" && catalog.product("x.m")?.level == 2)
        #expect(catalog.product("x.m")?.source(of: .level)?.file == "2")
        #expect(
            catalogError { _ = try ProductCatalog(entries: pattern("", "1") + pattern("priority: 1", "2")) }?.code
                == .conflict)
    }

    @Test func anExactEntryAnswersAlone() throws {
        let catalog = try catalog("version: 1\nproducts: {a.m: {level: 1}}\npatterns: {'*.m': {period: P1M}}")
        #expect(catalog.product("a.m")?.period == nil && catalog.product("a.m")?.level == 1)
    }

    @Test func theSameFileTwiceIsNoContradiction() throws {
        let catalog = try ProductCatalog.load(paths: [CatalogExamples.yaml, CatalogExamples.yaml])
        #expect(catalog.productIds.count == 4 && catalog.remarks.isEmpty)
    }

    @Test func anEmptyCatalogHasNoProducts() {
        #expect(ProductCatalog().isEmpty && ProductCatalog().product("a") == nil)
    }

    @Test func theKindIsDetectedByFileExtensionThenByContent() throws {
        let folder = try TemporaryFolder()
        let storekit = try String(contentsOf: URL(filePath: CatalogExamples.storekit), encoding: .utf8)
        let feed = try String(contentsOf: URL(filePath: CatalogExamples.feed + "/metadata.xml"), encoding: .utf8)
        let own = "{\"version\": 1, \"products\": {\"a\": {}}}"
        let cases = [
            ("x.storekit", storekit, 4), ("x.json", storekit, 4), ("x", " \n" + storekit, 4), ("own.json", own, 1),
            ("own", own, 1), ("own.YML", own, 1), ("own.txt", "version: 1\nproducts: {a: {}}", 1),
            ("feed.xml", feed, 5),
            ("feed", "\u{FEFF}" + feed, 5), ("NAME.itmsp/metadata.xml", feed, 5),
        ]
        for (name, text, count) in cases {
            let path = try folder.write(name, text)
            #expect(try ProductCatalog.entries(path: path).count == count, "\(name)")
        }
        #expect(try ProductCatalog.entries(path: folder.url.path() + "/NAME.itmsp").count == 5)
        #expect(try ProductCatalog.entries(path: folder.url.path() + "/NAME.itmsp/").count == 5)
    }

    @Test func unreadableFilesAreNamed() throws {
        let folder = try TemporaryFolder()
        let path = folder.url.path()
        #expect(catalogError { _ = try ProductCatalog.load(paths: [path + "/no"]) }?.code == .unreadable)
        #expect(catalogError { _ = try ProductCatalog.load(paths: [path]) }?.code == .unknownFormat)
        let broken = try folder.write("x.json", "<package>")
        #expect(catalogError { _ = try ProductCatalog.load(paths: [broken]) }?.place.file == broken)
    }

    @Test func entriesAreBounded() throws {
        func entries(_ count: Int) -> [CatalogEntry] {
            (0..<count).map { CatalogEntry(subject: .productId("p\($0)"), source: CatalogSource(file: "f")) }
        }
        #expect(try ProductCatalog(entries: entries(CatalogLimits.entries)).productIds.count == CatalogLimits.entries)
        #expect(catalogError { _ = try ProductCatalog(entries: entries(CatalogLimits.entries + 1)) }?.code == .tooLarge)
    }

    @Test func aFreeSubscriptionWithoutItsTypeIsRefused() {
        var entry = CatalogEntry(subject: .productId("a"), source: CatalogSource(file: "f"))
        entry.freeSubscription = true
        #expect(catalogError { _ = try ProductCatalog(entries: [entry]) }?.code == .conflict)
    }

    @Test func everyFieldHasASourceOfItsOwn() throws {
        let text = """
            version: 1
            groups: {g: {identifier: '1', name: n}}
            products:
              a: {period: P1M, bonusDuration: P1M, group: g, level: 1, familyShareable: true, adamId: 1, referenceName: r,
                price: p, entitlement: e, type: auto-renewable, offers: [{type: introductory}]}
              b: {type: non-renewing, duration: P1M, stacks: true}
              c: {type: free-subscription}
            """
        let catalog = try catalog(text)
        var stated: Set<CatalogField> = []
        for id in ["a", "b", "c"] {
            let product = try #require(catalog.product(id))
            for field in CatalogField.allCases {
                #expect(product.facts.states(field) == (product.source(of: field) != nil), "\(id) \(field)")
                if product.source(of: field) != nil { stated.insert(field) }
            }
        }
        #expect(stated == Set(CatalogField.allCases))
        #expect(catalog.product("c")?.source(of: .freeSubscription) != nil)
        #expect(catalog.product("b")?.source(of: .freeSubscription) == nil)
    }
}
