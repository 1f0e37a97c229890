import Testing
import VerifyReceiptServer

@Suite("Addresses of shadow mode") struct ShadowConfigurationTests {
    @Test(
        "Apple's two hosts by the production one, and any other server below its address",
        arguments: [
            ("https://buy.itunes.apple.com", "https://buy.itunes.apple.com/verifyReceipt"),
            ("https://buy.itunes.apple.com/verifyReceipt", "https://buy.itunes.apple.com/verifyReceipt"),
            ("https://BUY.itunes.apple.com/", "https://buy.itunes.apple.com/verifyReceipt"),
            ("https://example.com", "https://example.com/verifyReceipt"),
            ("https://example.com/a/", "https://example.com/a/verifyReceipt"),
            ("https://example.com/a/verifyReceipt", "https://example.com/a/verifyReceipt"),
            ("http://localhost:8080", "http://localhost:8080/verifyReceipt"),
            ("http://[::1]:8080", "http://[::1]:8080/verifyReceipt"),
        ])
    func production(base: String, expected: String) throws {
        #expect(try ShadowConfiguration(base: base).productionURL == expected)
    }

    @Test("The sandbox has its own address")
    func sandbox() throws {
        let apple = try ShadowConfiguration(base: "https://buy.itunes.apple.com")
        #expect(apple.sandboxURL == "https://sandbox.itunes.apple.com/verifyReceipt")
        let other = try ShadowConfiguration(base: "https://example.com/a")
        #expect(other.sandboxURL == "https://example.com/a/sandbox/verifyReceipt")
    }

    @Test(
        "An invalid address, one with a user or query, or one that would expose secrets is rejected",
        arguments: [
            ("", ShadowConfigurationError.Code.notAnAddress), ("example.com", .notAnAddress),
            ("ftp://example.com", .notAnAddress), ("https://", .notAnAddress), ("https:///a", .notAnAddress),
            ("https://user:pass@example.com", .hasMoreThanAPath), ("https://example.com/?a=b", .hasMoreThanAPath),
            ("https://example.com/#a", .hasMoreThanAPath), ("http://example.com", .plaintext),
            ("http://127.0.0.1.example.com", .plaintext),
        ])
    func refused(base: String, code: ShadowConfigurationError.Code) {
        let error = #expect(throws: ShadowConfigurationError.self) { try ShadowConfiguration(base: base) }
        #expect(error?.code == code)
        #expect(error?.description.contains("pass") != true)
    }

    @Test("Plain HTTP to another machine is a choice")
    func plaintext() throws {
        let configuration = try ShadowConfiguration(base: "http://stub:80", allowsPlaintext: true)
        #expect(configuration.productionURL == "http://stub:80/verifyReceipt")
    }
}
