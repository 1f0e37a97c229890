import Foundation
import ProductCatalog
import Testing

@Suite struct ProductIdPatternTests {
    /// The definition of a match, slow and recursive, to compare with.
    private func fits(_ pattern: ArraySlice<UInt8>, _ id: ArraySlice<UInt8>) -> Bool {
        guard let first = pattern.first else { return id.isEmpty }
        if first == UInt8(ascii: "*") {
            return fits(pattern.dropFirst(), id) || (!id.isEmpty && fits(pattern, id.dropFirst()))
        }
        guard let byte = id.first, first == UInt8(ascii: "?") || first == byte else { return false }
        return fits(pattern.dropFirst(), id.dropFirst())
    }

    @Test(arguments: [
        ("*.monthly", "com.example.monthly", true), ("*.monthly", ".monthly", true), ("*.monthly", "monthly", false),
        ("*.monthly", "com.monthly.x", false), ("com.*", "com.", true), ("com.*", "net.com.", false),
        ("a*b*c", "abc", true), ("a*b*c", "axxbyybzzc", true), ("a*b*c", "acb", false), ("?", "a", true),
        ("?", "", false), ("?", "ab", false), ("a?c", "abc", true), ("*", "", true), ("*", "x", true),
        ("**a**", "bab", true), ("aa*aa", "aaa", false), ("aa*aa", "aaaa", true), ("A*", "a", false),
    ])
    func matchesTheWholeIdentifier(_ text: String, _ id: String, _ expected: Bool) throws {
        #expect(try #require(ProductIdPattern(text)).matches(id) == expected)
    }

    @Test func agreesWithTheDefinition() throws {
        for _ in 0..<20_000 {
            let text = String((0..<Int.random(in: 1...7)).compactMap { _ in "ab*?".randomElement() })
            guard let pattern = ProductIdPattern(text) else { continue }
            let id = String((0..<Int.random(in: 0...8)).compactMap { _ in "ab".randomElement() })
            #expect(pattern.matches(id) == fits(Array(text.utf8)[...], Array(id.utf8)[...]), "\(text) \(id)")
        }
    }

    @Test func aTextWithoutWildcardIsNoPattern() {
        #expect(ProductIdPattern("com.example") == nil)
        #expect(ProductIdPattern("") == nil)
    }

    @Test func theLengthIsBounded() throws {
        let longest = String(repeating: "?", count: CatalogLimits.patternBytes)
        let pattern = try #require(ProductIdPattern(longest))
        #expect(pattern.matches(String(repeating: "x", count: CatalogLimits.patternBytes)))
        #expect(!pattern.matches(String(repeating: "x", count: CatalogLimits.patternBytes + 1)))
        #expect(ProductIdPattern(longest + "*") == nil)
    }

    @Test func matchingIsLinearInTheIdentifier() throws {
        let pattern = try #require(ProductIdPattern(String(repeating: "a*", count: 60) + "b"))
        let clock = ContinuousClock()
        let id = String(repeating: "a", count: 1_000_000)
        let time = clock.measure { #expect(!pattern.matches(id + "c")) }
        // A backtracking matcher would not end in the lifetime of this machine.
        #expect(time < .seconds(120))
        #expect(pattern.matches(id + "b"))
    }

    @Test func theMostSpecificPatternWins() throws {
        let catalog = try catalog(
            """
            version: 1
            patterns:
              "*": {entitlement: any}
              "com.*": {entitlement: literals}
              "com.?*": {entitlement: one-byte}
              "com.*x*": {entitlement: more-literals}
              "com.exa*": {entitlement: most-literals}
              "com.e*": {entitlement: priority, priority: 1}
            products:
              com.exact: {entitlement: exact}
            """)
        let expected = [
            "net": "any", "com.": "literals", "com.a": "one-byte", "com.ax": "more-literals", "com.exam": "priority",
            "com.exact": "exact",
        ]
        for (id, entitlement) in expected { #expect(catalog.product(id)?.entitlement == entitlement, "\(id)") }
        #expect(catalog.product("com.exact")?.rule == .exact)
        #expect(catalog.product("net")?.rule.description == "pattern *")
        #expect(catalog.product("com.exam")?.rule == .pattern("com.e*"))
    }

    @Test func fewerStarsAreMoreSpecific() throws {
        let catalog = try catalog("version: 1\npatterns: {'a*b*': {level: 1}, 'ab*': {level: 2}}")
        #expect(catalog.product("abb")?.level == 2)
        #expect(catalog.product("aab")?.level == 1)
    }

    @Test(arguments: [
        ("*.monthly", "com.app.*", "com.app.monthly"), ("a*", "*a", "a"), ("?b", "a?", "ab"), ("a*c", "ab*", "abc"),
    ])
    func equallySpecificPatternsThatOverlapAreRefused(_ one: String, _ other: String, _ both: String) throws {
        let padded = one.count < other.count ? one : other
        let text = "version: 1\npatterns:\n  \"\(one)\": {level: 1}\n  \"\(other)\": {level: 2}\n"
        let isEqual =
            padded.filter { !"*?".contains($0) }.count == one.filter { !"*?".contains($0) }.count
            && one.filter { !"*?".contains($0) }.count == other.filter { !"*?".contains($0) }.count
        guard isEqual else {
            _ = try catalog(text)
            return
        }
        let error = catalogError { _ = try catalog(text) }
        #expect(error?.code == .ambiguousPatterns)
        #expect(Set([error?.place.line, error?.otherPlace?.line]) == [3, 4])
        let resolved = text.replacingOccurrences(of: "{level: 2}", with: "{level: 2, priority: 5}")
        #expect(try catalog(resolved).product(both)?.rule == .pattern(other))
    }

    @Test func equallySpecificPatternsThatCannotMeetAreFine() throws {
        let catalog = try catalog(
            "version: 1\npatterns: {'*.week': {period: P1W}, '*.year': {period: P1Y}, 'a?x': {level: 1}, 'b?x': {level: 2}}"
        )
        #expect(catalog.product("x.week")?.period?.iso8601 == "P1W")
        #expect(catalog.product("x.year")?.period?.iso8601 == "P1Y")
        #expect(catalog.product("bax")?.level == 2)
        #expect(catalog.product("cax") == nil)
    }

    @Test func tooManyPatternsAreRefused() throws {
        func entries(_ count: Int) -> [CatalogEntry] {
            (0..<count).map {
                CatalogEntry(
                    subject: .pattern("\($0 + 10_000).*", priority: 0), source: CatalogSource(file: "f", line: $0))
            }
        }
        let full = try ProductCatalog(entries: entries(CatalogLimits.patterns))
        let last = "\(CatalogLimits.patterns + 9_999)."
        #expect(full.product(last + "x")?.rule == .pattern(last + "*"))
        #expect(
            catalogError { _ = try ProductCatalog(entries: entries(CatalogLimits.patterns + 1)) }?.code == .tooLarge)
    }
}
