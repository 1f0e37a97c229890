import AppStoreModels
package import AppStoreServer
import AppStoreSync
import Foundation
import NIOSSL
package import TransactionStore

/// Tries everything that a configuration connects to, without changing anything there: store, App Store keys, TLS
/// certificates, catalogs.
package struct ConnectionTrial: Sendable {
    /// The result of one test.
    package struct Finding: Sendable, Hashable {
        package let subject: String
        /// Nil if it works. Contains no secret.
        package let problem: String?
    }

    private static let timeout = Duration.seconds(15)
    /// A token that no test notification has.
    private static let unknownToken = "00000000-0000-0000-0000-000000000000_0000000000000"

    private let configuration: VerifyReceiptServerConfiguration
    private let transport: any APITransport
    private let openStore: @Sendable (String) throws -> any TransactionStore

    /// - Parameters:
    ///   - configuration: a loaded configuration, whose files could be read.
    ///   - transport: carries the calls of the App Store Server API.
    ///   - openStore: opens the store with an address.
    package init(
        _ configuration: VerifyReceiptServerConfiguration, transport: any APITransport = AsyncHTTPClientTransport(),
        openStore: @escaping @Sendable (String) throws -> any TransactionStore
    ) {
        self.configuration = configuration
        self.transport = transport
        self.openStore = openStore
    }

    /// Tries everything, and returns the results in the order of the example configuration.
    package func findings() async -> [Finding] {
        var findings = configuration.endpoint.apps.compactMap { app in
            app.catalog.map { _ in Finding(subject: "catalogs of \(app.bundleId)", problem: nil) }
        }
        findings += configuration.listeners.compactMap { listener in
            listener.tls.map { Finding(subject: "certificate \($0.certificate)", problem: Self.problem(with: $0)) }
        }
        if let url = configuration.storeURL { findings.append(await store(url)) }
        for credentials in configuration.appStore {
            for environment in [Environment.production, .sandbox] {
                findings.append(await key(credentials, environment))
            }
        }
        return findings
    }

    // MARK: TLS

    private static func problem(with files: VerifyReceiptServerConfiguration.TLSFiles) -> String? {
        do {
            _ = try TLSSetup.configuration(files)
            let now = SystemClock.now() / 1_000
            for certificate in try NIOSSLCertificate.fromPEMFile(files.certificate) {
                if Int64(certificate.notValidAfter) < now { return "a certificate in it has expired" }
                if Int64(certificate.notValidBefore) > now { return "a certificate in it is not valid yet" }
            }
            return nil
        } catch {
            return "\(error)"
        }
    }

    // MARK: Store

    private func store(_ url: String) async -> Finding {
        guard let address = try? StoreURL(url) else { return Finding(subject: "store", problem: "is not an address") }
        let subject = "store \(address)"
        // Opening it would create the file, possibly as another user than the server's.
        if case .sqlite(let path) = address, !FileManager.default.fileExists(atPath: path) {
            return Finding(subject: subject + " (no file yet)", problem: BoundedFile.obstacleToWriting(path))
        }
        let trial = Task { () -> String? in
            do {
                let store = try openStore(url)
                do { try await store.checkReadiness() } catch {
                    try? await store.close()
                    throw error
                }
                try await store.close()
                return nil
            } catch {
                return TransactionStoreError.text(of: error)
            }
        }
        return Finding(subject: subject, problem: await bounded(trial))
    }

    // MARK: App Store

    /// Requests the result of a test notification that does not exist. If the key is valid, the App Store answers that
    /// there is none.
    private func key(_ credentials: AppStoreCredentials, _ environment: Environment) async -> Finding {
        let server = credentials.server(environment).map { " at \($0)" } ?? ""
        let subject = "App Store key of \(credentials.bundleID), \(environment.rawValue)\(server)"
        let trial = Task { () -> String? in
            do {
                let client = try AppStoreServerAPIClient(
                    key: credentials.key, bundleID: credentials.bundleID, environment: environment,
                    configuration: APIClientConfiguration(
                        baseURL: credentials.server(environment), timeout: .seconds(10),
                        retryPolicy: RetryPolicy(maximumAttempts: 1)),
                    transport: transport)
                _ = try await client.getTestNotificationStatus(Self.unknownToken)
                return nil
            } catch let error as AppStoreServerAPIError {
                return Self.problem(error)
            } catch {
                return "\(error)"
            }
        }
        return Finding(subject: subject, problem: await bounded(trial))
    }

    private static func problem(_ error: AppStoreServerAPIError) -> String? {
        switch (error.reason, error.code) {
        case (_, .testNotificationNotFound?), (_, .invalidTestNotificationToken?): nil
        case (.unauthorized, _):
            "it is not accepted (401): issuer-id, key-id, private key or bundle id is wrong, or the app has no release in "
                + "production yet"
        default: error.description
        }
    }

    private func bounded(_ trial: Task<String?, Never>) async -> String? {
        await withTimeout(Self.timeout, waitingFor: trial)
            ?? "no answer within \(Self.timeout.components.seconds) seconds"
    }
}
