internal import AppStoreModels
internal import LegacyReceipts
internal import Purchases
internal import TransactionStore

extension VerifyReceiptEndpoint {
    /// Takes the facts of the submission in, and asks what is known of its customer; nil if there is no store, or nothing
    /// to file the receipt under.
    ///
    /// What a store cannot take in at once goes to the spool and changes no answer: the submitted facts are joined without
    /// it. Where the store cannot be read, the answer is as ``EndpointConfiguration/whenStoreFails`` says.
    /// - Throws: ``Refusal``
    func knowledge(of facts: FactSet?, _ exchange: Exchange) async throws -> StoreKnowledge? {
        guard let store, let facts else { return nil }
        let started = ContinuousClock.now
        defer { exchange.facts.storeNanoseconds = started.duration(to: .now).wholeNanoseconds }
        do {
            let known = try await store.customer(facts.identities, in: facts.scope)
            // Clients send one receipt again and again, and a look-up costs a fraction of a write.
            let isKnown = known?.hasTakenIn(facts) ?? false
            guard !isKnown, isLearned(facts), try await learn(facts, exchange) else {
                return known.map { StoreKnowledge(customer: $0, hasLearnedSubmission: isKnown) }
            }
            // Of a customer whom the store did not know it knows now what the receipt states.
            if known == nil, let customer = Customer(resolving: [facts]) {
                return StoreKnowledge(customer: customer, hasLearnedSubmission: true)
            }
            let customer = try await store.customer(facts.identities, in: facts.scope)
            return customer.map { StoreKnowledge(customer: $0, hasLearnedSubmission: true) }
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            try handle(error, exchange)
            // The receipt alone answers, and is remembered all the same.
            if isLearned(facts) { _ = try await learn(facts, exchange) }
            return nil
        }
    }

    /// The same for a transaction receipt, in the other order: what is known is asked before the receipt is taken in.
    ///
    /// A period restored on several devices has a receipt for each, all of one purchase date. The one that the store has
    /// keeps its place, so that `latest_receipt_info` does not change with whoever asks.
    /// - Throws: ``Refusal``
    func knowledge(ofTransactionReceipt facts: FactSet?, _ exchange: Exchange) async throws -> StoreKnowledge? {
        guard let store, let facts else { return nil }
        let started = ContinuousClock.now
        defer { exchange.facts.storeNanoseconds = started.duration(to: .now).wholeNanoseconds }
        let customer: Customer?
        do {
            customer = try await store.customer(facts.identities, in: facts.scope)
        } catch {
            try handle(error, exchange)
            // Without its receipt it would be found no worse: which one the customer's is, the store decides by its date.
            if isLearned(facts) { _ = try await learn(facts, exchange) }
            return nil
        }
        if !(customer?.hasTakenIn(facts) ?? false), isLearned(facts) {
            let known = customer?.newestTransactionReceipt?.signedDate ?? .min
            let keepsKnown = facts.receipt.map { known >= $0.signedDate } ?? true
            let news = keepsKnown ? facts.withoutReceipt : facts
            _ = try await learn(news, exchange)
        }
        return customer.map { StoreKnowledge(customer: $0, hasLearnedSubmission: false) }
    }

    /// Asks again what is known, after the App Store was asked. What was submitted was taken in before.
    /// - Throws: ``Refusal``
    func knowledge(
        of facts: FactSet, after earlier: StoreKnowledge?, _ exchange: Exchange
    ) async throws -> StoreKnowledge? {
        guard let store else { return earlier }
        do {
            let customer = try await store.customer(facts.identities, in: facts.scope)
            return customer.map {
                StoreKnowledge(customer: $0, hasLearnedSubmission: earlier?.hasLearnedSubmission ?? false)
            }
        } catch {
            try handle(error, exchange)
            return earlier
        }
    }

    /// Takes the facts of the submission in and asks for nothing.
    /// - Throws: ``Refusal``
    func learnAlone(_ facts: FactSet?, _ exchange: Exchange) async throws {
        guard writer != nil, let facts, isLearned(facts) else { return }
        let started = ContinuousClock.now
        defer { exchange.facts.storeNanoseconds = started.duration(to: .now).wholeNanoseconds }
        _ = try await learn(facts, exchange)
    }

    /// Whether a submission is put into the store. Where apps are configured, only theirs are; and a receipt without any
    /// purchase names no customer whom it could be found by again. Else strangers could fill the store.
    private func isLearned(_ facts: FactSet) -> Bool {
        guard configuration.learnsFromReceipts else { return false }
        guard configuration.apps.isEmpty || hasConfigured(facts.scope.bundleId) else { return false }
        return facts.identities.contains { $0.kind != .receiptDigest }
    }

    /// Remembers the facts, in the store or in the spool.
    ///
    /// - Returns: whether they are in the store.
    /// - Throws: ``Refusal`` where neither takes them and the configuration lets nothing be answered that is not remembered.
    private func learn(_ facts: FactSet, _ exchange: Exchange) async throws -> Bool {
        guard let writer else { return false }
        switch await writer.write(facts, within: configuration.learningLimit) {
        case .stored: return true
        case .spooled(let storeFailure):
            exchange.facts.isSpooled = true
            note(storeFailure: storeFailure, exchange)
        case .refused(let storeFailure, let reason):
            exchange.facts.isNotKept = true
            note(storeFailure: storeFailure, exchange)
            if writer.spool != nil, configuration.whenSpoolIsFull == .unavailable {
                exchange.facts.storeFailed = true
                exchange.facts.reason = nil
                throw Refusal(.storeUnavailable, reason)
            }
        }
        return false
    }

    private func note(storeFailure: String?, _ exchange: Exchange) {
        guard let storeFailure else { return }
        exchange.facts.storeFailed = true
        exchange.facts.reason = "The store did not take the receipt in: \(storeFailure)"
    }

    /// Data that cannot be read will not be readable a minute later: 21009. All else may pass: 21005.
    private func handle(_ error: any Error, _ exchange: Exchange) throws {
        if let failure = error as? BackendFailure { throw Refusal(failure) }
        exchange.facts.storeFailed = true
        let reason = "The store did not answer: \(Self.description(error))"
        exchange.facts.reason = reason
        guard configuration.whenStoreFails == .unavailable else { return }
        let isCorrupt = (error as? TransactionStoreError)?.code == .corrupt
        throw Refusal(isCorrupt ? .storedDataUnreadable : .storeUnavailable, reason)
    }

    /// Only errors of the store are quoted: they promise to hold no receipts.
    private static func description(_ error: any Error) -> String {
        (error as? TransactionStoreError)?.description ?? "\(type(of: error))"
    }
}

extension FactSet {
    /// The same facts without the receipt to hand out.
    fileprivate var withoutReceipt: FactSet {
        FactSet(
            scope: scope, identities: identities, transactions: transactions, renewalInfos: renewalInfos,
            appTransaction: appTransaction, receipt: nil, notification: notification)
    }
}
