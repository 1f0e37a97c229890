import NIOCore

/// How fast a large body has to come: each 16 KiB within ``VerifyReceiptServerConfiguration/Timeouts/bodyStep``, once the
/// body is known to be larger than ``BufferBudget/smallSize``. Large bodies share a part of the memory; without a rate a
/// few clients that stop in the middle would keep it for the whole time that a body may take.
struct BodyRate {
    /// Bytes.
    static let step = 16 << 10

    private let duration: TimeAmount
    private var received = 0
    private var isLarge = false
    /// What had come when the present step began.
    private var base = 0
    /// By when the present step has to be complete; nil if nothing is asked of the body.
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

    /// Gives the client the time of a step from now on.
    mutating func restart() {
        base = received
        deadline = .now() + duration
    }

    mutating func end() { deadline = nil }
}
