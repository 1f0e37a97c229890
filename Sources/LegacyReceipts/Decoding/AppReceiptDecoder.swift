/// Reads the signed content of an app receipt: SET OF SEQUENCE { type, version, value } (Reference.md V5.1).
///
/// It takes one pass and copies no attribute value.
struct AppReceiptDecoder {
    private var receipt = AppReceipt()
    private var attributesLeft: Int
    private let limits: DecodingLimits
    /// One bit for each attribute type that was read, below 64 and from 1700 on. A repeated attribute is kept raw.
    private var seen: UInt64 = 0

    private init(limits: DecodingLimits) {
        self.limits = limits
        attributesLeft = limits.maximumAttributes
    }

    static func decode(_ content: SignedDataMessage.Bytes, limits: DecodingLimits) throws(ReceiptError) -> AppReceipt {
        var decoder = AppReceiptDecoder(limits: limits)
        let content = unwrapped(content, limits)
        do throws(ReceiptError) {
            try decoder.readSet(content.storage, content.range, purchase: nil)
        } catch {
            let isLimit = error.code == .tooManyAttributes || error.code == .nestedTooDeeply
            throw decoder.looksLikeReceipt || isLimit
                ? error : ReceiptError(.contentNotReceipt, at: error.location, error.detail)
        }
        if decoder.seen & 1 << 2 == 0 {
            throw ReceiptError(.missingAttribute, at: .attribute(2, purchase: nil), "bundle_id")
        }
        if decoder.receipt.receiptCreationDate == nil {
            throw ReceiptError(.missingAttribute, at: .attribute(12, purchase: nil), "receipt_creation_date")
        }
        // A copy would count a reference for each value, which is slow.
        var receipt = AppReceipt()
        swap(&receipt, &decoder.receipt)
        return receipt
    }

    /// Whether a failure means that the receipt is damaged, and not that the content is something else.
    private var looksLikeReceipt: Bool { seen & (1 << 0 | 1 << 2) == 1 << 0 | 1 << 2 }

    /// Some issuers wrap the content in a second OCTET STRING. The signature covers the contents of the outer one.
    private static func unwrapped(
        _ content: SignedDataMessage.Bytes, _ limits: DecodingLimits
    ) -> SignedDataMessage.Bytes {
        let span = content.storage.span
        var reader = BERReader(content.range, depth: limits.maximumDepth)
        guard let tag = reader.peekTag(span), tag == Tag.octetString || tag == Tag.constructedOctetString,
            let inner = try? reader.octetString(span), reader.offset == content.range.upperBound
        else { return content }
        return inner.bytes(in: content.storage)
    }

    /// The readable attributes at one level of the content or of a purchase, for inspection.
    static func rawAttributes(_ content: SignedDataMessage.Bytes, limits: DecodingLimits) -> [RawAttribute] {
        let content = unwrapped(content, limits)
        var attributes: [RawAttribute] = []
        let span = content.storage.span
        var outer = BERReader(content.range, depth: limits.maximumDepth)
        guard var set = try? outer.enter(span, Tag.set) else { return [] }
        while set.peekTag(span) != nil, attributes.count < limits.maximumAttributes {
            guard var attribute = try? set.enter(span, Tag.sequence),
                let type = try? attribute.primitive(span, Tag.integer),
                let version = try? attribute.primitive(span, Tag.integer),
                let typeNumber = signedInteger(span, type), let versionNumber = signedInteger(span, version),
                let value = try? attribute.octetString(span), (try? set.leave(attribute, span)) != nil
            else { break }
            attributes.append(
                RawAttribute(type: typeNumber, version: versionNumber, value: value.bytes(in: content.storage).slice))
        }
        return attributes
    }

    // MARK: The set of attributes

    private mutating func readSet(
        _ storage: [UInt8], _ range: Range<Int>, purchase: Int?
    ) throws(ReceiptError) {
        let span = storage.span
        var outer = BERReader(range, depth: limits.maximumDepth)
        var set = try outer.enter(span, Tag.set)
        var purchases: [SignedDataMessage.Bytes] = []
        while set.peekTag(span) != nil {
            var attribute = try set.enter(span, Tag.sequence)
            let (type, version) = try typeAndVersion(&attribute, span)
            switch try attribute.octetString(span) {
            case .contiguous(let value):
                if type == 17 {
                    purchases.append(SignedDataMessage.Bytes(storage: storage, range: value))
                } else {
                    try receipt.read(type, version, storage, value, &seen)
                }
            case .joined(let joined):
                if type == 17 {
                    purchases.append(SignedDataMessage.Bytes(storage: joined, range: 0..<joined.count))
                } else {
                    try receipt.read(type, version, joined, 0..<joined.count, &seen)
                }
            }
            try set.leave(attribute, span)
        }
        try outer.leave(set, span)
        guard outer.offset == range.upperBound else {
            throw ReceiptError(.malformedEncoding, at: .byte(outer.offset), "bytes after the set of attributes")
        }
        receipt.inAppPurchases.reserveCapacity(purchases.count)
        for purchase in purchases {
            receipt.inAppPurchases.append(
                try readPurchase(purchase.storage, purchase.range, receipt.inAppPurchases.count))
        }
    }

    private mutating func readPurchase(
        _ storage: [UInt8], _ range: Range<Int>, _ index: Int
    ) throws(ReceiptError) -> InAppPurchase {
        let span = storage.span
        var purchase = InAppPurchase()
        var seen: UInt64 = 0
        var outer = BERReader(range, depth: limits.maximumDepth)
        var set = try outer.enter(span, Tag.set)
        while set.peekTag(span) != nil {
            var attribute = try set.enter(span, Tag.sequence)
            let (type, version) = try typeAndVersion(&attribute, span)
            switch try attribute.octetString(span) {
            case .contiguous(let value): try purchase.read(type, version, storage, value, index, &seen)
            case .joined(let joined): try purchase.read(type, version, joined, 0..<joined.count, index, &seen)
            }
            try set.leave(attribute, span)
        }
        try outer.leave(set, span)
        guard outer.offset == range.upperBound else {
            throw ReceiptError(.malformedEncoding, at: .byte(outer.offset), "bytes after purchase \(index)")
        }
        if seen & 1 << 2 == 0 {
            throw ReceiptError(.missingAttribute, at: .attribute(1702, purchase: index), "product_id")
        }
        if seen & 1 << 3 == 0 {
            throw ReceiptError(.missingAttribute, at: .attribute(1703, purchase: index), "transaction_id")
        }
        return purchase
    }

    @inline(__always)
    private mutating func typeAndVersion(
        _ attribute: inout BERReader, _ span: Span<UInt8>
    ) throws(ReceiptError) -> (type: Int64, version: Int64) {
        guard attributesLeft > 0 else {
            throw ReceiptError(
                .tooManyAttributes, at: .byte(attribute.offset), "the limit is \(limits.maximumAttributes)")
        }
        attributesLeft -= 1
        let type = try attribute.primitive(span, Tag.integer)
        let version = try attribute.primitive(span, Tag.integer)
        guard let typeNumber = signedInteger(span, type), let versionNumber = signedInteger(span, version) else {
            throw ReceiptError(
                .malformedEncoding, at: .byte(type.lowerBound), "an attribute type or version beyond 64 bits")
        }
        return (typeNumber, versionNumber)
    }
}
