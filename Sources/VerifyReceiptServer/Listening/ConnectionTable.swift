package import NIOCore
import Synchronization

/// The open connections of all listeners. When there is no room for another one, the connection that has waited for its
/// client for the longest time is closed for it, so that silent clients cannot lock the others out.
///
/// | phase | means | closed to make room |
/// |---|---|---|
/// | idle | between requests, or before the first complete header | the one that is in its phase for the longest time |
/// | waitingForClient | the body of the only request has not come as a whole, or an answer is not taken | as idle |
/// | answering | a request is being answered | never |
///
/// Idle connections do not go before those in a body: a new connection is idle until its header has come, and each would push
/// out another new one while those that send no more than a header stay.
package final class ConnectionTable: Sendable {
    package enum Phase {
        case idle, waitingForClient, answering
    }

    /// Why a connection is not taken.
    package enum Refusal: String, CaseIterable {
        /// `limits.connections`, and every connection is being answered.
        case limit
        /// `limits.connections-per-address`.
        case address
    }

    package enum Admission {
        /// - Parameter displaced: closes the connection that has to go; to be called outside of any lock.
        case admitted(Place, displaced: (@Sendable () -> Void)?)
        case refused(Refusal)
    }

    /// Names an open connection. A place is given to another connection after ``close(_:)``.
    package struct Place: Sendable {
        fileprivate let index: Int
    }

    /// A list of connections in the order in which they entered it, linked through the slots.
    private struct Queue {
        var first = Slot.none
        var last = Slot.none
    }

    private struct Slot {
        static let none = -1

        /// Nil if the connection is on its way out.
        var phase: Phase?
        var address: IPAddress?
        var close: (@Sendable () -> Void)?
        var previous = Slot.none
        var next = Slot.none
    }

    private struct State {
        var slots: [Slot] = []
        var free: [Int] = []
        /// Those that are not being answered, the longest waiting one first.
        var waiting = Queue()
        /// Connections that are closing.
        var leaving = 0

        var open: Int { slots.count - free.count }

        mutating func enter(_ index: Int, _ phase: Phase) {
            slots[index].phase = phase
            switch phase {
            case .idle, .waitingForClient: waiting = appended(index, to: waiting)
            case .answering: break
            }
        }

        mutating func leave(_ index: Int) {
            switch slots[index].phase {
            case .idle, .waitingForClient: waiting = removed(index, from: waiting)
            case .answering, nil: break
            }
            slots[index].phase = nil
        }

        private mutating func appended(_ index: Int, to queue: Queue) -> Queue {
            slots[index].previous = queue.last
            slots[index].next = Slot.none
            if queue.last != Slot.none { slots[queue.last].next = index }
            return Queue(first: queue.first == Slot.none ? index : queue.first, last: index)
        }

        private mutating func removed(_ index: Int, from queue: Queue) -> Queue {
            let (previous, next) = (slots[index].previous, slots[index].next)
            if previous != Slot.none { slots[previous].next = next }
            if next != Slot.none { slots[next].previous = previous }
            return Queue(
                first: queue.first == index ? next : queue.first, last: queue.last == index ? previous : queue.last)
        }
    }

    private let maximum: Int
    private let addresses: AddressCounter
    private let state = Mutex(State())

    /// - Parameters:
    ///   - maximum: connections that may be open.
    ///   - addresses: bounds those of one client.
    package init(maximum: Int, addresses: AddressCounter) {
        self.maximum = maximum
        self.addresses = addresses
    }

    /// How many are open.
    package var current: Int { state.withLock { $0.open } }

    /// Takes a connection in, as idle. After an admission ``close(_:)`` has to follow.
    ///
    /// - Parameters:
    ///   - address: the client's; nil if it does not count against the bound of one client.
    ///   - close: closes the connection, from any thread.
    package func open(_ address: IPAddress?, close: @escaping @Sendable () -> Void) -> Admission {
        guard addresses.enter(address) else { return .refused(.address) }
        let admission = state.withLock { state -> Admission in
            var displaced: (@Sendable () -> Void)?
            if state.open - state.leaving >= maximum {
                let oldest = state.waiting.first
                guard oldest != Slot.none else { return .refused(.limit) }
                displaced = state.slots[oldest].close
                state.leave(oldest)
                state.leaving += 1
            }
            let slot = Slot(address: address, close: close)
            let index: Int
            if let known = state.free.popLast() {
                index = known
                state.slots[known] = slot
            } else {
                index = state.slots.count
                state.slots.append(slot)
            }
            state.enter(index, .idle)
            return .admitted(Place(index: index), displaced: displaced)
        }
        if case .refused = admission { addresses.leave(address) }
        return admission
    }

    /// Notes what the connection does now. One that is on its way out stays so.
    package func set(_ phase: Phase, of place: Place) {
        state.withLock { state in
            guard let present = state.slots[place.index].phase, present != phase else { return }
            state.leave(place.index)
            state.enter(place.index, phase)
        }
    }

    package func close(_ place: Place) {
        let address = state.withLock { state -> IPAddress? in
            let slot = state.slots[place.index]
            if slot.phase == nil { state.leaving -= 1 } else { state.leave(place.index) }
            state.slots[place.index] = Slot()
            state.free.append(place.index)
            return slot.address
        }
        addresses.leave(address)
    }
}

/// How much each client has at the same time: connections, or requests that trusted proxies hand on.
package final class AddressCounter: Sendable {
    private let maximum: Int
    private let counts = Mutex<[IPAddress: Int]>([:])

    /// - Parameter maximum: for each address, of IPv6 for each network of 64 bits; 0 for no bound.
    package init(maximum: Int) { self.maximum = maximum }

    /// Whether there is room for one more; then ``leave(_:)`` has to follow. Without an address there is always room.
    func enter(_ address: IPAddress?) -> Bool {
        guard maximum > 0, let client = address?.client else { return true }
        return counts.withLock { counts in
            guard counts[client, default: 0] < maximum else { return false }
            counts[client, default: 0] += 1
            return true
        }
    }

    func leave(_ address: IPAddress?) {
        guard maximum > 0, let client = address?.client else { return }
        counts.withLock { counts in
            guard let count = counts[client] else { return }
            counts[client] = count > 1 ? count - 1 : nil
        }
    }
}

/// Reports the state of one connection's requests and headers to the table.
///
/// It is between TLS and the HTTP decoder. The handlers of requests find it in the pipeline; HTTP/2 has one for each stream.
package final class ConnectionPlace: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = NIOAny

    private let table: ConnectionTable
    private let place: ConnectionTable.Place
    private var waiting = 0
    private var answering = 0
    /// Whether bytes have come since ``expectHeader()``.
    private(set) var hasBytes = false
    /// Closes the connection, which has to go and must not before its answer.
    private var closing: (() -> Void)?

    package init(_ place: ConnectionTable.Place, of table: ConnectionTable) {
        self.place = place
        self.table = table
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        hasBytes = true
        context.fireChannelRead(data)
    }

    func expectHeader() { hasBytes = false }

    /// Notes that a handler of requests goes from one phase to another.
    package func change(from old: ConnectionTable.Phase, to new: ConnectionTable.Phase) {
        count(old, -1)
        count(new, 1)
        table.set(answering > 0 ? .answering : waiting > 0 ? .waitingForClient : .idle, of: place)
        guard answering == 0, let closing else { return }
        self.closing = nil
        closing()
    }

    /// Makes room for another connection, to be called on the event loop. A request may have come since this one was
    /// chosen for its long wait: it is answered first.
    package func leave(_ close: @escaping () -> Void) {
        if answering == 0 { close() } else { closing = close }
    }

    private func count(_ phase: ConnectionTable.Phase, _ change: Int) {
        switch phase {
        case .idle: break
        case .waitingForClient: waiting += change
        case .answering: answering += change
        }
    }
}

@available(*, unavailable)
extension ConnectionPlace: Sendable {}
