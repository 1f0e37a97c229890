import AppStoreModels
import Foundation
import ProductCatalog
import Testing

@Suite struct CatalogFileReaderTests {
    @Test func theExampleIsReadWhole() throws {
        let catalog = try ProductCatalog.load(paths: [CatalogExamples.yaml])
        #expect(
            catalog.productIds == [
                "com.example.coins", "com.example.magazine.free", "com.example.premium.yearly", "com.example.season",
            ])
        let yearly = try #require(catalog.product("com.example.premium.yearly"))
        #expect(yearly.type == .autoRenewableSubscription)
        #expect(yearly.period?.iso8601 == "P1Y")
        #expect(yearly.subscriptionGroupIdentifier == "20456789")
        #expect(yearly.subscriptionGroupName == "Premium")
        #expect(yearly.level == 1)
        #expect(yearly.bonusDuration?.iso8601 == "P1M")
        #expect(yearly.isFamilyShareable == true)
        #expect(yearly.adamId == 1_234_567_890)
        #expect(yearly.referenceName == "Premium, one year")
        #expect(yearly.price == "39.99")
        #expect(yearly.entitlement == "premium")
        #expect(yearly.source(of: .period)?.line == 8)
        #expect(yearly.source(of: .period)?.element == "products.com.example.premium.yearly")
        #expect(yearly.source(of: .duration) == nil)
        #expect(
            yearly.offers == [
                CatalogOffer(
                    type: .introductory, paymentMode: .freeTrial, period: SubscriptionPeriod(iso8601: "P1W")),
                CatalogOffer(
                    type: .promotional, identifier: "winter", paymentMode: .payUpFront,
                    period: SubscriptionPeriod(iso8601: "P3M"), referenceName: "Winter sale", price: "4.99"),
                CatalogOffer(
                    type: .offerCode, identifier: "friends", paymentMode: .payAsYouGo,
                    period: SubscriptionPeriod(iso8601: "P1M"), numberOfPeriods: 3, price: "0.99"),
                CatalogOffer(
                    type: .winBack, identifier: "back", paymentMode: .freeTrial,
                    period: SubscriptionPeriod(iso8601: "P1M"),
                    winBackRules: WinBackRules(
                        minimumPaidMonths: 3, minimumMonthsSince: 2, maximumMonthsSince: 24, monthsBetweenOffers: 6,
                        waitScope: .group, startDate: 1_772_352_000_000, endDate: 1_775_026_800_000,
                        storefronts: ["USA", "CAN"], priority: .high)),
            ])
        #expect(yearly.offer(.promotional, identifier: "winter")?.price == "4.99")
        #expect(yearly.offer(.winBack, identifier: "winter") == nil)
        #expect(yearly.introductoryOffers.count == 1)

        let season = try #require(catalog.product("com.example.season"))
        #expect(season.type == .nonRenewingSubscription && season.duration?.iso8601 == "P3M" && !season.stacks)
        let free = try #require(catalog.product("com.example.magazine.free"))
        #expect(free.isFreeSubscription && free.type == .nonRenewingSubscription && free.duration == nil)
        #expect(catalog.product("com.example.coins")?.type == .consumable)
        #expect(catalog.product("com.example.pro.monthly")?.rule.description == "pattern com.example.*.monthly")
        #expect(catalog.product("com.other.monthly")?.rule.description == "pattern *.monthly")
        #expect(catalog.product("com.other.monthly")?.productId == "com.other.monthly")
        #expect(catalog.product("com.other.yearly") == nil)
    }

    @Test func winBackRulesAreOfTheProductAndItsGroup() throws {
        let catalog = try catalog(
            """
            version: 1
            products:
              a:
                type: auto-renewable
                offers:
                - {type: winBack, id: bare}
                - {type: winBack, id: x, paidMonths: 1, monthsSince: {minimum: 0}}
            """)
        let product = try #require(catalog.product("a"))
        #expect(
            product.winBackOffers(group: "g") == [
                WinBackOffer(
                    offerIdentifier: "x", group: "g", productId: "a", rules: WinBackRules(minimumPaidMonths: 1))
            ])
    }

    @Test(
        "Rules of a win-back offer that are wrong are refused with their line and what is wanted",
        arguments: [
            ("priority: low", .badValue, "priority must be high or normal, not \"low\""),
            ("waitScope: product", .badValue, "waitScope must be offer or group, not \"product\""),
            ("startDate: 2026-02-30", .badValue, "startDate must be a day like 2026-03-01"),
            ("endDate: tomorrow", .badValue, "endDate must be a day like 2026-03-01"),
            ("{}", nil, ""), ("storefronts: USA", .wrongType, "storefronts must be a list"),
            ("storefronts: []", .missingValue, "leave the key out for all storefronts"),
            ("storefronts: [usa]", .badValue, "three capital letters such as USA, not \"usa\""),
            ("storefronts: [USA, USA]", .duplicate, "the storefront USA appears twice"),
            ("storefronts: [[USA]]", .wrongType, "a storefront must be text"),
            ("monthsBetweenOffers: 1201", .badValue, "monthsBetweenOffers must be 0 to 1200"),
            ("monthsBetweenOffers: six", .wrongType, "monthsBetweenOffers must be a whole number"),
        ] as [(String, CatalogError.Code?, String)])
    func winBackRulesAreChecked(_ key: String, _ code: CatalogError.Code?, _ message: String) throws {
        let text = """
            version: 1
            products:
              a:
                offers:
                - type: winBack
                  id: x
                  paidMonths: 1
                  monthsSince: {minimum: 1}
            """
        guard let code else {
            _ = try ownEntries(text)
            return
        }
        let error = catalogError { _ = try ownEntries(text + "\n      \(key)") }
        #expect(error?.code == code)
        #expect(error?.place.line == 9)
        #expect(error?.message.contains(message) == true, "\(String(describing: error))")
    }

    @Test(
        "Rules of a win-back offer must be whole and in order, and other offers have none",
        arguments: [
            ("{type: winBack, id: x, priority: high}", .missingValue, "paidMonths is missing"),
            ("{type: winBack, id: x, paidMonths: 1}", .missingValue, "monthsSince is missing"),
            ("{type: winBack, id: x, paidMonths: 1, monthsSince: {}}", .missingValue, "monthsSince.minimum is missing"),
            (
                "{type: winBack, id: x, paidMonths: 1, monthsSince: {minimum: 2, maximum: 2}}", .badValue,
                "maximum must be more than minimum"
            ),
            (
                "{type: winBack, id: x, paidMonths: 1, monthsSince: {minimum: 2}, startDate: 2026-03-02, endDate: 2026-03-01}",
                .badValue, "endDate is before startDate"
            ),
            ("{type: promotional, id: x, paidMonths: 1}", .unknownKey, "paidMonths"),
            ("{type: promotional, id: x, priority: high}", .unknownKey, "priority"),
        ] as [(String, CatalogError.Code, String)])
    func winBackRulesAreWhole(_ offer: String, _ code: CatalogError.Code, _ message: String) throws {
        let error = catalogError {
            _ = try ownEntries("version: 1\nproducts:\n  a:\n    offers:\n    - \(offer)")
        }
        #expect(error?.code == code)
        #expect(error?.place.line == 5)
        #expect(error?.message.contains(message) == true, "\(String(describing: error))")
    }

    @Test func stackingIsTheDefault() throws {
        let catalog = try catalog("version: 1\nproducts: {a: {type: non-renewing, duration: P1M}}")
        #expect(catalog.product("a")?.stacks == true)
        #expect(catalog.product("a")?.source(of: .stacks) == nil)
    }

    @Test func jsonIsReadAsWell() throws {
        let text = """
            {
            \t"version": 1,
            \t"products": {
            \t\t"a.b": {"type": "non-renewing", "duration": "P2M", "stacks": false, "referenceName": "caf\\u00e9 \\/ \\u0026x"}
            \t},
            \t"patterns": {"*.m": {"period": "P1M"}}
            }
            """
        let catalog = try ProductCatalog(entries: CatalogFileReader.entries(Data(text.utf8), file: "c.json"))
        #expect(catalog.product("a.b")?.duration?.iso8601 == "P2M")
        #expect(catalog.product("a.b")?.referenceName == "café / &x")
        #expect(catalog.product("a.b")?.source(of: .duration)?.description == "c.json:4: products.a.b")
        #expect(catalog.product("x.m")?.period?.iso8601 == "P1M")
    }

    @Test func keysThatLookLikeNumbersStayText() throws {
        let catalog = try catalog(
            "version: 1\ngroups: {1: {identifier: 00123}}\nproducts: {0123: {group: 1}, 123: {price: 1.50}}")
        #expect(catalog.product("0123")?.subscriptionGroupIdentifier == "00123")
        #expect(catalog.product("123")?.price == "1.50")
    }

    @Test(
        arguments: [
            ("", CatalogError.Code.missingValue, nil), ("products: {}", .missingValue, 1),
            ("version: 2", .unsupportedVersion, 1),
            ("version: one", .wrongType, 1), ("version: \"1\"", .wrongType, 1), ("- 1", .wrongType, 1),
            ("x", .wrongType, 1),
            ("version: 1\nproduct: {}", .unknownKey, 2),
            ("version: 1\nproducts:\n  a:\n    periode: P1M", .unknownKey, 4),
            ("version: 1\nproducts:\n  a: {priority: 1}", .unknownKey, 3),
            ("version: 1\nproducts:\n  a: {period: 1 Month}", .badPeriod, 3),
            ("version: 1\nproducts:\n  a: {duration: P0M}", .badPeriod, 3),
            ("version: 1\nproducts:\n  a: {period: [P1M]}", .wrongType, 3),
            ("version: 1\nproducts:\n  a: {period: }", .wrongType, 3),
            ("version: 1\nproducts:\n  a: {period: null}", .wrongType, 3),
            ("version: 1\nproducts:\n  a: {stacks: yes}", .wrongType, 3),
            ("version: 1\nproducts:\n  a: {stacks: \"true\"}", .wrongType, 3),
            ("version: 1\nproducts:\n  a: {level: 1.5}", .wrongType, 3),
            ("version: 1\nproducts:\n  a: {level: 0}", .badValue, 3),
            ("version: 1\nproducts:\n  a: {adamId: 99999999999999999999}", .wrongType, 3),
            ("version: 1\nproducts:\n  a: {type: subscription}", .unknownProductType, 3),
            ("version: 1\nproducts:\n  a: {group: premium}", .badValue, 3),
            ("version: 1\nproducts:\n  a: 1", .wrongType, 3), ("version: 1\nproducts: [a]", .wrongType, 2),
            ("version: 1\nproducts:\n  ? [a]\n  : {}", .wrongType, 3),
            ("version: 1\nproducts:\n  \"a*\": {}", .badValue, 3),
            ("version: 1\nproducts:\n  \"a b\": {}", .badValue, 3),
            ("version: 1\nproducts:\n  \"\": {}", .missingValue, 3), ("version: 1\npatterns:\n  a: {}", .badValue, 3),
            ("version: 1\npatterns:\n  \"*\": {priority: 1001}", .badValue, 3),
            ("version: 1\nproducts:\n  a: {}\n  b: {}\n  a: {}", .duplicate, 3),
            ("version: 1\nproducts:\n  a: {}\n  \"a\": {}", .duplicate, 3),
            ("version: 1\nversion: 1", .duplicate, 1), ("version: 1\npatterns:\n  \"**\": {}\n  \"*\": {}", nil, nil),
            ("version: 1\nproducts:\n  a: {period: P1M, duration: P1M}", .conflict, 3),
            ("version: 1\nproducts:\n  a: {type: consumable, period: P1M}", .conflict, 3),
            ("version: 1\nproducts:\n  a: {type: auto-renewable, duration: P1M}", .conflict, 3),
            ("version: 1\nproducts:\n  a: {type: auto-renewable, stacks: true}", .conflict, 3),
            ("version: 1\nproducts:\n  a: {type: non-renewing, period: P1M}", .conflict, 3),
            ("version: 1\nproducts:\n  a: {type: non-consumable, level: 1}", .conflict, 3),
            ("version: 1\nproducts:\n  a: {type: free-subscription, duration: P1M}", .conflict, 3),
            ("version: 1\nproducts:\n  a:\n    offers: {}", .wrongType, 4),
            ("version: 1\nproducts:\n  a:\n    offers:\n    - {}", .missingValue, 5),
            ("version: 1\nproducts:\n  a:\n    offers:\n    - {type: gift}", .badValue, 5),
            ("version: 1\nproducts:\n  a:\n    offers:\n    - {type: promotional}", .missingValue, 5),
            ("version: 1\nproducts:\n  a:\n    offers:\n    - {type: introductory, id: x}", .badValue, 5),
            ("version: 1\nproducts:\n  a:\n    offers:\n    - {type: introductory, paymentMode: FREE}", .badValue, 5),
            ("version: 1\nproducts:\n  a:\n    offers:\n    - {type: introductory, numberOfPeriods: 0}", .badValue, 5),
            ("version: 1\nproducts:\n  a:\n    offers:\n    - {type: introductory, length: P1M}", .unknownKey, 5),
            (
                "version: 1\nproducts:\n  a:\n    offers:\n    - {type: winBack, id: x}\n    - {type: winBack, id: x}",
                .duplicate, 6
            ),
            ("version: 1\nproducts: {a: {}", .syntax, 3), ("version: 1\n\tproducts: {}", .syntax, 2),
            ("version: 1\n---\nversion: 1", .syntax, 2), ("version: 1\nx: \u{1}", .syntax, 2),
            ("version: 1\nproducts: !!binary aGVsbG8=", .wrongType, 2), ("version: !mine 1", .wrongType, 1),
        ] as [(String, CatalogError.Code?, Int?)])
    func errorsNameFileAndLine(_ text: String, _ code: CatalogError.Code?, _ line: Int?) throws {
        guard let code else {
            _ = try ownEntries(text)
            return
        }
        let error = catalogError { _ = try ownEntries(text) }
        #expect(error?.code == code, "\(String(describing: error))")
        #expect(error?.place.file == "c.yaml")
        #expect(error?.place.line == line || text.hasSuffix("{a: {}"), "\(String(describing: error))")
        #expect(error?.message.isEmpty == false)
    }

    @Test func anErrorAboutAWholeFileNamesNoElement() {
        let error = catalogError { _ = try ownEntries("a,b") }
        #expect(error?.description == "c.yaml:1: expected a mapping of keys to values")
    }

    @Test func aWildcardTwiceIsTheSamePattern() throws {
        let text = "version: 1\npatterns:\n  \"**\": {level: 1}\n  \"*\": {level: 2}"
        #expect(catalogError { _ = try catalog(text) }?.code == .conflict)
    }

    @Test func anchorsAndAliasesAreRefusedBeforeParsing() throws {
        var bomb = "version: 1\na0: &a0 [x, x, x, x, x, x, x, x, x]\n"
        for level in 1...40 {
            let alias = "*a\(level - 1)"
            bomb += "a\(level): &a\(level) [\([String](repeating: alias, count: 9).joined(separator: ", "))]\n"
        }
        let texts = [
            bomb, "&x version: 1", "version: &x 1", "version: [&x 1]", "version: {a: 1,&x b: 2}",
            "version: 1\nproducts:\n  - &_ a", "version: \"a\"&x", "version: 1 # &x",
        ]
        for text in texts {
            #expect(catalogError { _ = try ownEntries(text) }?.code == .aliasRefused, "\(text.prefix(40))")
        }
        #expect(catalogError { _ = try ownEntries(bomb) }?.place.line == 2)
    }

    @Test func anAmpersandInTextIsNoAnchor() throws {
        let catalog = try catalog(
            "version: 1\nproducts:\n  a: {referenceName: Tom & Jerry R&D, entitlement: \"\\x26x\"}")
        #expect(catalog.product("a")?.referenceName == "Tom & Jerry R&D")
        #expect(catalog.product("a")?.entitlement == "&x")
    }

    @Test(arguments: ["[", "{a: ", "- ", "? ", "{? ", "[{a: "])
    func deepNestingIsAnError(_ opening: String) throws {
        for count in [20, 900, 1_100, 200_000] {
            let error = catalogError {
                _ = try ownEntries("version: 1\nx:\n  " + String(repeating: opening, count: count))
            }
            #expect(error?.code == .tooDeep || error?.code == .syntax)
        }
    }

    @Test func closedDeepNestingIsAnErrorOnBothSidesOfTheParsersOwnLimit() throws {
        // The root mapping is level 1, the scalar in the innermost list the last level.
        func text(_ depth: Int) -> String {
            "x: " + String(repeating: "[", count: depth - 2) + "a" + String(repeating: "]", count: depth - 2)
        }
        #expect(catalogError { _ = try ownEntries(text(CatalogLimits.yamlDepth)) }?.code == .missingValue)
        for depth in [CatalogLimits.yamlDepth + 1, 900, 990, 1_100] {
            #expect(catalogError { _ = try ownEntries(text(depth)) }?.code == .tooDeep, "\(depth)")
        }
    }

    @Test func readingWorksOnSmallStacks() async throws {
        let depths = await Task.detached {
            [100, 950].map { depth in
                let text = String(repeating: "- ", count: depth) + "x"
                do throws(CatalogError) {
                    _ = try ownEntries(text)
                    return CatalogError.Code.syntax
                } catch {
                    return error.code
                }
            }
        }.value
        #expect(depths == [.tooDeep, .tooDeep])
    }

    @Test func longFilesAndValuesAreRefused() throws {
        let name = String(repeating: "n", count: CatalogLimits.textBytes)
        #expect(try catalog("version: 1\nproducts: {a: {referenceName: \(name)}}").product("a")?.referenceName == name)
        #expect(
            catalogError { _ = try ownEntries("version: 1\nproducts: {a: {referenceName: \(name)n}}") }?.code
                == .tooLarge)
        let head = Data("version: 1\n#".utf8)
        let fitting = head + Data(repeating: UInt8(ascii: "x"), count: CatalogLimits.fileBytes - head.count)
        #expect(try CatalogFileReader.entries(fitting, file: "c").isEmpty)
        #expect(
            catalogError { _ = try CatalogFileReader.entries(fitting + Data([0x78]), file: "c") }?.code == .tooLarge)
        let id = String(repeating: "i", count: CatalogLimits.productIdBytes)
        #expect(try catalog("version: 1\nproducts: {\(id): {}}").product(id) != nil)
        #expect(catalogError { _ = try ownEntries("version: 1\nproducts: {\(id)i: {}}") }?.code == .badValue)
    }

    @Test func onlyUTF8IsRead() {
        #expect(
            catalogError { _ = try CatalogFileReader.entries(Data([0xFF, 0xFE, 0x76, 0]), file: "c") }?.code
                == .badEncoding)
    }

    @Test func noMutationOfTheExampleTraps() throws {
        let original = try Array(Data(contentsOf: URL(filePath: CatalogExamples.yaml)))
        for _ in 0..<1_500 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...4) {
                let index = bytes.indices.randomElement() ?? 0
                switch Int.random(in: 0..<3) {
                case 0: bytes[index] = UInt8.random(in: 0...255)
                case 1: bytes.remove(at: index)
                default: bytes.insert("{}[]:,-*&!|>'\"%@`\n \t?".utf8.randomElement() ?? 0, at: index)
                }
            }
            _ = try? ProductCatalog(entries: CatalogFileReader.entries(Data(bytes), file: "c"))
        }
    }
}
