internal import AppStoreModels
internal import LegacyReceipts
package import Purchases

/// A `FactSet` as bytes, for a spool that reads it again after a restart.
///
/// The facts are JSON, and each payload has the form that engines store (`FactEncoder`). The receipt is stored
/// separately as raw bytes, because base64 would enlarge it by a third.
package struct EncodedFactSet: Sendable {
    package let facts: [UInt8]
    package let receipt: [UInt8]?
    /// SHA-256 of the facts, which include the hash of the receipt. Equal sets have equal digests.
    package let digest: String
    /// The first 12 hexadecimal digits of the SHA-256 of the receipt, or of the facts if there is no receipt.
    package let name: String

    /// - Throws: ``TransactionStoreError`` `invalidArgument` for the facts of a notification.
    package init(_ set: FactSet) throws {
        guard set.notification == nil else {
            throw TransactionStoreError(
                .invalidArgument, "Notifications are not spooled: the App Store sends them again.")
        }
        let receiptDigest = set.receipt?.digest
        var writer = JSONWriter(reservingCapacity: 512 + 1024 * set.transactions.count)
        var encoder = FactEncoder()
        writer.beginObject()
        writer.member("environment", set.scope.environment.rawValue)
        writer.member("bundleId", set.scope.bundleId)
        writer.objects("identities", set.identities) { writer, identity in
            writer.member("kind", identity.kind.rawValue)
            writer.member("value", identity.value)
        }
        writer.array("transactions", set.transactions) { writer, fact in
            encoder.encode(fact)
            Self.write(encoder, fact.origin, to: &writer)
        }
        writer.array("renewalInfos", set.renewalInfos) { writer, fact in
            encoder.encode(fact)
            Self.write(encoder, fact.origin, to: &writer)
        }
        if let fact = set.appTransaction {
            encoder.encode(fact)
            writer.key("appTransaction")
            Self.write(encoder, fact.origin, to: &writer)
        }
        if let receipt = set.receipt {
            writer.object("receipt") { writer in
                writer.member("form", receipt.form.rawValue)
                writer.member("signedDate", receipt.signedDate)
                writer.member("sha256", receiptDigest)
            }
        }
        writer.endObject()
        facts = writer.finish()
        receipt = set.receipt?.bytes
        digest = Fingerprint(of: facts).description
        name = String((receiptDigest ?? digest).prefix(12))
    }

    private static func write(_ encoder: FactEncoder, _ origin: FactOrigin, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("source", origin.source.code)
        writer.member("signedDate", origin.signedDate)
        writer.member("document", origin.document?.description)
        writer.key("payload")
        encoder.payload.withBytes { writer.raw($0) }
        let legacy = encoder.legacy.bytes
        if !legacy.isEmpty {
            writer.key("legacy")
            writer.raw(legacy)
        }
        writer.endObject()
    }
}

extension FactSet {
    /// Reads the bytes of an ``EncodedFactSet``.
    ///
    /// - Throws: ``TransactionStoreError`` `corrupt`.
    package init(encoded facts: [UInt8], receipt: [UInt8]?) throws {
        let read: EncodedMembers
        do {
            read = try facts.withUnsafeBufferPointer { try EncodedMembers($0) }
        } catch let error as JSONReadingError {
            throw StoredObject.corrupt("\(error)")
        }
        guard let environment = read.environment, let bundleId = read.bundleId else {
            throw StoredObject.corrupt("the app is missing")
        }
        self.init(
            scope: StoreScope(environment: Environment(rawValue: environment), bundleId: bundleId),
            identities: read.identities, transactions: read.transactions, renewalInfos: read.renewalInfos,
            appTransaction: read.appTransaction, receipt: try read.receipt(receipt))
    }
}

/// The members of the JSON. The text of each payload is kept as it is.
private struct EncodedMembers {
    private(set) var environment: String?
    private(set) var bundleId: String?
    private(set) var identities: [CustomerIdentity] = []
    private(set) var transactions: [TransactionFact] = []
    private(set) var renewalInfos: [RenewalInfoFact] = []
    private(set) var appTransaction: AppTransactionFact?
    private var receiptHead: JSONObject?
    private var texts = CommonTexts()

    init(_ bytes: UnsafeBufferPointer<UInt8>) throws {
        try Self.forEachMember(of: bytes) { name, value in
            switch name {
            case "environment": environment = try Self.string(value)
            case "bundleId": bundleId = try Self.string(value)
            case "identities": try Self.forEachMember(of: value) { try add(identity: $1) }
            case "transactions": try Self.forEachMember(of: value) { try add(transaction: $1) }
            case "renewalInfos": try Self.forEachMember(of: value) { try add(renewalInfo: $1) }
            case "appTransaction": try add(appTransaction: value)
            case "receipt": receiptHead = try JSONValue.parse(value).object
            default: break
            }
        }
    }

    /// The receipt, if the facts state one.
    func receipt(_ bytes: [UInt8]?) throws -> KnownReceipt? {
        guard let receiptHead else { return nil }
        guard let bytes, let date = receiptHead["signedDate"]?.integer,
            let form = receiptHead["form"]?.integer.flatMap({ Int(exactly: $0) }).flatMap(
                KnownReceipt.Form.init(rawValue:))
        else { throw StoredObject.corrupt("the receipt is missing") }
        let receipt = KnownReceipt(form: form, bytes: bytes, signedDate: date)
        guard receiptHead["sha256"]?.string == receipt.digest else {
            throw StoredObject.corrupt("the receipt does not match the facts")
        }
        return receipt
    }

    private mutating func add(identity bytes: UnsafeBufferPointer<UInt8>) throws {
        let value = try JSONValue.parse(bytes)
        guard let kind = value["kind"]?.integer, let text = value["value"]?.string else {
            throw StoredObject.corrupt("an identity is missing")
        }
        identities.append(try CustomerIdentity(storedKind: kind, text))
    }

    private mutating func add(transaction bytes: UnsafeBufferPointer<UInt8>) throws {
        let fact = try Fact(bytes)
        transactions.append(
            try TransactionFact(stored: fact.payload, legacy: fact.legacy, fact.origin, in: nil, texts: &texts))
    }

    private mutating func add(renewalInfo bytes: UnsafeBufferPointer<UInt8>) throws {
        let fact = try Fact(bytes)
        renewalInfos.append(try RenewalInfoFact(stored: fact.payload, fact.origin))
    }

    private mutating func add(appTransaction bytes: UnsafeBufferPointer<UInt8>) throws {
        let fact = try Fact(bytes)
        appTransaction = try AppTransactionFact(stored: fact.payload, legacy: fact.legacy, fact.origin)
    }

    /// One fact: its source, and the range of its text.
    private struct Fact {
        let origin: FactOrigin
        let payload: UnsafeBufferPointer<UInt8>
        let legacy: UnsafeBufferPointer<UInt8>

        init(_ bytes: UnsafeBufferPointer<UInt8>) throws {
            var source: FactSource?
            var date: Int64?
            var document: Fingerprint?
            var payload: UnsafeBufferPointer<UInt8>?
            var legacy = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
            try EncodedMembers.forEachMember(of: bytes) { name, value in
                switch name {
                case "source": source = try JSONValue.parse(value).integer.flatMap { FactSource(code: $0) }
                case "signedDate": date = try JSONValue.parse(value).integer
                case "document": document = try JSONValue.parse(value).string.flatMap { Fingerprint(hex: $0) }
                case "payload": payload = value
                case "legacy": legacy = value
                default: break
                }
            }
            guard let source, let date, let payload else { throw StoredObject.corrupt("unknown source") }
            origin = FactOrigin(source: source, signedDate: date, document: document)
            self.payload = payload
            self.legacy = legacy
        }
    }

    private static func string(_ bytes: UnsafeBufferPointer<UInt8>) throws -> String? {
        try JSONValue.parse(bytes).string
    }

    /// Calls `body` with the name and the text of each member; elements of an array have an empty name.
    private static func forEachMember(
        of bytes: UnsafeBufferPointer<UInt8>, _ body: (String, UnsafeBufferPointer<UInt8>) throws -> Void
    ) throws {
        var scanner = try JSONMemberScanner(bytes)
        while let member = try scanner.next() {
            let name = member.key.map { scanner.text($0) } ?? ""
            try body(name, UnsafeBufferPointer(rebasing: bytes[member.value]))
        }
    }
}
