import AppStoreModels
internal import Encodings
import Foundation
public import Logging
import Synchronization

/// Writes one line per event: a JSON object, or text. Unprintable characters are escaped in both.
public struct ServerLogHandler: LogHandler {
    /// Written with each event. Of several values for one key, that of the event counts, then that of
    /// ``metadataProvider``.
    public var metadata: Logger.Metadata = [:]
    /// Adds metadata to each event; nil for none.
    public var metadataProvider: Logger.MetadataProvider?
    /// A logger drops events below this level.
    public var logLevel: Logger.Level
    private let format: VerifyReceiptServerConfiguration.Logging.Format
    private let writer: LogWriter

    /// Creates a handler.
    /// - Parameters:
    ///   - level: the lowest level that is written.
    ///   - format: the form of a line.
    ///   - writer: receives the lines. Several handlers can have the same one.
    public init(
        level: Logger.Level, format: VerifyReceiptServerConfiguration.Logging.Format = .json,
        writer: LogWriter = .standardError
    ) {
        logLevel = level
        self.format = format
        self.writer = writer
    }

    /// The value of a key of ``metadata``; nil for none.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Hands a line over to the writer and returns at once. Lines that exceed the buffer of the writer are dropped and
    /// counted.
    public func log(event: LogEvent) {
        var all = metadata
        for more in [metadataProvider?.get(), event.metadata] {
            guard let more, !more.isEmpty else { continue }
            if all.isEmpty { all = more } else { all.merge(more) { _, new in new } }
        }
        if let error = event.error { all["error"] = "\(error)" }
        let time = Timestamp.text(milliseconds: SystemClock.now())
        switch format {
        case .json: writer.write(line: Self.printable(Self.json(time, event, all)))
        case .text:
            let fields = all.sorted { $0.key < $1.key }.map { " \($0.key)=\(Self.text($0.value))" }.joined()
            let line = "\(time) \(event.level) \(event.message)\(fields)"
            writer.write(line: Array(Printable.text(line).utf8))
        }
    }

    private static func printable(_ line: [UInt8]) -> [UInt8] {
        Printable.isPlain(line) ? line : Array(Printable.json(String(decoding: line, as: UTF8.self)).utf8)
    }

    /// A text unchanged. In lists and dictionaries, Swift adds quotation marks and its own escapes.
    private static func text(_ value: Logger.MetadataValue) -> String {
        switch value {
        case .string(let text): text
        default: "\(value)"
        }
    }

    private static func json(_ time: String, _ event: LogEvent, _ metadata: Logger.Metadata) -> [UInt8] {
        JSONWriter.object(reservingCapacity: 512) { writer in
            writer.member("time", time)
            writer.member("level", event.level.rawValue)
            writer.member("message", event.message.description)
            for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
                writer.key(key)
                write(value, to: &writer)
            }
        }
    }

    private static func write(_ value: Logger.MetadataValue, to writer: inout JSONWriter) {
        switch value {
        case .string(let text): writer.string(text)
        case .stringConvertible(let convertible): write(convertible, to: &writer)
        default: writer.string("\(value)")
        }
    }

    /// Compares types first, because a failed cast costs more than the rest of the line.
    private static func write(_ value: any CustomStringConvertible & Sendable, to writer: inout JSONWriter) {
        let type = type(of: value) as Any.Type
        if type == Double.self, let number = value as? Double {
            writer.number(number)
        } else if type == Int.self, let integer = value as? Int {
            writer.integer(integer)
        } else if type == Int64.self, let integer = value as? Int64 {
            writer.integer(integer)
        } else if type == Bool.self, let boolean = value as? Bool {
            writer.boolean(boolean)
        } else {
            writer.string(value.description)
        }
    }
}

/// Wall-clock time.
enum SystemClock {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}

/// Formats dates for logs and HTTP.
enum Timestamp {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// RFC 3339 with milliseconds.
    static func text(milliseconds: Int64) -> String {
        "\(lastSecond.text(milliseconds.flooredQuotient(1_000))).\(CivilTime(milliseconds: milliseconds).fraction)Z"
    }

    private static let lastSecond = LastSecond { second in
        let moment = civil(second)
        return "\(moment.date)T\(moment.time)"
    }

    /// IMF-fixdate (RFC 9110, 5.6.7).
    static func http(seconds: Int64) -> String {
        let moment = civil(seconds)
        let day = moment.day
        let weekday = days[Int(day.daysSince1970.flooredRemainder(7))]
        let date = "\(day.day.padded(2)) \(months[Int(day.month) - 1]) \(day.year.padded(4))"
        return "\(weekday), \(date) \(moment.time) GMT"
    }

    private static func civil(_ seconds: Int64) -> CivilTime {
        // Limited to four-digit years; a clock beyond them is wrong anyway.
        CivilTime(milliseconds: min(max(seconds, -62_135_596_800), 253_402_300_799) * 1_000)
    }
}

/// A text per second, cached for the current second.
final class LastSecond: Sendable {
    private let make: @Sendable (Int64) -> String
    private let last = Mutex<(second: Int64, text: String)?>(nil)

    init(_ make: @escaping @Sendable (Int64) -> String) { self.make = make }

    func text(_ second: Int64) -> String {
        last.withLock { last in
            if let last, last.second == second { return last.text }
            let text = make(second)
            last = (second, text)
            return text
        }
    }
}
