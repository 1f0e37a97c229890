import Logging

/// Fields of a line of the log: a value that is nil is no field.
extension Logger.Metadata {
    mutating func set(_ name: String, _ text: String?) { if let text { self[name] = .string(text) } }

    mutating func set(_ name: String, _ integer: Int64?) {
        if let integer { self[name] = .stringConvertible(integer) }
    }

    /// In milliseconds.
    mutating func set(_ name: String, _ duration: Duration?) {
        if let duration { self[name] = .stringConvertible(duration.milliseconds) }
    }

    /// A field that is there only if it is true.
    mutating func set(_ name: String, if condition: Bool) {
        if condition { self[name] = .stringConvertible(true) }
    }
}
