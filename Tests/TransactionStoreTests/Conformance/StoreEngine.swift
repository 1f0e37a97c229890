import Testing
import TransactionStore

/// An engine under test.
struct StoreEngine: Sendable {
    let name: String
    /// Makes a place that holds nothing.
    let makePlace: @Sendable () async throws -> StorePlace
}

/// Where one store is: a file, or a schema of a server. It can be opened several times.
struct StorePlace: Sendable {
    let open: @Sendable () async throws -> any CompleteTransactionStore
    let remove: @Sendable () async throws -> Void
}

/// One rule that every engine keeps.
struct StoreRule: Sendable, CustomTestStringConvertible {
    let name: String
    let check: @Sendable (StorePlace) async throws -> Void

    init(_ name: String, _ check: @escaping @Sendable (StorePlace) async throws -> Void) {
        self.name = name
        self.check = check
    }

    /// A rule about one opened store.
    init(opened name: String, _ check: @escaping @Sendable (any CompleteTransactionStore) async throws -> Void) {
        self.init(name) { place in
            let store = try await place.open()
            try await check(store)
            try await store.close()
        }
    }

    var testDescription: String { name }

    func run(on engine: StoreEngine) async throws {
        let place = try await engine.makePlace()
        do {
            try await check(place)
        } catch {
            try? await place.remove()
            throw error
        }
        try await place.remove()
    }
}

/// The rules of every engine. A test suite of an engine is
///
///     @Test(arguments: StoreConformance.rules)
///     func conforms(_ rule: StoreRule) async throws { try await rule.run(on: engine) }
enum StoreConformance {
    static let rules: [StoreRule] =
        facts + order + refunds + customers + kept + hostile + concurrency + ledger + ledgerConsumers + directory
}
