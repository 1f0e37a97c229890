/// A legacy receipt of either kind. The payloads are boxed, because they are several hundred bytes each and are passed
/// around often.
public indirect enum LegacyReceipt: Hashable, Sendable {
    /// An app receipt: PKCS#7, iOS 7 and later, macOS.
    case app(AppReceipt)
    /// A transaction receipt: property list, iOS 6 style.
    case transaction(TransactionReceipt)

    /// The environment to act on; nil if an app receipt states no known environment.
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
