internal import LegacyReceipts
internal import Purchases
internal import Synchronization
internal import TransactionStore

/// A cache of genuine receipts. Apps send the same receipt at each start, and verification is more than half of the
/// work for an answer without a store.
///
/// The result of a verification depends only on the bytes and the trust policy, not on the time, the store or other receipts.
/// The key is the SHA-256 of the receipt's canonical form (`Verified.canonicalBytes(of:)`), and a new trust policy gets a new
/// cache. Environment, secrets and the store are checked for each request. Variants of a receipt with unsigned bytes share
/// its entry, so they cannot flush the cache. Rejected receipts are not cached, and neither are Xcode's, whose key is public.
///
/// Its memory is bounded. New and repeated entries go into the newer of two halves. When it is full, the older half is
/// emptied and becomes the newer one.
final class ReceiptCache: Sendable {
    final class Entry: Sendable {
        let receipt: Verified<LegacyReceipt>
        /// The facts for the store; nil without a store, or if the receipt has none.
        let facts: FactSet?
        /// The receipt resolved alone; empty if that equals its statements.
        let resolvedAlone: [StoredTransaction]
        let bytes: [UInt8]
        /// The SHA-256 of the bytes.
        private let name: Fingerprint

        init(receipt: Verified<LegacyReceipt>, facts: FactSet?, bytes: [UInt8], name: Fingerprint) {
            self.receipt = receipt
            self.facts = facts
            self.bytes = bytes
            self.name = name
            guard case .app(let app) = receipt.payload, app.hasDependentPurchases,
                let facts = facts ?? FactSet(receipt, canonicalBytes: bytes, hash: name),
                let customer = Customer(resolving: [facts])
            else {
                resolvedAlone = []
                return
            }
            resolvedAlone = customer.transactions
        }

        /// The facts, also without a store; nil if the receipt has none.
        var factsWithoutStore: FactSet? { facts ?? FactSet(receipt, canonicalBytes: bytes, hash: name) }

        /// The approximate memory use. The bytes count twice, because receipts that are not in canonical form are held
        /// in two forms.
        var size: Int {
            guard case .app(let receipt) = receipt.payload else { return 2 * bytes.count + 8 << 10 }
            let unknown = receipt.inAppPurchases.reduce(receipt.unknownAttributes.count) {
                $0 + $1.unknownAttributes.count
            }
            let purchase = facts == nil ? 1 << 10 : 3 << 10
            return 2 * bytes.count + 4 << 10 + receipt.inAppPurchases.count * purchase + resolvedAlone.count << 11
                + unknown * 64
        }

        /// Whether the signing key is public.
        var isForgeable: Bool { receipt.evidence.anchor == .xcode }
    }

    private struct State {
        var newer: [Fingerprint: Entry] = [:]
        var older: [Fingerprint: Entry] = [:]
        /// The size of the newer half.
        var size = 0
    }

    /// In bytes.
    private let maximumOfHalf: Int
    private let state = Mutex(State())
    private let hits = Atomic<Int>(0)
    private let misses = Atomic<Int>(0)

    /// - Parameter maximum: in bytes; 0 to disable the cache.
    init(maximum: Int) { maximumOfHalf = maximum / 2 }

    func entry(_ name: Fingerprint) -> Entry? {
        guard maximumOfHalf > 0 else { return nil }
        let (newer, older) = state.withLock { state -> (Entry?, Entry?) in
            if let entry = state.newer[name] { return (entry, nil) }
            return (nil, state.older.removeValue(forKey: name))
        }
        if let older { insert(older, name) }
        guard let entry = newer ?? older else {
            misses.add(1, ordering: .relaxed)
            return nil
        }
        hits.add(1, ordering: .relaxed)
        return entry
    }

    func insert(_ entry: Entry, _ name: Fingerprint) {
        let size = entry.size
        // One customer with a very long history must not evict all others.
        guard size <= maximumOfHalf / 16, !entry.isForgeable else { return }
        let forgotten = state.withLock { state -> [Fingerprint: Entry] in
            // Another thread may have added the same receipt at the same time.
            guard state.newer[name] == nil else { return [:] }
            var forgotten: [Fingerprint: Entry] = [:]
            if state.size + size > maximumOfHalf {
                swap(&forgotten, &state.older)
                swap(&state.older, &state.newer)
                state.size = 0
            }
            state.newer[name] = entry
            state.size += size
            return forgotten
        }
        // Frees thousands of small allocations after the lock is released, so that other threads do not wait.
        withExtendedLifetime(forgotten) {}
    }

    var lookups: (hits: Int, misses: Int) { (hits.load(ordering: .relaxed), misses.load(ordering: .relaxed)) }
}
