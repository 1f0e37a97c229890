import AppStoreModels
import Foundation
import ProductCatalog
import TestSupport
import Testing

@Suite struct MetadataFeedReaderTests {
    private func read(_ text: String) throws(CatalogError) -> [CatalogEntry] {
        try MetadataFeedReader.entries(Data(text.utf8), file: "metadata.xml")
    }

    private func feed(_ products: String, head: String = "") -> String {
        """
        \(head)<package xmlns="http://apple.com/itunes/importer" version="software5.12">
        <software><software_metadata><in_app_purchases>
        \(products)
        </in_app_purchases></software_metadata></software></package>
        """
    }

    private let coin = "<in_app_purchase><product_id>coin</product_id><type>consumable</type></in_app_purchase>"

    @Test func theExampleIsReadWhole() throws {
        let catalog = try ProductCatalog.load(paths: [CatalogExamples.feed])
        #expect(catalog.productIds.count == 5)
        let coins = try #require(catalog.product("com.example.coins"))
        #expect(coins.type == .consumable && coins.referenceName == "Coins" && coins.adamId == 1_500_000_001)
        #expect(coins.source(of: .type)?.line == 12)
        #expect(catalog.product("com.example.pro")?.type == .nonConsumable)
        #expect(catalog.product("com.example.season")?.type == .nonRenewingSubscription)
        #expect(catalog.product("com.example.season")?.isFreeSubscription == false)
        #expect(catalog.product("com.example.magazine.free")?.isFreeSubscription == true)
        let weekly = try #require(catalog.product("com.example.magazine.weekly"))
        #expect(weekly.type == .autoRenewableSubscription)
        #expect(weekly.period?.iso8601 == "P7D")
        #expect(weekly.bonusDuration?.iso8601 == "P2M")
        #expect(
            weekly.offers == [
                CatalogOffer(type: .introductory, paymentMode: .freeTrial, period: SubscriptionPeriod(iso8601: "P1M"))
            ])
        #expect(weekly.subscriptionGroupName == "The magazine" && weekly.subscriptionGroupIdentifier == nil)
    }

    @Test func theFamilyEndsWithItsElement() throws {
        let text = feed(
            """
            <family name="F"><in_app_purchase><product_id>a</product_id><type>auto-renewable</type></in_app_purchase></family>
            <in_app_purchase><product_id>b</product_id><type>auto-renewable</type></in_app_purchase>
            """)
        let entries = try read(text)
        #expect(entries.map(\.subscriptionGroupName) == ["F", nil])
        #expect(entries.map(\.period) == [nil, nil])
    }

    @Test func prefixesAndOtherNamespacesAreTolerated() throws {
        let text = feed(coin).replacingOccurrences(of: "<package xmlns=", with: "<package xmlns:other=\"o\" xmlns=")
        #expect(try read(text).count == 1)
        let prefixed = """
            <i:package xmlns:i="http://apple.com/itunes/importer/software5"><i:software><i:software_metadata>\
            <i:in_app_purchases><i:in_app_purchase><i:product_id>a</i:product_id><i:type>consumable</i:type>\
            </i:in_app_purchase></i:in_app_purchases></i:software_metadata></i:software></i:package>
            """
        #expect(try read(prefixed).map(\.type) == [.consumable])
    }

    @Test func productsElsewhereInTheFeedAreNotProducts() throws {
        let text =
            "<package><assets>\(coin)</assets><software><in_app_purchases>\(coin)</in_app_purchases></software></package>"
        #expect(try read(text).isEmpty)
    }

    @Test func textMayComeInPieces() throws {
        let text = feed(
            "<in_app_purchase><product_id>a<![CDATA[.b]]>&#46;c</product_id><type>con<!-- x -->sumable</type></in_app_purchase>"
        )
        #expect(try read(text).map(\.subject) == [.productId("a.b.c")])
    }

    @Test(arguments: [
        ("<type>gift</type>", CatalogError.Code.unknownProductType, 4), ("<type/>", .missingValue, 3),
        ("<type>auto-renewable</type>\n<duration>1 Fortnight</duration>", .badPeriod, 5),
        ("<type>auto-renewable</type>\n<free_trial_duration>P1M</free_trial_duration>", .badPeriod, 5),
        ("<type>auto-renewable</type>\n<bonus_duration>Month</bonus_duration>", .badPeriod, 5),
        ("<type>consumable</type><duration>1 Month</duration>", .conflict, 3),
        ("<type>free-subscription</type><duration>1 Month</duration>", .conflict, 3),
        ("<type>consumable</type>\n<type>consumable</type>", .duplicate, 5),
        ("<type><b>consumable</b></type>", .wrongType, 4),
        ("<type>consumable</type><product_id>y</product_id>", .duplicate, 4),
        (
            "<type>consumable</type>\n<read_only_info><read_only_value key=\"apple-id\">x</read_only_value></read_only_info>",
            .badValue, 5
        ),
    ])
    func errorsNameTheLine(_ inner: String, _ code: CatalogError.Code, _ line: Int) {
        let text = feed("<in_app_purchase><product_id>x</product_id>\n\(inner)</in_app_purchase>")
        let error = catalogError { _ = try read(text) }
        #expect(error?.code == code, "\(String(describing: error))")
        #expect(error?.place.line == line, "\(String(describing: error))")
        #expect(error?.place.element?.hasPrefix("in_app_purchase") == true || code == .wrongType)
    }

    @Test func aProductTwiceOrWithoutIdentifierIsAnError() {
        #expect(catalogError { _ = try read(feed(coin + coin)) }?.code == .duplicate)
        let nameless = "<in_app_purchase><type>consumable</type></in_app_purchase>"
        #expect(catalogError { _ = try read(feed(nameless)) }?.code == .missingValue)
    }

    @Test func documentTypesAreRefusedWhereverTheyHide() {
        var laughs = "<!DOCTYPE package [<!ENTITY a0 \"lol\">"
        for level in 1...30 {
            laughs += "<!ENTITY a\(level) \"\(String(repeating: "&a\(level - 1);", count: 10))\">"
        }
        let heads = [
            laughs + "]>", "<!DOCTYPE package>", "<!doctype package>",
            "<?xml version=\"1.0\"?>\n<!-- <package> -->\n<?pi <package> ?>\n<!DOCTYPE package SYSTEM \"file:///etc/passwd\">",
            "\u{FEFF}<!DOCTYPE package>", "<!ENTITY a \"b\">",
        ]
        for head in heads {
            #expect(
                catalogError { _ = try read(feed(coin, head: head)) }?.code == .documentTypeRefused,
                "\(head.prefix(60))")
        }
        #expect(catalogError { _ = try read(feed(coin, head: heads[3])) }?.place.line == 4)
    }

    @Test func aDocumentTypeAfterTheRootBeganIsNotWellFormed() {
        #expect(catalogError { _ = try read(feed("<!DOCTYPE x [<!ENTITY a \"b\">]>" + coin)) } != nil)
        #expect(catalogError { _ = try read(feed(coin) + "<!DOCTYPE x [<!ENTITY a \"b\">]>") } != nil)
        #expect(catalogError { _ = try read(feed(coin.replacingOccurrences(of: "coin<", with: "&e;<"))) } != nil)
    }

    @Test func wordsOfADocumentTypeInTextAreHarmless() throws {
        let text = feed(coin, head: "<!-- <!DOCTYPE x> --><?p <!DOCTYPE x> ?>")
        #expect(try read(text).count == 1)
        #expect(try read(feed("<note><![CDATA[<!DOCTYPE x>]]></note>" + coin)).count == 1)
    }

    @Test func encodingsThatCouldHideADeclarationAreRefused() {
        for name in ["UTF-7", "UTF-16", "IBM037", "ISO-8859-1", "x"] {
            let head = "<?xml version='1.0' encoding='\(name)'?>"
            #expect(catalogError { _ = try read(feed(coin, head: head)) }?.code == .badEncoding)
        }
        let wide = feed(coin).data(using: .utf16) ?? Data()
        #expect(catalogError { _ = try MetadataFeedReader.entries(wide, file: "m") }?.code == .badEncoding)
        let bare = feed(coin).data(using: .utf16LittleEndian) ?? Data()
        #expect(catalogError { _ = try MetadataFeedReader.entries(bare, file: "m") }?.code == .badEncoding)
    }

    @Test(
        arguments: [
            [0xFF], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x9F, 0xBF], [0xED, 0xA0, 0x80], [0xF0, 0x8F, 0xBF, 0xBF],
            [0xF4, 0x90, 0x80, 0x80], [0x80], [0xC3], [0xE2, 0x82], [0xC3, 0x28], [0xF8, 0x88, 0x80, 0x80, 0x80],
        ] as [[UInt8]])
    func bytesThatAreNoUTF8NeverReachTheParser(_ bytes: [UInt8]) {
        // Foundation's parser traps on some of these, above all in names.
        for (before, after) in [
            ("<package>\n<product_id", "></package>"), ("<package>\n", "</package>"),
            ("<package>\n<a b='", "'/></package>"), ("<package>\n", ""),
        ] {
            let data = Data(before.utf8) + Data(bytes) + Data(after.utf8)
            let error = catalogError { _ = try MetadataFeedReader.entries(data, file: "m") }
            #expect(error?.code == .badEncoding)
            #expect(error?.place.line == 2)
        }
    }

    @Test func charactersAcrossChunksArriveWhole() throws {
        let text = String(repeating: "aé€😀", count: 20_000)
        for shift in 0..<4 {
            let name = "caf\u{E9}😀"
            let head = "<!--\(String(repeating: "x", count: shift))-->"
            let entries = try read(
                feed(
                    "<note>\(text)</note>"
                        + coin.replacingOccurrences(
                            of: "<type>", with: "<reference_name>\(name)</reference_name><type>"), head: head))
            #expect(entries.map(\.referenceName) == [name])
        }
    }

    @Test(arguments: ["UTF-8", "utf-8", "US-ASCII"])
    func plainEncodingsAreRead(_ name: String) throws {
        #expect(try read(feed(coin, head: "<?xml version=\"1.0\" encoding=\"\(name)\"?>")).count == 1)
    }

    @Test func otherXMLIsRefused() {
        #expect(catalogError { _ = try read("<plist/>") }?.code == .unknownFormat)
        for text in ["", "   ", "text", "<package>", "<package><software></package>", "<package/><package/>", "<?xml"] {
            #expect(catalogError { _ = try read(text) }?.code == .syntax, "\(text)")
        }
    }

    @Test func aFeedCutShortIsAnError() throws {
        let text = try String(contentsOf: URL(filePath: CatalogExamples.feed + "/metadata.xml"), encoding: .utf8)
        let bytes = Array(text.utf8)
        let end = bytes.count - 2  // the newline and the last >
        for length in stride(from: 0, to: end, by: 37) {
            #expect(catalogError { _ = try MetadataFeedReader.entries(Data(bytes[..<length]), file: "m") } != nil)
        }
    }

    @Test func nestingIsBounded() throws {
        func text(_ depth: Int) -> String {
            "<package>" + String(repeating: "<a>", count: depth - 1) + String(repeating: "</a>", count: depth - 1)
                + "</package>"
        }
        #expect(try read(text(CatalogLimits.feedDepth)).isEmpty)
        #expect(catalogError { _ = try read(text(CatalogLimits.feedDepth + 1)) }?.code == .tooDeep)
        #expect(catalogError { _ = try read(text(200_000)) }?.code == .tooDeep)
    }

    @Test func textIsBoundedWhereItIsKept() throws {
        func text(_ length: Int) -> String {
            let name = String(repeating: "n", count: length)
            return feed(
                "<in_app_purchase><product_id>a</product_id><type>consumable</type><reference_name>\(name)</reference_name></in_app_purchase>"
            )
        }
        #expect(try read(text(CatalogLimits.textBytes)).first?.referenceName?.count == CatalogLimits.textBytes)
        #expect(catalogError { _ = try read(text(CatalogLimits.textBytes + 1)) }?.code == .tooLarge)
    }

    @Test func thePrologIsBounded() throws {
        let filler = String(repeating: "x", count: CatalogLimits.feedPrologBytes)
        #expect(catalogError { _ = try read(feed(coin, head: "<!--\(filler)-->")) }?.code == .tooLarge)
        let space = String(repeating: " ", count: CatalogLimits.feedPrologBytes)
        #expect(catalogError { _ = try read(feed(coin, head: space)) }?.code == .tooLarge)
        #expect(try read(feed(coin, head: "<!--\(filler.dropLast(100))-->")).count == 1)
    }

    @Test func megabytesOfOtherMetadataPassBy() throws {
        let folder = try TemporaryFolder()
        // More than another kind of catalog may have: 16 MiB.
        let other = "<screenshot><file>\(String(repeating: "f", count: 10_000))</file></screenshot>\n"
        let path = try folder.write(
            "App.itmsp/metadata.xml",
            feed(coin).replacingOccurrences(
                of: "<software>", with: "<software>" + String(repeating: other, count: 1_700)))
        let entries = try ProductCatalog.entries(path: path)
        #expect(entries.map(\.subject) == [.productId("coin")])
        #expect(entries.first?.source.line == 1_703)
    }

    @Test func noMutationOfTheExampleTraps() throws {
        let original = try Array(Data(contentsOf: URL(filePath: CatalogExamples.feed + "/metadata.xml")))
        for _ in 0..<1_500 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...4) {
                let index = bytes.indices.randomElement() ?? 0
                switch Int.random(in: 0..<3) {
                case 0: bytes[index] = UInt8.random(in: 0...255)
                case 1: bytes.remove(at: index)
                default: bytes.insert("<>&;!/\"'[]-= \n?".utf8.randomElement() ?? 0, at: index)
                }
            }
            _ = try? MetadataFeedReader.entries(Data(bytes), file: "m")
        }
    }
}
