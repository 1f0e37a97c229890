import AppStoreModels
import AppStoreSync
import HTTPTypes
import VerifyReceipt

/// The target of a path.
///
/// | path | listener `both` | listener `production` | listener `sandbox` |
/// |---|---|---|---|
/// | `/verifyReceipt`, `/WebObjects/MZFinance.woa/wa/verifyReceipt` | production; sandbox with a sandbox host name | production | sandbox |
/// | `/sandbox/verifyReceipt` | sandbox | production | sandbox |
/// | `/validate`, `/sandbox/validate`, if an app answers validations | as `/verifyReceipt` and `/sandbox/verifyReceipt` |||
/// | `/notifications/v2`, `/notifications/v1` | App Store Server Notifications on every listener: they contain their environment |||
/// | anything else | 404 | 404 | 404 |
///
/// A query is ignored, and so are a trailing slash and repeated slashes, because some clients join a base URL with a path. Paths
/// are case-sensitive, like Apple's.
enum Route: Sendable, Equatable {
    case verifyReceipt(EndpointEnvironment)
    case validate(EndpointEnvironment)
    case notifications(NotificationVersion)
    case unknown

    init(
        path: String?, authority: String?, role: VerifyReceiptServerConfiguration.Role, sandboxHosts: [String]
    ) {
        func environment(isSandboxPath: Bool) -> EndpointEnvironment {
            switch role {
            case .production: .production
            case .sandbox: .sandbox
            case .both: isSandboxPath || Self.isSandbox(authority, hosts: sandboxHosts) ? .sandbox : .production
            }
        }
        switch path.flatMap(Self.parts(of:)) {
        case "verifyReceipt", "WebObjects/MZFinance.woa/wa/verifyReceipt":
            self = .verifyReceipt(environment(isSandboxPath: false))
        case "sandbox/verifyReceipt": self = .verifyReceipt(environment(isSandboxPath: true))
        case "validate": self = .validate(environment(isSandboxPath: false))
        case "sandbox/validate": self = .validate(environment(isSandboxPath: true))
        case "notifications/v2": self = .notifications(.version2)
        case "notifications/v1": self = .notifications(.version1)
        default: self = .unknown
        }
    }

    /// The parts of a path that are not empty, with a slash between them; nil for what no path of ours is.
    private static func parts(of path: String) -> String? {
        if path == "/verifyReceipt" { return "verifyReceipt" }
        // No valid path is longer.
        guard path.utf8.count <= 4_096 else { return nil }
        // ``HTTP1RequestHead`` has already turned the absolute form (RFC 9112, 3.2.2) into a path and an authority.
        var rest = path[...]
        if let end = rest.firstIndex(where: { $0 == "?" || $0 == "#" }) { rest = rest[..<end] }
        guard rest.hasPrefix("/") else { return nil }
        return rest.split(separator: "/").joined(separator: "/")
    }

    private static func isSandbox(_ authority: String?, hosts: [String]) -> Bool {
        guard let authority, !hosts.isEmpty else { return false }
        var host = authority.lowercased()[...]
        if let colon = host.lastIndex(of: ":"), !host.hasSuffix("]") { host = host[..<colon] }
        if host.hasSuffix(".") { host = host.dropLast() }
        return hosts.contains { $0 == host }
    }
}

/// Names for the log from a fixed set, so that a client cannot write to the log.
enum LogName {
    private static let methods: Set<String> = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT",
    ]

    static func method(_ method: HTTPRequest.Method) -> String {
        methods.contains(method.rawValue) ? method.rawValue : "(other)"
    }

    static func path(_ route: Route) -> String {
        switch route {
        case .verifyReceipt(.production): "/verifyReceipt"
        case .verifyReceipt(.sandbox): "/sandbox/verifyReceipt"
        case .validate(.production): "/validate"
        case .validate(.sandbox): "/sandbox/validate"
        case .notifications(.version2): "/notifications/v2"
        case .notifications(.version1): "/notifications/v1"
        case .unknown: "(unknown)"
        }
    }
}

extension HTTPFields {
    /// The value of a field, several values joined, like the library's subscript. Nearly always there is one value, and
    /// joining would cost more than all other work on a request's header.
    func value(of name: HTTPField.Name) -> String? {
        var value: String?
        for field in self where field.name == name {
            guard value == nil else { return self[name] }
            value = field.value
        }
        return value
    }
}
