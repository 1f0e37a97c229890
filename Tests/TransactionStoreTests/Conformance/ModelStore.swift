import AppStoreModels
import Purchases
import TransactionStore

/// The store as it is meant, without any cleverness: it remembers every set and works everything out on reading.
struct ModelStore {
    private var sets: [FactSet] = []
    private var notifications: Set<String> = []

    mutating func apply(_ set: FactSet) {
        if let uuid = set.notification?.notificationUUID, !notifications.insert(uuid).inserted { return }
        sets.append(set)
    }

    var allIdentities: [(StoreScope, CustomerIdentity)] {
        sets.flatMap { set in set.identities.map { (set.scope, $0) } }
    }

    /// The sets that share identities with these, directly or through others.
    private func component(_ identities: [CustomerIdentity], _ scope: StoreScope) -> ([FactSet], Set<CustomerIdentity>)
    {
        var known = Set(identities)
        while true {
            let found = sets.filter { $0.scope == scope && !known.isDisjoint(with: $0.identities) }
            let next = known.union(found.flatMap(\.identities))
            if next == known { return (found, known) }
            known = next
        }
    }

    func customer(_ identities: [CustomerIdentity], in scope: StoreScope) throws -> Customer? {
        let (found, known) = component(identities, scope)
        guard !found.isEmpty else { return nil }
        var assembler = CustomerAssembler(scope: scope)
        for identity in known.intersection(found.flatMap(\.identities)) {
            try assembler.addIdentity(kind: Int64(identity.kind.rawValue), value: identity.value)
        }
        for row in Self.newest(found.flatMap(\.transactions).map(Encoded.init)) {
            try row.bytes.withUnsafeBufferPointer { payload in
                try row.legacy.withUnsafeBufferPointer {
                    try assembler.addTransaction(row.row, payload: payload, legacy: $0)
                }
            }
        }
        for row in Self.newest(found.flatMap(\.renewalInfos).map(Encoded.init)) {
            try row.bytes.withUnsafeBufferPointer { try assembler.addRenewalInfo(row.row, payload: $0) }
        }
        for row in Self.newest(found.compactMap(\.appTransaction).map(Encoded.init)) {
            try row.bytes.withUnsafeBufferPointer { try assembler.addAppTransaction(row.row, payload: $0) }
        }
        for receipt in found.compactMap(\.receipt) {
            try assembler.addReceipt(
                form: Int64(receipt.form.rawValue), signedDate: receipt.signedDate, bytes: receipt.bytes)
        }
        return assembler.customer()
    }

    /// The newest of each key; of the same date the greatest.
    private static func newest(_ rows: [Encoded]) -> [Encoded] {
        var newest: [[String]: Encoded] = [:]
        for row in rows {
            if let known = newest[row.key], !known.isLess(than: row) { continue }
            newest[row.key] = row
        }
        return Array(newest.values)
    }
}

private struct Encoded {
    let key: [String]
    let origin: FactOrigin
    let bytes: [UInt8]
    let legacy: [UInt8]
    var revokes = false

    var row: CustomerAssembler.Row {
        CustomerAssembler.Row(
            kind: Int64(origin.source.kind.rawValue), source: origin.source.code, signedDate: origin.signedDate)
    }

    func isLess(than other: Encoded) -> Bool {
        if origin.signedDate != other.origin.signedDate { return origin.signedDate < other.origin.signedDate }
        if revokes != other.revokes { return other.revokes }
        if bytes != other.bytes { return bytes.lexicographicallyPrecedes(other.bytes) }
        if legacy != other.legacy { return legacy.lexicographicallyPrecedes(other.legacy) }
        return origin.source.code < other.origin.source.code
    }

    init(_ fact: TransactionFact) {
        var encoder = FactEncoder()
        encoder.encode(fact)
        (bytes, legacy, origin) = (encoder.payload.bytes, encoder.legacy.bytes, fact.origin)
        revokes = fact.payload.revocationDate != nil || fact.legacy?.cancellationDate != nil
        key = [
            fact.storedOriginalTransactionId, fact.payload.transactionId ?? "", "\(fact.origin.source.kind)",
        ]
    }

    init(_ fact: RenewalInfoFact) {
        var encoder = FactEncoder()
        encoder.encode(fact)
        (bytes, legacy, origin) = (encoder.payload.bytes, [], fact.origin)
        key = [fact.payload.originalTransactionId ?? "", "\(fact.origin.source.kind)"]
    }

    init(_ fact: AppTransactionFact) {
        var encoder = FactEncoder()
        encoder.encode(fact)
        (bytes, legacy, origin) = (encoder.payload.bytes, [], fact.origin)
        key = ["\(fact.origin.source.kind)"]
    }
}
