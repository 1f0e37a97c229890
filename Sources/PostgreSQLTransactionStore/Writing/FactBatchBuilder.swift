import AppStoreModels
import Purchases
import TransactionStore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Collects the rows of a ``FactBatch`` in linear time, except for the sorting.
struct FactBatchBuilder {
    private struct Key: Hashable {
        let scope: Int
        let identity: CustomerIdentity

        /// Compares bytes, as the database does. Swift strings compare by Unicode canonical equivalence.
        static func == (left: Key, right: Key) -> Bool {
            left.scope == right.scope && left.identity.kind == right.identity.kind
                && left.identity.value.utf8.elementsEqual(right.identity.value.utf8)
        }
    }

    private(set) var bytes: [UInt8] = []
    private(set) var scopes = ScopeList()
    private(set) var identities: [FactBatch.Identity] = []
    private(set) var componentCount = 0
    private(set) var transactions: [FactBatch.Row] = []
    private(set) var renewalInfos: [FactBatch.Row] = []
    private(set) var appTransactions: [FactBatch.Row] = []
    private(set) var receipts: [FactBatch.Row] = []
    private var encoder = FactEncoder()
    private var places: [Key: Int] = [:]
    private var keys: [Key] = []
    /// Disjoint sets of identities: each identity refers to another of its set, and the root refers to itself.
    private var parents: [Int] = []

    /// - Parameter capacity: about how many bytes the facts have.
    init(capacity: Int) { bytes.reserveCapacity(capacity) }

    /// Adds the facts of a set and returns their number.
    mutating func add(_ set: FactSet, call: Int) -> Int {
        let scope = scopes.place(set.scope)
        guard let first = set.identities.first else { return 0 }
        var count = 0
        let root = place(scope, first)
        for identity in set.identities.dropFirst() { unite(root, place(scope, identity)) }
        for fact in set.transactions {
            encoder.encode(fact)
            let owner = place(scope, CustomerIdentity(.originalTransactionId, fact.storedOriginalTransactionId))
            var row = row(owner, fact.origin, call, id: fact.payload.transactionId ?? "")
            row.isPlainPurchase = fact.isPlainPurchase
            row.revokes = fact.revokes
            row.mayMoveTerms = fact.mayMoveTerms
            row.statesNonRenewingSubscription = fact.statesNonRenewingSubscription
            row.lookDate = fact.lookDate
            row.isPeriod = fact.isPeriod
            if let product = fact.storedProduct { row.product = keep(product) }
            transactions.append(row)
            count += 1
        }
        for fact in set.renewalInfos {
            encoder.encode(fact)
            let owner = place(scope, CustomerIdentity(.originalTransactionId, fact.payload.originalTransactionId ?? ""))
            var row = row(owner, fact.origin, call, id: "")
            row.lookDate = fact.lookDate
            renewalInfos.append(row)
            count += 1
        }
        if let fact = set.appTransaction {
            encoder.encode(fact)
            appTransactions.append(row(root, fact.origin, call, id: "", kind: fact.rowKind.rawValue))
            count += 1
        }
        if let receipt = set.receipt {
            let bytes = keep(receipt.bytes)
            receipts.append(
                FactBatch.Row(
                    owner: root, kind: Int16(truncatingIfNeeded: receipt.form.rawValue), source: 0,
                    signedDate: receipt.signedDate, call: call, id: 0..<0, payload: bytes, legacy: 0..<0,
                    document: 0..<0))
            count += 1
        }
        return count
    }

    /// - Parameters:
    ///   - owner: the index of the purchase, the customer or the identity of the row.
    ///   - origin: the origin of the fact.
    ///   - call: the index of the call that stores the fact.
    ///   - id: the transaction id; empty for a row without one.
    ///   - kind: nil for that of the origin.
    private mutating func row(
        _ owner: Int, _ origin: FactOrigin, _ call: Int, id: String, kind: Int64? = nil
    ) -> FactBatch.Row {
        FactBatch.Row(
            owner: owner, kind: Int16(truncatingIfNeeded: kind ?? Int64(origin.kind.rawValue)),
            source: Int16(truncatingIfNeeded: origin.source.code), signedDate: origin.signedDate, call: call,
            id: keep(id.utf8), payload: keep(encoder.payload.bytes), legacy: keep(encoder.legacy.bytes),
            document: keep(origin.documentBytes))
    }

    /// Adds some bytes and returns where they are.
    private mutating func keep(_ value: some Collection<UInt8>) -> Range<Int> {
        let start = bytes.count
        bytes.append(contentsOf: value)
        return start..<bytes.count
    }

    private mutating func place(_ scope: Int, _ identity: CustomerIdentity) -> Int {
        let key = Key(scope: scope, identity: identity)
        if let place = places[key] { return place }
        places[key] = keys.count
        keys.append(key)
        parents.append(parents.count)
        return keys.count - 1
    }

    private mutating func root(_ place: Int) -> Int {
        var place = place
        while parents[place] != place {
            parents[place] = parents[parents[place]]
            place = parents[place]
        }
        return place
    }

    private mutating func unite(_ left: Int, _ right: Int) {
        let (left, right) = (root(left), root(right))
        // Path halving alone keeps this almost linear. The lower index wins, so that the result depends only on the
        // sets.
        parents[max(left, right)] = min(left, right)
    }

    /// Sorts identities and rows into their final order and drops replaced rows.
    mutating func finish() {
        let order = keys.indices.sorted { left, right in
            let (left, right) = (keys[left], keys[right])
            return left.scope != right.scope ? left.scope < right.scope : left.identity < right.identity
        }
        var newPlaces = [Int](repeating: 0, count: keys.count)
        var components: [Int: Int] = [:]
        var componentOfPlace = [Int](repeating: 0, count: keys.count)
        for (new, old) in order.enumerated() {
            newPlaces[old] = new
            let component = components[root(old)] ?? components.count
            components[root(old)] = component
            componentOfPlace[old] = component
            let value = keep(keys[old].identity.value.utf8)
            identities.append(
                FactBatch.Identity(
                    scope: keys[old].scope, kind: Int16(truncatingIfNeeded: keys[old].identity.kind.rawValue),
                    value: value, component: component))
        }
        componentCount = components.count
        transactions = FactBatch.newest(transactions, of: newPlaces, bytes)
        renewalInfos = FactBatch.newest(renewalInfos, of: newPlaces, bytes)
        appTransactions = FactBatch.newest(appTransactions, of: componentOfPlace, bytes)
        receipts = FactBatch.newest(receipts, of: componentOfPlace, bytes)
    }
}

extension FactBatch {
    /// Of the rows with the same owner, id and kind, the newest.
    /// - Parameters:
    ///   - rows: the rows.
    ///   - owners: for the current owner of each row, the owner to use instead.
    ///   - bytes: the bytes that the rows refer to.
    static func newest(_ rows: [Row], of owners: [Int], _ bytes: [UInt8]) -> [Row] {
        var rows = rows
        for index in rows.indices { rows[index].owner = owners[rows[index].owner] }
        return bytes.withUnsafeBytes { bytes in
            func compare(_ left: Range<Int>, _ right: Range<Int>) -> Int {
                guard let base = bytes.baseAddress else { return 0 }
                let order = memcmp(base + left.lowerBound, base + right.lowerBound, min(left.count, right.count))
                return order != 0 ? Int(order) : left.count - right.count
            }
            func compareKeys(_ left: Row, _ right: Row) -> Int {
                if left.owner != right.owner { return left.owner - right.owner }
                let ids = compare(left.id, right.id)
                return ids != 0 ? ids : Int(left.kind) - Int(right.kind)
            }
            func compareNewness(_ left: Row, _ right: Row) -> Int {
                for criterion in FactRow.Criterion.allCases {
                    let order: Int =
                        switch criterion {
                        case .signedDate:
                            left.signedDate == right.signedDate ? 0 : left.signedDate < right.signedDate ? -1 : 1
                        case .revokes: left.revokes == right.revokes ? 0 : right.revokes ? -1 : 1
                        case .payload: compare(left.payload, right.payload)
                        case .legacy: compare(left.legacy, right.legacy)
                        case .source: Int(left.source) - Int(right.source)
                        case .document: compare(left.document, right.document)
                        }
                    if order != 0 { return order }
                }
                return 0
            }
            rows.sort { left, right in
                let keys = compareKeys(left, right)
                return keys != 0 ? keys < 0 : compareNewness(left, right) < 0
            }
            var result: [Row] = []
            result.reserveCapacity(rows.count)
            for row in rows {
                if let last = result.last, compareKeys(last, row) == 0 { result.removeLast() }
                result.append(row)
            }
            return result
        }
    }
}

/// Scopes, each once.
struct ScopeList {
    private(set) var scopes: [StoreScope] = []
    private var places: [ScopeKey: Int] = [:]

    /// The index of a scope, which is added if it is missing.
    mutating func place(_ scope: StoreScope) -> Int {
        let key = ScopeKey(scope: scope)
        if let place = places[key] { return place }
        places[key] = scopes.count
        scopes.append(scope)
        return scopes.count - 1
    }
}

/// A scope, compared by its bytes.
struct ScopeKey: Hashable {
    let scope: StoreScope

    static func == (left: ScopeKey, right: ScopeKey) -> Bool {
        left.scope.bundleId.utf8.elementsEqual(right.scope.bundleId.utf8)
            && left.scope.environment.rawValue.utf8.elementsEqual(right.scope.environment.rawValue.utf8)
    }
}
