import ProductCatalog
import Testing

@Suite struct SandboxTimeTests {
    @Test(arguments: [
        ("P3D", 2), ("P1W", 3), ("P7D", 3), ("P1M", 5), ("P2M", 10), ("P3M", 15), ("P6M", 30), ("P1Y", 60),
        ("P12M", 60),
    ])
    func theTableOfTheClassicSandbox(_ period: String, _ minutes: Int64) throws {
        let period = try #require(SubscriptionPeriod(iso8601: period))
        #expect(SandboxTime.renewalLength(of: period) == minutes * 60_000)
    }

    @Test func aPeriodThatIsNotInTheTableHasNoSandboxLength() throws {
        #expect(SandboxTime.renewalLength(of: try #require(SubscriptionPeriod(iso8601: "P4M"))) == nil)
    }
}
