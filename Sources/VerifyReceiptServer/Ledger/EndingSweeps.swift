import AppStoreModels
import Logging
import Purchases
import TransactionStore
import VerifyReceipt

/// The sweeps of a server: each looks for the purchases that have ended by time. Counts the entries that the ledger gets.
struct EndingSweeps: Sendable {
    let store: any PurchaseEndings
    let settings: VerifyReceiptServerConfiguration.Endings
    let state: ServerState

    /// Until cancellation. Waits first, because a server that starts has documents to take in.
    func run() async {
        guard settings.interval > .zero else { return }
        while true {
            do { try await Task.sleep(for: settings.interval) } catch { return }
            await sweep()
        }
    }

    private func sweep() async {
        let date = state.clock().subtractingSaturated(settings.delay.wholeMilliseconds)
        do {
            // That of now, because a reload can change the catalogs.
            let endpoint = state.current.endpoint.configuration
            let found = try await store.recordAllEndings(by: date, catalogs: endpoint.termCatalogs)
            if found.entries > 0 { state.metrics.ledgerEndings.add("recorded", amount: found.entries) }
            guard found.unreadable > 0 else { return }
            state.metrics.ledgerEndings.add("unreadable", amount: found.unreadable)
            state.logger.error(
                "purchases of the store cannot be read, so the ledger lacks their ends by time",
                metadata: ["purchases": .stringConvertible(found.unreadable)])
        } catch {
            guard !Task.isCancelled else { return }
            state.metrics.ledgerEndings.add("failed")
            state.logger.warning(
                "ends by time cannot be added to the ledger; the next sweep tries again",
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
