/// A simulated fault of the App Store Server API, to test clients.
///
/// Its text form is the kind and the options that differ from the defaults: `rate-limited,count=3,retry-after=7200`.
public struct SandboxFault: Sendable, Hashable {
    /// The kinds of faults.
    public enum Kind: String, Sendable, CaseIterable {
        /// 401 without a body, as for an invalid token.
        case unauthorized
        /// 429 with `Retry-After`.
        case rateLimited = "rate-limited"
        /// An error of Apple's, with its number.
        case refused
        /// A status from 500 to 599 without a body.
        case serverError = "server-error"
        /// The right answer, late.
        case delay
        /// No answer. The connection ends when the client leaves, the fault is removed, or the sandbox stops.
        case hang
        /// The connection ends in the middle of the right answer.
        case cut
        /// 200 with a body that is not JSON.
        case garbage
    }

    /// The kind of the fault.
    public var kind: Kind
    /// The number of affected requests; nil for all until the fault is removed.
    public var count: Int?
    /// The share of affected requests: more than 0, at most 1.
    public var share = 1.0
    /// Limits the fault to requests whose path contains this text; nil for all.
    public var path: String?
    /// The status of ``Kind/serverError``.
    public var status = 500
    /// Apple's number of ``Kind/refused``.
    public var code: Int64 = 4000_000
    /// `Retry-After` of ``Kind/rateLimited``, in seconds.
    public var retryAfter: Int64 = 60
    /// Milliseconds before the answer, of ``Kind/delay``.
    public var delay: Int64 = 1_000

    /// A fault of all requests.
    public init(_ kind: Kind) { self.kind = kind }

    /// Parses the text form, as in `--fault`.
    /// - Throws: ``SandboxError``, `invalidRequest`, which names the invalid part.
    public init(text: String) throws {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        kind = try Self.kind(parts.first ?? "")
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let value = pair.count > 1 ? pair[1] : ""
            switch pair[0] {
            case "count": count = try Self.number(value, "count")
            case "share": share = try Self.number(value, "share")
            case "path": path = value
            case "status": status = try Self.number(value, "status")
            case "code": code = try Self.number(value, "code")
            case "retry-after": retryAfter = try Self.number(value, "retry-after")
            case "delay": delay = try Self.number(value, "delay")
            default:
                throw SandboxError(
                    .invalidRequest,
                    "\(pair[0].quoted): must be count, share, path, status, code, retry-after or delay")
            }
        }
        try check()
    }

    /// - Throws: ``SandboxError``, `invalidRequest`.
    static func kind(_ text: String) throws -> Kind {
        guard let kind = Kind(rawValue: text) else {
            let known = Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw SandboxError(.invalidRequest, "\(text.quoted): the kind of a fault must be one of \(known)")
        }
        return kind
    }

    private static func number<Value: LosslessStringConvertible>(_ text: String, _ name: String) throws -> Value {
        try required(Value(text), .invalidRequest, "\(name): must be a number")
    }

    /// - Throws: ``SandboxError``, `invalidRequest`, for a number out of its range.
    func check() throws {
        if let count, count < 1 { throw SandboxError(.invalidRequest, "count: must be at least 1") }
        guard share > 0, share <= 1 else {
            throw SandboxError(.invalidRequest, "share: must be more than 0 and at most 1")
        }
        try ensure((500...599).contains(status), .invalidRequest, "status: must be 500 to 599")
        try ensure((4000_000...5999_999).contains(code), .invalidRequest, "code: must be 4000000 to 5999999")
        // At most a year of Retry-After, and ten minutes of delay.
        try ensure((0...31_536_000).contains(retryAfter), .invalidRequest, "retry-after: must be 0 to 31536000 seconds")
        try ensure((0...600_000).contains(delay), .invalidRequest, "delay: must be 0 to 600000 milliseconds")
    }
}

/// The active faults of a sandbox.
struct SandboxFaults: Sendable {
    /// One fault and its counts.
    struct Entry: Sendable {
        let number: Int
        let fault: SandboxFault
        /// Requests with the fault's path.
        var seen = 0
        /// Affected requests.
        var met = 0
        /// Requests that hang now.
        var hanging = 0

        /// The number of requests that the fault can still affect; nil for all.
        var left: Int? { fault.count.map { max(0, $0 - met) } }
    }

    /// In the order in which they were added, including those that are used up.
    private(set) var entries: [Entry] = []
    private var lastNumber = 0

    mutating func add(_ fault: SandboxFault) {
        lastNumber += 1
        entries.append(Entry(number: lastNumber, fault: fault))
    }

    mutating func removeAll() { entries = [] }

    func contains(_ number: Int) -> Bool { entries.contains { $0.number == number } }

    /// The fault that applies to a request: the first one whose path matches and whose turn it is.
    mutating func meet(path: String) -> Entry? {
        for place in entries.indices {
            let entry = entries[place]
            if let left = entry.left, left == 0 { continue }
            if let part = entry.fault.path, !path.contains(part) { continue }
            entries[place].seen += 1
            guard Self.isTurn(entry.seen, share: entry.fault.share) else { continue }
            entries[place].met += 1
            return entries[place]
        }
        return nil
    }

    /// Multiples of the golden ratio fill the unit interval evenly and without a short period. So a share of one half
    /// does not always hit the first of two calls that belong together.
    private static func isTurn(_ seen: Int, share: Double) -> Bool {
        (Double(seen) * 0.618_033_988_749_895).truncatingRemainder(dividingBy: 1) < share
    }

    mutating func hang(_ number: Int, _ change: Int) {
        guard let place = entries.firstIndex(where: { $0.number == number }) else { return }
        entries[place].hanging += change
    }
}
