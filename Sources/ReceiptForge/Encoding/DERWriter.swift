import Foundation

/// The identifier bytes of the ASN.1 types in a receipt (X.690, 8.1.2).
public enum ASN1Tag {
    /// BOOLEAN.
    public static let boolean: UInt8 = 0x01
    /// INTEGER: two's complement, big endian.
    public static let integer: UInt8 = 0x02
    /// BIT STRING: the number of unused bits, then the bits. Certificates write signatures and public keys in this
    /// form.
    public static let bitString: UInt8 = 0x03
    /// Any bytes (ASN.1 `OCTET STRING`). The value of each receipt attribute has this tag.
    public static let octetString: UInt8 = 0x04
    /// NULL, without contents.
    public static let null: UInt8 = 0x05
    /// OBJECT IDENTIFIER.
    public static let objectIdentifier: UInt8 = 0x06
    /// UTF8String: the text in most receipt attributes.
    public static let utf8String: UInt8 = 0x0C
    /// PrintableString, a part of ASCII: a string type of names in certificates.
    public static let printableString: UInt8 = 0x13
    /// IA5String, ASCII: dates in receipt attributes.
    public static let ia5String: UInt8 = 0x16
    /// UTCTime, with two digits for the year: dates in certificates from 1950 to 2049.
    public static let utcTime: UInt8 = 0x17
    /// GeneralizedTime, with four digits for the year: dates in certificates from 2050 on.
    public static let generalizedTime: UInt8 = 0x18
    /// SEQUENCE and SEQUENCE OF, with the bit of constructed types.
    public static let sequence: UInt8 = 0x30
    /// SET and SET OF, with the bit of constructed types.
    public static let set: UInt8 = 0x31
    /// The bit of constructed types, whose contents are encodings.
    public static let constructed: UInt8 = 0x20

    /// `[number]`, constructed: an EXPLICIT tag or an IMPLICIT one over a constructed type. Numbers up to 30.
    public static func context(_ number: UInt8) -> UInt8 { 0xA0 | (number & 0x1F) }
}

/// Writes ASN.1 values by the distinguished encoding rules (X.690, 10): definite lengths, and the shortest form of each
/// value.
///
/// Each function returns the encoding of one value: identifier, length and contents.
public enum DERWriter {
    /// One value with the given identifier byte.
    public static func value(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(contents.count + 6)
        bytes.append(tag)
        appendLength(contents.count, to: &bytes)
        bytes.append(contentsOf: contents)
        return bytes
    }

    /// The length bytes for contents of this many bytes (X.690, 8.1.3).
    public static func appendLength(_ count: Int, to bytes: inout [UInt8]) {
        guard count > 0x7F else {
            bytes.append(UInt8(truncatingIfNeeded: count))
            return
        }
        let length = bigEndian(UInt64(count))
        bytes.append(0x80 | UInt8(truncatingIfNeeded: length.count))
        bytes.append(contentsOf: length)
    }

    /// A SEQUENCE of encoded values, in the given order.
    public static func sequence(_ values: [UInt8]...) -> [UInt8] { sequence(of: values) }

    /// A SEQUENCE of encoded values, in the given order.
    public static func sequence(of values: [[UInt8]]) -> [UInt8] { value(ASN1Tag.sequence, concatenated(values)) }

    /// A SET in the order given, which is DER only for a SET of one.
    public static func set(inOrderGiven values: [[UInt8]]) -> [UInt8] { value(ASN1Tag.set, concatenated(values)) }

    /// A SET OF with its elements sorted by their encodings, as DER requires and as in Apple's receipts (X.690, 11.6).
    public static func setOf(_ values: [[UInt8]]) -> [UInt8] { set(inOrderGiven: sorted(values)) }

    /// Encodings in the order of a DER SET OF.
    public static func sorted(_ values: [[UInt8]]) -> [[UInt8]] {
        values.sorted(by: precedes)
    }

    /// Whether an encoding comes before another in a DER SET OF.
    static func precedes(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        let order = left.withUnsafeBytes { left in
            right.withUnsafeBytes { right in
                guard let first = left.baseAddress, let second = right.baseAddress else { return Int32(0) }
                return memcmp(first, second, min(left.count, right.count))
            }
        }
        return order < 0 || (order == 0 && left.count < right.count)
    }

    // Not `joined()`, which costs a call per byte in unoptimized code.
    static func concatenated(_ values: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(values.reduce(0) { $0 + $1.count })
        for value in values { bytes.append(contentsOf: value) }
        return bytes
    }

    /// `[number] EXPLICIT`.
    public static func explicit(_ number: UInt8, _ values: [UInt8]...) -> [UInt8] {
        value(ASN1Tag.context(number), concatenated(values))
    }

    /// A signed INTEGER in its shortest form.
    public static func integer(_ number: Int64) -> [UInt8] {
        // One byte for each eight bits, and room for the sign.
        let bits = 65 - (number < 0 ? ~number : number).leadingZeroBitCount
        var contents: [UInt8] = []
        for place in (0..<Int64((bits + 7) / 8)).reversed() {
            contents.append(UInt8(truncatingIfNeeded: number >> (8 * place)))
        }
        return value(ASN1Tag.integer, contents)
    }

    /// An INTEGER that is never negative, from its big-endian bytes, of any length (serial numbers).
    public static func unsignedInteger(_ bigEndian: [UInt8]) -> [UInt8] {
        var contents = Array(bigEndian.drop { $0 == 0 })
        if contents.first.map({ $0 >= 0x80 }) ?? true { contents.insert(0, at: 0) }
        return value(ASN1Tag.integer, contents)
    }

    /// A BOOLEAN. DER writes true as 0xFF.
    public static func boolean(_ flag: Bool) -> [UInt8] { value(ASN1Tag.boolean, [flag ? 0xFF : 0x00]) }

    /// NULL: 05 00.
    public static let null: [UInt8] = [ASN1Tag.null, 0]

    /// Bytes in one piece (ASN.1 `OCTET STRING`, primitive encoding).
    public static func octetString(_ contents: [UInt8]) -> [UInt8] { value(ASN1Tag.octetString, contents) }

    /// A BIT STRING; the last `unusedBits` of the last byte do not count.
    public static func bitString(_ contents: [UInt8], unusedBits: UInt8 = 0) -> [UInt8] {
        value(ASN1Tag.bitString, [unusedBits] + contents)
    }

    /// A UTF8String.
    public static func utf8String(_ text: String) -> [UInt8] { value(ASN1Tag.utf8String, Array(text.utf8)) }

    /// An IA5String. Characters beyond ASCII are not rejected; they give an invalid string.
    public static func ia5String(_ text: String) -> [UInt8] { value(ASN1Tag.ia5String, Array(text.utf8)) }

    /// An OBJECT IDENTIFIER. One with fewer than two components has no contents, which is invalid.
    public static func objectIdentifier(_ identifier: ForgedObjectIdentifier) -> [UInt8] {
        value(ASN1Tag.objectIdentifier, identifier.contents)
    }

    /// A certificate's date: UTCTime up to 2049, GeneralizedTime from 2050 on (RFC 5280, 4.1.2.5).
    public static func time(_ instant: ForgedInstant) -> [UInt8] {
        let text = instant.certificateText
        return text.utf8.count == 13
            ? value(ASN1Tag.utcTime, Array(text.utf8)) : value(ASN1Tag.generalizedTime, Array(text.utf8))
    }

    /// The big-endian bytes of a number, without leading zeros; none for 0.
    static func bigEndian(_ number: UInt64) -> [UInt8] {
        Array((0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64($0))) }.drop { $0 == 0 })
    }
}
