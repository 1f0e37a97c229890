import AppStoreModels
import Foundation
public import Logging
import Synchronization

/// Writes one line per event: a JSON object, or text. Unprintable characters are escaped in both.
public struct ServerLogHandler: LogHandler {
    public var metadata: Logger.Metadata = [:]
    public var metadataProvider: Logger.MetadataProvider?
    public var logLevel: Logger.Level
    private let format: VerifyReceiptServerConfiguration.Logging.Format
    private let writer: LogWriter

    public init(
        level: Logger.Level, format: VerifyReceiptServerConfiguration.Logging.Format = .json,
        writer: LogWriter = .standardError
    ) {
        logLevel = level
        self.format = format
        self.writer = writer
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

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

    /// Writes a line of fields alone.
    ///
    /// - Returns: false if something else belongs to the line, or it is one for people.
    func write(_ level: Logger.Level, _ message: StaticString, _ fields: LogFields) -> Bool {
        guard format == .json, metadata.isEmpty, metadataProvider == nil else { return false }
        let time = Timestamp.text(milliseconds: SystemClock.now())
        var line = Self.beginning(time, level, message.description)
        fields.write(to: &line)
        line.endObject()
        writer.write(line: Self.printable(line.finish()))
        return true
    }

    private static func printable(_ line: [UInt8]) -> [UInt8] {
        Printable.isPlain(line) ? line : Array(Printable.json(String(decoding: line, as: UTF8.self)).utf8)
    }

    /// A text as it is. Swift writes those in lists and dictionaries with quotation marks and with escapes of its own.
    private static func text(_ value: Logger.MetadataValue) -> String {
        switch value {
        case .string(let text): text
        default: "\(value)"
        }
    }

    /// A line up to its fields.
    private static func beginning(_ time: String, _ level: Logger.Level, _ message: String) -> JSONWriter {
        var line = JSONWriter(reservingCapacity: 512)
        line.beginObject()
        line.member("time", time)
        line.member("level", level.rawValue)
        line.member("message", message)
        return line
    }

    private static func json(_ time: String, _ event: LogEvent, _ metadata: Logger.Metadata) -> [UInt8] {
        var writer = beginning(time, event.level, event.message.description)
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
            writer.key(key)
            write(value, to: &writer)
        }
        writer.endObject()
        return writer.finish()
    }

    private static func write(_ value: Logger.MetadataValue, to writer: inout JSONWriter) {
        switch value {
        case .string(let text): writer.string(text)
        case .stringConvertible(let convertible): write(convertible, to: &writer)
        default: writer.string("\(value)")
        }
    }

    /// A cast that fails costs more than all the rest of a line, so that types are compared first.
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

/// Dates as logs and HTTP write them.
enum Timestamp {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// RFC 3339 with milliseconds.
    static func text(milliseconds: Int64) -> String {
        let second = Int64((Double(milliseconds) / 1_000).rounded(.down))
        let rest = ((milliseconds % 1_000) + 1_000) % 1_000
        return "\(lastSecond.text(second)).\(pad(rest, 3))Z"
    }

    private static let lastSecond = LastSecond { second in
        let (date, time, _) = parts(second)
        return "\(pad(date.year, 4))-\(pad(date.month, 2))-\(pad(date.day, 2))T\(time)"
    }

    /// IMF-fixdate (RFC 9110, 5.6.7).
    static func http(seconds: Int64) -> String {
        let (date, time, weekday) = parts(seconds)
        return "\(days[weekday]), \(pad(date.day, 2)) \(months[Int(date.month) - 1]) \(pad(date.year, 4)) \(time) GMT"
    }

    private static func parts(_ seconds: Int64) -> (date: (year: Int64, month: Int64, day: Int64), String, Int) {
        // Years that a four-digit date can show; a clock beyond is wrong anyway.
        let seconds = min(max(seconds, -62_135_596_800), 253_402_300_799)
        let day = Int64((Double(seconds) / 86_400).rounded(.down))
        let rest = seconds - day * 86_400
        let time = "\(pad(rest / 3_600, 2)):\(pad(rest / 60 % 60, 2)):\(pad(rest % 60, 2))"
        return (civil(day), time, Int(((day % 7) + 7) % 7))
    }

    /// The Gregorian date of a day counted from 1970-01-01, by eras of 400 years that begin in March.
    private static func civil(_ day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * ofYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, ofYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    private static func pad(_ number: Int64, _ width: Int) -> String {
        var digits = String(number)
        while digits.utf8.count < width { digits = "0" + digits }
        return digits
    }
}

/// The text of one second, made once in it.
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
