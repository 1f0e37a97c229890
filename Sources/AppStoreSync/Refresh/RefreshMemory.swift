package import Purchases
internal import Synchronization

/// The App Store's answer about one purchase.
public struct AppStoreAnswer: Sendable, Hashable {
    /// When the request was sent, in milliseconds since 1970-01-01T00:00:00Z.
    public let time: Int64
    /// Whether the App Store knows the purchase.
    public let isKnown: Bool

    package init(time: Int64, isKnown: Bool) {
        self.time = time
        self.isKnown = isKnown
    }
}

/// A bounded cache of the App Store's last answers, by original transaction id. It has two generations and drops the older
/// one when the newer one is full.
package final class RefreshMemory: Sendable {
    private struct Key: Hashable {
        let server: String?
        let scope: StoreScope
        let originalTransactionId: String
    }

    private struct Generations {
        var newer: [Key: AppStoreAnswer] = [:]
        var older: [Key: AppStoreAnswer] = [:]
    }

    private let capacity: Int
    private let generations = Mutex(Generations())

    /// - Parameter capacity: purchases per generation.
    package init(capacity: Int = 100_000) { self.capacity = max(1, capacity) }

    /// The last answer; nil if the cache has none.
    /// - Parameters:
    ///   - originalTransactionId: the purchase that was queried.
    ///   - scope: its app and environment.
    ///   - server: the address of the API; nil for Apple's.
    ///   - now: milliseconds. A later answer was cached before the clock was set back, and is ignored.
    package func answer(
        _ originalTransactionId: String, in scope: StoreScope, of server: String? = nil, now: Int64
    ) -> AppStoreAnswer? {
        let key = Key(server: server, scope: scope, originalTransactionId: originalTransactionId)
        let answer = generations.withLock { $0.newer[key] ?? $0.older[key] }
        return answer.flatMap { $0.time <= now ? $0 : nil }
    }

    package func note(
        _ originalTransactionIds: some Sequence<String>, in scope: StoreScope, of server: String? = nil,
        _ answer: AppStoreAnswer
    ) {
        generations.withLock { generations in
            for id in originalTransactionIds {
                if generations.newer.count >= capacity {
                    generations.older = generations.newer
                    generations.newer = [:]
                }
                generations.newer[Key(server: server, scope: scope, originalTransactionId: id)] = answer
            }
        }
    }
}
