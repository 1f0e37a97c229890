import Logging

/// Sets the fields of a log line. A nil value adds no field.
extension Logger.Metadata {
    mutating func set(_ name: String, _ text: String?) { if let text { self[name] = .string(text) } }

    mutating func set(_ name: String, _ integer: Int64?) {
        if let integer { self[name] = .stringConvertible(integer) }
    }

    /// In milliseconds.
    mutating func set(_ name: String, _ duration: Duration?) {
        if let duration { self[name] = .stringConvertible(duration.milliseconds) }
    }

    /// Adds a field only if the condition is true.
    mutating func set(_ name: String, if condition: Bool) {
        if condition { self[name] = .stringConvertible(true) }
    }
}
