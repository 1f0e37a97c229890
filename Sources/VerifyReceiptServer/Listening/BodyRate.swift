import NIOCore

/// The minimum rate of a body larger than ``BufferBudget/smallSize``: 16 KiB per
/// ``VerifyReceiptServerConfiguration/Timeouts/bodyStep``. Large bodies share a part of the memory. Without a rate, a few clients
/// that stop in the middle could block it until the timeout of the body.
struct BodyRate {
    /// In bytes.
    static let step = 16 << 10

    private let duration: TimeAmount
    private var received = 0
    private var isLarge = false
    /// The bytes received before the current step.
    private var base = 0
    /// The deadline of the current step; nil without a minimum rate.
    private(set) var deadline: NIODeadline?

    init(_ duration: Duration) { self.duration = .nanoseconds(duration.wholeNanoseconds) }

    /// - Parameter declared: `Content-Length`.
    mutating func begin(declared: Int?) {
        received = 0
        base = 0
        deadline = nil
        isLarge = (declared ?? 0) > BufferBudget.smallSize
        if isLarge { restart() }
    }

    mutating func take(_ bytes: Int) {
        received += bytes
        if !isLarge, received > BufferBudget.smallSize {
            isLarge = true
            restart()
        } else if isLarge, received - base >= Self.step {
            restart()
        }
    }

    /// Restarts the deadline of the current step.
    mutating func restart() {
        base = received
        deadline = .now() + duration
    }

    mutating func end() { deadline = nil }
}
