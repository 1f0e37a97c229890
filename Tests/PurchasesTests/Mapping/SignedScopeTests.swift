import AppStoreModels
import LegacyReceipts
import Purchases
import TestSupport
import Testing

/// The app and the environment of unsigned documents that state none.
@Suite("App and environment of unsigned documents")
struct SignedScopeTests {
    private static func receipt(
        _ id: String, _ bundleId: String, type: ReceiptType = .production
    ) -> (scope: RecordScope, receipt: MappedReceipt) {
        let purchase = InAppPurchase(quantity: 1, productId: "p", transactionId: id, originalTransactionId: id)
        return (
            scope(bundleId, type == .production ? .production : .sandbox, "receipt \(id)"),
            MappingSupport.map([purchase], type: type, bundleId: bundleId)
        )
    }

    private static func scope(_ bundleId: String?, _ environment: Environment?, _ name: String) -> RecordScope {
        RecordScope(bundleId: bundleId, environment: environment, name: name)
    }

    private static func rows(_ ids: String..., members: String = "") throws -> RecordedMapping {
        let rows = ids.map { RecordedSupport.row($0, original: $0, members) }
        return try RecordedSupport.map("[\(rows.joined(separator: ","))]")
    }

    private func choice(
        _ documents: [(scope: RecordScope, receipt: MappedReceipt)], for mapping: RecordedMapping
    ) -> SignedScopes.Choice { SignedScopes(documents).choice(for: mapping) }

    @Test("The signed document that states a purchase of an unsigned one comes before newer ones")
    func sharedPurchase() throws {
        let (new, old) = (Self.receipt("1", "com.example.new"), Self.receipt("2", "com.example.old"))
        let found = choice([new, old], for: try Self.rows("2"))
        #expect(found.scope == old.scope && found.sharesPurchase)
        // The newest of several.
        #expect(choice([new, old], for: try Self.rows("2", "1")).scope == new.scope)
        #expect(choice([old, new], for: try Self.rows("2", "1")).scope == old.scope)
    }

    @Test("Without a common purchase, the signed documents count if all are of one app and environment")
    func onlyApp() throws {
        let row = try Self.rows("9")
        let (new, old) = (Self.receipt("1", "com.example.app"), Self.receipt("2", "com.example.app"))
        let found = choice([new, old], for: row)
        #expect(found.scope == new.scope && !found.sharesPurchase)
        #expect(choice([new, Self.receipt("2", "com.example.other")], for: row).scope == nil)
        #expect(choice([new, Self.receipt("2", "com.example.app", type: .productionSandbox)], for: row).scope == nil)
        #expect(choice([], for: row).scope == nil)
        // A document without an app states nothing.
        let nameless = (scope: Self.scope(nil, .sandbox, "renewal"), receipt: new.receipt)
        #expect(choice([nameless, old], for: row).scope == old.scope)
        // The unsigned document states another app.
        let other = try Self.rows("9", members: "\"bid\":\"com.example.other\"")
        #expect(choice([new], for: other).scope == nil)
    }

    @Test("Many unsigned documents beside many signed ones take linear work", .timeLimit(.minutes(10)))
    func many() throws {
        let (count, row) = (60_000, try Self.rows("9"))
        let scopes = SignedScopes(Array(repeating: Self.receipt("1", "com.example.app"), count: count))
        #expect((0..<count).allSatisfy { _ in scopes.choice(for: row).scope != nil })
    }

    @Test("The app of signed renewal info is that of a purchase in the same environment")
    func renewalInfo() {
        let receipt = Self.receipt("1", "com.example.app")
        let scopes = SignedScopes([receipt])
        #expect(scopes.scope(ofRenewalInfo: receipt.receipt, in: .production) == receipt.scope)
        #expect(scopes.scope(ofRenewalInfo: receipt.receipt, in: .sandbox) == nil)
        let stranger = Self.receipt("3", "com.example.app").receipt
        #expect(scopes.scope(ofRenewalInfo: stranger, in: .production) == nil)
    }

    @Test("Columns come before the signed document, and that before the defaults")
    func order() throws {
        let row = try Self.rows("9")
        let signed = Self.scope("com.example.signed", nil, "receipt")
        let defaults = Self.scope("com.example.default", .production, "default")
        let bare = RecordedSurroundings().completed(for: row, beside: signed, defaults: defaults)
        #expect(bare.bundleId == signed.bundleId && bare.environment == defaults.environment)
        var columns = RecordedSurroundings()
        columns.bundleId = .init("com.example.column", "app")
        #expect(columns.completed(for: row, beside: signed, defaults: defaults).bundleId == columns.bundleId)
        let alone = RecordedSurroundings().completed(for: row, beside: nil, defaults: defaults)
        #expect(alone.bundleId == defaults.bundleId)
    }

    @Test("An id that states the sandbox contradicts neither a signed document nor a default")
    func sandboxId() throws {
        let row = try Self.rows("1000000028349996")
        #expect(!row.lacksEnvironment)
        let defaults = Self.scope("com.example.app", .production, "default")
        let stated = RecordedSurroundings().completed(for: row, beside: nil, defaults: defaults)
        #expect(stated.environment == nil && stated.bundleId == defaults.bundleId)
    }

    @Test("A default that a document of the record contradicts does not count")
    func contradictedDefault() {
        let defaults = Self.scope("a", .production, "default")
        #expect(defaults.uncontradicted(by: ["a"], [.production]) == defaults)
        #expect(defaults.uncontradicted(by: [], []) == defaults)
        let other = defaults.uncontradicted(by: ["a", "b"], [.production])
        #expect(other.bundleId == nil && other.environment == defaults.environment)
        let sandbox = defaults.uncontradicted(by: ["a"], [.sandbox])
        #expect(sandbox.bundleId == defaults.bundleId && sandbox.environment == nil)
    }
}
