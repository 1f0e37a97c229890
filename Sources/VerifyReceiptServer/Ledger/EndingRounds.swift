import AppStoreModels
import Logging
import Purchases
import TransactionStore
import VerifyReceipt

/// Looks again and again at the purchases that have ended by time, and counts the entries that the ledger gets.
final class EndingRounds: Sendable {
    private let store: any PurchaseEndings
    /// Those of now, because a reload can change them.
    private let catalogs: @Sendable () -> TermCatalogs
    private let settings: VerifyReceiptServerConfiguration.Endings
    private let metrics: ServerMetrics
    private let logger: Logger
    private let clock: @Sendable () -> Int64

    init(
        _ store: any PurchaseEndings, _ settings: VerifyReceiptServerConfiguration.Endings,
        catalogs: @escaping @Sendable () -> TermCatalogs, metrics: ServerMetrics, logger: Logger,
        clock: @escaping @Sendable () -> Int64
    ) {
        self.store = store
        self.catalogs = catalogs
        self.settings = settings
        self.metrics = metrics
        self.logger = logger
        self.clock = clock
    }

    /// Until cancellation. Waits first, because a server that starts has documents to take in.
    func run() async {
        guard settings.interval > .zero else { return }
        while true {
            do { try await Task.sleep(for: settings.interval) } catch { return }
            await round()
        }
    }

    func round() async {
        let date = clock().subtractingSaturated(settings.delay.wholeMilliseconds)
        do {
            let found = try await store.recordAllEndings(by: date, catalogs: catalogs())
            if found.entries > 0 { metrics.ledgerEndings.add("recorded", amount: found.entries) }
            guard found.unreadable > 0 else { return }
            metrics.ledgerEndings.add("unreadable", amount: found.unreadable)
            logger.error(
                "purchases of the store cannot be read, so the ledger misses what ended",
                metadata: ["purchases": .stringConvertible(found.unreadable)])
        } catch {
            guard !Task.isCancelled else { return }
            metrics.ledgerEndings.add("failed")
            logger.warning(
                "the ledger does not get what ended by time; the next round tries again",
                metadata: ["error": "\(error)"])
        }
    }
}

extension EndpointConfiguration {
    /// The catalogs of the apps. Of several for one app, the first counts.
    var termCatalogs: TermCatalogs {
        let catalogs = apps.compactMap { app in app.catalog.map { (app.bundleId, $0) } }
        return TermCatalogs(byBundleId: Dictionary(catalogs, uniquingKeysWith: { first, _ in first }))
    }
}
