/// How a sandbox is run.
public struct SandboxServerConfiguration: Sendable {
    /// What is played.
    public var sandbox: SandboxConfiguration
    /// What is sold.
    public var catalog: SandboxCatalog
    /// Where to listen. Whoever reaches the address can buy, refund and step the clock.
    public var host = "127.0.0.1"
    /// 0 for any free port.
    public var port = 0
    /// How the time passes.
    public var clock = SandboxClock.Mode.running
    /// Where notifications are posted; nil for nowhere.
    public var notificationURL: String?
    /// Whether version 1 is sent instead of version 2.
    public var sendsNotificationsV1 = false
    /// The `password` in notifications of version 1.
    public var sharedSecret: String?
    /// Whether failed notifications are sent again as in production, in the pace of the sandbox. Apple's sandbox tries
    /// once.
    public var retriesNotifications = true
    /// How long a receiver may take, in seconds.
    public var notificationTimeout: Int64 = 30
    /// How many requests the App Store Server API takes.
    public var rateLimits = SandboxRateLimits()
    /// What goes wrong from the beginning; the control API adds more.
    public var faults: [SandboxFault] = []

    /// A sandbox on loopback that sends nothing.
    public init(sandbox: SandboxConfiguration, catalog: SandboxCatalog) {
        self.sandbox = sandbox
        self.catalog = catalog
    }
}
