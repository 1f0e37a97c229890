import Crypto
import LegacyReceipts
import Purchases
import Synchronization
import TransactionStore

/// The additions of some records to a store.
struct StoreAdditions: Sendable {
    var facts: [FactSet] = []
    var users: [UserClaim] = []
    /// The verified receipts, each with the place of its facts in ``facts``.
    private(set) var receipts: [(receipt: VerifiedReceipt, place: Int)] = []
    /// The places in ``receipts``, by key.
    private var places: [[UInt8]: Int] = [:]

    mutating func removeAll() { self = StoreAdditions() }

    /// Adds a receipt that was verified, and its facts.
    mutating func add(_ receipt: VerifiedReceipt, _ set: FactSet) {
        places[receipt.key] = receipts.count
        receipts.append((receipt, facts.count))
        facts.append(set)
    }

    /// The receipt with this key, if one of the records contained it.
    subscript(key: [UInt8]) -> VerifiedReceipt? { places[key].map { receipts[$0].receipt } }

    /// The additions without the receipts that are not new, and without their facts.
    func keeping(_ isNew: (VerifiedReceipt) -> Bool) -> StoreAdditions {
        let old = receipts.filter { !isNew($0.receipt) }
        guard !old.isEmpty else { return self }
        let removed = Set(old.map(\.place))
        let new = Dictionary(receipts.map { ($0.place, $0.receipt) }, uniquingKeysWith: { first, _ in first })
        var kept = StoreAdditions()
        kept.users = users
        for (place, set) in facts.enumerated() where !removed.contains(place) {
            if let receipt = new[place] { kept.add(receipt, set) } else { kept.facts.append(set) }
        }
        return kept
    }
}

/// The receipts of the batches that were added to a step in this run, and those that the store has. So a receipt in many
/// records is filed only once, and its users too.
///
/// Batches run at the same time, and one does not see the receipts of another before that is added to its step. Otherwise
/// the speed of the batches would decide which of them adds the facts of a receipt that is in both.
final class VerifiedReceipts: Sendable {
    /// A dictionary that drops the least recently used values.
    private struct Recent<Key: Hashable & Sendable, Value: Sendable>: Sendable {
        private var recent: [Key: Value] = [:]
        private var older: [Key: Value] = [:]
        private static var maximum: Int { 50_000 }

        mutating func value(_ key: Key) -> Value? {
            if let known = recent[key] { return known }
            guard let known = older[key] else { return nil }
            add(key, known)
            return known
        }

        mutating func add(_ key: Key, _ value: Value) {
            if recent.count >= Self.maximum / 2 { (older, recent) = (recent, [:]) }
            recent[key] = value
        }
    }

    private let trust: [UInt8]
    private let receipts = Mutex(Recent<[UInt8], VerifiedReceipt>())
    private let users = Mutex(Recent<Fingerprint, Bool>())

    init(trust: TrustPolicy) { self.trust = trust.digest }

    /// The key of a receipt.
    /// - Parameter hash: the SHA-256 of the receipt without transport encoding. A store keeps it too, so each receipt is
    ///   hashed once.
    func key(of hash: Fingerprint) -> [UInt8] { Fingerprint(of: trust + hash.bytes).bytes }

    subscript(key: [UInt8]) -> VerifiedReceipt? { receipts.withLock { $0.value(key) } }

    func add(_ receipt: VerifiedReceipt) { receipts.withLock { $0.add(receipt.key, receipt) } }

    /// The additions of the next batch without the receipts that a batch before it contained. Adds the others.
    func new(in additions: StoreAdditions) -> StoreAdditions {
        additions.keeping { receipt in
            guard self[receipt.key] == nil else { return false }
            add(receipt)
            return true
        }
    }

    /// Whether this run has not filed the user of this receipt yet, as far as it remembers. The next call returns false.
    func isNew(_ user: UserColumns.User, of key: [UInt8]) -> Bool {
        // The length marks where the id ends. The hash keeps long columns out of memory.
        let beside = Fingerprint(of: key + Array("\(user.id.utf8.count):\(user.id)\(user.carried)".utf8))
        return users.withLock { users in
            guard users.value(beside) == nil else { return false }
            users.add(beside, true)
            return true
        }
    }
}

extension TrustPolicy {
    /// SHA-256 of everything that the policy trusts, because another policy may reject the same receipt.
    var digest: [UInt8] {
        var hash = SHA256()
        func add(_ fingerprints: Set<Fingerprint>) {
            for fingerprint in fingerprints.map(\.description).sorted() { hash.update(data: Array(fingerprint.utf8)) }
            hash.update(data: [0])
        }
        func add(_ certificates: [[UInt8]]) { add(Set(certificates.map { Fingerprint(of: $0) })) }
        add(roots)
        add(additionalRoots)
        add(additionalIntermediates)
        add(transactionReceiptLeaves)
        add(transactionReceiptIntermediates)
        add([xcodeCertificate])
        hash.update(data: [acceptsXcodeReceipts ? 1 : 0])
        return Array(hash.finalize())
    }
}
