import Logging
import TransactionStore
import VerifyReceipt

extension ServerMetrics {
    /// The receipts in the spool, and all spooled receipts by outcome.
    func add(_ writer: StoreWriter) {
        let prefix = "legacy_receipts_"
        registry.counters(
            prefix + "spool_receipts_total",
            "Receipts that the store did not accept in time, by outcome: spooled, drained (from the spool to the store), "
                + "refused (neither accepted it), set_aside (the store refuses this one).", label: "outcome"
        ) {
            let counts = writer.counts
            return [
                "drained": counts.drained, "refused": counts.refused, "set_aside": counts.setAside,
                "spooled": counts.spooled,
            ].mapValues { Int(clamping: $0) }
        }
        registry.counter(
            prefix + "erased_facts_total",
            "Facts of receipts that the store left out, because their customer was erased and a hash was left."
        ) { Int(clamping: writer.counts.erasedFacts) }
        guard let spool = writer.spool else { return }
        registry.gauge(prefix + "spool_entries", "Receipts in the spool that wait for the store.") {
            Int(spool.state.entries)
        }
        registry.gauge(prefix + "spool_set_aside_entries", "Receipts in the spool that the store refuses.") {
            Int(spool.state.setAside)
        }
        registry.gauge(prefix + "spool_bytes", "Bytes of the receipts in the spool.") { Int(spool.state.bytes) }
        registry.gauge(prefix + "spool_maximum_bytes", "The bytes at which the spool is full (spool.max-bytes).") {
            Int(spool.state.maximumBytes)
        }
        let oldest = registry.gauge(
            prefix + "spool_oldest_seconds", "How long the oldest receipt in the spool waits; 0 for none.")
        registry.read { oldest.record(Double(spool.state.lag(at: SystemClock.now())) / 1_000) }
    }
}

extension SpoolState {
    /// How long the oldest entry waits, in milliseconds; 0 if none does.
    ///
    /// - Parameter now: milliseconds since 1970-01-01T00:00:00Z.
    func lag(at now: Int64) -> Int64 {
        guard let oldestDate else { return 0 }
        let (lag, isHuge) = now.subtractingReportingOverflow(oldestDate)
        // Bounds a lag that a wrong clock causes.
        return isHuge ? 0 : min(max(0, lag), 1 << 40)
    }
}

extension StoreWriter.Event {
    /// One line per change, not per receipt.
    ///
    /// - Parameters:
    ///   - logger: gets the lines.
    ///   - setAside: limits the lines about receipts that are set aside. The spool stores the reason of each.
    func log(to logger: Logger, setAside: RateLimitedLine) {
        switch self {
        case .foundEntries(let entries):
            logger.notice(
                "the spool contains receipts of an earlier run; writing them to the store",
                metadata: ["entries": .stringConvertible(entries)])
        case .spooling(let reason):
            logger.warning(
                "receipts go to the spool: the store does not accept them", metadata: ["reason": "\(reason)"])
        case .drained(let entries):
            logger.notice(
                "all receipts of the spool are in the store", metadata: ["entries": .stringConvertible(entries)])
        case .refusing(let reason):
            logger.error("receipts are not kept", metadata: ["reason": "\(reason)"])
        case .accepting: logger.notice("receipts are kept again")
        case .setAside(let receipt, let reason):
            guard let count = setAside.note() else { return }
            logger.error(
                "the store rejects receipts, which stay in the spool until the next start",
                metadata: [
                    "receipt": "\(receipt)", "reason": "\(reason)", "count": .stringConvertible(count),
                ])
        }
    }
}
