import AppStoreSandbox
import Testing

struct SandboxErrorTests {
    private func error(_ action: () throws -> Void) -> SandboxError? {
        do {
            try action()
            return nil
        } catch { return error as? SandboxError }
    }

    @Test("Two errors are equal if their codes are equal")
    func equality() throws {
        var shop = try Shop()
        let unknown = try #require(error { try shop.buy("com.example.app.nothing") })
        let other = try #require(error { try shop.buy("com.example.app.other") })
        try shop.buy(Sold.unlock)
        let owned = try #require(error { try shop.buy(Sold.unlock) })
        #expect(unknown.message != other.message)
        #expect(unknown == other && Set([unknown, other]).count == 1)
        #expect(unknown != owned)
    }
}
