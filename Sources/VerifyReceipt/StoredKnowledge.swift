internal import AppStoreModels
internal import Purchases
internal import TransactionStore

extension VerifyReceiptEndpoint {
    /// Stores the facts of the submission and reads its customer; nil if there is no store, or no key to store the
    /// receipt under.
    ///
    /// Facts that the store cannot take at once go to the spool. That does not change the answer, because the reply adds
    /// the submitted facts to the customer. If the store cannot be read, ``EndpointConfiguration/whenStoreFails`` decides
    /// about the answer.
    ///
    /// The customer of a transaction receipt is returned as before the receipt was stored, unless that merged customers.
    /// A period restored on several devices has several receipts, all with one purchase date. The stored one keeps its
    /// place, so that `latest_receipt_info` does not depend on the device.
    /// - Throws: ``Refusal``
    func knowledge(
        of facts: FactSet?, isTransactionReceipt: Bool, _ exchange: Exchange
    ) async throws -> Customer? {
        guard let store, let facts else { return nil }
        let started = ContinuousClock.now
        defer { exchange.facts.storeNanoseconds = started.duration(to: .now).wholeNanoseconds }
        do {
            let known = try await store.customer(facts.identities, in: facts.scope)
            // Clients send the same receipt again and again, and a look-up costs a fraction of a write.
            guard !(known?.hasTakenIn(facts) ?? false), isLearned(facts) else { return known }
            let newFacts = isTransactionReceipt ? facts.withoutKnownReceipt(of: known) : facts
            let learned = try await learn(newFacts, exchange)
            guard learned.isStored, !isTransactionReceipt || learned.mergesCustomers else { return known }
            // If the customer was unknown, the store now contains exactly what the receipt states. The exception is rare: another
            // document states one of its transactions under an original id that the receipt does not contain.
            if known == nil, !learned.mergesCustomers, let customer = Customer(resolving: [facts]) { return customer }
            return try await store.customer(facts.identities, in: facts.scope)
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            try handle(error, exchange)
            // The answer comes from the receipt alone, which is still stored. The store itself decides by date which
            // receipt it keeps.
            if isLearned(facts) { _ = try await learn(facts, exchange) }
            return nil
        }
    }

    /// Reads the customer again after a query to the App Store. The submission is already stored.
    /// - Throws: ``Refusal``
    func knowledge(
        of facts: FactSet, after earlier: Customer?, _ exchange: Exchange
    ) async throws -> Customer? {
        guard let store else { return earlier }
        do {
            return try await store.customer(facts.identities, in: facts.scope)
        } catch {
            try handle(error, exchange)
            return earlier
        }
    }

    /// Stores the facts of the submission and reads nothing.
    /// - Throws: ``Refusal``
    func storeOnly(_ facts: FactSet?, _ exchange: Exchange) async throws {
        guard writer != nil, let facts, isLearned(facts) else { return }
        let started = ContinuousClock.now
        defer { exchange.facts.storeNanoseconds = started.duration(to: .now).wholeNanoseconds }
        _ = try await learn(facts, exchange)
    }

    /// Whether a submission is stored. If apps are configured, only their receipts are. A receipt without purchases is
    /// not stored either, because no customer could ever be found by it. Without these rules strangers could fill the
    /// store.
    private func isLearned(_ facts: FactSet) -> Bool {
        guard configuration.learnsFromReceipts else { return false }
        guard configuration.apps.isEmpty || hasConfigured(facts.scope.bundleId) else { return false }
        return facts.identities.contains { $0.kind != .receiptDigest }
    }

    /// Writes the facts to the store or the spool.
    ///
    /// - Returns: whether they are in the store, and whether that merged customers.
    /// - Throws: ``Refusal`` if neither accepts them and the configuration requires that every answered receipt is
    ///   stored.
    private func learn(
        _ facts: FactSet, _ exchange: Exchange
    ) async throws -> (isStored: Bool, mergesCustomers: Bool) {
        guard let writer else { return (false, false) }
        switch await writer.write(facts, within: configuration.learningLimit) {
        case .stored(let mergesCustomers): return (true, mergesCustomers)
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
        return (false, false)
    }

    private func note(storeFailure: String?, _ exchange: Exchange) {
        guard let storeFailure else { return }
        exchange.facts.storeFailed = true
        exchange.facts.reason = "The store did not accept the receipt: \(storeFailure)"
    }

    /// Unreadable data will not become readable in a minute: 21009. Everything else may be temporary: 21005.
    private func handle(_ error: any Error, _ exchange: Exchange) throws {
        if let failure = error as? BackendFailure { throw Refusal(failure) }
        exchange.facts.storeFailed = true
        let reason = "The store did not answer: \(TransactionStoreError.text(of: error))"
        exchange.facts.reason = reason
        guard configuration.whenStoreFails == .unavailable else { return }
        let isCorrupt = (error as? TransactionStoreError)?.code == .corrupt
        throw Refusal(isCorrupt ? .storedDataUnreadable : .storeUnavailable, reason)
    }
}

extension FactSet {
    /// The same facts, without the receipt if the customer already has one that is not older. Replies return that one.
    fileprivate func withoutKnownReceipt(of customer: Customer?) -> FactSet {
        let known = customer?.newestTransactionReceipt?.signedDate ?? .min
        if let receipt, known < receipt.signedDate { return self }
        return FactSet(
            scope: scope, identities: identities, transactions: transactions, renewalInfos: renewalInfos,
            appTransaction: appTransaction, receipt: nil, notification: notification)
    }
}
