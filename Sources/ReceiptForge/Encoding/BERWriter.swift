/// Writes forms that BER allows and DER forbids: indefinite lengths and segmented strings (X.690, 8.1.3.6 and 8.7).
/// Xcode's receipts use these forms.
public enum BERWriter {
    /// A constructed value of indefinite length: contents up to an end-of-contents marker.
    public static func indefinite(_ tag: UInt8, _ values: [UInt8]...) -> [UInt8] { indefinite(tag, of: values) }

    /// A constructed value of indefinite length, with the constructed bit set in `tag`.
    public static func indefinite(_ tag: UInt8, of values: [[UInt8]]) -> [UInt8] {
        [tag | ASN1Tag.constructed, 0x80] + DERWriter.concatenated(values) + [0, 0]
    }

    /// One OCTET STRING in pieces of at most `segmentLength` bytes.
    ///
    /// - Parameters:
    ///   - contents: the bytes.
    ///   - segmentLength: the maximum number of bytes in one segment.
    ///   - nested: each pair of segments becomes a separate constructed OCTET STRING, one level deeper.
    ///   - definite: the outer value has a definite length, which BER also allows.
    public static func segmentedOctetString(
        _ contents: [UInt8], segmentLength: Int, nested: Bool = false, definite: Bool = false
    ) -> [UInt8] {
        var segments = pieces(contents, of: max(1, segmentLength)).map(DERWriter.octetString)
        if nested {
            segments = stride(from: 0, to: segments.count, by: 2).map {
                indefinite(ASN1Tag.octetString, of: Array(segments[$0..<min($0 + 2, segments.count)]))
            }
        }
        let tag = ASN1Tag.octetString | ASN1Tag.constructed
        return definite ? DERWriter.value(tag, DERWriter.concatenated(segments)) : indefinite(tag, of: segments)
    }

    private static func pieces(_ contents: [UInt8], of length: Int) -> [[UInt8]] {
        stride(from: 0, to: contents.count, by: length).map {
            Array(contents[$0..<min($0 + length, contents.count)])
        }
    }
}
