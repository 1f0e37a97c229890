public import AppStoreModels

/// A client of the App Store Server API, the Retention Messaging API and the Advanced Commerce API, for one app and one
/// environment (Reference.md S2).
///
/// Every method calls one endpoint and has its name. A call waits for its turn in the rate budget, carries a token that is
/// made when needed, is sent again where that is safe (``RetryPolicy``), and ends at once when its task is cancelled.
///
///     let key = try InAppPurchaseKey(pem: text, keyID: "ABCDEFGHIJ", issuerID: "99b16628-15e4-4668-972b-eeff55eeff55")
///     let client = try AppStoreServerAPIClient(key: key, bundleID: "com.example.app", environment: .production)
///     for try await page in client.transactionHistory("1000000831360853") {
///         …
///     }
///
/// What comes back as JWS is signed by Apple and not verified by the client.
///
/// All methods throw ``AppStoreServerAPIError``, or `CancellationError` when the task is cancelled.
public struct AppStoreServerAPIClient: Sendable {
    /// The environment that the client asks.
    public let environment: Environment

    /// Makes the tokens.
    public let tokens: BearerTokenSource

    let pipeline: RequestPipeline

    /// A client with a transport. Clients for several environments or apps can share one transport.
    /// - Throws: ``APIClientConfigurationError``.
    public init(
        key: InAppPurchaseKey, bundleID: String, environment: Environment,
        configuration: APIClientConfiguration = APIClientConfiguration(), transport: any APITransport
    ) throws {
        self.environment = environment
        tokens = BearerTokenSource(key: key, bundleID: bundleID, clock: configuration.clock)
        pipeline = RequestPipeline(
            baseURL: try Self.baseURL(environment, configuration.baseURL), environment: environment,
            configuration: configuration, tokens: tokens, transport: transport)
    }

    /// Apple's servers (Reference.md S1).
    private static func baseURL(_ environment: Environment, _ given: String?) throws -> String {
        guard let given else {
            switch environment {
            case .production: return "https://api.storekit.apple.com"
            case .sandbox: return "https://api.storekit-sandbox.apple.com"
            default: throw APIClientConfigurationError.noServer(environment.rawValue)
            }
        }
        let url = given.hasSuffix("/") ? String(given.dropLast()) : given
        for scheme in ["https://", "http://"] where url.lowercased().hasPrefix(scheme) {
            let rest = url.dropFirst(scheme.count)
            let isPlain = rest.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !Array("?#\\\"<>".utf8).contains($0) }
            if isPlain, let first = rest.first, first != "/" { return url }
        }
        throw APIClientConfigurationError.invalidBaseURL
    }
}

#if canImport(AsyncHTTPClient)
    extension AppStoreServerAPIClient {
        /// A client with a transport of its own, ``AsyncHTTPClientTransport``.
        /// - Throws: ``APIClientConfigurationError``.
        public init(
            key: InAppPurchaseKey, bundleID: String, environment: Environment,
            configuration: APIClientConfiguration = APIClientConfiguration()
        ) throws {
            try self.init(
                key: key, bundleID: bundleID, environment: environment, configuration: configuration,
                transport: AsyncHTTPClientTransport())
        }
    }
#endif
