package import NIOCore
import Synchronization

/// The open connections of all listeners. If the table is full, a new connection replaces the one that has waited for
/// its client for the longest time. So silent clients cannot lock out the others.
///
/// | phase | means | closed to make room |
/// |---|---|---|
/// | idle | between requests, or before the first complete header | if it has waited for the longest time |
/// | waitingForClient | the body of the only request is incomplete, or the client has not read an answer | as idle |
/// | answering | a request is being answered | never |
///
/// Idle connections are not closed before those in a body. A new connection is idle until its header arrives, so new
/// ones would replace each other, while those that send only a header stay.
package final class ConnectionTable: Sendable {
    package enum Phase {
        case idle, waitingForClient, answering
    }

    /// Why a connection is rejected.
    package enum Refusal: String, CaseIterable {
        /// `limits.connections`, while every connection has a request being answered.
        case limit
        /// `limits.connections-per-address`.
        case address
    }

    package enum Admission {
        /// - Parameter displaced: closes the replaced connection; call it outside of any lock.
        case admitted(Place, displaced: (@Sendable () -> Void)?)
        case refused(Refusal)
    }

    /// Identifies an open connection. ``close(_:)`` frees it for another connection.
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

        /// Nil if the connection is closing.
        var phase: Phase?
        var address: IPAddress?
        var close: (@Sendable () -> Void)?
        var previous = Slot.none
        var next = Slot.none
    }

    private struct State {
        var slots: [Slot] = []
        var free: [Int] = []
        /// The connections without a request being answered, the longest waiting one first.
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
    ///   - maximum: the maximum number of open connections.
    ///   - addresses: limits the connections of one client.
    package init(maximum: Int, addresses: AddressCounter) {
        self.maximum = maximum
        self.addresses = addresses
    }

    /// The number of open connections.
    package var current: Int { state.withLock { $0.open } }

    /// Adds a connection as idle. After an admission, the caller must call ``close(_:)``.
    ///
    /// - Parameters:
    ///   - address: the client's address; nil if the limit of one client does not apply.
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

    /// Sets the phase of a connection. A closing connection stays so.
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

/// Counts the concurrent connections, or requests through trusted proxies, of each client.
package final class AddressCounter: Sendable {
    private let maximum: Int
    private let counts = Mutex<[IPAddress: Int]>([:])

    /// - Parameter maximum: the limit for each address (in IPv6, for each /64 network); 0 for no limit.
    package init(maximum: Int) { self.maximum = maximum }

    /// Adds one for an address, if there is room. After `true`, the caller must call ``leave(_:)``. Without an address
    /// there is always room.
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
/// It is between TLS and the HTTP decoder. The request handlers find it in the pipeline; HTTP/2 has one request handler
/// for each stream.
package final class ConnectionPlace: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = NIOAny

    private let table: ConnectionTable
    private let place: ConnectionTable.Place
    private var waiting = 0
    private var answering = 0
    /// Whether bytes have arrived since ``expectHeader()``.
    private(set) var hasBytes = false
    /// Closes the connection after its answer, if it must make room.
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

    /// Called when a request handler changes its phase.
    package func change(from old: ConnectionTable.Phase, to new: ConnectionTable.Phase) {
        count(old, -1)
        count(new, 1)
        table.set(answering > 0 ? .answering : waiting > 0 ? .waitingForClient : .idle, of: place)
        guard answering == 0, let closing else { return }
        self.closing = nil
        closing()
    }

    /// Makes room for another connection; call it on the event loop. A request that has arrived since this connection
    /// was chosen is answered first.
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
