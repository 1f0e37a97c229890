internal import Purchases
internal import TransactionStore

extension VerifyReceiptEndpoint {
    /// What is known of the customer of a submission, as current as the app's ``Freshness`` asks for.
    ///
    /// - Parameter read: takes the submission in and asks the store.
    /// - Throws: ``Refusal``
    func currentKnowledge(
        of facts: FactSet?, _ app: ConfiguredApp?, _ exchange: Exchange,
        read: (FactSet?, Exchange) async throws -> StoreKnowledge?
    ) async throws -> StoreKnowledge? {
        let freshness = app?.freshness ?? configuration.freshness
        exchange.facts.source = .receipt
        if freshness.source == .local {
            try await learnAlone(facts, exchange)
            return nil
        }
        var knowledge = try await read(facts, exchange)
        if knowledge != nil { exchange.facts.source = .store }
        guard freshness.source == .appStore, let facts else { return knowledge }
        do {
            try await refresh(&knowledge, facts, freshness, exchange)
        } catch let refusal as Refusal {
            throw refusal
        } catch let failure as BackendFailure {
            throw Refusal(failure)
        } catch is StoreUnread {
            let reason = exchange.facts.reason ?? "The store did not answer."
            guard !freshness.isRequired else { throw Refusal(.storeUnavailable, reason) }
        } catch let unknown as UnknownPurchases {
            let reason = "The App Store does not know \(unknown.count) of the customer's purchases."
            if freshness.isRequired, let refusal = unknown.refusal { throw Refusal(refusal, reason) }
            exchange.facts.reason = reason
        } catch {
            exchange.facts.appStoreFailed = true
            let reason = "The App Store could not be queried: \(error)."
            guard !freshness.isRequired else { throw Refusal(.appStoreUnavailable, reason) }
            exchange.facts.reason = reason
            try await answerWithoutAppStore(&knowledge, facts, exchange)
        }
        return knowledge
    }

    /// How often what is known may turn out to hold further purchases that nobody has asked about: the answer about one
    /// Apple Account can show that another one is the same customer's.
    private static let maximumRounds = 4

    /// Asks the App Store until everything that the answer will show is current.
    private func refresh(
        _ knowledge: inout StoreKnowledge?, _ facts: FactSet, _ freshness: Freshness, _ exchange: Exchange
    ) async throws {
        let notBefore = exchange.now.subtractingSaturated(freshness.maximumAge)
        var asked: [String: Int64] = [:]
        var unknown: Set<String> = []
        for round in 0...Self.maximumRounds {
            let coverage = AppStoreCoverage(
                facts, knowledge, countsRecorded: configuration.recordedFacts == .granting, asked: asked,
                now: exchange.now)
            let (unknownNow, stale) = coverage.stale(notBefore: notBefore).partitioned { unknown.contains($0) }
            guard !stale.isEmpty else {
                guard unknownNow.isEmpty else {
                    throw UnknownPurchases(
                        count: unknownNow.count, refusal: coverage.refusal(ofUnknown: unknownNow))
                }
                if let since = coverage.since { exchange.state(since: since, of: asked.isEmpty ? .store : .appStore) }
                return
            }
            guard round < Self.maximumRounds else { throw Unasked.endless }
            guard let refresher = configuration.customerRefresher else { throw Unasked.nobody }
            let answered = try await refresher.refresh(
                originalTransactionIds: stale, identities: knowledge?.customer.identities ?? facts.identities,
                scope: facts.scope, notBefore: notBefore)
            asked.merge(answered.times, uniquingKeysWith: max)
            unknown.formUnion(answered.unknown)
            knowledge = try await readAgain(facts, after: knowledge, exchange)
        }
    }

    /// - Throws: ``StoreUnread`` where the answer would be given without what the App Store has just said, ``Refusal``.
    private func readAgain(
        _ facts: FactSet, after earlier: StoreKnowledge?, _ exchange: Exchange
    ) async throws -> StoreKnowledge? {
        let hadFailed = exchange.facts.storeFailed
        exchange.facts.storeFailed = false
        defer { exchange.facts.storeFailed = exchange.facts.storeFailed || hadFailed }
        let knowledge = try await knowledge(of: facts, after: earlier, exchange)
        guard !exchange.facts.storeFailed else { throw StoreUnread() }
        if knowledge != nil { exchange.facts.source = .store }
        return knowledge
    }

    /// What the store knows, with its age. It is read again: the App Store may have answered about some purchases before it
    /// failed, or another request may have asked meanwhile.
    private func answerWithoutAppStore(
        _ knowledge: inout StoreKnowledge?, _ facts: FactSet, _ exchange: Exchange
    ) async throws {
        do { knowledge = try await readAgain(facts, after: knowledge, exchange) } catch is StoreUnread {}
        let coverage = AppStoreCoverage(
            facts, knowledge, countsRecorded: configuration.recordedFacts == .granting, now: exchange.now)
        guard let since = coverage.since else { return }
        exchange.state(since: since, of: .store)
    }

    /// The store could not be read, and is configured to be done without.
    private struct StoreUnread: Error {}

    /// The App Store has answered and does not know purchases that the answer shows: a current answer about them is not to be
    /// had. They may be of a deleted account, or newer than what the App Store tells.
    private struct UnknownPurchases: Error {
        let count: Int
        /// The answer where a current one is required; nil if what the App Store knows is enough.
        let refusal: StatusCondition?
    }

    private enum Unasked: Error, CustomStringConvertible {
        case nobody, endless

        var description: String {
            switch self {
            case .nobody: "nothing is configured to ask it with"
            case .endless: "each answer led to further purchases"
            }
        }
    }
}

extension Exchange {
    fileprivate func state(since time: Int64, of source: AnswerSource) {
        facts.ageMilliseconds = max(0, now.subtractingSaturated(time))
        facts.source = source
    }
}

extension Array {
    /// Those that fit, and the others.
    fileprivate func partitioned(_ fits: (Element) -> Bool) -> ([Element], [Element]) {
        (filter(fits), filter { !fits($0) })
    }
}
