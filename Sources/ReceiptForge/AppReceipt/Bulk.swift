extension ForgedAppReceipt {
    /// The n-th receipt of an unlimited series of different production receipts: one of a thousand apps, a new customer, and
    /// two purchases by default. A signed one has about 5.6 kB.
    public static func bulk(_ number: Int64, purchases count: Int = 2) -> ForgedAppReceipt {
        let created = ForgedInstant(2023, 9, 1).adding(minutes: number % 1_000_000)
        let bundleId = "com.example.bulk.app\(number % 1_000)"
        let isLife = count <= 120
        let firstId = 530_100_000_000_000 + number * 1_000
        return .production(bundleId: bundleId, created: created).with {
            $0.appItemId = 6_100_000_000 + number % 1_000
            $0.downloadId = 503_400_000_000_000_000 + number
            $0.opaqueValue = opaqueBytes("bulk \(number)", count: 16)
            $0.purchases = (0..<Int64(count)).map { period in
                let before = Int64(count) - 1 - period
                // The months of a customer's subscription. If there are too many, the periods are ten minutes apart,
                // like sandbox purchases.
                let begins = isLife ? created.adding(months: -before) : created.adding(minutes: -10 * before)
                return Sample.subscription(
                    "\(bundleId).monthly", id: String(firstId + period), originalId: String(firstId), from: begins,
                    originally: isLife
                        ? created.adding(months: 1 - Int64(count)) : created.adding(minutes: 10 - 10 * Int64(count)),
                    months: 1,
                    orderLine: 530_000_700_000_000 + number * 1_000 + period)
            }
        }
    }
}

/// Different genuine receipts in DER for measurements, signed with SHA-256 by the test authority; about one
/// millisecond each.
///
/// - Parameters:
///   - count: the number of receipts.
///   - first: the number of the first receipt, so that several calls can continue each other.
///   - purchases: the number of purchases in each receipt.
public func forgeReceipts(count: Int, from first: Int64 = 0, purchases: Int = 2) throws -> [[UInt8]] {
    try (0..<Int64(count)).map {
        try ForgedAppReceipt.bulk(first + $0, purchases: purchases).signedData(.g5).encoded()
    }
}
