internal import AppStoreModels
internal import Purchases

/// Makes a ``Customer`` from the rows of an engine. Rows may come in any order.
package struct CustomerAssembler {
    /// What stands in a row beside its key.
    package struct Row {
        package let kind: Int64
        package let source: Int64
        package let signedDate: Int64

        package init(kind: Int64, source: Int64, signedDate: Int64) {
            self.kind = kind
            self.source = source
            self.signedDate = signedDate
        }

        fileprivate var origin: FactOrigin {
            get throws {
                guard let source = FactSource(code: source), source.kind.rawValue == Int(exactly: kind) else {
                    throw StoredObject.corrupt("unknown source")
                }
                return FactOrigin(source: source, signedDate: signedDate)
            }
        }
    }

    private let scope: StoreScope
    private var identities: Set<CustomerIdentity> = []
    private var facts: [TransactionFact] = []
    private var texts = JWSTransactionDecodedPayload.CommonTexts()
    private var renewals: [String: ByKind<RenewalInfoFact>] = [:]
    private var appTransactions = ByKind<AppTransactionFact>()
    /// What the facts above were read from.
    private var appRows = ByKind<(octets: [UInt8], source: Int64)>()
    private var appReceipt: KnownReceipt?
    private var transactionReceipt: KnownReceipt?

    package init(scope: StoreScope) {
        self.scope = scope
        facts.reserveCapacity(32)
    }

    /// Whether the identity is of a customer whose identities were added.
    package func hasIdentity(_ identity: CustomerIdentity) -> Bool { identities.contains(identity) }

    package mutating func addIdentity(kind: Int64, value: String) throws {
        guard let kind = Int(exactly: kind).flatMap(CustomerIdentity.Kind.init(rawValue:)) else {
            throw StoredObject.corrupt("unknown kind of identity")
        }
        identities.insert(CustomerIdentity(kind, value))
    }

    /// - Parameters:
    ///   - payload: what ``FactEncoder/payload`` held; need not outlive the call.
    ///   - legacy: what ``FactEncoder/legacy`` held; may be empty.
    package mutating func addTransaction(
        _ row: Row, payload: UnsafeBufferPointer<UInt8>, legacy: UnsafeBufferPointer<UInt8>
    ) throws {
        facts.append(
            TransactionFact(
                payload: try JWSTransactionDecodedPayload(stored: payload, common: &texts),
                legacy: legacy.isEmpty ? nil : try LegacyTransactionFields(stored: legacy), origin: try row.origin))
    }

    package mutating func addRenewalInfo(_ row: Row, payload: UnsafeBufferPointer<UInt8>) throws {
        let origin = try row.origin
        let fact = RenewalInfoFact(payload: try JWSRenewalInfoDecodedPayload(stored: payload), origin: origin)
        guard let id = fact.payload.originalTransactionId else { throw StoredObject.corrupt("renewal without an id") }
        renewals[id, default: ByKind()][origin.source.kind] = fact
    }

    package mutating func addAppTransaction(_ row: Row, payload: UnsafeBufferPointer<UInt8>) throws {
        let origin = try row.origin
        let kind = origin.source.kind
        let octets = Array(payload)
        // Two only where the customer is several that no document has joined; the order of the rows must not matter.
        if let known = appTransactions[kind], let knownRow = appRows[kind] {
            let isNewer =
                if origin.signedDate != known.origin.signedDate {
                    origin.signedDate > known.origin.signedDate
                } else if knownRow.octets != octets {
                    knownRow.octets.lexicographicallyPrecedes(octets)
                } else {
                    row.source > knownRow.source
                }
            guard isNewer else { return }
        }
        appTransactions[kind] = AppTransactionFact(payload: try AppTransaction(stored: payload), origin: origin)
        appRows[kind] = (octets, row.source)
    }

    package mutating func addReceipt(form: Int64, signedDate: Int64, bytes: [UInt8]) throws {
        guard let form = Int(exactly: form).flatMap(KnownReceipt.Form.init(rawValue:)) else {
            throw StoredObject.corrupt("unknown form of receipt")
        }
        let receipt = KnownReceipt(form: form, bytes: bytes, signedDate: signedDate)
        switch form {
        case .app: Self.keepNewer(receipt, &appReceipt)
        case .transaction: Self.keepNewer(receipt, &transactionReceipt)
        }
    }

    private static func keepNewer(_ receipt: KnownReceipt, _ known: inout KnownReceipt?) {
        if let known, !receipt.isNewer(than: known) { return }
        known = receipt
    }

    /// The customer; nil if there was no identity.
    package func customer() -> Customer? {
        guard !identities.isEmpty else { return nil }
        return Customer(
            scope: scope, identities: identities.sorted(), transactions: joinedTransactions(),
            renewalInfos: renewals.keys.sorted(by: Self.precedes).compactMap { id in
                renewals[id].flatMap { StoredRenewalInfo(joining: $0, in: scope) }
            },
            appTransaction: StoredAppTransaction(joining: appTransactions, in: scope), newestAppReceipt: appReceipt,
            newestTransactionReceipt: transactionReceipt)
    }

    private static func precedes(_ left: String, _ right: String) -> Bool {
        switch TransactionIdOrder.compare(left, right) {
        case .before: true
        case .after: false
        // 07 and 7 have the same value, and sorting must not depend on where they came from.
        case .same: left.utf8.count < right.utf8.count
        }
    }

    /// One transaction per id, the greatest id first, with the upgrades that show between them.
    package func joinedTransactions() -> [StoredTransaction] {
        func id(_ place: Int) -> String { facts[place].payload.transactionId ?? "" }
        var order = Array(facts.indices.reversed())
        // Engines give rows by id, so that they are nearly always in order already.
        if !zip(order, order.dropFirst()).allSatisfy({ !Self.precedes(id($0), id($1)) }) {
            order.sort { Self.precedes(id($1), id($0)) }
        }
        var result: [StoredTransaction] = []
        result.reserveCapacity(order.count)
        var start = 0
        while start < order.count {
            var places = FactsOfTransaction()
            var end = start
            while end < order.count, id(order[end]) == id(order[start]) {
                let place = order[end]
                let kind = facts[place].origin.source.kind
                if places[kind].map({ isNewer(place, than: $0) }) ?? true { places[kind] = place }
                end += 1
            }
            result.append(StoredTransaction(joining: places, of: facts, in: scope))
            start = end
        }
        result.concludeUpgrades()
        return result
    }

    /// Two facts of one kind occur only where documents file one transaction under different original ids.
    private func isNewer(_ place: Int, than other: Int) -> Bool {
        let (date, otherDate) = (facts[place].origin.signedDate, facts[other].origin.signedDate)
        if date != otherDate { return date > otherDate }
        let (revokes, otherRevokes) = (facts[place].revokes, facts[other].revokes)
        if revokes != otherRevokes { return revokes }
        return Self.precedes(facts[other].storedOriginalTransactionId, facts[place].storedOriginalTransactionId)
    }
}

extension Customer {
    /// The customer as an engine gives it that knew none of the identities before it took in the facts, and nothing since.
    /// Nil where the set has several facts of one kind about one purchase: the engine decides between them.
    package init?(statedBy facts: FactSet) throws {
        var keys: Set<[String]> = []
        for fact in facts.transactions {
            let key = ["\(fact.origin.source.kind.rawValue)", fact.payload.transactionId ?? ""]
            guard keys.insert(key).inserted else { return nil }
        }
        for fact in facts.renewalInfos {
            let key = ["renewal", "\(fact.origin.source.kind.rawValue)", fact.payload.originalTransactionId ?? ""]
            guard keys.insert(key).inserted else { return nil }
        }
        var assembler = CustomerAssembler(scope: facts.scope)
        var encoder = FactEncoder()
        for identity in facts.identities {
            try assembler.addIdentity(kind: Int64(identity.kind.rawValue), value: identity.value)
        }
        for fact in facts.transactions {
            encoder.encode(fact)
            try encoder.payload.bytes.withUnsafeBufferPointer { payload in
                try encoder.legacy.bytes.withUnsafeBufferPointer { legacy in
                    try assembler.addTransaction(.init(fact.origin), payload: payload, legacy: legacy)
                }
            }
        }
        for fact in facts.renewalInfos {
            encoder.encode(fact)
            try encoder.payload.bytes.withUnsafeBufferPointer { payload in
                try assembler.addRenewalInfo(.init(fact.origin), payload: payload)
            }
        }
        if let fact = facts.appTransaction {
            encoder.encode(fact)
            try encoder.payload.bytes.withUnsafeBufferPointer { payload in
                try assembler.addAppTransaction(.init(fact.origin), payload: payload)
            }
        }
        if let receipt = facts.receipt {
            try assembler.addReceipt(
                form: Int64(receipt.form.rawValue), signedDate: receipt.signedDate, bytes: receipt.bytes)
        }
        guard let customer = assembler.customer() else { return nil }
        self = customer
    }
}

extension CustomerAssembler.Row {
    fileprivate init(_ origin: FactOrigin) {
        self.init(
            kind: Int64(origin.source.kind.rawValue), source: origin.source.code, signedDate: origin.signedDate)
    }
}

extension KnownReceipt {
    /// Whether the receipt is the one to keep of two of the same form: by date, then by octets, so that the order in which
    /// they come does not matter.
    package func isNewer(than other: KnownReceipt) -> Bool {
        if signedDate != other.signedDate { return signedDate > other.signedDate }
        return other.bytes.lexicographicallyPrecedes(bytes)
    }
}
