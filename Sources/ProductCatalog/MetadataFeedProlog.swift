import Foundation

/// Checks everything before the root element of a feed, without an XML parser.
///
/// XML allows a document type declaration only in the prolog, and only this declaration can define entities. A feed
/// without it cannot expand entities or name external files, with any XML library.
enum MetadataFeedProlog {
    /// Throws unless `head`, the start of the feed, is a safe prolog followed by an element.
    static func check(_ head: [UInt8], file: String) throws(CatalogError) {
        var scanner = Scanner(bytes: head, file: file)
        // In UTF-16, UTF-32 and other encodings of the XML library, a search of the bytes would miss a declaration.
        scanner.skip(prefix: [0xEF, 0xBB, 0xBF])
        if let first = head.first, first >= 0xFE || head.prefix(4).contains(0) {
            throw scanner.error(.badEncoding, "the feed must be UTF-8 text")
        }
        if scanner.has("<?xml") {
            let declaration = try scanner.take(through: "?>")
            try checkEncoding(declaration, scanner)
        }
        while true {
            scanner.skipSpace()
            if scanner.has("<?") {
                _ = try scanner.take(through: "?>")
            } else if scanner.has("<!--") {
                scanner.advance(4)
                _ = try scanner.take(through: "-->")
            } else if scanner.has("<!") {
                throw scanner.error(
                    .documentTypeRefused, "document type and entity declarations are not allowed in a feed")
            } else if scanner.has("<") {
                return
            } else if scanner.isAtEnd {
                throw scanner.error(
                    head.count >= CatalogLimits.feedPrologBytes ? .tooLarge : .syntax, "no element was found")
            } else {
                throw scanner.error(.syntax, "not an XML document")
            }
        }
    }

    private static func checkEncoding(_ declaration: ArraySlice<UInt8>, _ scanner: Scanner) throws(CatalogError) {
        let text = String(decoding: declaration, as: UTF8.self).lowercased()
        guard let range = text.range(of: "encoding") else { return }
        let rest = text[range.upperBound...].drop { $0.isWhitespace || $0 == "=" || $0 == "\"" || $0 == "'" }
        let name = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
        guard ["utf-8", "utf8", "us-ascii", "ascii"].contains(String(name)) else {
            throw scanner.error(.badEncoding, "the encoding \(CatalogText.quoted(String(name))) is not allowed")
        }
    }

    private struct Scanner {
        let bytes: [UInt8]
        let file: String
        var position = 0
        var line = 1

        var isAtEnd: Bool { position >= bytes.count }

        func has(_ text: String) -> Bool { bytes[position...].starts(with: text.utf8) }

        mutating func skip(prefix: [UInt8]) {
            if bytes[position...].starts(with: prefix) { position += prefix.count }
        }

        mutating func advance(_ count: Int) {
            for _ in 0..<count where position < bytes.count {
                if bytes[position] == 0x0A { line += 1 }
                position += 1
            }
        }

        mutating func skipSpace() {
            while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { advance(1) }
        }

        mutating func take(through end: String) throws(CatalogError) -> ArraySlice<UInt8> {
            let start = position
            let first = end.utf8.first
            while position < bytes.count {
                if bytes[position] == first, has(end) {
                    let taken = bytes[start..<position]
                    advance(end.utf8.count)
                    return taken
                }
                advance(1)
            }
            throw error(
                bytes.count >= CatalogLimits.feedPrologBytes ? .tooLarge : .syntax,
                "expected \(CatalogText.quoted(end)) before the first element")
        }

        func error(_ code: CatalogError.Code, _ message: String) -> CatalogError {
            CatalogError(code, at: CatalogSource(file: file, line: line), message)
        }
    }
}
