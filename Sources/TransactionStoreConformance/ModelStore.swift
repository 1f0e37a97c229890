import AppStoreModels
package import Purchases
import TransactionStore

/// A simple reference implementation of a store: it keeps every set and computes everything when it is read.
package struct ModelStore {
    private var sets: [FactSet] = []
    private var notifications: Set<String> = []

    package init() {}

    package mutating func apply(_ set: FactSet) {
        if let uuid = set.notification?.notificationUUID, !notifications.insert(uuid).inserted { return }
        sets.append(set)
    }

    package var allIdentities: [(StoreScope, CustomerIdentity)] {
        sets.flatMap { set in set.identities.map { (set.scope, $0) } }
    }

    /// The sets that share identities or signed transactions with these, directly or through other sets.
    private func component(_ identities: [CustomerIdentity], _ scope: StoreScope) -> ([FactSet], Set<CustomerIdentity>)
    {
        let all = sets.filter { $0.scope == scope }
        let signed = all.flatMap(\.transactions).filter(\.origin.kind.isSigned).map { fact in
            (
                id: fact.payload.transactionId ?? "",
                purchase: CustomerIdentity(.originalTransactionId, fact.storedOriginalTransactionId)
            )
        }
        var known = Set(identities)
        while true {
            let found = all.filter { !known.isDisjoint(with: $0.identities) }
            let transactions = Set(signed.filter { known.contains($0.purchase) }.map { $0.id })
            let purchases = signed.filter { transactions.contains($0.id) }.map { $0.purchase }
            let next = known.union(found.flatMap(\.identities)).union(purchases)
            if next == known { return (found, known) }
            known = next
        }
    }

    package func customer(_ identities: [CustomerIdentity], in scope: StoreScope) throws -> Customer? {
        let (found, known) = component(identities, scope)
        guard !found.isEmpty else { return nil }
        var assembler = CustomerAssembler(scope: scope)
        for identity in known.intersection(found.flatMap(\.identities)) {
            try assembler.addIdentity(kind: Int64(identity.kind.rawValue), value: identity.value)
        }
        let transactions = found.flatMap(\.transactions).map { fact in
            let id = fact.payload.transactionId ?? ""
            return ([fact.storedOriginalTransactionId, id, "\(fact.origin.kind)"], FactRow(fact))
        }
        for row in Self.standing(transactions) { try assembler.addTransaction(row) }
        let renewals = found.flatMap(\.renewalInfos).map { fact in
            ([fact.payload.originalTransactionId ?? "", "\(fact.origin.kind)"], FactRow(fact))
        }
        for row in Self.standing(renewals) { try assembler.addRenewalInfo(row) }
        let apps = found.compactMap(\.appTransaction).map { (["\($0.rowKind)"], FactRow($0)) }
        for row in Self.standing(apps) { try assembler.addAppTransaction(row) }
        for receipt in found.compactMap(\.receipt) {
            try assembler.addReceipt(
                form: Int64(receipt.form.rawValue), signedDate: receipt.signedDate, bytes: receipt.bytes)
        }
        return assembler.customer()
    }

    /// The winning row for each key.
    private static func standing(_ rows: [([String], FactRow)]) -> [FactRow] {
        var standing: [[String]: FactRow] = [:]
        for (key, row) in rows {
            if let known = standing[key], !row.replaces(known) { continue }
            standing[key] = row
        }
        return Array(standing.values)
    }
}
