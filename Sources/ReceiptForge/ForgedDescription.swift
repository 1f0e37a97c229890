/// A description of a value to forge. Tests change it in one expression.
public protocol ForgedDescription: Sendable {}

extension ForgedDescription {
    /// A changed copy.
    public func with(_ change: (inout Self) throws -> Void) rethrows -> Self {
        var copy = self
        try change(&copy)
        return copy
    }
}
