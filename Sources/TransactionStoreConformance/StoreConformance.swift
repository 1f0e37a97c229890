public import TransactionStore

/// The rules that every engine of a `TransactionStore` must keep, for tests in any test framework:
///
/// ```swift
/// let engine = StoreEngine(name: "mine") {
///     let folder = try makeFolder()
///     return StorePlace(open: { try MyStore(folder) }, remove: { try delete(folder) })
/// }
/// for rule in StoreConformance.rules { try await rule.check(engine) }
/// ```
///
/// With Swift Testing, `@Test(arguments: StoreConformance.rules)` runs each rule as a separate test.
public enum StoreConformance {
    /// Every rule. Each rule creates its own place, so rules may run at the same time.
    public static let rules: [StoreRule] =
        facts + order + refunds + customers + kept + hostile + concurrency + ledger + terms + seats + notifiedEvents
        + renewals + endings + termEndings + consumptionTasks + ledgerConsumers + leases + ledgerRemoval + erasure
        + leftHashes + retention + directory + migration + unknownTransactions + requestBudgets

    typealias Samples = StoreSamples

    /// Checks that a call throws an error of a store with this code.
    static func expectError(
        _ code: TransactionStoreError.Code, _ detail: String = "", file: String = #fileID, line: Int = #line,
        _ body: () async throws -> Void
    ) async throws {
        var found: TransactionStoreError.Code?
        do { try await body() } catch { found = (error as? TransactionStoreError)?.code }
        try expect(found, equals: code, detail, file: file, line: line)
    }
}

/// An engine under test.
public struct StoreEngine: Sendable {
    /// The name of the engine in messages.
    public let name: String
    fileprivate let makePlace: @Sendable () async throws -> StorePlace

    /// - Parameters:
    ///   - name: the name of the engine in messages.
    ///   - makePlace: creates an empty place, such as a new folder or a new database schema.
    public init(name: String, makePlace: @escaping @Sendable () async throws -> StorePlace) {
        self.name = name
        self.makePlace = makePlace
    }
}

/// The location of one store's data: a file, or a schema of a database server.
public struct StorePlace: Sendable {
    let open: @Sendable () async throws -> any CompleteTransactionStore
    fileprivate let remove: @Sendable () async throws -> Void

    /// - Parameters:
    ///   - open: opens the store. Rules open a place several times, one after the other and at the same time. All
    ///     stores of a place must see the same data.
    ///   - remove: deletes the place and its data. Called once, after the stores are closed or a rule failed.
    public init(
        open: @escaping @Sendable () async throws -> any CompleteTransactionStore,
        remove: @escaping @Sendable () async throws -> Void
    ) {
        self.open = open
        self.remove = remove
    }
}

/// One rule that every engine must keep.
public struct StoreRule: Sendable, CustomStringConvertible {
    /// The rule as a sentence.
    public let name: String
    private let body: @Sendable (StorePlace) async throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (StorePlace) async throws -> Void) {
        self.name = name
        self.body = body
    }

    /// A rule that needs one open store.
    init(opened name: String, _ body: @escaping @Sendable (any CompleteTransactionStore) async throws -> Void) {
        self.init(name) { place in
            let store = try await place.open()
            try await body(store)
            try await store.close()
        }
    }

    /// A rule that needs two open stores of one place.
    init(openedTwice name: String, _ body: @escaping @Sendable ([any CompleteTransactionStore]) async throws -> Void) {
        self.init(name) { place in
            let stores = [try await place.open(), try await place.open()]
            try await body(stores)
            for store in stores { try await store.close() }
        }
    }

    public var description: String { name }

    /// Checks the rule in a new place.
    /// - Throws: ``ConformanceFailure`` if the engine breaks the rule; otherwise the errors of the engine.
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

/// An engine broke a rule.
public struct ConformanceFailure: Error, CustomStringConvertible {
    /// The name of the engine.
    public let engine: String
    /// The rule as a sentence.
    public let rule: String
    /// The found value, and the value that the rule expects.
    public let message: String
    /// The file of the expectation, in the form of `#fileID`.
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
