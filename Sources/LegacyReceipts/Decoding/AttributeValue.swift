/// The value of one attribute: the bytes inside its OCTET STRING. They wrap exactly one element, except in the opaque
/// attributes 4 to 7 (Reference.md V5.1).
struct AttributeValue {
    let storage: [UInt8]
    let range: Range<Int>

    /// The value in its documented form, a missing value (empty bytes or empty text), or a value in another form.
    enum Reading<Value> {
        case value(Value)
        case empty
        case malformed
    }

    var slice: ArraySlice<UInt8> { storage[range] }

    /// The element that fills the value exactly: its tag and contents.
    @inline(__always)
    private func element(_ span: Span<UInt8>) -> (tag: UInt8, contents: Range<Int>)? {
        var reader = BERReader(range, depth: 1)
        guard let header = try? reader.header(span), header.end == range.upperBound else { return nil }
        return (header.tag, header.range)
    }

    /// An INTEGER of at most 64 bits.
    @inline(__always)
    func integer() -> Reading<Int64> {
        let span = storage.span
        if range.isEmpty { return .empty }
        guard let (tag, contents) = element(span) else { return .malformed }
        if tag == Tag.integer { return signedInteger(span, contents).map { .value($0) } ?? .malformed }
        // 1720 occurs both as INTEGER and as text (Reference.md V11, point 4), so digits are accepted.
        guard tag == Tag.utf8String || tag == Tag.ia5String else { return .malformed }
        if contents.isEmpty { return .empty }
        return Int64(String(decoding: storage[contents], as: UTF8.self)).map { .value($0) } ?? .malformed
    }

    /// UTF8String or IA5String. Each type is accepted for each attribute.
    @inline(__always)
    func text() -> Reading<String> {
        let span = storage.span
        if range.isEmpty { return .empty }
        guard let (tag, contents) = element(span), tag == Tag.utf8String || tag == Tag.ia5String else {
            return .malformed
        }
        if contents.isEmpty { return .empty }
        let text = storage.withUnsafeBufferPointer { Self.text(UnsafeBufferPointer(rebasing: $0[contents])) }
        return text.map { .value($0) } ?? .malformed
    }

    /// Text from UTF-8; nil if it is not well-formed. Nearly all of it is ASCII, which needs no validation.
    @inline(__always)
    private static func text(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        var union: UInt8 = 0
        for byte in bytes { union |= byte }
        guard union < 0x80 else { return String(validating: bytes, as: UTF8.self) }
        return String(unsafeUninitializedCapacity: bytes.count) { buffer in
            _ = buffer.update(fromContentsOf: bytes)
            return bytes.count
        }
    }

    /// A date as text; the result in milliseconds since 1970-01-01T00:00:00Z.
    @inline(__always)
    func date() -> Reading<Int64> {
        let span = storage.span
        if range.isEmpty { return .empty }
        guard let (tag, contents) = element(span), tag == Tag.ia5String || tag == Tag.utf8String else {
            return .malformed
        }
        if contents.isEmpty { return .empty }
        return ReceiptDate.attribute(span, contents).map { .value($0) } ?? .malformed
    }

    /// INTEGER 0 or 1.
    @inline(__always)
    func flag() -> Reading<Bool> {
        switch integer() {
        case .value(0): .value(false)
        case .value(1): .value(true)
        case .value, .malformed: .malformed
        case .empty: .empty
        }
    }
}

extension AttributeValue.Reading {
    /// Sets a property. Returns false if the bytes are not in the documented form, and the caller keeps them raw.
    @inline(__always)
    func store(_ property: inout Value?) -> Bool {
        switch self {
        case .value(let value):
            property = value
            return true
        case .empty: return true
        case .malformed: return false
        }
    }
}

extension AppReceipt {
    /// Attributes that are needed to act on a receipt. A value in another form is an error here; for other attributes
    /// it is kept raw.
    private static let essential: UInt64 = 1 << 0 | 1 << 2 | 1 << 12

    /// Reads one app-level attribute into its property (Reference.md V5.2).
    mutating func read(
        _ type: Int64, _ version: Int64, _ storage: [UInt8], _ range: Range<Int>, _ seen: inout UInt64
    ) throws(ReceiptError) {
        let value = AttributeValue(storage: storage, range: range)
        let bit: UInt64 = (0..<64).contains(type) ? 1 << UInt64(type) : 0
        if bit != 0, seen & bit == 0 {
            seen |= bit
            if storeKnown(type, value) { return }
            if bit & Self.essential != 0 {
                throw ReceiptError(.malformedAttribute, at: .attribute(type, purchase: nil))
            }
        }
        unknownAttributes.append(RawAttribute(type: type, version: version, value: value.slice))
    }

    private mutating func storeKnown(_ type: Int64, _ value: AttributeValue) -> Bool {
        switch type {
        case 0:
            var text: String?
            guard value.text().store(&text) else { return false }
            receiptType = text.map { ReceiptType(rawValue: $0) }
        case 1: return value.integer().store(&appItemId)
        case 2:
            guard case .value(let text) = value.text() else { return false }
            bundleId = text
            bundleIdEncoded = value.slice
        case 3: return value.text().store(&applicationVersion)
        case 4: opaqueValue = value.slice
        case 5: sha1Hash = value.slice
        case 6: opaqueAttribute6 = value.slice
        case 7: opaqueAttribute7 = value.slice
        case 8: return value.date().store(&carriedCreationDate)
        case 9: return value.integer().store(&serviceTag)
        case 10: return value.text().store(&ageRating)
        case 11: return value.integer().store(&developerId)
        case 12: return value.date().store(&receiptCreationDate)
        case 13: return value.integer().store(&operatingSystemVersion)
        case 14: return value.integer().store(&deviceModelCode)
        case 15: return value.integer().store(&downloadId)
        case 16: return value.integer().store(&versionExternalIdentifier)
        case 18: return value.date().store(&originalPurchaseDate)
        case 19: return value.text().store(&originalApplicationVersion)
        case 20: return value.text().store(&attribute20)
        case 21: return value.date().store(&expirationDate)
        case 22: return value.date().store(&volumePurchaseDate)
        case 23: return value.text().store(&volumePurchaseOrganization)
        case 25: return value.integer().store(&platform)
        case 32: return value.date().store(&preorderDate)
        default: return false
        }
        return true
    }
}

extension InAppPurchase {
    /// 1702 (product), 1703 (transaction), 1704 (purchase date), 1705 (original transaction), 1707 (type), 1708
    /// (expiry) and 1712 (cancellation) decide about access. A value in another form is an error here, never a
    /// missing value.
    private static let essential: UInt64 = 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 12

    /// Reads one attribute of a purchase into its property (Reference.md V5.3).
    @inline(__always)
    mutating func read(
        _ type: Int64, _ version: Int64, _ storage: [UInt8], _ range: Range<Int>, _ index: Int, _ seen: inout UInt64
    ) throws(ReceiptError) {
        let value = AttributeValue(storage: storage, range: range)
        let bit: UInt64 = (1700..<1764).contains(type) ? 1 << UInt64(type - 1700) : 0
        if bit != 0, seen & bit == 0 {
            seen |= bit
            if storeKnown(type, value) { return }
            if bit & Self.essential != 0 {
                throw ReceiptError(.malformedAttribute, at: .attribute(type, purchase: index))
            }
        }
        unknownAttributes.append(RawAttribute(type: type, version: version, value: value.slice))
    }

    @inline(__always)
    private mutating func storeKnown(_ type: Int64, _ value: AttributeValue) -> Bool {
        switch type {
        case 1701: return value.integer().store(&quantity)
        case 1702:
            guard case .value(let text) = value.text() else { return false }
            productId = text
        case 1703:
            guard case .value(let text) = value.text() else { return false }
            transactionId = text
        case 1704: return value.date().store(&purchaseDate)
        case 1705: return value.text().store(&originalTransactionId)
        case 1706: return value.date().store(&originalPurchaseDate)
        case 1707:
            var number: Int64?
            guard value.integer().store(&number) else { return false }
            productType = number.map { ReceiptProductType(rawValue: $0) }
        case 1708: return value.date().store(&expiresDate)
        case 1710: return value.integer().store(&inAppItemId)
        case 1711: return value.integer().store(&webOrderLineItemId)
        case 1712: return value.date().store(&cancellationDate)
        case 1713: return value.flag().store(&isTrialPeriod)
        case 1719: return value.flag().store(&isInIntroOfferPeriod)
        case 1720: return value.integer().store(&cancellationReason)
        case 1721: return value.text().store(&promotionalOfferId)
        case 1722:
            var number: Int64?
            guard value.integer().store(&number) else { return false }
            ownershipType = number.map { ReceiptOwnershipType(rawValue: $0) }
        case 1709, 1714...1718:
            // Always empty in known receipts. An empty value needs no storage.
            if case .empty = value.text() { return true }
            return false
        default: return false
        }
        return true
    }
}
