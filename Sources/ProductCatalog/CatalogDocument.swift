import Dispatch
package import Foundation
import Synchronization
import Yams

/// A node of a YAML or JSON catalog, with its line. Parsing rejects unsafe YAML: anchors, aliases, foreign tags,
/// several documents, deep nesting.
package struct CatalogNode: Sendable {
    package enum Value: Sendable {
        /// A scalar, and whether it is unquoted.
        case scalar(String, isPlain: Bool)
        case sequence([CatalogNode])
        case mapping([(key: CatalogNode, value: CatalogNode)])
    }

    package let line: Int
    package let value: Value
}

package enum CatalogDocument {
    /// Reads the single document of a UTF-8 text, in YAML or JSON.
    package static func parse(_ data: Data, file: String) throws(CatalogError) -> CatalogNode {
        let whole = CatalogSource(file: file)
        guard data.count <= CatalogLimits.fileBytes else {
            throw CatalogError(.tooLarge, at: whole, "longer than \(CatalogLimits.fileBytes) bytes")
        }
        guard let text = String(bytes: data, encoding: .utf8) else {
            throw CatalogError(.badEncoding, at: whole, "not UTF-8 text")
        }
        try refuseAnchors(data, file: file)
        return try onLargeStack { compose(text, file: file) }.get()
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

    /// The parser is recursive and allows 1,000 levels, which need more stack than a secondary thread has. So a thread
    /// with a large stack builds, checks, copies and frees the tree.
    private static func onLargeStack<Value: Sendable>(_ work: @escaping @Sendable () -> Value) -> Value {
        let result = ResultBox<Value>()
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            let value = work()
            result.value.withLock { $0 = value }
            done.signal()
        }
        thread.stackSize = 32 * 1_024 * 1_024
        thread.start()
        done.wait()
        if let value = result.value.withLock({ $0 }) { return value }
        // Unreachable: the value is set before the semaphore is signaled.
        return work()
    }

    private final class ResultBox<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
    }

    private static func compose(_ text: String, file: String) -> Result<CatalogNode, CatalogError> {
        let whole = CatalogSource(file: file)
        do {
            // With the basic resolver, a scalar stays text until a key needs a number or a date.
            guard let root = try Yams.compose(yaml: text, .basic, .default, .utf8) else {
                return .failure(CatalogError(.missingValue, at: whole, "the catalog is empty"))
            }
            return .success(try copy(root, file: file, depth: 1))
        } catch let error as CatalogError {
            return .failure(error)
        } catch let error as YamlError {
            return .failure(translate(error, text: text, file: file))
        } catch {
            return .failure(CatalogError(.syntax, at: whole, "cannot be read as YAML"))
        }
    }

    private static func copy(_ node: Node, file: String, depth: Int) throws(CatalogError) -> CatalogNode {
        let line = node.mark?.line ?? 1
        let place = CatalogSource(file: file, line: line)
        guard depth <= CatalogLimits.yamlDepth else {
            throw CatalogError(.tooDeep, at: place, "nested more than \(CatalogLimits.yamlDepth) levels deep")
        }
        switch node {
        case .scalar(let scalar):
            try requireTag(node, "str", at: place)
            return CatalogNode(line: line, value: .scalar(scalar.string, isPlain: scalar.style == .plain))
        case .sequence(let sequence):
            try requireTag(node, "seq", at: place)
            var items: [CatalogNode] = []
            for item in sequence { items.append(try copy(item, file: file, depth: depth + 1)) }
            return CatalogNode(line: line, value: .sequence(items))
        case .mapping(let mapping):
            try requireTag(node, "map", at: place)
            var pairs: [(key: CatalogNode, value: CatalogNode)] = []
            for (key, value) in mapping {
                let copiedKey = try copy(key, file: file, depth: depth + 1)
                pairs.append((key: copiedKey, value: try copy(value, file: file, depth: depth + 1)))
            }
            return CatalogNode(line: line, value: .mapping(pairs))
        case .alias:
            throw CatalogError(.aliasRefused, at: place, "YAML anchors and aliases are not allowed")
        }
    }

    private static func requireTag(_ node: Node, _ name: String, at place: CatalogSource) throws(CatalogError) {
        guard node.tag.description == "tag:yaml.org,2002:\(name)" else {
            throw CatalogError(.wrongType, at: place, "YAML tags are not allowed")
        }
    }

    private static func translate(_ error: YamlError, text: String, file: String) -> CatalogError {
        func refusal(_ line: Int?, _ problem: String) -> CatalogError {
            CatalogError(.syntax, at: CatalogSource(file: file, line: line), problem)
        }
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            if problem.hasPrefix("Maximum nesting level") {
                let place = CatalogSource(file: file, line: mark.line)
                return CatalogError(.tooDeep, at: place, "nested too deeply")
            }
            return refusal(mark.line, "not well-formed YAML or JSON: \(problem)")
        case .reader(let problem, let offset, _, _):
            let line = offset.map { text.utf8.prefix($0).count { $0 == 0x0A } + 1 }
            return refusal(line, "not well-formed YAML or JSON: \(problem)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            let keys = duplicates.map(CatalogText.quoted).joined(separator: ", ")
            let place = CatalogSource(file: file, line: context.mark.line)
            return CatalogError(.duplicate, at: place, "\(keys) appears more than once; first on this line")
        default:
            return refusal(nil, "cannot be read as YAML or JSON")
        }
    }
}

extension UInt8 {
    fileprivate var isASCIIAlphanumeric: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }
}
