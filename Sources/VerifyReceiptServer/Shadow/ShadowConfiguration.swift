import Foundation

/// Where requests are forwarded in shadow mode, and how much it may cost.
public struct ShadowConfiguration: Sendable, Hashable {
    /// The URL for requests that we answered as production.
    public let productionURL: String
    /// The URL for requests that we answered as sandbox.
    public let sandboxURL: String
    /// The file that differences are written to, one JSON object per line; nil writes none. Created readable by its owner
    /// only.
    public var recordPath: String?
    /// Bytes. A file that would become longer is renamed to `recordPath` with `.1` at its end, in place of the one before.
    public var maximumRecordSize = 64 << 20
    /// From sending a request to having the whole reply.
    public var timeout: Duration = .seconds(10)
    /// Requests that are under way at once.
    public var maximumConcurrency = 4
    /// Requests that wait. More are not forwarded, only counted.
    public var maximumQueueLength = 1_000
    /// Bytes of the bodies that wait.
    public var maximumQueueSize = 64 << 20
    /// Bytes of a reply. A longer one is not compared.
    public var maximumReplySize = 8 << 20
    /// How long a graceful shutdown waits for what is forwarded.
    public var drainTimeout: Duration = .seconds(5)

    /// - Parameters:
    ///   - productionURL: where requests to production are sent on to.
    ///   - sandboxURL: where requests to the sandbox are.
    ///   - allowsPlaintext: whether `http` is taken for other hosts than this machine. Requests hold receipts and shared
    ///     secrets.
    /// - Throws: ``ShadowConfigurationError``.
    public init(productionURL: String, sandboxURL: String, allowsPlaintext: Bool = false) throws {
        self.productionURL = try Self.checked(productionURL, allowsPlaintext).string
        self.sandboxURL = try Self.checked(sandboxURL, allowsPlaintext).string
    }

    /// Apple's endpoints by the address of the production one, `https://buy.itunes.apple.com`; or another server that
    /// answers at `/verifyReceipt` and `/sandbox/verifyReceipt` below the address, as this one does.
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

/// Why nothing can be forwarded to an address.
public struct ShadowConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The reason why the address is invalid, to branch on.
    public enum Code: String, Sendable, CaseIterable {
        /// The address is not an absolute `http` or `https` URL. Write it with scheme and host.
        case notAnAddress
        /// The address has a user, a query or a fragment. Remove them.
        case hasMoreThanAPath
        /// `http` to another machine would show receipts and shared secrets to the network. Use `https`.
        case plaintext
    }

    /// The reason why the address is invalid.
    public let code: Code

    init(_ code: Code) { self.code = code }

    /// One sentence. It does not quote the address, which may hold a password.
    public var description: String {
        switch code {
        case .notAnAddress: "The shadow address is no absolute http or https URL."
        case .hasMoreThanAPath: "The shadow address must not have a user, a query or a fragment."
        case .plaintext:
            "The shadow address must be https, because requests contain receipts and shared secrets. http is allowed for this machine only."
        }
    }
}
