import Foundation

/// Where shadow mode forwards requests to, and its limits.
public struct ShadowConfiguration: Sendable, Hashable {
    /// The URL for requests that we answered as production.
    public let productionURL: String
    /// The URL for requests that we answered as sandbox.
    public let sandboxURL: String
    /// The file for differences, one JSON object per line; nil for none. Only its owner can read it.
    public var recordPath: String?
    /// In bytes. A file that would become longer is renamed to `recordPath` with `.1` at its end, and replaces the
    /// previous one.
    public var maximumRecordSize = 64 << 20
    /// From sending a request to receiving the whole reply.
    public var timeout: Duration = .seconds(10)
    /// The maximum number of concurrent requests.
    public var maximumConcurrency = 4
    /// The maximum number of waiting requests. Further ones are counted, but not forwarded.
    public var maximumQueueLength = 1_000
    /// The maximum bytes of waiting requests.
    public var maximumQueueSize = 64 << 20
    /// The maximum bytes of a reply. A longer one is not compared.
    public var maximumReplySize = 8 << 20
    /// How long a graceful shutdown waits for forwarded requests.
    public var drainTimeout: Duration = .seconds(5)

    /// - Parameters:
    ///   - productionURL: the URL for requests to production.
    ///   - sandboxURL: the URL for requests to the sandbox.
    ///   - allowsPlaintext: whether `http` is accepted for other hosts than this machine. Requests contain receipts and
    ///     shared secrets.
    /// - Throws: ``ShadowConfigurationError``.
    public init(productionURL: String, sandboxURL: String, allowsPlaintext: Bool = false) throws {
        self.productionURL = try Self.checked(productionURL, allowsPlaintext).string
        self.sandboxURL = try Self.checked(sandboxURL, allowsPlaintext).string
    }

    /// Apple's endpoints, if the address is `https://buy.itunes.apple.com`; or another server that answers at
    /// `/verifyReceipt` and `/sandbox/verifyReceipt` below the address, as this one does.
    ///
    /// - Throws: ``ShadowConfigurationError``.
    public init(base: String, allowsPlaintext: Bool = false) throws {
        let (text, host) = try Self.checked(base, allowsPlaintext)
        var trimmed = text[...]
        while trimmed.hasSuffix("/") { trimmed = trimmed.dropLast() }
        if trimmed.hasSuffix("/verifyReceipt") { trimmed = trimmed.dropLast("/verifyReceipt".count) }
        if Self.appleHosts.contains(host) {
            try self.init(
                productionURL: "https://\(Self.appleHosts[0])/verifyReceipt",
                sandboxURL: "https://\(Self.appleHosts[1])/verifyReceipt")
        } else {
            try self.init(
                productionURL: trimmed + "/verifyReceipt", sandboxURL: trimmed + "/sandbox/verifyReceipt",
                allowsPlaintext: allowsPlaintext)
        }
    }

    /// Reference.md V1.1.
    private static let appleHosts = ["buy.itunes.apple.com", "sandbox.itunes.apple.com"]

    private static func checked(_ text: String, _ allowsPlaintext: Bool) throws -> (string: String, host: String) {
        guard let parts = URLComponents(string: text), let host = parts.host?.lowercased(), !host.isEmpty else {
            throw ShadowConfigurationError(.notAnAddress)
        }
        guard parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil else {
            throw ShadowConfigurationError(.hasMoreThanAPath)
        }
        switch parts.scheme?.lowercased() {
        case "https": return (text, host)
        case "http":
            let isLocal = ["localhost", "127.0.0.1", "::1", "[::1]"].contains(host)
            guard isLocal || allowsPlaintext else { throw ShadowConfigurationError(.plaintext) }
            return (text, host)
        default: throw ShadowConfigurationError(.notAnAddress)
        }
    }
}

/// Why an address is invalid for shadow mode.
public struct ShadowConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The reason why the address is invalid, to branch on.
    public enum Code: String, Sendable, CaseIterable {
        /// The address is not an absolute `http` or `https` URL. Write it with scheme and host.
        case notAnAddress
        /// The address has a user, a query or a fragment. Remove them.
        case hasMoreThanAPath
        /// `http` to another machine would expose receipts and shared secrets to the network. Use `https`.
        case plaintext
    }

    /// The reason why the address is invalid.
    public let code: Code

    init(_ code: Code) { self.code = code }

    /// One sentence. It does not quote the address, which may contain a password.
    public var description: String {
        switch code {
        case .notAnAddress: "The shadow address is not an absolute http or https URL."
        case .hasMoreThanAPath: "The shadow address must not have a user, a query or a fragment."
        case .plaintext:
            "The shadow address must be https, because requests contain receipts and shared secrets. http is allowed for this machine only."
        }
    }
}
