internal import AppStoreModels
internal import Crypto
internal import Foundation

/// Generates identifiers from a seed: the same actions in the same order give the same identifiers.
struct SandboxIdentifiers: Sendable {
    private let seed: UInt64
    private let isProduction: Bool
    private var count: Int64 = 0

    init(seed: UInt64, environment: Environment) {
        self.seed = seed
        isProduction = environment == .production
    }

    /// A transaction id. The sandbox's have 16 digits and begin with 200; production's have 15 (Reference.md
    /// V7.5). Later ones are greater.
    mutating func transactionId() -> String {
        String(number(isProduction ? 470_000_000_000_000 : 2_000_000_000_000_000))
    }

    /// The identifier of a period of a subscription.
    mutating func webOrderLineItemId() -> String { transactionId() }

    /// The identifier of a customer's download of the app: 18 digits.
    mutating func appTransactionId() -> String { String(number(704_000_000_000_000_000)) }

    /// The order on a customer's invoice: M and nine letters or digits.
    mutating func orderId() -> String {
        let letters = Array("ABCDEFGHJKLMNPQRSTVWXYZ0123456789".utf8)
        let bytes = digest("order")
        return "M" + String(decoding: bytes.prefix(9).map { letters[Int($0) % letters.count] }, as: UTF8.self)
    }

    /// A UUID of version 4 in lower case (RFC 9562, 5.4).
    mutating func uuid() -> String {
        var bytes = Array(digest("uuid").prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return NSUUID(uuidBytes: bytes).uuidString.lowercased()
    }

    /// Each seed has its own range of a million identifiers.
    private mutating func number(_ base: Int64) -> Int64 {
        count += 1
        return base + Int64(seed % 10_000_000) * 1_000_000 + count
    }

    private mutating func digest(_ purpose: String) -> [UInt8] {
        count += 1
        return Array(SHA256.hash(data: Array("\(seed) \(purpose) \(count)".utf8)))
    }
}
