internal import Encodings

/// The three parts of a JWS in compact serialization (RFC 7515, 7.1), borrowed from its text.
package struct CompactJWSParts {
    /// The header in its base64 form.
    let header: UnsafeBufferPointer<UInt8>
    /// The payload in its base64 form.
    package let payload: UnsafeBufferPointer<UInt8>
    /// The signature in its base64 form.
    let signature: UnsafeBufferPointer<UInt8>
    /// Header, period, payload: the signed bytes (RFC 7515, 5.2).
    let signingInput: UnsafeBufferPointer<UInt8>

    /// A notification with nested JWS has three sets of certificates and payloads, which take about 30,000 bytes.
    static let maximumLength = 256 * 1024

    /// The buffer must outlive the parts.
    /// - Throws: ``SignedDataError``.
    package init(_ text: UnsafeBufferPointer<UInt8>) throws {
        guard text.count <= Self.maximumLength else {
            throw SignedDataError(.tooLong, "\(text.count) bytes, of at most \(Self.maximumLength)")
        }
        let stop = UInt8(ascii: ".")
        guard let first = text.firstIndex(of: stop), let second = text[(first + 1)...].firstIndex(of: stop),
            first > 0, second > first + 1, second + 1 < text.count,
            text[(second + 1)...].firstIndex(of: stop) == nil
        else { throw SignedDataError(.notCompactSerialization) }
        header = UnsafeBufferPointer(rebasing: text[..<first])
        payload = UnsafeBufferPointer(rebasing: text[(first + 1)..<second])
        signature = UnsafeBufferPointer(rebasing: text[(second + 1)...])
        signingInput = UnsafeBufferPointer(rebasing: text[..<second])
    }

    /// The bytes of a part.
    /// - Throws: ``SignedDataError``.
    package static func bytes(
        _ part: UnsafeBufferPointer<UInt8>, at location: SignedDataError.Location
    ) throws -> [UInt8] {
        guard let bytes = Base64.decodeURL(part.span) else { throw SignedDataError(.invalidBase64, at: location) }
        return bytes
    }
}
