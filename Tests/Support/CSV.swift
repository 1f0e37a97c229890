/// Reads RFC 4180, for the tests: quoted fields, doubled quotes, CR LF after each row.
package enum CSV {
    @inline(never)
    package static func rows(_ text: String) throws -> [[String]] {
        var rows: [[String]] = []
        var row: [String] = []
        var field: [UInt8] = []
        var isQuoted = false
        var bytes = Array(text.utf8)[...]
        while let byte = bytes.popFirst() {
            if isQuoted {
                if byte != UInt8(ascii: "\"") {
                    field.append(byte)
                } else if bytes.first == UInt8(ascii: "\"") {
                    field.append(byte)
                    bytes.removeFirst()
                } else {
                    isQuoted = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isQuoted = true
            case UInt8(ascii: ","): row.append(take(&field))
            case 0x0D where bytes.first == 0x0A:
                bytes.removeFirst()
                row.append(take(&field))
                rows.append(row)
                row = []
            default: field.append(byte)
            }
        }
        guard !isQuoted, field.isEmpty, row.isEmpty else { throw Unfinished() }
        return rows
    }

    package struct Unfinished: Error {}

    private static func take(_ field: inout [UInt8]) -> String {
        defer { field = [] }
        return String(decoding: field, as: UTF8.self)
    }
}
