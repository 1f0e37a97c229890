/// A cache of recent revocation results, and the running requests.
///
/// It keeps only the final results "good" and "revoked". It is bounded and evicts the oldest entry.
actor RevocationVerdicts {
    private struct Verdict {
        let chain: SignedDataCertificates
        let status: RevocationStatus
        /// Milliseconds since 1970.
        let time: Int64
    }

    /// Apple signs with one leaf at a time.
    static let maximumEntries = 32

    private let lifetime: Int64
    private var kept: [Verdict] = []
    private var asked: [SignedDataCertificates: Task<RevocationStatus, Never>] = [:]

    /// - Parameter lifetime: in milliseconds.
    init(lifetime: Int64) {
        self.lifetime = lifetime
    }

    /// The verdict for a chain: the cached one, or else the answer to `ask`, which is called once for all waiting
    /// callers.
    func verdict(
        of chain: SignedDataCertificates, now: Int64, _ ask: @escaping @Sendable () async -> RevocationStatus
    ) async -> RevocationStatus {
        // A verdict from the future was stored before the clock was set back.
        if let verdict = kept.first(where: { $0.chain == chain }), verdict.time <= now, now - verdict.time < lifetime {
            return verdict.status
        }
        if let task = asked[chain] { return await task.value }
        let task = Task { await ask() }
        asked[chain] = task
        let status = await task.value
        asked[chain] = nil
        keep(Verdict(chain: chain, status: status, time: now))
        return status
    }

    private func keep(_ verdict: Verdict) {
        kept.removeAll { $0.chain == verdict.chain }
        switch verdict.status {
        case .good, .revoked: break
        case .unknown, .unavailable: return
        }
        if kept.count >= Self.maximumEntries { kept.removeFirst() }
        kept.append(verdict)
    }
}
