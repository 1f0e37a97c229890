import Crypto
import Foundation
import LegacyReceipts
import OpenSSLOracle
import Testing

/// Every fact of the index about every real receipt, which others established from the same bytes.
@Suite("Index of real receipts", .enabled(if: RealReceipts.arePresent))
struct IndexTests {
    private static let apps = RealReceipts.entries(of: "production", "sandbox", "xcode")
    private static let genuine = RealReceipts.entries(of: "production", "sandbox")
    private static let transactions = RealReceipts.entries(of: "ios6")

    @Test("The index is read")
    func index() {
        #expect(Self.genuine.count > 40)
        #expect(!Self.transactions.isEmpty)
        #expect(RealReceipts.entries.allSatisfy { !$0.file.isEmpty })
    }

    @Test("Size and digest of the decoded bytes, lenient and strict", arguments: RealReceipts.entries)
    func bytes(entry: RealReceipts.Entry) throws {
        let text = try RealReceipts.text(entry)
        guard let container = try? ReceiptContainer(stored: text) else {
            #expect(entry.kind.hasPrefix("malformed") || entry.kind == "not-a-receipt")
            return
        }
        #expect(container.bytes.count == entry.bytes)
        #expect(hex(SHA256.hash(data: container.bytes)) == entry.sha256)
        if let strict = try? ReceiptContainer(requestText: text) { #expect(strict.bytes == container.bytes) }
        #expect(try ReceiptContainer(stored: container.bytes).bytes == container.bytes)
    }

    private func app(_ entry: RealReceipts.Entry) throws -> AppReceipt {
        guard case .app(let receipt) = try ReceiptDecoder().decode(stored: RealReceipts.text(entry)).payload else {
            throw UnexpectedKind()
        }
        return receipt
    }

    @Test("App-level facts", arguments: apps)
    func appFacts(entry: RealReceipts.Entry) throws {
        let receipt = try app(entry)
        #expect(receipt.receiptType?.rawValue == entry.receiptType)
        #expect(receipt.bundleId == entry.bundleId)
        #expect(receipt.applicationVersion == entry.appVersion)
        #expect(receipt.originalApplicationVersion == nonEmpty(entry.originalAppVersion))
        #expect(receipt.receiptCreationDate == entry.creationDate.map(milliseconds))
        #expect(receipt.originalPurchaseDate == nonEmpty(entry.originalPurchaseDate).map(milliseconds))
        #expect(receipt.unknownAttributes.isEmpty)
        #expect(receipt.trailingByteCount == 0)
        if entry.platformGuess == "mac" { #expect(receipt.platform != 3) }
        let environments: [String: ReceiptEnvironment] = [
            "production": .production, "sandbox": .sandbox, "xcode": .xcode,
        ]
        #expect(receipt.environment == environments[entry.kind])
    }

    @Test(
        "Counts of purchases: all, trial, intro, promotional, cancelled, with expiry, by product type", arguments: apps)
    func counts(entry: RealReceipts.Entry) throws {
        let purchases = try app(entry).inAppPurchases
        #expect(purchases.count == entry.inAppCount)
        #expect(purchases.count { $0.isTrialPeriod == true } == entry.inAppTrial)
        #expect(purchases.count { $0.isInIntroOfferPeriod == true } == entry.inAppIntro)
        #expect(purchases.count { $0.promotionalOfferId != nil } == entry.inAppPromoOfferId)
        #expect(purchases.count { $0.cancellationDate != nil } == entry.inAppCancelled)
        #expect(purchases.count { $0.expiresDate != nil } == entry.inAppWithExpires)
        let types = Dictionary(grouping: purchases) { $0.productType.map { String($0.rawValue) } ?? "None" }
        #expect(types.mapValues(\.count) == entry.inApp1707Values ?? [:])
        #expect(purchases.allSatisfy { $0.unknownAttributes.isEmpty && $0.purchaseDate != nil && $0.quantity == 1 })
    }

    @Test("Production and sandbox receipts are genuine, with the digest of the index", arguments: genuine)
    func verdict(entry: RealReceipts.Entry) throws {
        let verified = try ReceiptVerifier().verify(stored: RealReceipts.text(entry))
        #expect(verified.evidence.digestAlgorithm == (entry.signature?.digest == "sha1" ? .sha1 : .sha256))
        #expect(verified.evidence.anchor == .apple)
        #expect(verified.evidence.validationTime == entry.creationDate.map(milliseconds))
        #expect(entry.signature?.nSigners == 1)
        #expect(entry.signature?.verifiedByEmbeddedCert == 0)
    }

    @Test("Xcode's receipts are refused as such, and accepted by option", arguments: RealReceipts.entries(of: "xcode"))
    func xcode(entry: RealReceipts.Entry) throws {
        let text = try RealReceipts.text(entry)
        expectRefusal(.xcodeReceipt) { try ReceiptVerifier().verify(stored: text) }
        let verifier = try ReceiptVerifier(trust: TrustPolicy(acceptsXcodeReceipts: true))
        #expect(try verifier.verify(stored: text).evidence.anchor == .xcode)
    }

    @Test(
        "The Mac receipt of 2010 is of another authority: not genuine", arguments: RealReceipts.entries(of: "mac-2010"))
    func mac2010(entry: RealReceipts.Entry) throws {
        let error = #expect(throws: ReceiptError.self) {
            try ReceiptVerifier().verify(stored: RealReceipts.text(entry))
        }
        #expect(error?.verdict == .notGenuine)
        let receipt = try app(entry)
        #expect(receipt.bundleId == entry.bundleId)
        #expect(receipt.receiptType == nil)
        #expect(receipt.receiptCreationDate == entry.creationDate.map(milliseconds))
    }

    @Test(
        "Malformed files and other things are refused",
        arguments: RealReceipts.entries(of: "malformed", "not-a-receipt"))
    func refused(entry: RealReceipts.Entry) throws {
        let error = #expect(throws: ReceiptError.self) {
            try ReceiptVerifier().verify(stored: RealReceipts.text(entry))
        }
        #expect(error.map { !$0.message.isEmpty } == true)
    }

    @Test(
        "Device hash: the right device and none other",
        arguments: RealReceipts.entries.filter { $0.deviceGuidHex != nil })
    func device(entry: RealReceipts.Entry) throws {
        let receipt = try app(entry)
        let device = try #require(DeviceIdentifier(entry.deviceGuidHex ?? ""))
        #expect(throws: Never.self) { try receipt.checkDevice(device) }
        var bytes = device.bytes
        bytes[bytes.count - 1] ^= 1
        let other = try #require(DeviceIdentifier(bytes: bytes))
        expectRefusal(.deviceMismatch) { try receipt.checkDevice(other) }
    }

    @Test("There are 13 receipts with a known device")
    func devices() {
        #expect(RealReceipts.entries.count { $0.deviceGuidHex != nil } == 13)
    }

    @Test("Transaction receipts: key by key, genuine, version of the signature", arguments: transactions)
    func transaction(entry: RealReceipts.Entry) throws {
        let verified = try ReceiptVerifier().verify(stored: RealReceipts.text(entry))
        guard case .transaction(let receipt) = verified.payload else { throw UnexpectedKind() }
        try expectPurchaseInfo(of: receipt, entry)
        #expect(receipt.signature.map { Int($0.version) } == entry.sigVersion)
        #expect(verified.evidence.anchor == .pinnedLeaf)
        #expect(entry.signatureVerifies == ["ver+pi/sha1"])
    }

    private func expectPurchaseInfo(of receipt: TransactionReceipt, _ entry: RealReceipts.Entry) throws {
        let expected = try #require(entry.purchaseInfo)
        #expect(receipt.purchaseInfo.count == expected.count)
        for (key, value) in expected { #expect(receipt.purchaseInfoValue(forKey: key) == value, "\(key)") }
        #expect(receipt.productId == expected["product-id"])
        #expect(receipt.transactionId == expected["transaction-id"])
        #expect(receipt.originalTransactionId == expected["original-transaction-id"])
        #expect(receipt.bundleId == expected["bid"])
        #expect(receipt.applicationVersion == expected["bvrs"])
        #expect(receipt.quantity.map { String($0) } == expected["quantity"])
        #expect(receipt.purchaseDate.map { String($0) } == expected["purchase-date-ms"])
        #expect(receipt.originalPurchaseDate.map { String($0) } == expected["original-purchase-date-ms"])
        #expect(receipt.expiresDate.map { String($0) } == expected["expires-date"])
        #expect(receipt.webOrderLineItemId == expected["web-order-line-item-id"])
        #expect(receipt.itemId == expected["item-id"])
        #expect(receipt.appItemId == expected["app-item-id"])
        #expect(receipt.versionExternalIdentifier == expected["version-external-identifier"])
        #expect(receipt.uniqueIdentifier == expected["unique-identifier"])
        #expect(receipt.uniqueVendorIdentifier == expected["unique-vendor-identifier"])
    }

    @Test(
        "Malformed transaction receipts are refused; what can be read of them is",
        arguments: RealReceipts.entries(of: "malformed-ios6"))
    func malformedTransactions(entry: RealReceipts.Entry) throws {
        let text = try RealReceipts.text(entry)
        #expect(throws: ReceiptError.self) { try ReceiptVerifier().verify(stored: text) }
        guard entry.purchaseInfo != nil else { return }
        guard case .transaction(let receipt) = try ReceiptDecoder().decode(stored: text).payload else {
            throw UnexpectedKind()
        }
        try expectPurchaseInfo(of: receipt, entry)
    }

    /// The index distinguishes an empty attribute from a missing one; for a reader both are absent.
    private func nonEmpty(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }

    /// Foundation's reading of the index's dates.
    private func milliseconds(_ text: String) -> Int64 {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        for format in ["yyyy-MM-dd'T'HH:mm:ssZZZZZ", "yyyy-MM-dd'T'HH:mm:ss.SSSZZZZZ", "yyyy-MM-dd'T'HH:mm:ssZ"] {
            formatter.dateFormat = format
            if let date = formatter.date(from: text) { return Int64((date.timeIntervalSince1970 * 1000).rounded()) }
        }
        return .min
    }
}
