import Synchronization
package import TransactionStore

/// When the App Store was last asked about purchases, by original transaction id. Bounded: two generations, of which the
/// older is forgotten when the newer is full.
package final class RefreshMemory: Sendable {
    private struct Key: Hashable {
        let server: String?
        let scope: StoreScope
        let originalTransactionId: String
    }

    private struct Generations {
        var newer: [Key: Int64] = [:]
        var older: [Key: Int64] = [:]
    }

    private let capacity: Int
    private let generations = Mutex(Generations())

    /// - Parameter capacity: purchases per generation.
    package init(capacity: Int = 100_000) { self.capacity = max(1, capacity) }

    /// The last time, in milliseconds; nil if it is not known.
    /// - Parameters:
    ///   - server: which App Store was asked; nil for Apple's.
    ///   - now: milliseconds. What is later than that was noted before the clock was set back, and is not believed.
    package func time(
        _ originalTransactionId: String, in scope: StoreScope, of server: String? = nil, now: Int64
    ) -> Int64? {
        let key = Key(server: server, scope: scope, originalTransactionId: originalTransactionId)
        let time = generations.withLock { $0.newer[key] ?? $0.older[key] }
        return time.flatMap { $0 <= now ? $0 : nil }
    }

    package func note(
        _ originalTransactionIds: some Sequence<String>, in scope: StoreScope, of server: String? = nil, at time: Int64
    ) {
        generations.withLock { generations in
            for id in originalTransactionIds {
                if generations.newer.count >= capacity {
                    generations.older = generations.newer
                    generations.newer = [:]
                }
                generations.newer[Key(server: server, scope: scope, originalTransactionId: id)] = time
            }
        }
    }
}
