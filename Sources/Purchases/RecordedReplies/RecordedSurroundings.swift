package import AppStoreModels

/// What the caller's own columns beside a recorded document state about it. A column counts only where the document states
/// nothing itself.
package struct RecordedSurroundings: Sendable, Equatable {
    /// A value and the name of its column.
    package struct Column<Value: Sendable & Equatable>: Sendable, Equatable {
        package let value: Value
        package let name: String

        package init(_ value: Value, _ name: String) {
            self.value = value
            self.name = name
        }

        /// Columns are outside of every document, so the path of a column begins with `record`.
        var provenance: Provenance { .recordedReply(key) }
        var key: RecordedKey { RecordedKey(object: "record", key: name) }
    }

    package var bundleId: Column<String>?
    package var environment: Column<Environment>?
    package var appAccountToken: Column<String>?
    /// When the document was stored, in milliseconds since 1970-01-01T00:00:00Z.
    package var recordedAt: Column<Int64>?

    package init() {}

    /// The environment that a text names; nil if it names none.
    package static func environment(_ text: String) -> Environment? { RecordedEnvironment.modern(text) }
}

extension RecordContext {
    mutating func complete(_ surroundings: RecordedSurroundings) {
        if bundleId == nil, let column = surroundings.bundleId {
            (bundleId, bundleIdProvenance) = (column.value, column.provenance)
        }
        if environment == nil, let column = surroundings.environment {
            (environment, environmentProvenance) = (column.value, column.provenance)
        }
    }
}

extension RecordedRow {
    mutating func complete(_ surroundings: RecordedSurroundings) {
        guard facts.appAccountToken == nil, let column = surroundings.appAccountToken else { return }
        facts.appAccountToken = column.value
        keys[Fact.appAccountToken.rawValue] = column.key
    }
}
