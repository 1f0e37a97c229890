/// The configuration of a sandbox server.
public struct SandboxServerConfiguration: Sendable {
    /// The simulated app and environment.
    public var sandbox: SandboxConfiguration
    /// The products.
    public var catalog: SandboxCatalog
    /// The address to listen on. There is no access control: every client that reaches it can buy, refund and step the clock.
    public var host = "127.0.0.1"
    /// 0 for any free port.
    public var port = 0
    /// The mode of the clock.
    public var clock = SandboxClock.Mode.running
    /// The URL that receives notifications; nil for none.
    public var notificationURL: String?
    /// Whether version 1 is sent instead of version 2.
    public var sendsNotificationsV1 = false
    /// The `password` in notifications of version 1.
    public var sharedSecret: String?
    /// Whether failed notifications are retried as in production, at the sandbox's pace. Apple's sandbox tries once.
    public var retriesNotifications = true
    /// The timeout of a receiver, in seconds.
    public var notificationTimeout: Int64 = 30
    /// The rate limits of the App Store Server API.
    public var rateLimits = SandboxRateLimits()
    /// The faults at the start. The control API can add more.
    public var faults: [SandboxFault] = []

    /// A sandbox on loopback that sends no notifications.
    public init(sandbox: SandboxConfiguration, catalog: SandboxCatalog) {
        self.sandbox = sandbox
        self.catalog = catalog
    }
}
