internal import AppStoreModels
public import Purchases

/// The identities in some documents that have a ``LeftHash`` in the store, and the rest of the documents without them.
/// Engines call it before they write documents, in the same database transaction.
///
/// A purchase with an erased original transaction id is not stored, nor is what only such purchases lead to. The other
/// purchases of the same document are stored, without the receipt that contains them all. An erased `appTransactionId`
/// keeps out the app transaction, and documents without a purchase.
public struct ErasedIdentities: Sendable {
    private let identities: Set<ScopedIdentity>

    /// No identities, for a store without hashes.
    public init() { identities = [] }

    /// Finds the erased identities in the documents, users and receipts of a step.
    /// - Parameters:
    ///   - step: the step.
    ///   - secrets: the secrets of all hashes in the store, each once. Nothing is computed if there are none.
    ///   - known: returns those of the hashes that the store has.
    public init(
        in step: MigrationStep, secrets: [[UInt8]], known: ([LeftHash]) throws -> Set<LeftHash>
    ) rethrows {
        guard !secrets.isEmpty else {
            self.init()
            return
        }
        var named: Set<ScopedIdentity> = []
        for set in step.facts { named.formUnion(set.erasableIdentities) }
        for user in step.users { named.insert(ScopedIdentity(scope: user.scope, identity: user.identity)) }
        for receipt in step.receipts {
            for identity in receipt.identities {
                named.insert(ScopedIdentity(scope: receipt.scope, identity: identity))
            }
        }
        try self.init(named: named, secrets: secrets, known: known)
    }

    /// Finds the erased ids among transactions that the App Store does not know. The parameters are those of the
    /// initializer for a step.
    public init(
        in transactions: [UnknownTransaction], secrets: [[UInt8]],
        known: ([LeftHash]) throws -> Set<LeftHash>
    ) rethrows {
        try self.init(named: Set(transactions.map(\.identity)), secrets: secrets, known: known)
    }

    private init(
        named: Set<ScopedIdentity>, secrets: [[UInt8]], known: ([LeftHash]) throws -> Set<LeftHash>
    ) rethrows {
        var hashes: [LeftHash: ScopedIdentity] = [:]
        for each in named where each.identity.kind.leavesHash {
            for secret in secrets { hashes[LeftHash(of: each.identity, in: each.scope, secret: secret)] = each }
        }
        identities = hashes.isEmpty ? [] : Set(try known(Array(hashes.keys)).compactMap { hashes[$0] })
    }

    /// The transactions that were not erased.
    public func remaining(of transactions: [UnknownTransaction]) -> [UnknownTransaction] {
        isEmpty ? transactions : transactions.filter { !identities.contains($0.identity) }
    }

    /// Whether the documents name no erased identity, so that they are stored as they are.
    public var isEmpty: Bool { identities.isEmpty }

    /// The step without what is about erased identities.
    /// - Parameters:
    ///   - step: the step that the identities were found in.
    ///   - result: counts what is left out.
    public func remaining(of step: MigrationStep, _ result: inout AppliedFacts) -> MigrationStep {
        guard !isEmpty else { return step }
        var rest = step
        rest.facts = step.facts.compactMap { remaining(of: $0, &result) }
        rest.users = step.users.filter { !contains($0.identity, $0.scope) }
        result.erased += step.users.count - rest.users.count
        rest.receipts = step.receipts.filter { receipt in
            !receipt.identities.contains { contains($0, receipt.scope) }
        }
        return rest
    }

    /// The set without what is about erased identities; nil if there is nothing to store.
    /// - Parameters:
    ///   - set: a set that the identities were found in.
    ///   - result: counts what is left out.
    public func remaining(of set: FactSet, _ result: inout AppliedFacts) -> FactSet? {
        guard !isEmpty else { return set }
        // After a migration between apps, only some of the documents name the erased id next to the new one.
        let removed = Set(set.transactions.lazy.filter { isErased($0, set.scope) }.map(\.storedOriginalTransactionId))
        func stays(_ fact: TransactionFact) -> Bool {
            !isErased(fact, set.scope) && !removed.contains(fact.storedOriginalTransactionId)
        }
        let transactions = set.transactions.filter(stays)
        let renewalInfos = set.renewalInfos.filter { info in
            let id = info.payload.originalTransactionId
            return !contains(id, set.scope) && id.map(removed.contains) != true
        }
        let namesErased =
            transactions.count < set.transactions.count || set.identities.contains { contains($0, set.scope) }
        let notificationNamesErased = set.notification.map { areNamed(in: $0.body, set.scope) } ?? false
        guard namesErased || notificationNamesErased else { return set }

        let losesPurchase =
            transactions.count + renewalInfos.count < set.transactions.count + set.renewalInfos.count
            || set.identities.contains { $0.kind == .originalTransactionId && contains($0, set.scope) }
        let others = set.identities.filter { identity in
            guard identity.kind == .originalTransactionId else { return true }
            return !contains(identity, set.scope) && !removed.contains(identity.value)
        }
        let stated = transactions.map(\.storedOriginalTransactionId)
        let hasPurchase = !stated.isEmpty || others.contains { $0.kind == .originalTransactionId }
        guard hasPurchase || !namesErased && !set.identities.isEmpty else {
            result.erased += set.factCount
            if set.notification != nil { result.erasedNotifications += 1 }
            return nil
        }
        // The event and the seats of a notification belong to the first transaction.
        let keepsFirst = set.transactions.first.map(stays) ?? true
        let rest = FactSet(
            scope: set.scope, identities: others, transactions: transactions, renewalInfos: renewalInfos,
            appTransaction: set.appTransaction.flatMap { isErased($0, set.scope) ? nil : $0 },
            receipt: losesPurchase ? nil : set.receipt,
            notification: keepsFirst ? set.notification?.withoutBody : nil,
            unclaimedSeatIds: keepsFirst ? set.unclaimedSeatIds : [])
        result.erased += set.factCount - rest.factCount
        if set.notification != nil, !keepsFirst { result.erasedNotifications += 1 }
        return rest
    }

    private func contains(_ identity: CustomerIdentity, _ scope: StoreScope) -> Bool {
        identities.contains(ScopedIdentity(scope: scope, identity: identity))
    }

    private func contains(_ originalTransactionId: String?, _ scope: StoreScope) -> Bool {
        originalTransactionId.map { contains(CustomerIdentity(.originalTransactionId, $0), scope) } ?? false
    }

    /// After a migration a purchase has two original transaction ids.
    private func isErased(_ fact: TransactionFact, _ scope: StoreScope) -> Bool {
        contains(fact.storedOriginalTransactionId, scope) || contains(fact.payload.previousOriginalTransactionId, scope)
    }

    private func isErased(_ fact: AppTransactionFact, _ scope: StoreScope) -> Bool {
        fact.payload.appTransactionId.map { contains(CustomerIdentity(.appTransactionId, $0), scope) } ?? false
    }

    private func areNamed(in body: [UInt8], _ scope: StoreScope) -> Bool {
        DocumentWords.contain(body) { word in
            ErasedIdentities.identities(named: word).contains { contains($0, scope) }
        }
    }

    /// The identities that a word of a document can be.
    fileprivate static func identities(named word: ArraySlice<UInt8>) -> [CustomerIdentity] {
        guard word.count <= CustomerIdentity.maximumLength else { return [] }
        let text = String(decoding: word, as: UTF8.self)
        let ids = [
            CustomerIdentity(.originalTransactionId, text), CustomerIdentity(.appTransactionId, text),
        ]
        return ids.filter(\.isMeaningful)
            + (word.count == 64 ? [CustomerIdentity(.receiptDigest, text.lowercased())] : [])
    }
}

extension FactSet {
    /// The identities whose hashes decide whether the set is stored.
    fileprivate var erasableIdentities: Set<ScopedIdentity> {
        var found = Set(identities)
        for fact in transactions {
            // Not an identity if the document is unsigned.
            guard let id = fact.payload.previousOriginalTransactionId else { continue }
            found.insert(CustomerIdentity(.originalTransactionId, id))
        }
        if let notification {
            _ = DocumentWords.contain(notification.body) { word in
                found.formUnion(ErasedIdentities.identities(named: word))
                return false
            }
        }
        return Set(found.map { ScopedIdentity(scope: scope, identity: $0) })
    }

    /// The number of facts as ``AppliedFacts`` counts them.
    fileprivate var factCount: Int {
        transactions.count + renewalInfos.count + (appTransaction == nil ? 0 : 1) + (receipt == nil ? 0 : 1)
    }
}

extension ProcessedNotification {
    /// The id, the type and the date. They do not identify the customer.
    fileprivate var withoutBody: ProcessedNotification {
        ProcessedNotification(
            notificationUUID: notificationUUID, notificationType: notificationType, subtype: subtype,
            signedDate: signedDate, body: [])
    }
}
