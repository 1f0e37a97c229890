public import AppStoreModels

/// A transaction in memory of its own. Copies share it until one of them changes.
///
/// A transaction has more than thirty members, and many of them are texts that count references. It goes from a statement to a fact, to a
/// stored transaction, and to an answer, and a copy at each step would take longer than the steps.
@usableFromInline
package struct SharedTransaction: Sendable {
    /// Its value changes only while one structure has the only reference to it, so no two threads can meet in it.
    @usableFromInline
    final class Memory: @unchecked Sendable {
        // The reason above holds for one thread too. Checking each access would cost more than most of them.
        @exclusivity(unchecked) @usableFromInline
        var payload: JWSTransactionDecodedPayload

        @inlinable
        init(_ payload: JWSTransactionDecodedPayload) { self.payload = payload }
    }

    @usableFromInline var memory: Memory

    @inlinable
    package init(_ payload: JWSTransactionDecodedPayload) { memory = Memory(payload) }

    /// A transaction without members.
    static let empty = SharedTransaction(JWSTransactionDecodedPayload())

    /// Moves the transaction out, and leaves one without members.
    mutating func take() -> SharedTransaction {
        var taken = Self.empty
        swap(&taken, &self)
        return taken
    }

    @inlinable
    package var payload: JWSTransactionDecodedPayload {
        _read { yield memory.payload }
        _modify {
            if !isKnownUniquelyReferenced(&memory) { memory = Memory(memory.payload) }
            yield &memory.payload
        }
    }
}

extension SharedTransaction: Equatable {
    @usableFromInline
    package static func == (left: Self, right: Self) -> Bool {
        left.memory === right.memory || left.payload == right.payload
    }
}
