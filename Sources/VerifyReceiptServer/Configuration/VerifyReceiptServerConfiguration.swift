public import AppStoreServer
public import AppStoreSync
internal import TransactionStore
public import VerifyReceipt

/// How the server runs. The initial values are the defaults of the configuration file.
public struct VerifyReceiptServerConfiguration: Sendable {
    /// As which of Apple's endpoints a listener answers.
    public enum Role: String, Sendable, CaseIterable {
        /// By path and host name.
        case both
        /// `buy.itunes.apple.com`, for every path and host name.
        case production
        /// `sandbox.itunes.apple.com`, for every path and host name.
        case sandbox
    }

    /// PEM files.
    public struct TLSFiles: Sendable, Hashable {
        /// The certificate of the server, then its intermediates.
        public var certificate: String
        public var privateKey: String

        public init(certificate: String, privateKey: String) {
            self.certificate = certificate
            self.privateKey = privateKey
        }
    }

    /// A socket that answers verifyReceipt requests.
    public struct Listener: Sendable, Hashable {
        /// A name or address to bind to.
        public var host: String
        /// 0 takes any free port.
        public var port: Int
        public var role: Role
        /// With TLS, HTTP/2 is offered by ALPN.
        public var tls: TLSFiles?

        public init(host: String = "127.0.0.1", port: Int = 8080, role: Role = .both, tls: TLSFiles? = nil) {
            self.host = host
            self.port = port
            self.role = role
            self.tls = tls
        }
    }

    /// The socket for health and metrics; plain HTTP.
    public struct AdminListener: Sendable, Hashable {
        public var host: String
        public var port: Int

        public init(host: String = "127.0.0.1", port: Int = 9090) {
            self.host = host
            self.port = port
        }
    }

    public struct Limits: Sendable, Hashable {
        /// Bytes of a request's body; beyond: 413. 3 MiB, as Apple's endpoint (Reference.md C3).
        public var bodyBytes = 3 << 20
        /// Bytes of all header fields of a request; beyond: 400 and the connection is closed.
        public var headerBytes = 32 << 10
        /// Header fields of a request.
        public var headerFields = 100
        /// Connections of all listeners together. For a further one the connection is closed that has been idle for the
        /// longest time; where none is idle, the further one is.
        public var connections = 8192
        /// Connections of one client's address (of IPv6, of a network of 64 bits), and requests at the same time of one
        /// client behind ``VerifyReceiptServerConfiguration/trustedProxies``; a further connection is closed, a further
        /// request gets 429. 0 for no bound, which is right behind a proxy that is not among the trusted ones.
        public var connectionsPerAddress = 0
        /// Requests that work at the same time; 0 means four per core. Requests that wait for the store are not among them.
        public var concurrentRequests = 0
        /// Requests that wait for their turn; beyond: 503 with 21005.
        public var waitingRequests = 1024
        /// Requests that wait for the store or the App Store and let others work meanwhile.
        package var awayRequests = 256
        /// Bytes of bodies and of answers not yet taken in memory, of all requests together; beyond: 503 with 21005. A
        /// quarter is kept for bodies and answers up to 128 KiB.
        public var bufferedBytes = 256 << 20

        public init() {}
    }

    public struct Timeouts: Sendable, Hashable {
        /// From the connection to the end of the TLS handshake.
        public var handshake = Duration.seconds(10)
        /// From the connection to the end of the first request's header.
        public var headers = Duration.seconds(10)
        /// From the end of the header to the end of the body.
        public var body = Duration.seconds(60)
        /// For each 16 KiB of a body larger than 128 KiB.
        package var bodyStep = Duration.seconds(10)
        /// For the client to take an answer.
        public var write = Duration.seconds(30)
        /// From an answer to the end of the next request's header.
        public var idle = Duration.seconds(75)
        /// The time for which sockets continue to accept connections after the shutdown has begun, so that load balancers can
        /// detect it with `/readyz`.
        public var drain = Duration.seconds(5)
        /// For requests in flight to be finished after that.
        public var shutdown = Duration.seconds(25)
        /// The timeout of the store. If the store has not answered for this time, requests that need it get the result of
        /// `EndpointConfiguration.whenStoreFails` at once, and notifications 503, until it answers again.
        public var store = Duration.seconds(1)
        /// From the stop until requests that do not end are left behind.
        package var untilAbandoned: Duration { drain + shutdown }
        /// For the App Store's word, before an answer is given without it or refused.
        public var appStore = AppStoreRefresher.defaultTimeout

        public init() {}
    }

    public struct Logging: Sendable, Hashable {
        public enum Format: String, Sendable, CaseIterable {
            case json, text
        }

        /// A level of swift-log.
        public var level = "info"
        public var format = Format.json
        /// Whether each request gets a line.
        public var requests = true

        public init() {}
    }

    /// The spool for receipts that the store does not write in time.
    public struct Spool: Sendable, Hashable {
        /// The path of its file, which no other server may use; nil for none.
        public var path: String?
        /// Bytes of receipts at which it is full.
        public var maximumBytes = 1 << 30

        public init(path: String?) { self.path = path }

        /// Beside the file of a SQLite store, in the working directory for another one, none without a store.
        public init(besideStore url: String?) {
            path =
                switch url.flatMap({ try? StoreURL($0) }) {
                case .sqlite(let file)?: file + ".spool"
                case .postgreSQL?: "legacy-receipts.spool"
                default: nil
                }
        }
    }

    /// Which App Store Server Notifications are taken in. They go to the store: without one there are none.
    public struct Notifications: Sendable, Hashable {
        /// Whether `/notifications/v2` exists.
        public var enabled = true
        /// Whether `/notifications/v1` exists too. Only the shared secret authenticates these notifications.
        public var version1 = false

        public init() {}
    }

    /// The listener that looks customers up and inspects documents.
    public struct LookUpListener: Sendable, Hashable {
        /// Only this machine reaches the standard address.
        public var host: String
        public var port: Int
        /// Each is accepted as bearer token; there is at least one.
        public var tokens: [SharedSecret]

        public init(host: String = "127.0.0.1", port: Int = 9091, tokens: [SharedSecret]) {
            self.host = host
            self.port = port
            self.tokens = tokens
        }

        /// Whether both have the same address.
        func hasAddress(of other: Self?) -> Bool { host == other?.host && port == other?.port }
    }

    public var listeners = [Listener()]
    public var admin: AdminListener? = AdminListener()
    /// Nil for no look-up.
    public var lookUp: LookUpListener?
    /// Host names under which a listener with the role ``Role/both`` answers as sandbox on every path; lower case.
    public var sandboxHosts = ["sandbox.itunes.apple.com"]
    /// The networks of proxies whose `X-Forwarded-For` or `Forwarded` names the client.
    public var trustedProxies: [IPNetwork] = []
    public var limits = Limits()
    public var timeouts = Timeouts()
    public var logging = Logging()
    /// The address of the store; nil for none.
    public var storeURL: String? = "sqlite:legacy-receipts.sqlite"
    public var spool = Spool(besideStore: "sqlite:legacy-receipts.sqlite")
    /// Comparing with a real verifyReceipt in the background; nil for not at all.
    public var shadow: ShadowConfiguration?
    public var endpoint: EndpointConfiguration
    public var notifications = Notifications()
    /// The trust anchors for JWS: notifications, the App Store Server API, and transactions in `receipt-data`.
    public var signedDataTrust = SignedDataTrust.apple
    /// Asks online whether the certificates under such data were revoked; nil for not at all. With it the certificates must
    /// be valid when they are checked, not only when they signed.
    public var revocation: (any RevocationChecking)?
    /// The credentials for the App Store Server API by app. Without them, the server does not query the App Store about an app.
    public var appStore: [AppStoreCredentials] = []
    /// Warnings about valid but unsafe settings, for the log.
    public var warnings: [String] = []

    public init(endpoint: EndpointConfiguration = EndpointConfiguration()) { self.endpoint = endpoint }
}
