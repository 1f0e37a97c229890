public import Purchases

/// Queries the App Store about a customer and writes the answer to the store.
public protocol CustomerRefreshing: Sendable {
    /// Updates purchases in the store, except for those that were updated at `notBefore` or later.
    ///
    /// The purchases may belong to several Apple Accounts with one account token, and an answer of the App Store covers one
    /// account. Concurrent requests for one customer share one call.
    /// - Parameters:
    ///   - originalTransactionIds: the purchases, each once.
    ///   - identities: the customer's other identities.
    ///   - scope: the app and the environment.
    ///   - notBefore: milliseconds since 1970-01-01T00:00:00Z.
    /// - Returns: the time for each purchase. A purchase that is missing, or earlier than `notBefore`, is not current.
    /// - Throws: any error if a query fails. Its description becomes ``ReplyFacts/reason`` and must not contain a JWS. The
    ///   client gets a ``BackendFailure``.
    func refresh(
        originalTransactionIds: [String], identities: [CustomerIdentity], scope: StoreScope, notBefore: Int64
    ) async throws -> RefreshedPurchases
}

/// The App Store's answers about purchases, by original transaction id.
public struct RefreshedPurchases: Sendable, Hashable {
    /// The time of the query for each purchase in the App Store, in milliseconds since 1970-01-01T00:00:00Z.
    public var times: [String: Int64]
    /// The purchases that the App Store does not know.
    public var unknown: Set<String>

    /// The App Store's answers. By default, it knew every purchase.
    public init(times: [String: Int64], unknown: Set<String> = []) {
        self.times = times
        self.unknown = unknown
    }

    /// The limit of query rounds.
    private static let maximumRounds = 4

    /// Queries the App Store about one customer until no query is due.
    ///
    /// An answer about one Apple Account can reveal further purchases of the same customer under another account, which then
    /// need a query too.
    /// - Parameters:
    ///   - customer: the customer in the store, read again after each query; nil if the store has none.
    ///   - identities: those of a customer whom the store does not have.
    ///   - scope: the app and the environment.
    ///   - notBefore: milliseconds since 1970-01-01T00:00:00Z.
    ///   - refresher: queries the App Store; nil if no client is configured.
    ///   - due: the purchases that need a query, according to the customer and the answers so far. A purchase that the App
    ///     Store does not know needs none.
    ///   - readAgain: reads the customer from the store.
    /// - Throws: the errors of the queries and of the functions; or why the answers are incomplete.
    package static func collect(
        about customer: inout Customer?, identities: [CustomerIdentity], scope: StoreScope, notBefore: Int64,
        from refresher: (any CustomerRefreshing)?,
        due: (Customer?, RefreshedPurchases) throws -> [String],
        readAgain: (Customer?) async throws -> Customer?
    ) async throws {
        var answers = RefreshedPurchases(times: [:])
        var rounds = 0
        while true {
            let ids = try due(customer, answers)
            guard !ids.isEmpty else { return }
            guard rounds < maximumRounds else { throw Incomplete.tooManyRounds }
            guard let refresher else { throw Incomplete.notConfigured }
            rounds += 1
            let answer = try await refresher.refresh(
                originalTransactionIds: ids, identities: customer?.identities ?? identities, scope: scope,
                notBefore: notBefore)
            answers.times.merge(answer.times, uniquingKeysWith: max)
            answers.unknown.formUnion(answer.unknown)
            customer = try await readAgain(customer)
        }
    }

    private enum Incomplete: Error, CustomStringConvertible {
        case notConfigured, tooManyRounds

        var description: String {
            switch self {
            case .notConfigured: "no App Store client is configured"
            case .tooManyRounds: "each answer led to further purchases"
            }
        }
    }
}
