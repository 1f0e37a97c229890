import AppStoreModels
import AppStoreServer
import TransactionStore

/// The versions of App Store Server Notifications.
enum NotificationVersion: String, Sendable, CaseIterable {
    case version1 = "v1"
    case version2 = "v2"
}

/// What answers at `/notifications/v2` and `/notifications/v1`.
struct NotificationIntake: Sendable {
    private let store: any TransactionStore
    private let version2: NotificationReceiver
    private let version1: NotificationV1Receiver?

    /// Nil where notifications are switched off, or there is no store.
    /// - Throws: an error of the trust in a certificate that cannot be read.
    init?(_ configuration: VerifyReceiptServerConfiguration, store: (any TransactionStore)?) throws {
        guard configuration.notifications.enabled, let store else { return nil }
        self.store = store
        let endpoint = configuration.endpoint
        version2 = NotificationReceiver(
            verifier: try SignedDataVerifier(
                trust: configuration.signedDataTrust, revocation: configuration.revocation),
            apps: .init(endpoint.apps, unknownBundleIds: endpoint.unknownBundleIds))
        version1 = configuration.notifications.version1 ? try NotificationV1Receiver(endpoint) : nil
    }

    func takes(_ version: NotificationVersion) -> Bool { version == .version2 || version1 != nil }

    /// Bytes of memory that handling a body can take beside the body itself, at most: its values as a tree, and copies of its
    /// texts. Three bytes of JSON (`[],`) can become a hundred.
    static func memory(for body: [UInt8]) -> Int { JSONCost(of: body).bytes }

    /// Handles the body of a request; durable when it returns with `accepted` or `repeated`.
    func receive(_ body: [UInt8], _ version: NotificationVersion, now: Int64) async -> NotificationReport {
        guard let object = try? JSONValue.parse(body).object else {
            return .malformed("the body is not a JSON object")
        }
        if version == .version1, let version1 { return await version1.receive(object, into: store) }
        guard let signedPayload = object["signedPayload"]?.string else {
            return .malformed("signedPayload is missing")
        }
        return await version2.receive(signedPayload, into: store, now: now)
    }
}

extension NotificationReport {
    static func malformed(_ reason: String) -> NotificationReport {
        var report = NotificationReport()
        report.reason = reason
        return report
    }
}

/// What JSON costs as ``JSONValue``, told from its punctuation without reading it: never too little, and close to what it
/// is where texts hold no punctuation, as base64 does not.
struct JSONCost {
    /// An array grows by doubling, and while it is copied the old one is there too: three times its elements. An element with
    /// its name takes 32 bytes, and 40 more in the index of a large object, whose table is at most half full.
    private static let perElement = 3 * 32 + 2 * 40
    /// The memory of one array or object apart from its elements.
    private static let perContainer = 128
    /// The body's text itself, the text taken out of it, its parts decoded, and what is signed among them decoded again.
    private static let copies = 5

    private(set) var elements = 1
    private var containers = 0
    private let size: Int

    init(of bytes: some Collection<UInt8>) {
        size = bytes.count
        for byte in bytes {
            switch byte {
            case UInt8(ascii: ","): elements += 1
            case UInt8(ascii: "["), UInt8(ascii: "{"): containers += 1
            default: break
            }
        }
        // The first element of each is behind no comma.
        elements += containers
    }

    var bytes: Int { elements * Self.perElement + containers * Self.perContainer + size * Self.copies }
}
