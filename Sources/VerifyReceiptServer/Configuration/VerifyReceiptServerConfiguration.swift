public import AppStoreServer
public import AppStoreSync
internal import TransactionStore
public import VerifyReceipt

/// How the server runs. The initial values are the defaults of the configuration file.
public struct VerifyReceiptServerConfiguration: Sendable {
    /// Which of Apple's endpoints a listener answers as.
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
        /// The private key of the certificate, not encrypted.
        public var privateKey: String

        /// Creates the paths of PEM files. The server reads the files when it starts, and again at each reload.
        /// - Parameters:
        ///   - certificate: the path of the certificate, followed by its intermediates.
        ///   - privateKey: the path of the private key, not encrypted.
        public init(certificate: String, privateKey: String) {
            self.certificate = certificate
            self.privateKey = privateKey
        }
    }

    /// A socket that answers verifyReceipt requests.
    public struct Listener: Sendable, Hashable {
        /// A name or address to bind to.
        public var host: String
        /// 0 for any free port.
        public var port: Int
        /// Decides which receipts get 21007 or 21008, as at Apple's endpoints (Reference.md V1.1).
        public var role: Role
        /// With TLS, HTTP/2 is offered by ALPN.
        public var tls: TLSFiles?

        /// Creates a listener. With the defaults, only this machine can reach it, and it has no TLS.
        /// - Parameters:
        ///   - host: a name or address to bind to.
        ///   - port: 0 for any free port.
        ///   - role: which of Apple's endpoints it answers as.
        ///   - tls: nil for plain HTTP.
        public init(host: String = "127.0.0.1", port: Int = 8080, role: Role = .both, tls: TLSFiles? = nil) {
            self.host = host
            self.port = port
            self.role = role
            self.tls = tls
        }
    }

    /// The socket for health and metrics; plain HTTP.
    public struct AdminListener: Sendable, Hashable {
        /// A name or address to bind to. The socket has no authentication: by default, only this machine can reach it.
        public var host: String
        /// 0 for any free port.
        public var port: Int

        /// Creates a listener. With the defaults, only this machine can reach it.
        /// - Parameters:
        ///   - host: a name or address to bind to.
        ///   - port: 0 for any free port.
        public init(host: String = "127.0.0.1", port: Int = 9090) {
            self.host = host
            self.port = port
        }
    }

    /// Bounds on what all clients use together, or one of them. A reload does not change them.
    public struct Limits: Sendable, Hashable {
        /// The maximum bytes of a request's body; a larger one gets 413. 3 MiB, as at Apple's endpoint (Reference.md
        /// C3).
        public var bodyBytes = 3 << 20
        /// The maximum bytes of all header fields of a request; a larger header gets 400, and the connection is closed.
        public var headerBytes = 32 << 10
        /// The maximum number of header fields of a request.
        public var headerFields = 100
        /// The maximum number of connections of all listeners together. A further connection replaces the one that has
        /// been idle for the longest time; if none is idle, it is closed at once.
        public var connections = 8192
        /// The maximum number of connections of one client's address (in IPv6, of one /64 network), and of concurrent
        /// requests of one client behind ``VerifyReceiptServerConfiguration/trustedProxies``. A further connection is
        /// closed; a further request gets 429. 0 for no limit, which is right behind a proxy that is not trusted.
        public var connectionsPerAddress = 0
        /// The maximum number of requests that are processed at the same time; 0 means four per core. Requests that
        /// wait for the store do not count.
        public var concurrentRequests = 0
        /// The maximum number of requests that wait for their turn; a further one gets 503 with 21005.
        public var waitingRequests = 1024
        /// The maximum number of requests that wait for the store or the App Store without using a slot of
        /// ``concurrentRequests``. A further one uses its slot while it waits, so that a slow store fills the queue.
        public var suspendedRequests = 256
        /// The maximum bytes in memory of request bodies and of answers that clients have not read yet, of all requests
        /// together. A further request gets 503 with 21005. A quarter is reserved for bodies and answers up to 128 KiB.
        public var bufferedBytes = 256 << 20

        /// The defaults of the configuration file.
        public init() {}
    }

    /// How long the server waits for clients, the store and the App Store. A reload does not change them.
    public struct Timeouts: Sendable, Hashable {
        /// From the connection to the end of the TLS handshake.
        public var handshake = Duration.seconds(10)
        /// From the connection to the end of the first request's header.
        public var headers = Duration.seconds(10)
        /// From the end of the header to the end of the body.
        public var body = Duration.seconds(60)
        /// The time for each 16 KiB of a body larger than 128 KiB. A client that is slower gets 408, and the connection is
        /// closed.
        public var bodyStep = Duration.seconds(10)
        /// The time in which the client must read an answer.
        public var write = Duration.seconds(30)
        /// From an answer to the end of the next request's header.
        public var idle = Duration.seconds(75)
        /// The time for which sockets continue to accept connections after the shutdown has begun, so that load balancers can
        /// detect it with `/readyz`.
        public var drain = Duration.seconds(5)
        /// The time after that for requests in progress to finish.
        public var shutdown = Duration.seconds(25)
        /// The timeout of the store. If the store has not answered for this time, requests that need it get the result
        /// of `EndpointConfiguration.whenStoreFails` at once, and notifications 503. This ends when the store answers.
        public var store = Duration.seconds(1)
        /// From the start of the shutdown until requests that do not end are abandoned.
        package var untilAbandoned: Duration { drain + shutdown }
        /// How long a request waits for the App Store before it is answered without it, or rejected.
        public var appStore = AppStoreRefresher.defaultTimeout

        /// The defaults of the configuration file.
        public init() {}
    }

    /// The lines that the server logs. A reload does not change them.
    public struct Logging: Sendable, Hashable {
        /// The form of a line: a JSON object, or text for people.
        public enum Format: String, Sendable, CaseIterable {
            /// A JSON object, for programs that collect logs.
            case json
            /// Text for people.
            case text
        }

        /// A level of swift-log.
        public var level = "info"
        /// By default JSON, for programs that collect logs.
        public var format = Format.json
        /// Whether each request gets a line.
        public var requests = true

        /// The defaults of the configuration file: JSON, the level `info`, and a line for each request.
        public init() {}
    }

    /// The spool for receipts that the store does not write in time.
    public struct Spool: Sendable, Hashable {
        /// The path of its file, which no other server may use; nil for no spool.
        public var path: String?
        /// The size at which it is full, in bytes.
        public var maximumBytes = 1 << 30

        /// The default spool: next to the file of a SQLite store, in the working directory for another store, none
        /// without a store.
        public init(besideStore url: String?) {
            path =
                switch url.flatMap({ try? StoreURL($0) }) {
                case .sqlite(let file)?: file + ".spool"
                case .postgreSQL?: "legacy-receipts.spool"
                default: nil
                }
        }
    }

    /// Which App Store Server Notifications the server accepts. It writes them to the store, so without a store there
    /// are none.
    public struct Notifications: Sendable, Hashable {
        /// Whether `/notifications/v2` exists.
        public var enabled = true
        /// Whether `/notifications/v1` exists too. Only the shared secret authenticates these notifications.
        public var version1 = false

        /// The defaults of the configuration file: only version 2.
        public init() {}
    }

    /// The listener that looks customers up and inspects documents.
    public struct LookUpListener: Sendable, Hashable {
        /// By default, only this machine can reach it.
        public var host: String
        /// 0 for any free port. The socket has no TLS.
        public var port: Int
        /// The accepted bearer tokens, at least one.
        public var tokens: [SharedSecret]

        /// Creates a listener. With the defaults, only this machine can reach it.
        /// - Parameters:
        ///   - host: a name or address to bind to.
        ///   - port: 0 for any free port.
        ///   - tokens: the accepted bearer tokens. Without one, every request is rejected.
        public init(host: String = "127.0.0.1", port: Int = 9091, tokens: [SharedSecret]) {
            self.host = host
            self.port = port
            self.tokens = tokens
        }

        /// Whether both have the same address.
        func hasAddress(of other: Self?) -> Bool { host == other?.host && port == other?.port }
    }

    /// How open consumption requests are answered. The files are read again for each round.
    public struct ConsumptionAnswers: Sendable, Hashable {
        /// The team's rules (JSON).
        public var rulesFile: String
        /// The consents of customers (CSV).
        public var consentFile: String
        /// The consumer of the ledger that delivers purchases, for rules with `isDelivered`.
        public var consumer: String?
        /// The time between two rounds.
        public var interval: Duration

        /// Creates the settings of the rounds. The files are not read yet.
        /// - Parameters:
        ///   - rulesFile: the path of the team's rules (JSON).
        ///   - consentFile: the path of the consents of customers (CSV).
        ///   - consumer: the consumer of the ledger that delivers purchases; nil if no rule has `isDelivered`.
        ///   - interval: the time between two rounds.
        public init(rulesFile: String, consentFile: String, consumer: String? = nil, interval: Duration = .seconds(300))
        {
            self.rulesFile = rulesFile
            self.consentFile = consentFile
            self.consumer = consumer
            self.interval = interval
        }
    }

    /// When the ledger gets entries of purchases that ended without a document (`PurchaseEndings`).
    public struct Endings: Sendable, Hashable {
        /// The time between two sweeps; zero for none.
        public var interval = Duration.seconds(60)
        /// How long after an end a document may still come.
        public var delay = Duration.seconds(300)

        /// The defaults of the configuration file: a sweep each minute, for ends five minutes ago and earlier.
        public init() {}
    }

    /// After how many days the server removes what it need not keep. 0 keeps it.
    public struct Retention: Sendable, Hashable {
        /// Of the ids of notifications, since they were signed.
        public var notificationDays = 0
        /// Of receipts, since they were created.
        public var receiptDays = 0
        /// Of entries of the ledger that every consumer has acknowledged, since they were recorded.
        public var ledgerDays = 0
        /// The time from the start of the server to the first removal.
        public var firstPause = Duration.seconds(600)
        /// The time between two removals.
        public var pause = Duration.seconds(86_400)

        /// The defaults of the configuration file: the server removes nothing.
        public init() {}

        /// Whether the server removes anything.
        var isOn: Bool { notificationDays > 0 || receiptDays > 0 || ledgerDays > 0 }
    }

    /// The sockets for verifyReceipt requests. By default one, which only this machine can reach, on port 8080 without
    /// TLS.
    public var listeners = [Listener()]
    /// Nil for no socket with health and metrics.
    public var admin: AdminListener? = AdminListener()
    /// Nil for no look-up.
    public var lookUp: LookUpListener?
    /// Host names under which a listener with the role ``Role/both`` answers as sandbox on every path; lower case.
    public var sandboxHosts = ["sandbox.itunes.apple.com"]
    /// The networks of proxies whose `X-Forwarded-For` or `Forwarded` header states the client.
    public var trustedProxies: [IPNetwork] = []
    /// What clients can use.
    public var limits = Limits()
    /// How long the server waits.
    public var timeouts = Timeouts()
    /// What the server logs.
    public var logging = Logging()
    /// The address of the store; nil for none.
    public var storeURL: String? = "sqlite:legacy-receipts.sqlite"
    /// The spool for receipts that the store does not write in time. The server does not open it: open it as the
    /// command does, and give it to the initializer of `VerifyReceiptServer`. A change of ``storeURL`` does not
    /// change it.
    public var spool = Spool(besideStore: "sqlite:legacy-receipts.sqlite")
    /// The comparison with a live verifyReceipt in the background; nil for none.
    public var shadow: ShadowConfiguration?
    /// How requests are answered: apps, secrets, catalogs, and the differences from Apple's replies.
    public var endpoint: EndpointConfiguration
    /// Which App Store Server Notifications the server accepts.
    public var notifications = Notifications()
    /// The trust anchors for JWS: notifications, the App Store Server API, and transactions in `receipt-data`.
    public var signedDataTrust = SignedDataTrust.apple
    /// Checks online whether the certificates of such data were revoked; nil for no check. With a check, the
    /// certificates must be valid now, not only when they signed.
    public var revocation: (any RevocationChecking)?
    /// The credentials for the App Store Server API by app. Without them, the server does not query the App Store about an app.
    public var appStore: [AppStoreCredentials] = []
    /// Nil to keep consumption requests as open tasks.
    public var consumption: ConsumptionAnswers?
    /// When the ledger gets entries of purchases that ended without a document.
    public var endings = Endings()
    /// What the server removes from the store, and when.
    public var retention = Retention()
    /// Warnings about valid but unsafe settings, for the log.
    public var warnings: [String] = []

    /// Creates a configuration with the defaults of the configuration file.
    /// - Parameter endpoint: how requests are answered. Without apps and secrets, genuine receipts of every app are
    ///   answered.
    public init(endpoint: EndpointConfiguration = EndpointConfiguration()) { self.endpoint = endpoint }
}
