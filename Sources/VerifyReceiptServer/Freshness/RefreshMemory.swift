package import Purchases
import Synchronization
internal import TransactionStore

/// What the App Store last answered about purchases, by original transaction id. Bounded: two generations, of which the
/// older is forgotten when the newer is full.
package final class RefreshMemory: Sendable {
    /// One answer about one purchase.
    package struct Answer: Sendable, Hashable {
        /// When the App Store was asked; milliseconds.
        package let time: Int64
        /// Whether the App Store knows the purchase.
        package let isKnown: Bool

        package init(time: Int64, isKnown: Bool) {
            self.time = time
            self.isKnown = isKnown
        }
    }

    private struct Key: Hashable {
        let server: String?
        let scope: StoreScope
        let originalTransactionId: String
    }

    private struct Generations {
        var newer: [Key: Answer] = [:]
        var older: [Key: Answer] = [:]
    }

    private let capacity: Int
    private let generations = Mutex(Generations())

    /// - Parameter capacity: purchases per generation.
    package init(capacity: Int = 100_000) { self.capacity = max(1, capacity) }

    /// The last answer; nil if there is none that is remembered.
    /// - Parameters:
    ///   - server: which App Store was asked; nil for Apple's.
    ///   - now: milliseconds. What is later than that was noted before the clock was set back, and does not count.
    package func answer(
        _ originalTransactionId: String, in scope: StoreScope, of server: String? = nil, now: Int64
    ) -> Answer? {
        let key = Key(server: server, scope: scope, originalTransactionId: originalTransactionId)
        let answer = generations.withLock { $0.newer[key] ?? $0.older[key] }
        return answer.flatMap { $0.time <= now ? $0 : nil }
    }

    package func note(
        _ originalTransactionIds: some Sequence<String>, in scope: StoreScope, of server: String? = nil,
        _ answer: Answer
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
