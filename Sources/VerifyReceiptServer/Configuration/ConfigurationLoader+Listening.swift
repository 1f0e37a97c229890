import Foundation
import VerifyReceipt

// Sockets, where requests are sent on to, and the bounds of both.

extension ConfigurationLoader {
    /// What is asked for outside of the file would replace all the listeners in it, those with TLS too: nobody means that.
    mutating func listeners() -> [VerifyReceiptServerConfiguration.Listener] {
        let keys = Setting.all.map(\.key).filter { $0.hasPrefix("listen.") }
        if let listeners = file?.listeners {
            for key in keys where values.isGiven(key) {
                values.note(key, "the file has listeners too; describe every listener there")
            }
            return listeners
        }
        var listener = VerifyReceiptServerConfiguration.Listener(
            host: values.text("listen.host") ?? "127.0.0.1", port: values.integer("listen.port"),
            role: .init(rawValue: values.choice("listen.role")) ?? .both)
        switch (values.text("listen.tls.certificate"), values.text("listen.tls.private-key")) {
        case (let certificate?, let privateKey?):
            listener.tls = .init(certificate: certificate, privateKey: privateKey)
        case (nil, nil): break
        case (nil, _): values.note("listen.tls.certificate", "is missing beside listen.tls.private-key")
        case (_, nil): values.note("listen.tls.private-key", "is missing beside listen.tls.certificate")
        }
        return [listener]
    }

    mutating func check(_ tls: VerifyReceiptServerConfiguration.TLSFiles?) {
        guard let tls else { return }
        do {
            _ = try TLSSetup.configuration(tls)
        } catch {
            problems.append(.init(key: "tls", place: place, "\(error)"))
        }
        if BoundedFile.isReadableByEverybody(tls.privateKey) {
            warnings.append("\(tls.privateKey) holds a private key and every user of this machine may read it")
        }
    }

    /// Names as they stand in `Host`, without its port: what has more than a name would never match.
    mutating func sandboxHosts() -> [String] {
        let hosts = values.texts("sandbox-hosts").map { $0.lowercased() }
        if !hosts.allSatisfy(Self.isHostName) {
            values.note(
                "sandbox-hosts", "has to be a list of host names alone, without scheme, port, path or final dot")
        }
        return hosts
    }

    /// Letters, digits, hyphens and dots (RFC 1123, 2.1), and the underscore that some have nevertheless.
    private static func isHostName(_ text: String) -> Bool {
        let allowed = Set("abcdefghijklmnopqrstuvwxyz0123456789-_.".utf8)
        return (1...253).contains(text.utf8.count) && text.utf8.allSatisfy(allowed.contains)
            && !text.hasPrefix(".") && !text.hasSuffix(".")
    }

    mutating func trustedProxies() -> [IPNetwork] {
        let texts = values.texts("trusted-proxies")
        let networks = texts.compactMap(IPNetwork.init)
        if networks.count != texts.count {
            values.note(
                "trusted-proxies", "has to be a list of networks as 10.0.0.0/8 or addresses, without host names")
        }
        return networks
    }

    mutating func shadow() -> ShadowConfiguration? {
        let record = values.text("shadow.record")
        guard let url = values.text("shadow.url") else {
            if record != nil { values.note("shadow.record", "shadow.url is missing") }
            return nil
        }
        if let record, let obstacle = BoundedFile.obstacleToWriting(record) {
            values.note("shadow.record", "\(record) cannot be written: \(obstacle)")
        }
        do {
            var shadow = try ShadowConfiguration(base: url)
            shadow.recordPath = record
            return shadow
        } catch {
            values.note("shadow.url", "\(error)")
            return nil
        }
    }

    mutating func limits() -> VerifyReceiptServerConfiguration.Limits {
        var limits = VerifyReceiptServerConfiguration.Limits()
        limits.bodyBytes = values.integer("limits.body-bytes")
        limits.headerBytes = values.integer("limits.header-bytes")
        limits.headerFields = values.integer("limits.header-fields")
        limits.connections = values.integer("limits.connections")
        limits.connectionsPerAddress = values.integer("limits.connections-per-address")
        limits.concurrentRequests = values.integer("limits.concurrent-requests")
        limits.waitingRequests = values.integer("limits.waiting-requests")
        limits.bufferedBytes = values.integer("limits.buffered-bytes")
        let largest = BufferBudget.maximumForLarge(limits.bufferedBytes)
        if limits.bodyBytes > largest {
            let key = values.isGiven("limits.body-bytes") ? "limits.body-bytes" : "limits.buffered-bytes"
            values.note(
                key,
                "a body of limits.body-bytes (\(limits.bodyBytes)) would always get 503: one body may use three quarters "
                    + "of limits.buffered-bytes, which are \(largest)")
        }
        return limits
    }

    mutating func timeouts() -> VerifyReceiptServerConfiguration.Timeouts {
        var timeouts = VerifyReceiptServerConfiguration.Timeouts()
        timeouts.handshake = values.duration("timeouts.handshake")
        timeouts.headers = values.duration("timeouts.headers")
        timeouts.body = values.duration("timeouts.body")
        timeouts.write = values.duration("timeouts.write")
        timeouts.idle = values.duration("timeouts.idle")
        timeouts.drain = values.duration("timeouts.drain")
        timeouts.shutdown = values.duration("timeouts.shutdown")
        timeouts.store = values.duration("timeouts.store")
        timeouts.appStore = values.duration("timeouts.app-store")
        return timeouts
    }
}
