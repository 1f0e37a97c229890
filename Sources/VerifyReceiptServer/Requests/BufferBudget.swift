import Synchronization

/// Bounds the bytes of request bodies and answers in memory.
///
/// A quarter is reserved for small ones, so a few clients with large bodies cannot lock out the others.
final class BufferBudget: Sendable {
    /// In bytes. Bodies and answers up to this size count as small.
    static let smallSize = 128 << 10

    private let maximum: Int
    private let maximumForLarge: Int
    private let used = Atomic<Int>(0)

    init(maximum: Int) {
        self.maximum = maximum
        maximumForLarge = Self.maximumForLarge(maximum)
    }

    /// The limit for all large ones together, and for a single one.
    static func maximumForLarge(_ maximum: Int) -> Int { maximum - maximum / 4 }

    /// Takes bytes from the budget. After `true`, the caller must call ``release(_:)``.
    ///
    /// - Parameters:
    ///   - bytes: the number of bytes to take.
    ///   - total: the size of the whole body or answer, or of the part that is known.
    func take(_ bytes: Int, of total: Int) -> Bool {
        let (_, after) = used.add(bytes, ordering: .relaxed)
        guard after > (total > Self.smallSize ? maximumForLarge : maximum) else { return true }
        release(bytes)
        return false
    }

    /// Counts bytes that are already in memory.
    func hold(_ bytes: Int) { used.add(bytes, ordering: .relaxed) }

    func release(_ bytes: Int) { used.subtract(bytes, ordering: .relaxed) }

    var current: Int { used.load(ordering: .relaxed) }
}
