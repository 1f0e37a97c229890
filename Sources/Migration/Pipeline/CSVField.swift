/// Fields of a table (RFC 4180).
package enum CSVField {
    /// Appends a field and the comma after it.
    package static func append(_ field: String, to bytes: inout [UInt8]) {
        // Not a search in a text, because this looks at each byte of an export.
        let needsQuotes = field.utf8.contains { byte in
            switch byte {
            case 0x22, 0x2C, 0x0D, 0x0A: true
            default: false
            }
        }
        if needsQuotes {
            bytes.append(0x22)
            for byte in field.utf8 {
                if byte == 0x22 { bytes.append(0x22) }
                bytes.append(byte)
            }
            bytes.append(0x22)
        } else {
            bytes.append(contentsOf: field.utf8)
        }
        bytes.append(0x2C)
    }

    /// A whole row with its CR LF.
    package static func row(_ fields: [String]) -> [UInt8] {
        var bytes: [UInt8] = []
        for field in fields { append(field, to: &bytes) }
        if !bytes.isEmpty { bytes.removeLast() }
        return bytes + [0x0D, 0x0A]
    }
}
