import Synchronization
package import TransactionStore

/// When customers were last asked about. Bounded: two generations, of which the older is forgotten when the newer is full.
package final class RefreshMemory: Sendable {
    struct Key: Hashable, Sendable {
        let scope: StoreScope
        let identity: CustomerIdentity
    }

    private struct Generations {
        var newer: [Key: Int64] = [:]
        var older: [Key: Int64] = [:]
    }

    private let capacity: Int
    private let generations = Mutex(Generations())

    /// - Parameter capacity: identities per generation.
    package init(capacity: Int = 100_000) { self.capacity = max(1, capacity) }

    /// The newest refresh of anybody with one of these identities, in milliseconds.
    package func time(_ identities: [CustomerIdentity], in scope: StoreScope) -> Int64? {
        generations.withLock { generations in
            var newest: Int64?
            for identity in identities {
                let key = Key(scope: scope, identity: identity)
                guard let time = generations.newer[key] ?? generations.older[key] else { continue }
                newest = max(newest ?? time, time)
            }
            return newest
        }
    }

    package func note(_ identities: [CustomerIdentity], in scope: StoreScope, at time: Int64) {
        generations.withLock { generations in
            for identity in identities.prefix(16) {
                if generations.newer.count >= capacity {
                    generations.older = generations.newer
                    generations.newer = [:]
                }
                generations.newer[Key(scope: scope, identity: identity)] = time
            }
        }
    }
}
