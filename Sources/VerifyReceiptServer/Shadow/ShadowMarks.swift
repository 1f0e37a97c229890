/// Knows the requests that a server in shadow mode has sent itself, however many servers they came through.
///
/// Each server has a random mark, and puts it behind those of the servers before it, as in `Via` (RFC 9110, 7.6.3). Two
/// servers that shadow each other, or one that shadows itself, come to an end where a server meets its own mark. Nobody
/// else knows the mark: a client that sends the header by itself is forwarded like all others.
struct ShadowMarks: Sendable {
    /// Servers in a circle. The oldest marks are left out of a longer list, so that a client cannot fill it.
    static let maximumCount = 16
    private static let length = 32

    private let own: String

    init() {
        let digits = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 16) }
        own = digits.map { String(repeating: "0", count: Self.length / 2 - $0.count) + $0 }.joined()
    }

    /// Whether this server has sent the request.
    ///
    /// - Parameter received: the header's value.
    func areOwn(_ received: String?) -> Bool { Self.marks(received).contains { $0 == own } }

    /// The value of the header of a request that is forwarded.
    func next(after received: String?) -> String {
        (Self.marks(received).suffix(Self.maximumCount - 1).map { String($0) } + [own]).joined(separator: ", ")
    }

    /// What else stands in the header is not handed on.
    private static func marks(_ received: String?) -> [Substring] {
        guard let received else { return [] }
        return received.split { $0 == "," || $0 == " " }.filter { mark in
            mark.utf8.count == length && mark.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
        }
    }
}
