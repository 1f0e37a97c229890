package import AppStoreModels
internal import Encodings

/// The keys of the three forms of one date.
package struct DateKeys: Sendable {
    // Each includes its quotes and colon.
    let gmt: StaticString
    let milliseconds: StaticString
    let pst: StaticString

    static let receiptCreation = DateKeys(
        gmt: "\"receipt_creation_date\":", milliseconds: "\"receipt_creation_date_ms\":",
        pst: "\"receipt_creation_date_pst\":")
    static let request = DateKeys(
        gmt: "\"request_date\":", milliseconds: "\"request_date_ms\":", pst: "\"request_date_pst\":")
    static let originalPurchase = DateKeys(
        gmt: "\"original_purchase_date\":", milliseconds: "\"original_purchase_date_ms\":",
        pst: "\"original_purchase_date_pst\":")
    static let expiration = DateKeys(
        gmt: "\"expiration_date\":", milliseconds: "\"expiration_date_ms\":", pst: "\"expiration_date_pst\":")
    static let preorder = DateKeys(
        gmt: "\"preorder_date\":", milliseconds: "\"preorder_date_ms\":", pst: "\"preorder_date_pst\":")
    package static let purchase = DateKeys(
        gmt: "\"purchase_date\":", milliseconds: "\"purchase_date_ms\":", pst: "\"purchase_date_pst\":")
    static let expires = DateKeys(
        gmt: "\"expires_date\":", milliseconds: "\"expires_date_ms\":", pst: "\"expires_date_pst\":")
    /// For transaction receipts: `expires_date` contains milliseconds, and the text form has its own keys (Reference.md
    /// V4).
    static let expiresOfTransactionReceipt = DateKeys(
        gmt: "\"expires_date_formatted\":", milliseconds: "\"expires_date\":", pst: "\"expires_date_formatted_pst\":")
    static let cancellation = DateKeys(
        gmt: "\"cancellation_date\":", milliseconds: "\"cancellation_date_ms\":", pst: "\"cancellation_date_pst\":")
    static let termStart = DateKeys(
        gmt: "\"term_start_date\":", milliseconds: "\"term_start_date_ms\":", pst: "\"term_start_date_pst\":")
    static let termEnd = DateKeys(
        gmt: "\"term_end_date\":", milliseconds: "\"term_end_date_ms\":", pst: "\"term_end_date_pst\":")
    static let gracePeriodExpires = DateKeys(
        gmt: "\"grace_period_expires_date\":", milliseconds: "\"grace_period_expires_date_ms\":",
        pst: "\"grace_period_expires_date_pst\":")
}

extension JSONWriter {
    /// A date in its three forms (Reference.md V3.4). Writes nothing if there is no date.
    ///
    /// - Parameters:
    ///   - keys: the names of the three members.
    ///   - date: milliseconds since 1970-01-01T00:00:00Z. The `_ms` form keeps them; the text forms have whole seconds.
    package mutating func member(_ keys: DateKeys, _ date: Int64?) {
        guard let date else { return }
        let seconds = date.flooredQuotient(1_000)
        let local = seconds + PacificTime.secondsEastOfGreenwich(at: seconds)
        // Writes the three members at once, because dates are most of a reply.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: DateLine.capacity) { buffer in
            var line = DateLine(buffer)
            line.put(keys.gmt)
            let day = line.putCivilTime(seconds, zone: " Etc/GMT")
            line.put(",")
            line.put(keys.milliseconds)
            line.putDecimal(date)
            line.put(",")
            line.put(keys.pst)
            line.putCivilTime(local, zone: " America/Los_Angeles", known: day)
            raw(line.written)
        }
    }

    /// A date as `yyyy-MM-ddTHH:mm:ssZ` (ISO 8601).
    ///
    /// - Parameter date: milliseconds since 1970-01-01T00:00:00Z.
    mutating func iso8601(_ date: Int64) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: DateLine.capacity) { buffer in
            var line = DateLine(buffer)
            line.putCivilTime(date.flooredQuotient(1_000), separator: UInt8(ascii: "T"), zone: "Z")
            raw(line.written)
        }
    }
}

/// Formats dates into a buffer that is large enough for any date.
private struct DateLine {
    /// At most 300 bytes: three keys of up to 40 bytes with quotes and colons, two civil times of up to 50, 20 digits,
    /// and quotes. A year has up to 12 digits and a sign.
    static let capacity = 384

    /// A day by its number since 1970-01-01, and by its date.
    struct Day {
        let number: Int64
        let date: CivilDay
    }

    private let buffer: UnsafeMutableBufferPointer<UInt8>
    private var used = 0

    init(_ buffer: UnsafeMutableBufferPointer<UInt8>) { self.buffer = buffer }

    var written: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: buffer[..<used]) }

    @inline(__always)
    private mutating func put(_ byte: UInt8) {
        guard used < buffer.count else { return }
        buffer.initializeElement(at: used, to: byte)
        used &+= 1
    }

    mutating func put(_ text: StaticString) {
        text.withUTF8Buffer { text in
            guard text.count <= buffer.count &- used else { return }
            used = buffer[used...].initialize(fromContentsOf: text)
        }
    }

    @inline(__always)
    private mutating func putTwo(_ value: Int64) {
        put(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value / 10))
        put(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value % 10))
    }

    /// A number as a string.
    mutating func putDecimal(_ value: Int64) {
        put(UInt8(ascii: "\""))
        putDigits(value)
        put(UInt8(ascii: "\""))
    }

    private mutating func putDigits(_ value: Int64) {
        if value < 0 { put(UInt8(ascii: "-")) }
        var count = 1
        var rest = value.magnitude
        while rest >= 10 {
            rest /= 10
            count &+= 1
        }
        guard count <= buffer.count &- used else { return }
        // From the last digit, because every division is then by the same constant.
        rest = value.magnitude
        for place in stride(from: used &+ count &- 1, through: used, by: -1) {
            buffer.initializeElement(at: place, to: UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        }
        used &+= count
    }

    /// `yyyy-MM-dd HH:mm:ss` and the name of the zone, as a string. Years beyond 9999 and before 0 are written in full: Apple's
    /// receipts have none, but a custom trust anchor can sign any date.
    ///
    /// Returns the day. The time in California is that of the same day for two thirds of the dates, which then need not be
    /// computed again (`known`).
    @discardableResult
    mutating func putCivilTime(
        _ localSeconds: Int64, separator: UInt8 = UInt8(ascii: " "), zone: StaticString, known: Day? = nil
    ) -> Day {
        let number = localSeconds.flooredQuotient(86_400)
        let day =
            if let known, known.number == number {
                known
            } else {
                Day(number: number, date: CivilDay(daysSince1970: number))
            }
        let date = day.date
        let secondOfDay = localSeconds &- number &* 86_400
        put(UInt8(ascii: "\""))
        if (0...9_999).contains(date.year) {
            putTwo(date.year / 100)
            putTwo(date.year % 100)
        } else {
            putDigits(date.year)
        }
        put(UInt8(ascii: "-"))
        putTwo(date.month)
        put(UInt8(ascii: "-"))
        putTwo(date.day)
        put(separator)
        putTwo(secondOfDay / 3_600)
        put(UInt8(ascii: ":"))
        putTwo(secondOfDay / 60 % 60)
        put(UInt8(ascii: ":"))
        putTwo(secondOfDay % 60)
        put(zone)
        put(UInt8(ascii: "\""))
        return day
    }
}
