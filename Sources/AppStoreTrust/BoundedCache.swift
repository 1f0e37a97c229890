internal import Synchronization

/// A cache that many threads share. It is bounded and evicts the oldest entry.
package final class BoundedCache<Entry: Sendable>: Sendable {
    private let maximum: Int
    private let entries = Mutex<[Entry]>([])
    private let hits = Atomic<Int>(0)
    private let misses = Atomic<Int>(0)

    package init(maximum: Int) { self.maximum = maximum }

    /// The entries, the oldest first. The caller searches them: every receipt and JWS needs a search, and only code in
    /// the caller's module is compiled for its type of entries.
    package var current: [Entry] { entries.withLock { $0 } }

    /// Counts a search.
    package func count(isHit: Bool) {
        if isHit {
            hits.add(1, ordering: .relaxed)
        } else {
            misses.add(1, ordering: .relaxed)
        }
    }

    /// Adds an entry, unless one matches: another thread may have added the same one at the same time.
    package func insert(_ entry: Entry, unless matches: (Entry) -> Bool) {
        entries.withLock { entries in
            if entries.contains(where: matches) { return }
            if entries.count >= maximum { entries.removeFirst() }
            entries.append(entry)
        }
    }

    /// Hits and misses.
    package var lookups: (hits: Int, misses: Int) {
        (hits.load(ordering: .relaxed), misses.load(ordering: .relaxed))
    }
}
