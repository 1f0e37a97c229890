/// A failed expectation of a rule.
struct BrokenExpectation: Error, CustomStringConvertible {
    let message: String
    let file: String
    let line: Int

    var description: String { "\(message) (\(file):\(line))" }
}

func expect(
    _ isTrue: Bool, _ detail: @autoclosure () -> String = "", file: String = #fileID, line: Int = #line
) throws {
    guard !isTrue else { return }
    throw BrokenExpectation(message: message("the expectation is false", detail()), file: file, line: line)
}

func expect<Value: Equatable>(
    _ found: Value, equals expected: Value, _ detail: @autoclosure () -> String = "", file: String = #fileID,
    line: Int = #line
) throws {
    guard found != expected else { return }
    let text = "found \(shortened(found)), expected \(shortened(expected))"
    throw BrokenExpectation(message: message(text, detail()), file: file, line: line)
}

func require<Value>(
    _ value: Value?, _ detail: @autoclosure () -> String = "", file: String = #fileID, line: Int = #line
) throws -> Value {
    if let value { return value }
    throw BrokenExpectation(message: message("nothing was found", detail()), file: file, line: line)
}

/// Runs `body` with all numbers at the same time, and returns the results in any order.
@discardableResult
func concurrently<Value: Sendable>(
    _ numbers: some Sequence<Int> & Sendable, _ body: @escaping @Sendable (Int) async throws -> Value
) async throws -> [Value] {
    try await withThrowingTaskGroup(of: Value.self) { group in
        for number in numbers { group.addTask { try await body(number) } }
        return try await group.reduce(into: []) { $0.append($1) }
    }
}

private func message(_ text: String, _ detail: String) -> String { detail.isEmpty ? text : "\(text): \(detail)" }

/// The description of a customer with thousands of transactions would fill pages.
private func shortened(_ value: some Any) -> String {
    let text = "\(value)"
    return text.count <= 500 ? text : "\(text.prefix(500))…"
}
