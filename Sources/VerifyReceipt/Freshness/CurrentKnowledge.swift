internal import Purchases

extension VerifyReceiptEndpoint {
    /// The customer's data for a submission, as current as the app's ``Freshness`` requires.
    ///
    /// - Parameters:
    ///   - facts: the facts of the submission; nil if a store cannot keep it.
    ///   - isTransactionReceipt: whether the submission is a transaction receipt.
    ///   - app: the configuration of the app; nil for an app without one.
    ///   - exchange: the request.
    /// - Throws: ``Refusal``
    func currentKnowledge(
        of facts: FactSet?, isTransactionReceipt: Bool = false, _ app: ConfiguredApp?, _ exchange: Exchange
    ) async throws -> Customer? {
        let freshness = app?.freshness ?? configuration.freshness
        exchange.facts.source = .receipt
        if freshness.source == .local {
            try await storeOnly(facts, exchange)
            return nil
        }
        var knowledge = try await self.knowledge(of: facts, isTransactionReceipt: isTransactionReceipt, exchange)
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

    /// Queries the App Store until all data of the answer is current.
    private func refresh(
        _ knowledge: inout Customer?, _ facts: FactSet, _ freshness: Freshness, _ exchange: Exchange
    ) async throws {
        let notBefore = exchange.now.subtractingSaturated(freshness.maximumAge)
        try await RefreshedPurchases.collect(
            about: &knowledge, identities: facts.identities, scope: facts.scope, notBefore: notBefore,
            from: configuration.customerRefresher
        ) { knowledge, answers in
            let asked = answers.times
            let coverage = AppStoreCoverage(
                facts, knowledge, countsRecorded: configuration.recordedFacts == .granting, asked: asked,
                now: exchange.now)
            let (unknownNow, stale) = coverage.stale(notBefore: notBefore).partitioned { answers.unknown.contains($0) }
            guard stale.isEmpty else { return stale }
            guard unknownNow.isEmpty else {
                throw UnknownPurchases(count: unknownNow.count, refusal: StatusCondition(coverage.unknown(unknownNow)))
            }
            // The store takes no answer about an erased purchase (LeftHash), so the reply states it from the receipt.
            guard asked.keys.allSatisfy({ knowledge?.hasPurchase($0) == true }) else { return [] }
            if let since = coverage.since { exchange.state(since: since, of: asked.isEmpty ? .store : .appStore) }
            return []
        } readAgain: { earlier in
            try await readAgain(facts, after: earlier, exchange)
        }
    }

    /// - Throws: ``StoreUnread`` if the answer would lack the App Store's new data; ``Refusal``.
    private func readAgain(
        _ facts: FactSet, after earlier: Customer?, _ exchange: Exchange
    ) async throws -> Customer? {
        let hadFailed = exchange.facts.storeFailed
        exchange.facts.storeFailed = false
        defer { exchange.facts.storeFailed = exchange.facts.storeFailed || hadFailed }
        let knowledge = try await knowledge(of: facts, after: earlier, exchange)
        guard !exchange.facts.storeFailed else { throw StoreUnread() }
        exchange.facts.source = knowledge == nil ? .receipt : .store
        return knowledge
    }

    /// The store's data with its age. The store is read again, because the App Store may have answered about some
    /// purchases before it failed, or another request may have queried it.
    private func answerWithoutAppStore(
        _ knowledge: inout Customer?, _ facts: FactSet, _ exchange: Exchange
    ) async throws {
        do { knowledge = try await readAgain(facts, after: knowledge, exchange) } catch is StoreUnread {}
        let coverage = AppStoreCoverage(
            facts, knowledge, countsRecorded: configuration.recordedFacts == .granting, now: exchange.now)
        guard let since = coverage.since else { return }
        exchange.state(since: since, of: .store)
    }

    /// The store could not be read, and the configuration allows answers without it.
    private struct StoreUnread: Error {}

    /// The App Store answered, but does not know some purchases of the answer, so their state cannot be current. They
    /// may belong to a deleted account, or may be too new.
    private struct UnknownPurchases: Error {
        let count: Int
        /// The refusal if a current answer is required; nil if the App Store's data is sufficient.
        let refusal: StatusCondition?
    }
}

extension StatusCondition {
    /// The error if the answer must be current and the App Store does not know purchases; nil if its data is sufficient.
    fileprivate init?(_ unknown: PurchaseDates.Unknown) {
        switch unknown {
        case .harmless: return nil
        case .maybeTooNew: self = .appStoreUnavailable
        case .notKnown: self = .accountNotFound
        }
    }
}

extension Customer {
    fileprivate func hasPurchase(_ originalTransactionId: String) -> Bool {
        identities.contains(CustomerIdentity(.originalTransactionId, originalTransactionId))
    }
}

extension Exchange {
    fileprivate func state(since time: Int64, of source: AnswerSource) {
        facts.ageMilliseconds = max(0, now.subtractingSaturated(time))
        facts.source = source
    }
}

extension Array {
    /// The elements that satisfy the condition, and the others.
    fileprivate func partitioned(_ fits: (Element) -> Bool) -> ([Element], [Element]) {
        (filter(fits), filter { !fits($0) })
    }
}
