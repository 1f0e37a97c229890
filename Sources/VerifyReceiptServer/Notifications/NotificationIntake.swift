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
    /// texts. Two bytes of JSON (`0,`) become more than thirty.
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

/// What JSON costs as ``JSONValue`` at most, told from its punctuation without reading it. Texts count as they are: one that
/// holds punctuation, as base64 does not, makes the estimate higher.
///
/// The parts are what was measured at the peak of reading 3 MiB of one kind of value, rounded up: 33 bytes for an element
/// (`0,`), 72 for one with a name (`"":0,`), 89 for an array of one (`[0],`), 112 for a text of 24 bytes.
struct JSONCost {
    private static let perElement = 40
    private static let perName = 40
    private static let perContainer = 64
    /// The texts, what is signed among them in its parts, and these decoded.
    private static let copies = 4

    /// The elements and members of all arrays and objects.
    private(set) var elements = 1
    private var names = 0
    private var containers = 0
    private let size: Int

    init(of bytes: some Collection<UInt8>) {
        size = bytes.count
        for byte in bytes {
            switch byte {
            case UInt8(ascii: ","): elements += 1
            case UInt8(ascii: ":"): names += 1
            case UInt8(ascii: "["), UInt8(ascii: "{"): containers += 1
            default: break
            }
        }
        // The first element of each is behind no comma.
        elements += containers
    }

    var bytes: Int {
        elements * Self.perElement + names * Self.perName + containers * Self.perContainer + size * Self.copies
    }
}
