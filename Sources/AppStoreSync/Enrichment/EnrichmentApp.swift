public import AppStoreServer
internal import Purchases
internal import Synchronization

extension CustomerEnrichment {
    /// One app, in the environments that are queried.
    public struct App: Sendable {
        let reader: CustomerHistoryReader
        let fallback: CustomerHistoryReader?

        /// - Parameters:
        ///   - reader: queries one environment; production, if there are two.
        ///   - fallback: queries the sandbox for bare ids that production does not know. Also used if production answers 401
        ///     because the app has no release there (`EnvironmentFallback` of AppStoreServer).
        public init(_ reader: CustomerHistoryReader, fallback: CustomerHistoryReader? = nil) {
            self.reader = reader
            self.fallback = fallback
        }

        var bundleID: String { reader.bundleID }
        var readers: [CustomerHistoryReader] { [reader] + (fallback.map { [$0] } ?? []) }

        /// Production refuses the key, and the sandbox accepts it. The app may have no release in production.
        struct OnlySandboxAccepts: Error, CustomStringConvertible {
            let production: AppStoreServerAPIError
            var description: String { "\(production)" }
        }

        /// Looks up a transaction whose environment is not known.
        ///
        /// - Throws: `AppStoreServerAPIError`, or ``OnlySandboxAccepts`` if production may know the transaction.
        func find(_ id: String) async throws -> CustomerHistory {
            guard let fallback else { return try await reader.history(of: id) }
            let environments = EnvironmentFallback(production: reader.client, sandbox: fallback.client)
            let isAcceptedBySandbox = Mutex(false)
            do {
                return try await environments.first { client in
                    guard client.environment == fallback.client.environment else {
                        return try await reader.history(of: id)
                    }
                    do {
                        return try await fallback.history(of: id)
                    } catch let error as AppStoreServerAPIError where error.isUnknownTransaction {
                        isAcceptedBySandbox.withLock { $0 = true }
                        throw error
                    }
                }.value
            } catch let error as AppStoreServerAPIError
                where error.reason == .unauthorized && isAcceptedBySandbox.withLock({ $0 })
            {
                throw OnlySandboxAccepts(production: error)
            }
        }
    }
}

extension CustomerHistoryReader {
    var scope: StoreScope { StoreScope(environment: client.environment, bundleId: bundleID) }
}
