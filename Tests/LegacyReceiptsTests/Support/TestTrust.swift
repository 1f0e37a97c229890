import ForgedTrust
import LegacyReceipts
import OpenSSLOracle
import ReceiptForge

// Never inlined, see forgedTrust.
@inline(never)
func testVerifier(
    limits: DecodingLimits = .standard, _ change: (inout TrustPolicy) -> Void = { _ in }
) throws -> ReceiptVerifier {
    try ReceiptVerifier(trust: forgedTrust(change), limits: limits)
}

/// A date at which the certificates of the test authority's G5 generation are valid.
let duringG5 = ForgedInstant(2024, 1, 2, 3, 4, 5)

/// A plain production receipt of that date.
func plainReceipt(created: ForgedInstant = duringG5) -> ForgedAppReceipt {
    .production(bundleId: "com.example.orchard", created: created).with {
        $0.purchases = [
            ForgedPurchase(.nonConsumable, product: "com.example.orchard.apple", id: "430001234567890", at: created)
        ]
    }
}

/// The plain receipt signed by the first certificate of a chain, which it carries.
func signedReceipt(
    chain: [ForgedCertificate], created: ForgedInstant = duringG5, digest: ForgedDigest = .sha256,
    _ change: (inout ForgedSignedData) -> Void = { _ in }
) throws -> [UInt8] {
    try ForgedSignedData(content: plainReceipt(created: created).content, chain: chain, digest: digest)
        .with(change).encoded()
}

func extensionCount(_ der: [UInt8]) throws -> Int {
    guard let facts = certificateFacts(der) else { throw UnexpectedKind() }
    return facts.extensions.count
}
