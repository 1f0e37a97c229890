internal import AppStoreModels
package import Purchases

/// Makes a `Customer` from the rows of an engine. Rows may come in any order.
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

    private var statements: CustomerStatements
    private var texts = CommonTexts()
    /// The rows of the app transactions.
    private var appRows = ByKind<(bytes: [UInt8], source: Int64)>()

    package init(scope: StoreScope) { statements = CustomerStatements(scope: scope) }

    /// Whether the identity is of a customer whose identities were added.
    package func hasIdentity(_ identity: CustomerIdentity) -> Bool { statements.identities.contains(identity) }

    package mutating func addIdentity(kind: Int64, value: String) throws {
        guard let kind = Int(exactly: kind).flatMap(CustomerIdentity.Kind.init(rawValue:)) else {
            throw StoredObject.corrupt("unknown kind of identity")
        }
        statements.identities.insert(CustomerIdentity(kind, value))
    }

    /// - Parameters:
    ///   - payload: what `FactEncoder/payload` held; need not outlive the call.
    ///   - legacy: what `FactEncoder/legacy` held; may be empty.
    package mutating func addTransaction(
        _ row: Row, payload: UnsafeBufferPointer<UInt8>, legacy: UnsafeBufferPointer<UInt8>
    ) throws {
        statements.transactions.append(
            TransactionFact(
                payload: try JWSTransactionDecodedPayload(stored: payload, texts: &texts),
                legacy: legacy.isEmpty ? nil : try LegacyTransactionFields(stored: legacy), origin: try row.origin))
    }

    package mutating func addRenewalInfo(_ row: Row, payload: UnsafeBufferPointer<UInt8>) throws {
        let origin = try row.origin
        let fact = RenewalInfoFact(payload: try JWSRenewalInfoDecodedPayload(stored: payload), origin: origin)
        guard let id = fact.payload.originalTransactionId else { throw StoredObject.corrupt("renewal without an id") }
        statements.renewalInfos[id, default: ByKind()][origin.source.kind] = fact
    }

    package mutating func addAppTransaction(_ row: Row, payload: UnsafeBufferPointer<UInt8>) throws {
        let origin = try row.origin
        let kind = origin.source.kind
        let bytes = Array(payload)
        // Two only where the customer is several that no document has joined; the order of the rows must not matter.
        if let known = statements.appTransactions[kind], let knownRow = appRows[kind] {
            let isNewer =
                if origin.signedDate != known.origin.signedDate {
                    origin.signedDate > known.origin.signedDate
                } else if knownRow.bytes != bytes {
                    knownRow.bytes.lexicographicallyPrecedes(bytes)
                } else {
                    row.source > knownRow.source
                }
            guard isNewer else { return }
        }
        statements.appTransactions[kind] = AppTransactionFact(
            payload: try AppTransaction(stored: payload), origin: origin)
        appRows[kind] = (bytes, row.source)
    }

    package mutating func addReceipt(form: Int64, signedDate: Int64, bytes: [UInt8]) throws {
        guard let form = Int(exactly: form).flatMap(KnownReceipt.Form.init(rawValue:)) else {
            throw StoredObject.corrupt("unknown form of receipt")
        }
        statements.add(KnownReceipt(form: form, bytes: bytes, signedDate: signedDate))
    }

    /// The customer; nil if there was no identity.
    package func customer() -> Customer? { statements.resolved() }

    /// One transaction per id, the greatest id first.
    package func joinedTransactions() -> [StoredTransaction] { statements.resolvedTransactions() }
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
