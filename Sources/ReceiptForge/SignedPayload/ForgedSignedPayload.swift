internal import Encodings

/// A JWS in compact serialization, in the App Store's form (Reference.md S4). Each part can be wrong.
public struct ForgedSignedPayload: ForgedDescription {
    /// The payload's bytes; JSON unless a test needs something else.
    public var payload: [UInt8]
    /// The header's `alg`.
    public var algorithm = "ES256"
    /// The header's `x5c`: leaf, intermediate, root, DER.
    public var certificates: [[UInt8]]
    /// The signing key; a P-256 key.
    public var key: TestKey
    /// The header's JSON; nil to create it from ``algorithm`` and ``certificates``.
    public var header: [UInt8]?

    /// A JWS in the App Store's form.
    ///
    /// - Parameters:
    ///   - payload: the bytes of the payload, usually JSON.
    ///   - certificates: `x5c` in DER: leaf, intermediate, root.
    ///   - key: a P-256 key, usually the leaf's.
    public init(payload: [UInt8], certificates: [[UInt8]], key: TestKey) {
        self.payload = payload
        self.certificates = certificates
        self.key = key
    }

    /// The bytes of the header's JSON.
    public var headerBytes: [UInt8] {
        if let header { return header }
        let texts = certificates.map { "\"\(Base64.encode($0))\"" }.joined(separator: ",")
        return Array("{\"alg\":\"\(algorithm)\",\"x5c\":[\(texts)]}".utf8)
    }

    /// The signed text: header and payload, separated by a period (RFC 7515, 5.1).
    public var signingInput: String { "\(Self.base64URL(headerBytes)).\(Self.base64URL(payload))" }

    /// Signs. ECDSA signatures differ each time.
    /// - Throws: ``ForgeError`` if the key is not a P-256 key.
    public func text() throws -> String {
        let input = signingInput
        return "\(input).\(Self.base64URL(try SigningKey.of(key).es256Signature(over: Array(input.utf8))))"
    }

    /// Base64 with the URL-safe alphabet and without padding (RFC 7515, 2).
    public static func base64URL(_ bytes: [UInt8]) -> String { Base64.encodeURL(bytes) }
}
