import Synchronization

/// Bounds the bytes of request bodies and answers in memory.
///
/// A quarter is reserved for small ones, so a few clients with large bodies cannot lock out the others.
final class BufferBudget: Sendable {
    /// Bytes. Bodies and answers up to this count as small.
    static let smallSize = 128 << 10

    private let maximum: Int
    private let maximumForLarge: Int
    private let used = Atomic<Int>(0)

    init(maximum: Int) {
        self.maximum = maximum
        maximumForLarge = Self.maximumForLarge(maximum)
    }

    /// The bound for all large ones together, and for the largest one.
    static func maximumForLarge(_ maximum: Int) -> Int { maximum - maximum / 4 }

    /// Whether there was room; then it must be given back with ``release(_:)``.
    ///
    /// - Parameter total: the size of the whole body or answer, as far as it is known.
    func take(_ bytes: Int, of total: Int) -> Bool {
        let (_, after) = used.add(bytes, ordering: .relaxed)
        guard after > (total > Self.smallSize ? maximumForLarge : maximum) else { return true }
        release(bytes)
        return false
    }

    /// Counts what is in memory anyway.
    func hold(_ bytes: Int) { used.add(bytes, ordering: .relaxed) }

    func release(_ bytes: Int) { used.subtract(bytes, ordering: .relaxed) }

    var current: Int { used.load(ordering: .relaxed) }
}
