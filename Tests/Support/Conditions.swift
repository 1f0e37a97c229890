/// What a test found wrong.
package struct TestFailure: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// Whether the libraries that the tests are linked with are optimized. The tests themselves never are: CI compiles them once, and
/// links them with the unoptimized and then with the optimized libraries (tools/link_tests.py).
package var librariesAreOptimized: Bool {
    #if DEBUG
        false
    #else
        true
    #endif
}

/// The value, or an error that says what is missing. For helpers, which should not record an issue of their own.
///
/// Never inlined: the optimizer of Swift 6.3.1 crashes on some async tests that functions that throw are inlined into.
@inline(never)
package func unwrap<Value>(_ value: Value?, _ what: @autoclosure () -> String = "a value") throws -> Value {
    guard let value else { throw TestFailure("missing: \(what())") }
    return value
}

/// Asks until a condition holds, or gives up after a time that only a broken program needs. A busy machine may stand
/// still for half a minute.
@inline(never)
package func eventually(
    _ what: String, within seconds: Double = 120, isolation: isolated (any Actor)? = #isolation,
    _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + .seconds(seconds)
    while try await !condition() {
        guard ContinuousClock.now < deadline else { throw TestFailure("never happened: \(what)") }
        try await Task.sleep(for: .milliseconds(5))
    }
}
