/// Checks that all readers share.
enum CatalogText {
    /// Checks a product identifier: 1 to 255 UTF-8 bytes, no white space, no control characters, no wildcards.
    static func requireProductId(_ id: String, at place: CatalogSource) throws(CatalogError) {
        guard !id.isEmpty else { throw CatalogError(.missingValue, at: place, "the product identifier is empty") }
        guard id.utf8.count <= CatalogLimits.productIdBytes else {
            throw CatalogError(
                .badValue, at: place, "the product identifier is longer than \(CatalogLimits.productIdBytes) bytes")
        }
        for byte in id.utf8 {
            if byte == ProductIdPattern.anyRun || byte == ProductIdPattern.anyByte {
                throw CatalogError(
                    .badValue, at: place, "a product identifier cannot contain * or ?; move patterns to patterns")
            }
            if byte <= 0x20 || byte == 0x7F {
                throw CatalogError(
                    .badValue, at: place, "the product identifier contains white space or a control character")
            }
        }
    }

    static func pattern(_ text: String, at place: CatalogSource) throws(CatalogError) -> ProductIdPattern {
        guard !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
            throw CatalogError(.badValue, at: place, "the pattern contains white space or a control character")
        }
        guard let pattern = ProductIdPattern(text) else {
            throw CatalogError(
                .badValue, at: place,
                "a pattern has 1 to \(CatalogLimits.patternBytes) bytes and at least one * or ?; "
                    + "a product without a wildcard belongs under products")
        }
        return pattern
    }

    /// Throws ``CatalogError/Code/duplicate`` if one file describes a product or pattern twice.
    static func requireUnique(_ entries: [CatalogEntry]) throws(CatalogError) {
        var seen: [String: CatalogSource] = [:]
        for entry in entries {
            let source = entry.source
            guard let first = seen.updateValue(source, forKey: entry.name) else { continue }
            throw CatalogError(.duplicate, at: source, and: first, "\(entry.name) appears twice")
        }
    }

    /// A value for a message: shortened, on one line.
    static func quoted(_ text: String) -> String {
        let line = String(text.unicodeScalars.prefix(60).map { $0.value < 0x20 ? " " : Character($0) })
        return text.unicodeScalars.count > 60 ? "\"\(line)…\"" : "\"\(line)\""
    }
}
