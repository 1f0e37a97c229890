import AppStoreModels
import Foundation
import Logging

/// The fields of a line of the log whose names are known beforehand, in the order of the names.
///
/// A line per request is written at the pace of requests: as metadata, a dictionary whose keys are sorted anew for each line,
/// it would cost several times as much.
struct LogFields {
    enum Value {
        case text(String)
        case integer(Int64)
        case decimal(Double)
        case boolean(Bool)
    }

    private var fields: [(name: StaticString, value: Value)] = []

    init() { fields.reserveCapacity(16) }

    /// The value of a name; of two the later one counts. Nil is no field.
    mutating func set(_ name: StaticString, _ value: Value?) {
        guard let value else { return }
        // Names are nearly always set in their order.
        var place = fields.count
        while place > 0 {
            let order = Self.compare(fields[place - 1].name, name)
            if order == 0 {
                fields[place - 1].value = value
                return
            }
            if order < 0 { break }
            place -= 1
        }
        fields.insert((name, value), at: place)
    }

    mutating func set(_ name: StaticString, _ text: String?) { set(name, text.map { .text($0) }) }
    mutating func set(_ name: StaticString, _ integer: Int64?) { set(name, integer.map { .integer($0) }) }
    mutating func set(_ name: StaticString, _ duration: Duration?) {
        set(name, duration.map { .decimal($0.milliseconds) })
    }

    /// A field that is there only if it is true.
    mutating func set(_ name: StaticString, if condition: Bool) {
        if condition { set(name, .boolean(true)) }
    }

    /// By bytes, as strings of ASCII are ordered.
    private static func compare(_ left: StaticString, _ right: StaticString) -> Int32 {
        let order = memcmp(left.utf8Start, right.utf8Start, min(left.utf8CodeUnitCount, right.utf8CodeUnitCount))
        return order == 0 ? Int32(left.utf8CodeUnitCount - right.utf8CodeUnitCount) : order
    }

    func write(to writer: inout JSONWriter) {
        for (name, value) in fields {
            writer.key(name)
            switch value {
            case .text(let text): writer.string(text)
            case .integer(let integer): writer.integer(integer)
            case .decimal(let number): writer.number(number)
            case .boolean(let boolean): writer.boolean(boolean)
            }
        }
    }

    var metadata: Logger.Metadata {
        Dictionary(
            uniqueKeysWithValues: fields.map { name, value in
                let value: Logger.MetadataValue =
                    switch value {
                    case .text(let text): .string(text)
                    case .integer(let integer): .stringConvertible(integer)
                    case .decimal(let number): .stringConvertible(number)
                    case .boolean(let boolean): .stringConvertible(boolean)
                    }
                return (name.description, value)
            })
    }
}

extension Logger {
    /// Our own handler writes the fields as they are, any other one gets them as metadata.
    func log(
        _ level: Logger.Level, _ message: StaticString, _ fields: LogFields, file: String = #fileID,
        function: String = #function, line: UInt = #line
    ) {
        guard logLevel <= level else { return }
        if let own = handler as? ServerLogHandler, own.write(level, message, fields) { return }
        log(
            level: level, "\(message)", metadata: fields.metadata, file: file, function: function, line: line)
    }
}
