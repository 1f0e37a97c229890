/// A legacy receipt of either kind.
/// The payloads are boxed: they are several hundred bytes each, and this is passed around more than it is looked into.
public indirect enum LegacyReceipt: Hashable, Sendable {
    /// An app receipt: PKCS#7, iOS 7 and later, macOS.
    case app(AppReceipt)
    /// A transaction receipt: property list, iOS 6 style.
    case transaction(TransactionReceipt)

    /// The environment to act on, or nil when an app receipt names none that is known.
    public var environment: ReceiptEnvironment? {
        switch self {
        case .app(let receipt): receipt.environment
        case .transaction(let receipt): receipt.environment
        }
    }

    /// The bundle id.
    public var bundleId: String? {
        switch self {
        case .app(let receipt): receipt.bundleId
        case .transaction(let receipt): receipt.bundleId
        }
    }
}
