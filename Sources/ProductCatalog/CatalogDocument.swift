import AppStoreModels
package import Foundation

/// Reads a YAML or JSON catalog into nodes.
package enum CatalogDocument {
    /// Reads the single document of a UTF-8 text, in YAML or JSON.
    package static func parse(_ data: Data, file: String) throws(CatalogError) -> YAMLNode {
        let whole = CatalogSource(file: file)
        guard data.count <= CatalogLimits.fileBytes else {
            throw CatalogError(.tooLarge, at: whole, "longer than \(CatalogLimits.fileBytes) bytes")
        }
        guard let text = String(bytes: data, encoding: .utf8) else {
            throw CatalogError(.badEncoding, at: whole, "not UTF-8 text")
        }
        try refuseAnchors(data, file: file)
        let document: YAMLNode?
        do throws(YAMLProblem) {
            document = try YAMLDocument.compose(text)
        } catch {
            throw refusal(error, file: file)
        }
        guard let root = document else { throw CatalogError(.missingValue, at: whole, "the catalog is empty") }
        return root
    }

    /// Rejects everything that could be an anchor: `&` followed by a letter, digit, `_` or `-`, and not preceded by a
    /// letter or digit. Without anchors there are no aliases, so no alias can multiply the document.
    ///
    /// This checks bytes, not syntax, so it finds every anchor that the parser would accept. `R&D` and `Tom & Jerry`
    /// are valid; `"&x"` must be written `"\x26x"` (JSON: `"\u0026x"`).
    private static func refuseAnchors(_ data: Data, file: String) throws(CatalogError) {
        var line = 1
        var previous: UInt8 = 0x0A
        var pendingAmpersand = false
        for byte in data {
            let isWordByte = byte.isASCIIAlphanumeric
            if pendingAmpersand, isWordByte || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") {
                throw CatalogError(
                    .aliasRefused, at: CatalogSource(file: file, line: line),
                    "YAML anchors and aliases are not allowed; write an ampersand in text as \"\\u0026\"")
            }
            pendingAmpersand = byte == UInt8(ascii: "&") && !previous.isASCIIAlphanumeric
            if byte == 0x0A { line += 1 }
            previous = byte
        }
    }

    private static func refusal(_ problem: YAMLProblem, file: String) -> CatalogError {
        let place = CatalogSource(file: file, line: problem.line)
        switch problem.code {
        case .syntax(let reason?):
            return CatalogError(.syntax, at: place, "not well-formed YAML or JSON: \(reason)")
        case .syntax(nil):
            return CatalogError(.syntax, at: place, "cannot be read as YAML or JSON")
        case .tooDeep:
            return CatalogError(.tooDeep, at: place, "nested more than \(CatalogLimits.yamlDepth) levels deep")
        case .anchor:
            return CatalogError(.aliasRefused, at: place, "YAML anchors and aliases are not allowed")
        case .tag:
            return CatalogError(.wrongType, at: place, "YAML tags are not allowed")
        case .keyIsNotText:
            return CatalogError(.wrongType, at: place, "a key must be text")
        case .duplicateKeys(let duplicates):
            let keys = duplicates.map(CatalogText.quoted).joined(separator: ", ")
            return CatalogError(.duplicate, at: place, "\(keys) appears more than once; first on this line")
        }
    }
}
