import Dispatch
import Foundation
import Synchronization
import Yams

/// A node of a YAML or JSON text, with its line.
package struct YAMLNode: Sendable {
    package enum Value: Sendable {
        /// A scalar, and whether it is unquoted.
        case scalar(String, isPlain: Bool)
        case sequence([YAMLNode])
        case mapping([Member])
    }

    package struct Member: Sendable {
        package let key: String
        package let line: Int
        package let node: YAMLNode
    }

    package let line: Int
    package let value: Value

    /// Nothing after the key, `~` or `null`.
    package var isNull: Bool {
        guard case .scalar(let text, isPlain: true) = value else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(text)
    }
}

/// The reason why a text is refused. It does not quote the text, which may contain a secret, except for keys.
package struct YAMLProblem: Error {
    package enum Code: Sendable {
        /// Not well-formed YAML or JSON. The parser gives a reason for most errors.
        case syntax(reason: String?)
        case tooDeep
        case anchor
        case tag
        case keyIsNotText
        /// Keys that occur more than once in a mapping.
        case duplicateKeys([String])
    }

    package let code: Code
    package let line: Int?
}

/// Reads YAML, and JSON, which is a part of it. Refuses unsafe YAML: anchors, aliases, foreign tags, several documents, deep
/// nesting.
package enum YAMLDocument {
    /// The single document of a text; nil if the text has only comments and blanks.
    package static func compose(_ text: String) throws(YAMLProblem) -> YAMLNode? {
        try onLargeStack { composed(text) }.get()
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

    private static func composed(_ text: String) -> Result<YAMLNode?, YAMLProblem> {
        do {
            // With the basic resolver, a scalar stays text until a key needs a number or a date.
            let parser = try Parser(yaml: text, resolver: .basic, encoding: .utf8)
            // A node holds its anchor weakly, the parser holds it strongly.
            defer { withExtendedLifetime(parser) {} }
            return .success(try parser.singleRoot().map { root in try copy(root, depth: 1) })
        } catch let problem as YAMLProblem {
            return .failure(problem)
        } catch let error as YamlError {
            return .failure(problem(error, text: text))
        } catch {
            return .failure(YAMLProblem(code: .syntax(reason: nil), line: nil))
        }
    }

    private static func copy(_ node: Node, depth: Int) throws(YAMLProblem) -> YAMLNode {
        let line = node.mark?.line ?? 1
        guard depth <= CatalogLimits.yamlDepth else { throw YAMLProblem(code: .tooDeep, line: line) }
        // An alias is a copy of the node that has the anchor.
        guard node.anchor == nil else { throw YAMLProblem(code: .anchor, line: line) }
        switch node {
        case .scalar(let scalar):
            try requireTag(node, "str", line: line)
            return YAMLNode(line: line, value: .scalar(scalar.string, isPlain: scalar.style == .plain))
        case .sequence(let sequence):
            try requireTag(node, "seq", line: line)
            var items: [YAMLNode] = []
            for item in sequence { items.append(try copy(item, depth: depth + 1)) }
            return YAMLNode(line: line, value: .sequence(items))
        case .mapping(let mapping):
            try requireTag(node, "map", line: line)
            var members: [YAMLNode.Member] = []
            for (key, value) in mapping {
                let copiedKey = try copy(key, depth: depth + 1)
                guard case .scalar(let name, _) = copiedKey.value else {
                    throw YAMLProblem(code: .keyIsNotText, line: copiedKey.line)
                }
                let copiedValue = try copy(value, depth: depth + 1)
                members.append(YAMLNode.Member(key: name, line: copiedKey.line, node: copiedValue))
            }
            return YAMLNode(line: line, value: .mapping(members))
        case .alias:
            throw YAMLProblem(code: .anchor, line: line)
        }
    }

    private static func requireTag(_ node: Node, _ name: String, line: Int) throws(YAMLProblem) {
        guard node.tag.description == "tag:yaml.org,2002:\(name)" else { throw YAMLProblem(code: .tag, line: line) }
    }

    /// The library's own description quotes the line, so only its reasons are taken over.
    private static func problem(_ error: YamlError, text: String) -> YAMLProblem {
        switch error {
        case .scanner(_, let reason, let mark, _), .parser(_, let reason, let mark, _),
            .composer(_, let reason, let mark, _):
            let isTooDeep = reason.hasPrefix("Maximum nesting level")
            return YAMLProblem(code: isTooDeep ? .tooDeep : .syntax(reason: reason), line: mark.line)
        case .reader(let reason, let offset, _, _):
            let line = offset.map { text.utf8.prefix($0).count { $0 == 0x0A } + 1 }
            return YAMLProblem(code: .syntax(reason: reason), line: line)
        case .duplicatedKeysInMapping(let keys, let context):
            return YAMLProblem(code: .duplicateKeys(keys), line: context.mark.line)
        default:
            return YAMLProblem(code: .syntax(reason: nil), line: nil)
        }
    }
}
