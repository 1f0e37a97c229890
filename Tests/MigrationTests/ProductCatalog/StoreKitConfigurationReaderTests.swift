import AppStoreModels
import Foundation
import ProductCatalog
import Testing

@Suite struct StoreKitConfigurationReaderTests {
    private func read(_ text: String) throws(CatalogError) -> [CatalogEntry] {
        try StoreKitConfigurationReader.entries(Data(text.utf8), file: "s.storekit")
    }

    /// The example with one text replaced.
    private func example(_ old: String = "", _ new: String = "") throws -> String {
        let text = try String(contentsOf: URL(filePath: CatalogExamples.storekit), encoding: .utf8)
        guard !old.isEmpty else { return text }
        let range = try #require(text.range(of: old))
        return text.replacingCharacters(in: range, with: new)
    }

    @Test func theExampleIsReadWhole() throws {
        let catalog = try ProductCatalog(entries: read(example()))
        let yearly = try #require(catalog.product("com.example.premium.yearly"))
        #expect(yearly.type == .autoRenewableSubscription)
        #expect(yearly.period?.iso8601 == "P1Y")
        #expect(yearly.subscriptionGroupIdentifier == "6A7B8C9D")
        #expect(yearly.subscriptionGroupName == "Xcode's group")
        #expect(yearly.level == 1)
        #expect(yearly.isFamilyShareable == true)
        #expect(yearly.adamId == 1_234_567_890)
        #expect(yearly.referenceName == "One year" && yearly.price == "39.99")
        #expect(yearly.introductoryOffers.map(\.paymentMode) == [.freeTrial, .payAsYouGo])
        #expect(yearly.introductoryOffers.map(\.numberOfPeriods) == [1, 2])
        #expect(yearly.offer(.promotional, identifier: "winter")?.paymentMode == .payUpFront)
        #expect(yearly.offer(.promotional, identifier: "winter")?.period?.iso8601 == "P3M")
        #expect(yearly.offer(.offerCode, identifier: "friends")?.numberOfPeriods == 3)
        #expect(yearly.offer(.winBack, identifier: "back")?.numberOfPeriods == 1)
        #expect(yearly.offer(.winBack, identifier: "back")?.price == nil)
        #expect(yearly.source(of: .period)?.element == "subscriptionGroups[0].subscriptions[0]")
        let season = try #require(catalog.product("com.example.season"))
        #expect(season.type == .nonRenewingSubscription && season.duration == nil && season.isFamilyShareable == false)
        #expect(catalog.product("com.example.coins")?.type == .consumable)
        #expect(catalog.product("com.example.pro")?.type == .nonConsumable)
    }

    @Test func anInternalIdOfXcodesOwnIsNoAdamId() throws {
        let catalog = try ProductCatalog(entries: read(example()))
        #expect(catalog.product("com.example.season")?.adamId == nil)
        #expect(catalog.product("com.example.pro")?.adamId == nil)
        #expect(catalog.product("com.example.coins")?.adamId == 1_500_000_001)
    }

    @Test(arguments: 1...4) func majorVersionsOneToFour(_ major: Int) throws {
        #expect(try read(example("\"major\" : 4", "\"major\" : \(major)")).count == 4)
    }

    @Test(arguments: [
        (
            "\"P1Y\"", "\"P1Q\"", CatalogError.Code.badPeriod,
            "subscriptionGroups[0].subscriptions[0].recurringSubscriptionPeriod"
        ),
        (
            "\"recurringSubscriptionPeriod\"", "\"was\"", .missingValue,
            "subscriptionGroups[0].subscriptions[0].recurringSubscriptionPeriod"
        ),
        (
            "\"RecurringSubscription\"", "\"Recurring\"", .unknownProductType,
            "subscriptionGroups[0].subscriptions[0].type"
        ),
        (
            "\"RecurringSubscription\"", "\"Consumable\"", .unknownProductType,
            "subscriptionGroups[0].subscriptions[0].type"
        ),
        ("\"NonConsumable\"", "\"NonRenewingSubscription\"", .unknownProductType, "products[1].type"),
        ("\"NonRenewingSubscription\"", "\"Consumable\"", .unknownProductType, "nonRenewingSubscriptions[0].type"),
        ("\"type\" : \"Consumable\"", "\"kind\" : \"Consumable\"", .missingValue, "products[0].type"),
        ("\"com.example.pro\"", "\"com.example.coins\"", .duplicate, "products[1]"),
        ("\"com.example.pro\"", "\"\"", .missingValue, "products[1].productID"),
        ("\"com.example.pro\"", "7", .wrongType, "products[1].productID"),
        ("\"groupNumber\" : 1", "\"groupNumber\" : 0", .badValue, "subscriptionGroups[0].subscriptions[0].groupNumber"),
        (
            "\"groupNumber\" : 1", "\"groupNumber\" : \"1\"", .wrongType,
            "subscriptionGroups[0].subscriptions[0].groupNumber"
        ),
        (
            "\"subscriptionGroupID\" : \"6A7B8C9D\"", "\"subscriptionGroupID\" : \"X\"", .conflict,
            "subscriptionGroups[0].subscriptions[0].subscriptionGroupID"
        ),
        ("\"payUpFront\"", "\"later\"", .badValue, "subscriptionGroups[0].subscriptions[0].adHocOffers[0].paymentMode"),
        ("\"P3M\"", "\"3M\"", .badPeriod, "subscriptionGroups[0].subscriptions[0].adHocOffers[0].subscriptionPeriod"),
        (
            "\"offerID\" : \"back\"", "\"offer\" : 1", .missingValue,
            "subscriptionGroups[0].subscriptions[0].winbackOffers[0].offerID"
        ),
        (
            "\"numberOfPeriods\" : 3", "\"numberOfPeriods\" : 0", .badValue,
            "subscriptionGroups[0].subscriptions[0].codeOffers[0].numberOfPeriods"
        ),
        ("\"major\" : 4", "\"major\" : 5", .unsupportedVersion, "version.major"),
        ("\"version\"", "\"versions\"", .missingValue, "version"),
    ])
    func errorsNameTheElement(_ old: String, _ new: String, _ code: CatalogError.Code, _ element: String) throws {
        let text = try example(old, new)
        let error = catalogError { _ = try read(text) }
        #expect(error?.code == code, "\(String(describing: error))")
        #expect(error?.place.element == element)
        #expect(error?.place.file == "s.storekit")
    }

    @Test func brokenJSONIsAnError() {
        for text in ["", "{", "[]", "{\"version\": {\"major\": 1}", "nul", "\u{0}"] {
            let code = catalogError { _ = try read(text) }?.code
            #expect(code == .syntax || code == .wrongType, "\(text)")
        }
    }

    @Test func deepNestingIsAnError() {
        for count in [1_000, 1_000_000] {
            let text = "{\"version\": {\"major\": 1}, \"x\": \(String(repeating: "[", count: count))"
            #expect(catalogError { _ = try read(text) }?.code == .syntax)
        }
    }

    @Test func tooLongIsAnError() {
        let data = Data(repeating: 0x20, count: CatalogLimits.fileBytes + 1)
        #expect(catalogError { _ = try StoreKitConfigurationReader.entries(data, file: "s") }?.code == .tooLarge)
    }
}
