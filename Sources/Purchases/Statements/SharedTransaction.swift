public import AppStoreModels

/// A transaction in memory of its own. Copies share it until one of them changes.
///
/// A transaction has more than thirty members, and many of them are texts with a reference count each. It goes from a statement
/// to a fact, to a stored transaction, and to an answer. Copying it at each step would take more time than the rules.
@usableFromInline
package struct SharedTransaction: Sendable {
    /// Only ``SharedTransaction`` has references to it, and changes it only if there is no other reference. Then nobody else can
    /// read it: a reader needs a structure with a reference, and Swift allows no other access to the structure that changes. So
    /// threads may share the memory, and the checks of exclusive access, which would cost more than most accesses, find nothing.
    @usableFromInline
    final class Memory: @unchecked Sendable {
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
