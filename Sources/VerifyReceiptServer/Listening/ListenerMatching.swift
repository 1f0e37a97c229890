/// Matches the listeners of a new configuration with the running ones, by host, port and role.
struct ListenerMatching {
    /// A running listener that gets the contents of these files.
    struct Certificate {
        let index: Int
        let tls: VerifyReceiptServerConfiguration.TLSFiles
    }

    private struct Key: Hashable {
        let host: String
        let port: Int
        let role: VerifyReceiptServerConfiguration.Role

        init(_ listener: VerifyReceiptServerConfiguration.Listener) {
            (host, port, role) = (listener.host, listener.port, listener.role)
        }
    }

    private(set) var certificates: [Certificate] = []
    /// Whether a listener was added or removed, or changed between TLS and none. Such a change needs a restart.
    private(set) var differs: Bool

    init(
        from running: [VerifyReceiptServerConfiguration.Listener], to new: [VerifyReceiptServerConfiguration.Listener]
    ) {
        differs = running.count != new.count
        // Several can have the same key if their port is 0; they are matched in order.
        var rest = Dictionary(grouping: new, by: Key.init).mapValues { $0[...] }
        for (index, listener) in running.enumerated() {
            guard let match = rest[Key(listener)]?.popFirst() else {
                differs = true
                continue
            }
            if (match.tls == nil) != (listener.tls == nil) { differs = true }
            if listener.tls != nil, let tls = match.tls { certificates.append(Certificate(index: index, tls: tls)) }
        }
    }
}
