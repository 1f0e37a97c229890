internal import AppStoreModels
internal import Encodings

/// The header of a JWS (RFC 7515, 4; Reference.md S4).
struct SignedDataHeader {
    /// `x5c` in DER: leaf, intermediate, root; or Xcode's single certificate.
    let certificates: [[UInt8]]

    /// Reads a header that states ES256 and one or three certificates.
    /// - Throws: ``SignedDataError``.
    init(_ bytes: [UInt8]) throws {
        let members = try Self.members(bytes)
        // RFC 7515, 4.1.11: unknown critical members must be rejected, and no critical member is known.
        guard members["crit"] == nil else { throw Self.malformed("it has crit") }
        guard let algorithm = members["alg"]?.string else { throw Self.malformed("alg is missing or not text") }
        guard algorithm == "ES256" else { throw SignedDataError(.unsupportedAlgorithm, at: .header) }
        guard let x5c = members["x5c"] else {
            throw SignedDataError(.certificateCount, at: .header, "x5c is missing")
        }
        guard let texts = x5c.array else { throw Self.malformed("x5c is not an array") }
        guard texts.count == 3 || texts.count == 1 else { throw Self.count(texts.count) }
        var certificates: [[UInt8]] = []
        for (index, text) in texts.enumerated() {
            guard var text = text.string else {
                throw SignedDataError(.malformedHeader, at: .certificate(index), "it is not text")
            }
            guard let der = text.withUTF8({ Base64.decodeStandard($0.span) }) else {
                throw SignedDataError(.invalidBase64, at: .certificate(index))
            }
            certificates.append(der)
        }
        self.certificates = certificates
    }

    private static func malformed(_ detail: String) -> SignedDataError {
        SignedDataError(.malformedHeader, at: .header, detail)
    }

    static func count(_ count: Int) -> SignedDataError {
        SignedDataError(.certificateCount, at: .header, "it has \(count)")
    }

    private static func members(_ bytes: [UInt8]) throws -> JSONObject {
        let value: JSONValue
        do { value = try JSONValue.parse(bytes) } catch { throw malformed(error.message) }
        guard let object = value.object else { throw malformed("it is not an object") }
        // Readers differ on which of two members with the same name counts, so such a header is rejected.
        guard value.hasUniqueNames else { throw malformed("a member appears twice") }
        return object
    }
}
