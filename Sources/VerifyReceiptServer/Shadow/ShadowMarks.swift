/// Detects requests that this server has forwarded itself, through any number of servers.
///
/// Each server has a random mark and appends it to the header, like `Via` (RFC 9110, 7.6.3). If a server receives its own mark,
/// it does not forward the request, so servers that shadow each other do not loop. The mark is secret, so a client cannot use the
/// header to avoid the comparison.
struct ShadowMarks: Sendable {
    /// The maximum number of marks. A longer list loses its oldest ones, so that a client cannot fill it.
    static let maximumCount = 16
    private static let length = 32

    private let own: String

    init() {
        own = (0..<2).map { _ in Hexadecimal.text(.random(in: .min ... .max)) }.joined()
    }

    /// Whether this server has already forwarded the request.
    ///
    /// - Parameter received: the header's value.
    func areOwn(_ received: String?) -> Bool { Self.marks(received).contains { $0 == own } }

    /// The header's value for the forwarded request.
    func next(after received: String?) -> String {
        (Self.marks(received).suffix(Self.maximumCount - 1).map { String($0) } + [own]).joined(separator: ", ")
    }

    /// The valid marks of the header. Other content is ignored.
    private static func marks(_ received: String?) -> [Substring] {
        guard let received else { return [] }
        return received.split { $0 == "," || $0 == " " }.filter { Hexadecimal.isText($0, count: length) }
    }
}
