public import TransactionStore

/// The rules that every engine of a `TransactionStore` keeps, for the tests of an engine in any test framework:
///
/// ```swift
/// let engine = StoreEngine(name: "mine") {
///     let folder = try makeFolder()
///     return StorePlace(open: { try MyStore(folder) }, remove: { try delete(folder) })
/// }
/// for rule in StoreConformance.rules { try await rule.check(engine) }
/// ```
///
/// With Swift Testing, `@Test(arguments: StoreConformance.rules)` gives each rule a test of its own.
public enum StoreConformance {
    /// Every rule. Each makes a place of its own, so rules may run at the same time.
    public static let rules: [StoreRule] =
        facts + order + refunds + customers + kept + hostile + concurrency + ledger + ledgerConsumers + directory
}

/// An engine under test.
public struct StoreEngine: Sendable {
    /// The name of the engine in messages.
    public let name: String
    fileprivate let makePlace: @Sendable () async throws -> StorePlace

    /// - Parameters:
    ///   - name: the name of the engine in messages.
    ///   - makePlace: makes a place that holds nothing, such as a new folder or a new database schema.
    public init(name: String, makePlace: @escaping @Sendable () async throws -> StorePlace) {
        self.name = name
        self.makePlace = makePlace
    }
}

/// Where one store keeps its data: a file, or a schema of a database server.
public struct StorePlace: Sendable {
    let open: @Sendable () async throws -> any CompleteTransactionStore
    fileprivate let remove: @Sendable () async throws -> Void

    /// - Parameters:
    ///   - open: opens the store. Rules open a place several times, one after the other and at the same time: the stores see
    ///     the same data.
    ///   - remove: removes the place and what it holds. It is called once, after the stores are closed or a rule failed.
    public init(
        open: @escaping @Sendable () async throws -> any CompleteTransactionStore,
        remove: @escaping @Sendable () async throws -> Void
    ) {
        self.open = open
        self.remove = remove
    }
}

/// One rule that every engine keeps.
public struct StoreRule: Sendable, CustomStringConvertible {
    /// The rule in words.
    public let name: String
    private let body: @Sendable (StorePlace) async throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (StorePlace) async throws -> Void) {
        self.name = name
        self.body = body
    }

    /// A rule about one opened store.
    init(opened name: String, _ body: @escaping @Sendable (any CompleteTransactionStore) async throws -> Void) {
        self.init(name) { place in
            let store = try await place.open()
            try await body(store)
            try await store.close()
        }
    }

    public var description: String { name }

    /// Checks the rule on a new place.
    /// - Throws: ``ConformanceFailure`` where the engine breaks the rule; what the engine throws otherwise.
    public func check(_ engine: StoreEngine) async throws {
        let place = try await engine.makePlace()
        do {
            try await body(place)
        } catch {
            try? await place.remove()
            guard let broken = error as? BrokenExpectation else { throw error }
            throw ConformanceFailure(engine: engine.name, rule: name, broken: broken)
        }
        try await place.remove()
    }
}

/// An engine that breaks a rule.
public struct ConformanceFailure: Error, CustomStringConvertible {
    /// The name of the engine.
    public let engine: String
    /// The rule in words.
    public let rule: String
    /// What was found instead of what the rule expects.
    public let message: String
    /// The file of the expectation, as `#fileID` names it.
    public let file: String
    /// The line of the expectation.
    public let line: Int

    fileprivate init(engine: String, rule: String, broken: BrokenExpectation) {
        self.engine = engine
        self.rule = rule
        message = broken.message
        file = broken.file
        line = broken.line
    }

    public var description: String { "\(engine) breaks the rule \"\(rule)\": \(message) (\(file):\(line))" }
}
