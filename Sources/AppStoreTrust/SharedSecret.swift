internal import Crypto

/// A shared secret from App Store Connect, which a request sends as `password` (Reference.md V1.2).
///
/// Only its SHA-256 is stored, so the text cannot get into a log or a crash report. A comparison takes the same time
/// for any length of a guess and any position of the first difference.
public struct SharedSecret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
    private let digest: [UInt8]?

    /// - Parameter text: the secret as App Store Connect shows it. An empty text is not a secret, and no password
    ///   matches it.
    public init(_ text: String) {
        digest = text.isEmpty ? nil : Self.digest(text)
    }

    /// Whether the password equals one of the secrets. Every secret is compared completely, regardless of earlier
    /// results.
    package static func matches(_ password: String, anyOf secrets: [[SharedSecret]]) -> Bool {
        let candidate = digest(password)
        var found: UInt8 = 0
        for group in secrets {
            for secret in group { found |= secret.equality(candidate) }
        }
        return found != 0
    }

    /// Returns 1 if the digests are equal, or else 0, without a branch that depends on the first difference.
    private func equality(_ candidate: [UInt8]) -> UInt8 {
        guard let digest, digest.count == candidate.count else { return 0 }
        var difference: UInt8 = 0
        for index in digest.indices { difference |= digest[index] ^ candidate[index] }
        // 0 becomes 1, everything else 0.
        return UInt8((UInt16(difference) &- 1) >> 8 & 1)
    }

    private static func digest(_ text: String) -> [UInt8] {
        var hash = SHA256()
        var text = text
        text.withUTF8 { hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
        return Array(hash.finalize())
    }

    public var description: String { "SharedSecret(redacted)" }
    public var debugDescription: String { description }
    /// Hides the digest from `dump` and from descriptions of values that contain a secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
