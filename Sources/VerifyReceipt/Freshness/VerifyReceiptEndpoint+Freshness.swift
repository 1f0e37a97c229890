internal import AppStoreModels
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
            await learnAlone(facts, exchange)
            return nil
        }
        let knowledge = try await read(facts, exchange)
        if knowledge != nil { exchange.facts.source = .store }
        guard freshness.source == .appStore, let facts, let question = Question(facts, knowledge) else {
            return knowledge
        }
        let oldest = exchange.now - freshness.maximumAge
        if let since = knowledge?.customer.statedByAppStoreSince, since >= oldest {
            exchange.facts.state(age: exchange.now - since, of: .store)
            return knowledge
        }
        return try await refreshed(knowledge, question, facts, notBefore: oldest, freshness, exchange)
    }

    /// What may be asked of the App Store.
    private struct Question {
        let transactionId: String
        let identities: [CustomerIdentity]
        let scope: StoreScope

        /// Nil where there is no purchase to ask about: a receipt without any names nobody to the App Store.
        init?(_ facts: FactSet, _ knowledge: StoreKnowledge?) {
            let submitted = facts.transactions.lazy.compactMap(\.payload.originalTransactionId).first
            let known = knowledge?.customer.transactions.lazy.compactMap(\.payload.originalTransactionId).first
            guard let id = submitted ?? known, CustomerIdentity.isMeaningful(id: id) else { return nil }
            transactionId = id
            identities = knowledge?.customer.identities ?? facts.identities
            scope = facts.scope
        }
    }

    private func refreshed(
        _ knowledge: StoreKnowledge?, _ question: Question, _ facts: FactSet, notBefore oldest: Int64,
        _ freshness: Freshness, _ exchange: Exchange
    ) async throws -> StoreKnowledge? {
        do {
            guard let refresher = configuration.customerRefresher else { throw NoRefresher() }
            let time = try await refresher.refresh(
                transactionId: question.transactionId, identities: question.identities, scope: question.scope,
                notBefore: oldest)
            let current = try await self.knowledge(of: facts, after: knowledge, exchange)
            exchange.facts.state(age: exchange.now - time, of: .appStore)
            return current
        } catch let refusal as Refusal {
            throw refusal
        } catch let failure as BackendFailure {
            throw Refusal(failure)
        } catch {
            exchange.facts.appStoreFailed = true
            let reason = "The App Store could not be asked: \(error)."
            guard !freshness.isRequired else { throw Refusal(.appStoreUnavailable, reason) }
            exchange.facts.reason = reason
            if let since = knowledge?.customer.statedByAppStoreSince {
                exchange.facts.state(age: exchange.now - since, of: .store)
            }
            return knowledge
        }
    }

    private struct NoRefresher: Error, CustomStringConvertible {
        let description = "nothing is configured to ask it with"
    }
}

extension ReplyFacts {
    fileprivate mutating func state(age: Int64, of source: AnswerSource) {
        ageMilliseconds = max(0, age)
        self.source = source
    }
}
